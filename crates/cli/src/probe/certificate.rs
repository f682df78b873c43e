//! The few things that people want to know of a certificate, read out of its DER (X.509, RFC 5280).
//!
//! For show only: whether a certificate is valid is decided by the TLS library. Reading stops at whatever is not as it
//! should be, and never looks further than the bytes that there are.

use serde::Serialize;

use super::text::printable;

/// Names that are kept; certificates of large hosts have hundreds.
const NAMES_MAX: usize = 100;

/// What a certificate says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Certificate {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    /// As in RFC 3339.
    pub(crate) not_before: String,
    pub(crate) not_after: String,
    /// The hosts that it is for.
    pub(crate) names: Vec<String>,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const OCTETS: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// 2.5.29.17
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// Elements one after the other.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The next element: its tag and content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (len, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (digits.iter().fold(0, |len, &digit| len << 8 | usize::from(digit)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The content of the next element, if it has this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

impl Certificate {
    /// Reads a certificate; `None` if it is none.
    pub(super) fn read(der: &[u8]) -> Option<Certificate> {
        let mut signed = Reader(Reader(der).expect(SEQUENCE)?);
        let mut fields = Reader(signed.expect(SEQUENCE)?);
        if fields.0.first() == Some(&VERSION) {
            fields.next()?;
        }
        let _serial = fields.next()?;
        let _algorithm = fields.expect(SEQUENCE)?;
        let issuer = name(fields.expect(SEQUENCE)?);
        let mut validity = Reader(fields.expect(SEQUENCE)?);
        let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = name(fields.expect(SEQUENCE)?);
        let _key = fields.expect(SEQUENCE)?;
        let mut names = Vec::new();
        while let Some((tag, content)) = fields.next() {
            if tag == EXTENSIONS {
                names = alternative_names(content).unwrap_or_default();
            }
        }
        Some(Certificate { subject, issuer, not_before, not_after, names })
    }
}

/// `CN=a.example, O=Example`
fn name(content: &[u8]) -> String {
    let mut sets = Reader(content);
    let mut parts = Vec::new();
    while let Some(set) = sets.expect(SET) {
        let mut pairs = Reader(set);
        while let Some(mut pair) = pairs.expect(SEQUENCE).map(Reader) {
            if let (Some(kind), Some((tag, value))) = (pair.expect(OID), pair.next()) {
                parts.push(format!("{}={}", attribute(kind), string(tag, value)));
            }
        }
    }
    parts.join(", ")
}

fn attribute(oid: &[u8]) -> &'static str {
    match oid {
        [0x55, 4, 3] => "CN",
        [0x55, 4, 5] => "serialNumber",
        [0x55, 4, 6] => "C",
        [0x55, 4, 7] => "L",
        [0x55, 4, 8] => "ST",
        [0x55, 4, 10] => "O",
        [0x55, 4, 11] => "OU",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1] => "emailAddress",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 0x19] => "DC",
        _ => "other",
    }
}

fn string(tag: u8, value: &[u8]) -> String {
    if tag != BMP_STRING {
        return printable(value);
    }
    let units = value.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    printable(text.as_bytes())
}

/// `260102030405Z` or `20260102030405Z` as RFC 3339 writes it.
fn time((tag, content): (u8, &[u8])) -> Option<String> {
    let digits = content.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    let whole = match (tag, digits.len()) {
        // RFC 5280, 4.1.2.5.1: two digits mean 1950 to 2049.
        (UTC_TIME, 12) => format!("{}{digits}", if digits < "50" { "20" } else { "19" }),
        (GENERALIZED_TIME, 14) => digits.to_owned(),
        _ => return None,
    };
    let part = |from: usize| &whole[from..from + 2];
    Some(format!("{}-{}-{}T{}:{}:{}Z", &whole[..4], part(4), part(6), part(8), part(10), part(12)))
}

fn alternative_names(content: &[u8]) -> Option<Vec<String>> {
    let mut extensions = Reader(Reader(content).expect(SEQUENCE)?);
    while let Some(mut extension) = extensions.expect(SEQUENCE).map(Reader) {
        if extension.expect(OID) != Some(ALTERNATIVE_NAMES) {
            continue;
        }
        let mut value = extension.next()?;
        // Whether it is critical may stand in between.
        if value.0 != OCTETS {
            value = extension.next()?;
        }
        let mut list = Reader(Reader(value.1).expect(SEQUENCE)?);
        let mut names = Vec::new();
        while let Some((tag, content)) = list.next() {
            match (tag, content) {
                (DNS_NAME, name) => names.push(printable(name)),
                (IP_ADDRESS, &[a, b, c, d]) => names.push(format!("{a}.{b}.{c}.{d}")),
                (IP_ADDRESS, address) => {
                    let address: Option<[u8; 16]> = address.try_into().ok();
                    names.extend(address.map(|address| std::net::Ipv6Addr::from(address).to_string()));
                }
                _ => {}
            }
            if names.len() == NAMES_MAX {
                break;
            }
        }
        return Some(names);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

    fn made() -> Vec<u8> {
        let mut params =
            CertificateParams::new(vec!["a.example".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "a\u{1b}.example");
        params.distinguished_name.push(DnType::OrganizationName, "Größe");
        params.not_before = date_time_ymd(1999, 1, 2);
        params.not_after = date_time_ymd(2050, 12, 31);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn a_certificate_says_who_and_when() {
        let certificate = Certificate::read(&made()).unwrap();
        assert!(certificate.subject.contains("CN=a\\u{1b}.example"), "{certificate:?}");
        assert!(certificate.subject.contains("O=Größe"), "{certificate:?}");
        assert_eq!(certificate.issuer, certificate.subject, "self-signed");
        assert_eq!(certificate.not_before, "1999-01-02T00:00:00Z");
        assert_eq!(certificate.not_after, "2050-12-31T00:00:00Z");
        assert_eq!(certificate.names, ["a.example", "127.0.0.1"]);
    }

    #[test]
    fn damage_is_no_panic() {
        let whole = made();
        for len in 0..whole.len() {
            assert_eq!(Certificate::read(&whole[..len]), None, "cut at {len}");
        }
        for position in 0..whole.len() {
            for byte in [0, 0x30, 0x7f, 0x80, 0x84, 0xff] {
                let mut damaged = whole.clone();
                damaged[position] = byte;
                // Whatever is read of it, reading ends.
                let _ = Certificate::read(&damaged);
            }
        }
    }
}
