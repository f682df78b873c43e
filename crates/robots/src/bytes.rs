//! The byte form of [`Robots`], for caches on disk.
//!
//! Written by [`Robots::to_bytes`], read back by [`Robots::from_bytes`]. A version byte, a byte of flags, what the flags announce, the
//! rules in order of precedence, the sitemaps, and a CRC-32 of all that in the last four bytes. Numbers are little-endian base 128. A rule is
//! its line, its length with two bits for "allow" and "up to the end", and its pattern; the rest of it follows from these.
//!
//! Invariants: reading back gives an equal value, and bytes that were changed or cut give an error. Bytes that lie but have the right
//! sum make at worst rules that nobody wrote: no count is believed before its bytes are seen, so memory stays within theirs.

use std::time::Duration;

use crate::rules::Rule;
use crate::{BODY_BYTES_MAX, CRAWL_DELAY_MAX, DisallowReason, Robots};

/// The only version there is.
const VERSION: u8 = 1;
const SUM_BYTES: usize = 4;
/// No file of [`BODY_BYTES_MAX`] bytes has a longer form, though escaping triples it.
const FORM_BYTES_MAX: usize = 16 * BODY_BYTES_MAX;

const TRUNCATED: u8 = 1;
const CRAWL_DELAY: u8 = 2;
/// Three bits: 0 for none, else 1 + the reason.
const REASON_SHIFT: u8 = 2;

const REASONS: [DisallowReason; 5] = [
    DisallowReason::Unreachable,
    DisallowReason::ServerError,
    DisallowReason::RateLimited,
    DisallowReason::RefusedRedirect,
    DisallowReason::Operator,
];

/// Why a byte form could not be read. The cache entry is worthless: drop it and fetch the file again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Written by another version of this crate.
    #[error("robots rules in format {0}, which this version does not read; fetch them again")]
    Version(u8),
    /// Cut, changed, or never a byte form at all.
    #[error("damaged robots rules at byte {at}: {what}; fetch them again")]
    Damaged {
        /// Where reading stopped.
        at: usize,
        /// What is wrong there.
        what: &'static str,
    },
}

impl Robots {
    /// The byte form: compact, versioned, with a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.patterns.len() + 4 * self.rules.len() + 16);
        let reason = self
            .disallow_reason
            .and_then(|reason| REASONS.iter().position(|&known| known == reason))
            .map_or(0, |at| u8::try_from(at + 1).expect("five reasons"));
        let mut flags = reason << REASON_SHIFT;
        flags |= if self.truncated { TRUNCATED } else { 0 };
        flags |= if self.crawl_delay.is_some() { CRAWL_DELAY } else { 0 };
        out.extend([VERSION, flags]);
        if let Some(delay) = self.crawl_delay {
            push_number(u64::try_from(delay.as_nanos()).expect("a delay of at most a day"), &mut out);
        }
        push_number(self.rules.len() as u64, &mut out);
        for rule in &self.rules {
            push_number(u64::from(rule.line), &mut out);
            push_number(
                u64::from(rule.len) << 2 | u64::from(rule.allow) << 1 | u64::from(rule.anchored),
                &mut out,
            );
            out.extend_from_slice(self.pattern(rule));
        }
        push_number(self.sitemaps.len() as u64, &mut out);
        for sitemap in &self.sitemaps {
            push_number(sitemap.len() as u64, &mut out);
            out.extend_from_slice(sitemap.as_bytes());
        }
        let sum = crc32fast::hash(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads a byte form back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Robots, Error> {
        let damaged = |at, what| Error::Damaged { at, what };
        match bytes.first() {
            Some(&VERSION) => {}
            Some(&other) => return Err(Error::Version(other)),
            None => return Err(damaged(0, "nothing there")),
        }
        let Some((content, sum)) = bytes.split_last_chunk::<SUM_BYTES>() else {
            return Err(damaged(bytes.len(), "too short"));
        };
        if bytes.len() > FORM_BYTES_MAX {
            return Err(damaged(FORM_BYTES_MAX, "too long"));
        }
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(damaged(content.len(), "the checksum differs"));
        }
        let mut cursor = Cursor { bytes: content, pos: 1 };
        let robots = cursor.robots();
        robots
            .filter(|_| cursor.pos == content.len())
            .ok_or(damaged(cursor.pos, "the content makes no sense"))
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    fn robots(&mut self) -> Option<Robots> {
        let flags = *self.take(1)?.first()?;
        let mut robots = Robots { truncated: flags & TRUNCATED != 0, ..Robots::default() };
        robots.disallow_reason = match usize::from(flags >> REASON_SHIFT) {
            0 => None,
            reason => Some(*REASONS.get(reason - 1)?),
        };
        if flags & CRAWL_DELAY != 0 {
            let delay = Duration::from_nanos(self.number()?);
            robots.crawl_delay = Some(delay).filter(|&delay| delay <= CRAWL_DELAY_MAX);
            robots.crawl_delay?;
        }
        for _ in 0..self.number()? {
            let line = u32::try_from(self.number()?).ok()?;
            let packed = self.number()?;
            let pattern = self.take(usize::try_from(packed >> 2).ok()?)?;
            let rule = Rule::new(pattern, robots.patterns.len(), line, packed & 2 != 0, packed & 1 != 0);
            if robots.rules.last().is_some_and(|last| last.precedence() > rule.precedence()) {
                return None;
            }
            robots.patterns.extend_from_slice(pattern);
            robots.rules.push(rule);
        }
        for _ in 0..self.number()? {
            let length = usize::try_from(self.number()?).ok()?;
            robots.sitemaps.push(std::str::from_utf8(self.take(length)?).ok()?.to_owned());
        }
        robots.rules.shrink_to_fit();
        robots.patterns.shrink_to_fit();
        Some(robots)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.pos..self.pos.checked_add(length)?)?;
        self.pos += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                // One spelling per number: neither zeros behind nor bits beyond the 64th.
                return (shift == 0 || byte > 0 && (shift < 63 || byte == 1)).then_some(number);
            }
        }
        None
    }
}

fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "sitemap: https://a.example/s.xml\nuser-agent: *\ncrawl-delay: 1.5\nallow: /a/b\ndisallow: /a\ndisallow: /*?x=ä$\ndisallow: /";

    #[test]
    fn every_part_survives() {
        let robots = Robots::parse(FILE.as_bytes(), "Mattock");
        let bytes = robots.to_bytes();
        assert_eq!(Robots::from_bytes(&bytes), Ok(robots));
        assert!(bytes.len() < FILE.len(), "{} bytes", bytes.len());
        assert_eq!(Robots::allow_all().to_bytes().len(), 8);
        for reason in REASONS {
            let closed = Robots::disallow_all(reason);
            assert_eq!(Robots::from_bytes(&closed.to_bytes()), Ok(closed), "{reason:?}");
        }
    }

    /// Files of this version lie in caches: what they mean may not change.
    #[test]
    fn version_1_stays_readable() {
        let bytes = b"\x01\x02\x80\x94\xeb\xdc\x03\x02\x03\x0a/a\x02\x04/\x01\x01s\xe7\x50\x6d\x3e";
        let expected =
            Robots::parse(b"user-agent: *\ndisallow: /\nallow: /a\ncrawl-delay: 1\nsitemap: s", "Mattock");
        assert_eq!(expected.to_bytes(), bytes);
        assert_eq!(Robots::from_bytes(bytes), Ok(expected));
    }

    #[test]
    fn all_damage_is_seen() {
        let bytes = Robots::parse(FILE.as_bytes(), "Mattock").to_bytes();
        for at in 0..bytes.len() {
            assert!(Robots::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert!(Robots::from_bytes(&changed).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert_eq!(Robots::from_bytes(&[9, 0]), Err(Error::Version(9)));
        assert!(Robots::from_bytes(&[bytes, vec![0]].concat()).is_err());
    }

    fn summed(mut content: Vec<u8>) -> Vec<u8> {
        content.extend(crc32fast::hash(&content).to_le_bytes());
        content
    }

    #[test]
    fn lies_with_a_right_sum_allocate_nothing() {
        let giant = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        for content in [
            [&[VERSION, 0][..], &giant].concat(),
            [&[VERSION, 0, 1, 1], &giant[..]].concat(),
            [&[VERSION, 0, 0], &giant[..]].concat(),
            vec![VERSION, 7 << REASON_SHIFT, 0, 0],
            vec![VERSION, 0, 0x80, 0, 0],
            vec![VERSION, 0, 2, 1, 1 << 2, b'/', 2, 2 << 2, b'/', b'a', 0],
        ] {
            assert!(
                matches!(Robots::from_bytes(&summed(content.clone())), Err(Error::Damaged { .. })),
                "{content:?}"
            );
        }
    }

    proptest! {
        /// The same value, hence the same verdicts.
        #[test]
        fn round_trip(
            rules in proptest::collection::vec((any::<bool>(), "/[ab*?%ä]{0,6}\\$?"), 0..12),
            delay in proptest::option::of(0u32..200_000),
            path in "/[ab?]{0,8}",
        ) {
            let mut body = "user-agent: *\nsitemap: /s\n".to_owned();
            for (allow, pattern) in &rules {
                body.push_str(&format!("{}: {pattern}\n", if *allow { "allow" } else { "disallow" }));
            }
            if let Some(delay) = delay {
                body.push_str(&format!("crawl-delay: {}\n", f64::from(delay) / 7.0));
            }
            let robots = Robots::parse(body.as_bytes(), "Mattock");
            let back = Robots::from_bytes(&robots.to_bytes()).unwrap();
            prop_assert_eq!(back.verdict(&path), robots.verdict(&path));
            prop_assert_eq!(back, robots);
        }

        #[test]
        fn any_bytes(content in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Robots::from_bytes(&content);
            if let Ok(robots) = Robots::from_bytes(&summed([&[VERSION], &content[..]].concat())) {
                // What is accepted has one spelling.
                prop_assert_eq!(Robots::from_bytes(&robots.to_bytes()), Ok(robots));
            }
        }
    }
}
