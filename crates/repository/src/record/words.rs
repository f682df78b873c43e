//! The words of record heads: types, names, digests, reasons for truncation.

use std::fmt;

use mattock_env::Random;
use sha1::{Digest as _, Sha1};

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordType {
    /// Describes the file.
    Warcinfo,
    /// What was sent to the server.
    Request,
    /// What the server sent.
    Response,
    /// A response whose payload is already stored elsewhere.
    Revisit,
    /// Facts about another record.
    Metadata,
    /// A file without a protocol around it.
    Resource,
    /// Another form of an earlier record's content.
    Conversion,
    /// A further segment of a record.
    Continuation,
}

const RECORD_TYPES: [(RecordType, &str); 8] = [
    (RecordType::Warcinfo, "warcinfo"),
    (RecordType::Request, "request"),
    (RecordType::Response, "response"),
    (RecordType::Revisit, "revisit"),
    (RecordType::Metadata, "metadata"),
    (RecordType::Resource, "resource"),
    (RecordType::Conversion, "conversion"),
    (RecordType::Continuation, "continuation"),
];

impl RecordType {
    /// The word of the `WARC-Type` field.
    pub fn as_str(self) -> &'static str {
        RECORD_TYPES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// From the word of the `WARC-Type` field; `None` for types that the standard does not know.
    pub fn parse(word: &str) -> Option<RecordType> {
        RECORD_TYPES.iter().find(|(_, known)| known.eq_ignore_ascii_case(word)).map(|(kind, _)| *kind)
    }
}

/// A record's name: a version 4 UUID, written `<urn:uuid:…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(u128);

impl RecordId {
    /// The next one.
    pub fn new(random: &mut Random) -> RecordId {
        RecordId::made_of((u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()))
    }

    /// For a record without a name, the same each time.
    pub(crate) fn of(digest: &Digest) -> RecordId {
        let mut bits = [0; 16];
        bits.copy_from_slice(&digest.0[..16]);
        RecordId::made_of(u128::from_be_bytes(bits))
    }

    fn made_of(bits: u128) -> RecordId {
        let version = 0xf << 76;
        let variant = 0b11 << 62;
        RecordId(bits & !version & !variant | 4 << 76 | 0b10 << 62)
    }

    /// As it is written. By hand: every page has several of them.
    pub(super) fn text(self) -> [u8; 47] {
        let mut digits = [0; 32];
        data_encoding::HEXLOWER.encode_mut(&self.0.to_be_bytes(), &mut digits);
        let mut text = *b"<urn:uuid:00000000-0000-0000-0000-000000000000>";
        for (from, to) in [(0..8, 10), (8..12, 19), (12..16, 24), (16..20, 29), (20..32, 34)] {
            text[to..to + from.len()].copy_from_slice(&digits[from]);
        }
        text
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

/// A SHA-1, written `sha1:` and 32 letters of Base32, as archives have always compared them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 20]);

impl Digest {
    /// Of the parts, one after the other.
    pub fn of(parts: &[&[u8]]) -> Digest {
        let mut sha1 = Sha1::new();
        for part in parts {
            sha1.update(part);
        }
        Digest(sha1.finalize().into())
    }

    /// Reads a digest field: `sha1:`, then Base32 or hexadecimal digits. `None` for other algorithms and for what is no digest.
    pub fn from_field(text: &str) -> Option<Digest> {
        let (algorithm, value) = text.split_once(':')?;
        let sha1 = ["sha1", "sha-1"].iter().any(|known| algorithm.eq_ignore_ascii_case(known));
        sha1.then(|| Digest::from_text(value.trim()))?
    }

    /// Reads the digits behind `sha1:`, Base32 or hexadecimal.
    pub fn from_text(digits: &str) -> Option<Digest> {
        let encoding = match digits.len() {
            40 => &data_encoding::HEXLOWER_PERMISSIVE,
            32 => &data_encoding::BASE32,
            _ => return None,
        };
        let mut bytes = [0; 20];
        let upper = digits.to_ascii_uppercase();
        encoding.decode_mut(upper.as_bytes(), &mut bytes).ok().map(|_| Digest(bytes))
    }

    /// As it is written.
    pub(super) fn text(self) -> [u8; 37] {
        let mut text = *b"sha1:00000000000000000000000000000000";
        data_encoding::BASE32.encode_mut(&self.0, &mut text[5..]);
        text
    }
}

/// A digest field of any algorithm in one spelling, to be compared: `sha256:` for `SHA-256:`. `None` if it names no algorithm.
pub fn spelled_digest(text: &str) -> Option<String> {
    let (algorithm, digits) = text.split_once(':')?;
    let (algorithm, digits) = (algorithm.trim().replace('-', "").to_ascii_lowercase(), digits.trim());
    (!algorithm.is_empty() && !digits.is_empty()).then(|| format!("{algorithm}:{digits}"))
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

/// Why a block holds less than there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// It exceeded the length limit.
    Length,
    /// It exceeded the time limit.
    Time,
    /// The connection ended early.
    Disconnect,
}

impl Truncated {
    /// The word of the `WARC-Truncated` field.
    pub fn as_str(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
        }
    }
}

/// How exact `WARC-Date` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DatePrecision {
    /// Six digits of the second: WARC/1.1 asks for what is known.
    #[default]
    Microseconds,
    /// Whole seconds, for tools that know only WARC/1.0 dates.
    Seconds,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_version_4_uuids_and_repeat_from_the_seed() {
        let (mut one, mut two) = (Random::from_seed(1), Random::from_seed(1));
        for _ in 0..100 {
            let text = RecordId::new(&mut one).to_string();
            assert_eq!(text, RecordId::new(&mut two).to_string());
            assert_eq!(text.len(), "<urn:uuid:00000000-0000-4000-8000-000000000000>".len());
            assert_eq!(text.as_bytes()[24], b'4', "{text}");
            assert!(b"89ab".contains(&text.as_bytes()[29]), "{text}");
        }
    }

    #[test]
    fn digests_of_any_algorithm_have_one_spelling() {
        assert_eq!(spelled_digest("SHA-256: ab"), Some("sha256:ab".to_owned()));
        assert_eq!((spelled_digest("ab"), spelled_digest(":ab"), spelled_digest("md5:")), (None, None, None));
        let digest = Digest::of(&[b"a"]);
        assert_eq!(Digest::from_field(&digest.to_string().replace("sha1", "SHA-1")), Some(digest));
    }

    #[test]
    fn types_are_read_back() {
        for (kind, word) in RECORD_TYPES {
            assert_eq!(kind.as_str(), word);
            assert_eq!(RecordType::parse(&word.to_uppercase()), Some(kind));
        }
        assert_eq!(RecordType::parse("screenshot"), None);
    }
}
