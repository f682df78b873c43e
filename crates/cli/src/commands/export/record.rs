//! A record that is to be written: fields and a block, made of what archives have.

use mattock_env::Random;
use mattock_repository::http::Response;
use mattock_repository::record::spelled_digest;
use mattock_repository::{Digest, RecordId, StoredRecord};

const HTTP: &str = "application/http; msgtype=response";

/// Whether a head names digests that are none, at which readers stumble.
pub(super) fn has_odd_digests(record: &StoredRecord<'_>) -> bool {
    record.fields.iter().any(|(name, value)| is_odd_digest(name, value))
}

fn is_odd_digest(name: &str, value: &str) -> bool {
    let is_digest =
        ["WARC-Block-Digest", "WARC-Payload-Digest"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let (kind, digits) = value.split_once(':').unwrap_or((value, ""));
    let is_known = ["md5", "sha1", "sha256", "sha512"].iter().any(|known| kind.eq_ignore_ascii_case(known));
    is_digest && (!is_known || digits.trim().is_empty())
}

/// A digest as readers know it: `sha256:` for `SHA-256:`; none if it is none. Other fields as they are.
fn known_spelling(name: &str, value: &str) -> Option<String> {
    if !is_odd_digest(name, value) {
        return Some(value.to_owned());
    }
    spelled_digest(value).filter(|spelled| !is_odd_digest(name, spelled))
}

/// A record without such digests, and with those that are only spelled in an odd way: revisits are found by them.
pub(super) fn without_odd_digests(record: &StoredRecord<'_>, out: &mut Vec<u8>) {
    let fields = record.fields.iter().filter_map(|(name, value)| Some((name, known_spelling(name, value)?)));
    put(record.version, fields.collect(), &[record.block], out);
}

/// A record of an ARC file as one of WARC. It has no name there: it is given one that follows from its place, and is the same every time.
pub(super) fn of_arc(record: &StoredRecord<'_>, file: &str, out: &mut Vec<u8>) {
    let place = Digest::of(&[file.as_bytes(), b" ", record.offset.to_string().as_bytes()]);
    let seed = place.0[..8].iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte));
    let id = RecordId::new(&mut Random::from_seed(seed)).to_string();
    let mut fields: Vec<(&str, String)> = vec![("WARC-Record-ID", id)];
    for (name, value) in record.fields.iter() {
        let value = if name == "WARC-Target-URI" { value.replace(' ', "%20") } else { value.to_owned() };
        fields.push((name, value));
    }
    fields.push(("WARC-Block-Digest", Digest::of(&[record.block]).to_string()));
    put("1.1", fields, &[record.block], out);
}

/// A revisit as the response that it stands for: its own head, and the body of another record, which may have been `truncated`. That nothing has changed
/// says nothing else: then the head is that of the other, too.
pub(super) fn of_revisit(
    revisit: &StoredRecord<'_>,
    original: &Response<'_>,
    truncated: Option<&str>,
    out: &mut Vec<u8>,
) {
    const NOT_MODIFIED: u16 = 304;
    let own = revisit.response().filter(|response| response.status != NOT_MODIFIED);
    let (head, body) = (own.map_or(original.head, |response| response.head), original.body);
    let mut fields: Vec<(&str, String)> = Vec::new();
    for (name, value) in revisit.fields.iter() {
        let lower = name.to_ascii_lowercase();
        let value = match lower.as_str() {
            "warc-type" => "response".to_owned(),
            "content-type" => HTTP.to_owned(),
            "content-length" => (head.len() + body.len()).to_string(),
            "warc-block-digest" | "warc-profile" | "warc-truncated" => continue,
            _ if lower.starts_with("warc-refers-to") => continue,
            _ => value.to_owned(),
        };
        fields.push((name, value));
    }
    fields.extend(truncated.map(|why| ("WARC-Truncated", why.to_owned())));
    if revisit.fields.get("Content-Type").is_none() {
        fields.push(("Content-Type", HTTP.to_owned()));
    }
    fields.push(("WARC-Block-Digest", Digest::of(&[head, body]).to_string()));
    put(revisit.version, fields, &[head, body], out);
}

fn put(version: &str, fields: Vec<(&str, String)>, block: &[&[u8]], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(format!("WARC/{version}\r\n").as_bytes());
    for (name, value) in fields {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    block.iter().for_each(|piece| out.extend_from_slice(piece));
    out.extend_from_slice(b"\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_spelled_as_readers_know_them_or_left_out() {
        let of = |value| known_spelling("WARC-Payload-Digest", value);
        assert_eq!(of("SHA-256:ab12").as_deref(), Some("sha256:ab12"));
        assert_eq!(of("sha1:ABC").as_deref(), Some("sha1:ABC"));
        assert_eq!(of("sha1:"), None);
        assert_eq!(of("nothing"), None);
        assert_eq!(of("crc-7:12"), None);
        assert_eq!(known_spelling("WARC-Date", "SHA-256:ab12").as_deref(), Some("SHA-256:ab12"));
    }
}
