//! One WARC/1.1 record in its exact bytes: version line, fields in a fixed order, blank line, block, two line ends.
//!
//! Nothing a server sends can forge a field: values lose their control characters and URLs are percent-encoded where
//! they hold anything but printable ASCII. Writing allocates nothing once the output buffer has grown.

use std::fmt;
use std::io::Write as _;
use std::net::IpAddr;

use mattock_env::UnixTime;

use crate::page::Security;

mod paired;
mod words;

pub(crate) use paired::digests;
pub use words::{DatePrecision, Digest, RecordId, RecordType, Truncated, spelled_digest};

/// The revisited record that a revisit stands for.
#[derive(Clone, Copy, Debug)]
pub struct RefersTo<'a> {
    /// Its name, where it is known.
    pub id: Option<RecordId>,
    /// Its URL.
    pub target_uri: &'a str,
    /// Its date.
    pub date: UnixTime,
}

/// `WARC-Profile` of a revisit whose payload has the same digest as an earlier one.
pub const PROFILE_IDENTICAL_PAYLOAD: &str =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// A record to be written. Fields that are `None` are left out; `Content-Length` is that of the block.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// `WARC-Type`.
    pub kind: RecordType,
    /// `WARC-Record-ID`.
    pub id: RecordId,
    /// `WARC-Date`: when the capture began; the same for all records of one capture.
    pub date: UnixTime,
    /// `WARC-Target-URI`.
    pub target_uri: Option<&'a str>,
    /// `WARC-IP-Address`.
    pub ip: Option<IpAddr>,
    /// `WARC-Protocol`, once for each layer, and `WARC-Cipher-Suite`.
    pub security: Option<Security<'a>>,
    /// `WARC-Concurrent-To`: a record of the same capture.
    pub concurrent_to: Option<RecordId>,
    /// `WARC-Warcinfo-ID`.
    pub warcinfo_id: Option<RecordId>,
    /// `WARC-Refers-To…`, and with it `WARC-Profile` (identical payload): revisits only.
    pub refers_to: Option<RefersTo<'a>>,
    /// `WARC-Filename`: warcinfo only.
    pub file_name: Option<&'a str>,
    /// `WARC-Truncated`.
    pub truncated: Option<Truncated>,
    /// `WARC-Payload-Digest`.
    pub payload_digest: Option<Digest>,
    /// `WARC-Block-Digest`.
    pub block_digest: Option<Digest>,
    /// `Content-Type` of the block.
    pub content_type: &'a str,
    /// The block, in pieces that follow each other.
    pub block: &'a [&'a [u8]],
}

/// What comes behind the block.
pub(crate) const RECORD_END: &[u8] = b"\r\n\r\n";

impl<'a> Record<'a> {
    /// A record with only what every record has.
    pub fn new(kind: RecordType, id: RecordId, date: UnixTime) -> Record<'a> {
        Record {
            kind,
            id,
            date,
            target_uri: None,
            ip: None,
            security: None,
            concurrent_to: None,
            warcinfo_id: None,
            refers_to: None,
            file_name: None,
            truncated: None,
            payload_digest: None,
            block_digest: None,
            content_type: "application/octet-stream",
            block: &[],
        }
    }

    /// Appends the whole record, not compressed.
    pub fn write_to(&self, precision: DatePrecision, out: &mut Vec<u8>) {
        self.write_head(precision, out);
        for piece in self.block {
            out.extend_from_slice(piece);
        }
        out.extend_from_slice(RECORD_END);
    }

    /// Appends what comes before the block.
    pub(crate) fn write_head(&self, precision: DatePrecision, out: &mut Vec<u8>) {
        out.extend_from_slice(b"WARC/1.1\r\n");
        known_field(out, "WARC-Type", self.kind.as_str().as_bytes());
        known_field(out, "WARC-Record-ID", &self.id.text());
        date_field(out, "WARC-Date", self.date, precision);
        if let Some(url) = self.target_uri {
            uri_field(out, "WARC-Target-URI", url);
        }
        if let Some(ip) = self.ip {
            field(out, "WARC-IP-Address", format_args!("{ip}"));
        }
        if let Some(security) = self.security {
            text_field(out, "WARC-Protocol", security.protocol);
            text_field(out, "WARC-Protocol", security.version);
            text_field(out, "WARC-Cipher-Suite", security.cipher_suite);
        }
        if let Some(id) = self.concurrent_to {
            known_field(out, "WARC-Concurrent-To", &id.text());
        }
        if let Some(id) = self.warcinfo_id {
            known_field(out, "WARC-Warcinfo-ID", &id.text());
        }
        if let Some(original) = self.refers_to {
            known_field(out, "WARC-Profile", PROFILE_IDENTICAL_PAYLOAD.as_bytes());
            if let Some(id) = original.id {
                known_field(out, "WARC-Refers-To", &id.text());
            }
            uri_field(out, "WARC-Refers-To-Target-URI", original.target_uri);
            date_field(out, "WARC-Refers-To-Date", original.date, precision);
        }
        if let Some(name) = self.file_name {
            text_field(out, "WARC-Filename", name);
        }
        if let Some(reason) = self.truncated {
            known_field(out, "WARC-Truncated", reason.as_str().as_bytes());
        }
        if let Some(digest) = self.payload_digest {
            known_field(out, "WARC-Payload-Digest", &digest.text());
        }
        if let Some(digest) = self.block_digest {
            known_field(out, "WARC-Block-Digest", &digest.text());
        }
        text_field(out, "Content-Type", self.content_type);
        field(out, "Content-Length", format_args!("{}", self.block_bytes()));
        out.extend_from_slice(b"\r\n");
    }

    /// How long the block is.
    pub(crate) fn block_bytes(&self) -> usize {
        self.block.iter().map(|piece| piece.len()).sum()
    }
}

/// Appends one line of an `application/warc-fields` block. What is not a token character in the name becomes `-`,
/// control characters in the value become spaces.
pub fn warc_field(out: &mut Vec<u8>, name: &str, value: &str) {
    let token = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte) { byte } else { b'-' }
    };
    out.extend(name.bytes().map(token));
    if name.is_empty() {
        out.push(b'-');
    }
    out.extend_from_slice(b": ");
    text(out, value);
    out.extend_from_slice(b"\r\n");
}

/// A value of our own words, which need no care.
fn known_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

fn field(out: &mut Vec<u8>, name: &str, value: fmt::Arguments<'_>) {
    write!(out, "{name}: {value}\r\n").expect("a Vec takes everything");
}

fn date_field(out: &mut Vec<u8>, name: &str, date: UnixTime, precision: DatePrecision) {
    match precision {
        DatePrecision::Microseconds => field(out, name, format_args!("{date:.6}")),
        // Rounded down first: the formatter must not round a date into the future.
        DatePrecision::Seconds => {
            let whole = UnixTime::from_micros(date.as_seconds().saturating_mul(1_000_000));
            field(out, name, format_args!("{whole:.0}"));
        }
    }
}

fn text_field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    text(out, value);
    out.extend_from_slice(b"\r\n");
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.extend(value.bytes().map(|byte| if byte < b' ' || byte == 0x7f { b' ' } else { byte }));
}

fn uri_field(out: &mut Vec<u8>, name: &str, uri: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    for byte in uri.bytes() {
        if byte.is_ascii_graphic() {
            out.push(byte);
        } else {
            write!(out, "%{byte:02X}").expect("a Vec takes everything");
        }
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use mattock_env::Random;

    use super::*;

    #[test]
    fn a_record_is_written_in_these_exact_bytes() {
        let mut random = Random::from_seed(7);
        let (id, other) = (RecordId::new(&mut random), RecordId::new(&mut random));
        let date = UnixTime::from_micros(1_181_347_200_250_000);
        let block: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\n\r\n", b"hello"];
        let record = Record {
            target_uri: Some("http://example.org/"),
            ip: Some("192.0.2.1".parse().unwrap()),
            concurrent_to: Some(other),
            truncated: Some(Truncated::Length),
            payload_digest: Some(Digest::of(&[b"hello"])),
            block_digest: Some(Digest::of(block)),
            content_type: "application/http; msgtype=response",
            block,
            ..Record::new(RecordType::Response, id, date)
        };
        let mut out = Vec::new();
        record.write_to(DatePrecision::Microseconds, &mut out);
        let expected = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: {id}\r\nWARC-Date: 2007-06-09T00:00:00.250000Z\r\n\
             WARC-Target-URI: http://example.org/\r\nWARC-IP-Address: 192.0.2.1\r\nWARC-Concurrent-To: {other}\r\n\
             WARC-Truncated: length\r\nWARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n\
             WARC-Block-Digest: {}\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: 24\r\n\r\n\
             HTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n",
            Digest::of(block)
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_secured_connection_is_told_layer_by_layer() {
        let id = RecordId::new(&mut Random::from_seed(1));
        let security = Security {
            protocol: "h2",
            version: "tls/1.3",
            cipher_suite: "TLS_AES_128_GCM_SHA256\r\nWARC-Type: x",
        };
        let record =
            Record { security: Some(security), ..Record::new(RecordType::Response, id, UnixTime::default()) };
        let mut out = Vec::new();
        record.write_to(DatePrecision::Seconds, &mut out);
        let text = String::from_utf8(out).unwrap();
        let fields = "\r\nWARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\n\
                      WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256  WARC-Type: x\r\n";
        assert!(text.contains(fields), "{text}");
    }

    #[test]
    fn whole_seconds_are_rounded_down() {
        let mut out = Vec::new();
        let date = UnixTime::from_micros(1_181_347_200_999_999);
        let id = RecordId::new(&mut Random::from_seed(1));
        Record::new(RecordType::Resource, id, date).write_to(DatePrecision::Seconds, &mut out);
        assert!(String::from_utf8(out).unwrap().contains("\r\nWARC-Date: 2007-06-09T00:00:00Z\r\n"));
    }

    #[test]
    fn hostile_values_cannot_forge_a_field() {
        let id = RecordId::new(&mut Random::from_seed(1));
        let evil = "x\r\nWARC-Type: warcinfo\r\n\r\nWARC/1.1\n\0\u{7f}é";
        let record = Record {
            target_uri: Some(evil),
            file_name: Some(evil),
            content_type: evil,
            refers_to: Some(RefersTo { id: None, target_uri: evil, date: UnixTime::default() }),
            ..Record::new(RecordType::Revisit, id, UnixTime::default())
        };
        let mut out = Vec::new();
        record.write_to(DatePrecision::Seconds, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("\r\nWARC-Type:").count(), 1, "{text}");
        assert_eq!(text.matches("\r\n\r\n").count(), 2, "{text}");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text}");
        assert!(!text.contains(['\0', '\u{7f}']), "{text}");
        assert!(text.contains(
            "WARC-Target-URI: x%0D%0AWARC-Type:%20warcinfo%0D%0A%0D%0AWARC/1.1%0A%00%7F%C3%A9\r\n"
        ));

        let mut fields = Vec::new();
        warc_field(&mut fields, "a: b\r\nc", evil);
        warc_field(&mut fields, "", "");
        let text = String::from_utf8(fields).unwrap();
        assert_eq!(text, "a--b--c: x  WARC-Type: warcinfo    WARC/1.1   é\r\n-: \r\n");
    }
}
