//! Whether a record is what its head and the index say.

use data_encoding::{BASE32, HEXLOWER};
use mattock_repository::record::spelled_digest;
use mattock_repository::{Digest, StoredRecord};
use sha2::{Digest as _, Sha256};

/// What a digest says of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was made of them.
    Right,
    /// It was made of something else.
    Wrong,
    /// There is none, or none that can be compared.
    Unknown,
}

impl Verdict {
    fn of(is_right: bool) -> Verdict {
        if is_right { Verdict::Right } else { Verdict::Wrong }
    }
}

/// Whether the block is what the digest in the head was made of.
pub(crate) fn block(record: &StoredRecord<'_>) -> Verdict {
    record.fields.get("WARC-Block-Digest").map_or(Verdict::Unknown, |field| verdict(field, record.block))
}

/// Whether a digest, as heads have them, was made of these bytes.
fn verdict(field: &str, bytes: &[u8]) -> Verdict {
    if let Some(digest) = Digest::from_field(field) {
        return Verdict::of(digest == Digest::of(&[bytes]));
    }
    let spelled = spelled_digest(field).unwrap_or_default();
    let Some(digits) = spelled.strip_prefix("sha256:") else { return Verdict::Unknown };
    let sha256 = Sha256::digest(bytes);
    match digits.len() {
        64 => Verdict::of(digits.eq_ignore_ascii_case(&HEXLOWER.encode(&sha256))),
        52 | 56 => {
            let digits = digits.trim_end_matches('=');
            Verdict::of(digits.eq_ignore_ascii_case(BASE32.encode(&sha256).trim_end_matches('=')))
        }
        _ => Verdict::Unknown,
    }
}

/// Whether a response has the payload whose digest the index says, which is that of the record's head.
pub(crate) fn payload(record: &StoredRecord<'_>, said: Option<&str>) -> Verdict {
    let (Some(said), Some(response)) = (said, record.response()) else { return block(record) };
    // SHA-1 stands there without its name.
    let field = if said.contains(':') { said.to_owned() } else { format!("sha1:{said}") };
    let of_body = verdict(&field, response.body);
    if of_body != Verdict::Wrong {
        return if of_body == Verdict::Right { of_body } else { block(record) };
    }
    let in_head = record.fields.get("WARC-Payload-Digest");
    let is_same = in_head.is_some_and(|head| match (Digest::from_field(head), Digest::from_field(&field)) {
        (Some(head), Some(said)) => head == said,
        _ => spelled_digest(head) == spelled_digest(&field),
    });
    if !is_same {
        return Verdict::Wrong;
    }
    // Some make it of what is within codings, or of all that there was before something was cut off: then the block's own digest has to do.
    let is_other =
        ["transfer-encoding", "content-encoding"].iter().any(|name| response.field(name).is_some())
            || ["WARC-Truncated", "WARC-Segment-Number"].iter().any(|name| record.fields.get(name).is_some());
    match block(record) {
        Verdict::Unknown if !is_other => Verdict::Wrong,
        verdict => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_all_spellings_are_compared() {
        let sha256 = Sha256::digest(b"bytes");
        let hex = HEXLOWER.encode(&sha256);
        let letters = BASE32.encode(&sha256);
        let right = [
            Digest::of(&[b"bytes"]).to_string(),
            format!("sha256:{hex}"),
            format!("SHA-256:{}", hex.to_uppercase()),
            format!("sha256:{letters}"),
            format!("sha-256:{}", letters.trim_end_matches('=')),
        ];
        for field in right {
            assert_eq!(verdict(&field, b"bytes"), Verdict::Right, "{field}");
            assert_eq!(verdict(&field, b"others"), Verdict::Wrong, "{field}");
        }
        for field in ["md5:900150983cd24fb0d6963f7d28e17f72", "sha256:12", "", "what:?"] {
            assert_eq!(verdict(field, b"bytes"), Verdict::Unknown, "{field}");
        }
    }
}
