//! A record that is to be written: fields and a block, made of what archives have.

use mattock_env::Random;
use mattock_repository::{Digest, RecordId, StoredRecord};
use sha2::{Digest as _, Sha256};

const HTTP: &str = "application/http; msgtype=response";

/// Whether the block is what the digest in the head was made of; so it is, as far as anybody knows, if that is missing or of an unknown kind.
pub(super) fn is_whole(record: &StoredRecord<'_>) -> bool {
    let Some(field) = record.fields.get("WARC-Block-Digest") else { return true };
    if let Some(digest) = Digest::from_field(field) {
        return digest == Digest::of(&[record.block]);
    }
    match field.split_once(':') {
        Some((kind, digits)) if kind.eq_ignore_ascii_case("sha256") && digits.len() == 64 => {
            digits.eq_ignore_ascii_case(&data_encoding::HEXLOWER.encode(&Sha256::digest(record.block)))
        }
        _ => true,
    }
}

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

/// A record without such digests.
pub(super) fn without_odd_digests(record: &StoredRecord<'_>, out: &mut Vec<u8>) {
    let fields = record.fields.iter().filter(|(name, value)| !is_odd_digest(name, value));
    put(record.version, fields.map(|(name, value)| (name, value.to_owned())).collect(), &[record.block], out);
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

/// A revisit as the response that it stands for: its own head, and the body of another record.
pub(super) fn of_revisit(revisit: &StoredRecord<'_>, head: &[u8], body: &[u8], out: &mut Vec<u8>) {
    let head = revisit.response().map_or(head, |response| response.head);
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
