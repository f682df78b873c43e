//! Whether a record is what its head and the index say.

use mattock_repository::{Digest, StoredRecord};
use sha2::{Digest as _, Sha256};

/// Whether the block is what the digest in the head was made of; so it is, as far as anybody knows, if that is missing or of an unknown kind.
pub(crate) fn is_whole(record: &StoredRecord<'_>) -> bool {
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

/// Whether a response has the payload that the index says, as far as that is a SHA-1 of what is stored.
pub(crate) fn has_payload(record: &StoredRecord<'_>, said: Option<&str>) -> bool {
    match (said.and_then(Digest::from_text), record.response()) {
        (Some(digest), Some(response)) => {
            let of_record = record.fields.get("WARC-Payload-Digest").and_then(Digest::from_field);
            // Some make it of what is within codings: then the block's own digest has to do, or nothing.
            let is_coded =
                response.field("transfer-encoding").or(response.field("content-encoding")).is_some();
            let is_known = is_coded || record.fields.get("WARC-Block-Digest").is_some();
            Digest::of(&[response.body]) == digest || is_known && of_record == Some(digest)
        }
        _ => true,
    }
}
