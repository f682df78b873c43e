//! The frontier as bytes, for a clean stop.
//!
//! `MATTOCKF`, version (u32), count of seen fingerprints (u64), those sorted (u64 each), count of requests (u64),
//! each as depth (u32), redirects (u8), target (u8: 0 a page, else a sitemap at this level less one), allowance (u16), attempt
//! (u8), length (u32), URL; a CRC-32 of everything before it. All numbers are little-endian.
//! Visits in flight are not in it: a stop waits for them.

use mattock_env::Time;
use mattock_weburl::{Fingerprint, WebUrl};

use crate::{Frontier, Link, Request, Target};

const MAGIC: &[u8; 8] = b"MATTOCKF";
const VERSION: u32 = 2;

/// Why a snapshot cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Not a snapshot at all.
    #[error("it is not a frontier snapshot")]
    NotASnapshot,
    /// Of another version.
    #[error(
        "it has format version {0}, and this program knows version {VERSION}; use the program that wrote it"
    )]
    Version(u32),
    /// Bytes changed or are missing.
    #[error("it is damaged (its checksum is wrong); restore it from a copy")]
    Damaged,
}

impl Frontier {
    /// All that a later run needs to go on. No visit may be in flight.
    pub fn snapshot(&self) -> Vec<u8> {
        let seen = self.seen.sorted();
        let mut requests: Vec<&Request> =
            self.robots.requests().chain(self.ready.iter()).chain(self.bench.requests()).collect();
        requests.sort_by_key(|request| request.number);
        let mut bytes = Vec::with_capacity(64 + seen.len() * 8 + requests.len() * 100);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(seen.len() as u64).to_le_bytes());
        seen.iter().for_each(|fingerprint| bytes.extend_from_slice(&fingerprint.to_le_bytes()));
        bytes.extend_from_slice(&(requests.len() as u64).to_le_bytes());
        for request in requests {
            let url = request.url.as_str().as_bytes();
            bytes.extend_from_slice(&request.depth.to_le_bytes());
            let (target, allowance) = match request.target {
                Target::Page => (0, 0),
                Target::Sitemap { level, allowance } => (level.saturating_add(1), allowance),
            };
            bytes.extend_from_slice(&[request.redirects, target]);
            bytes.extend_from_slice(&allowance.to_le_bytes());
            bytes.push(request.attempt);
            bytes.extend_from_slice(&(url.len() as u32).to_le_bytes());
            bytes.extend_from_slice(url);
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Takes in a snapshot; the frontier must be empty. Every host starts with a full delay.
    pub fn restore(&mut self, bytes: &[u8], now: Time) -> Result<(), SnapshotError> {
        let body = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotASnapshot)?;
        let version =
            body.first_chunk().map(|chunk| u32::from_le_bytes(*chunk)).ok_or(SnapshotError::Damaged)?;
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(SnapshotError::Damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(SnapshotError::Damaged);
        }
        let mut reader = Reader { bytes: &content[MAGIC.len() + 4..] };
        for _ in 0..reader.u64()? {
            self.seen.insert(Fingerprint(reader.u64()?));
        }
        for _ in 0..reader.u64()? {
            let (depth, redirects, target) = (reader.u32()?, reader.u8()?, reader.u8()?);
            let (allowance, attempt, len) = (reader.u16()?, reader.u8()?, reader.u32()?);
            let text = std::str::from_utf8(reader.take(len as usize)?).map_err(|_| SnapshotError::Damaged)?;
            let url = WebUrl::parse(text).map_err(|_| SnapshotError::Damaged)?;
            let target = match target.checked_sub(1) {
                None => Target::Page,
                Some(level) => Target::Sitemap { level, allowance },
            };
            self.restore_request(Link { url, depth, redirects, target }, attempt, now);
        }
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(SnapshotError::Damaged)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, SnapshotError> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Result<u16, SnapshotError> {
        self.take(2).map(|bytes| u16::from(bytes[1]) << 8 | u16::from(bytes[0]))
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.take(4).map(|bytes| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.take(8).map(|bytes| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrontierOptions, Next, Politeness, Scope, ScopeRule};
    use std::time::Duration;

    fn frontier() -> Frontier {
        Frontier::new(FrontierOptions {
            scope: Scope::new(ScopeRule::Any, None),
            politeness: Politeness::default(),
            product_token: "mattock".into(),
        })
    }

    fn filled() -> Frontier {
        let mut frontier = frontier();
        let links = (0..50).map(|number| {
            let text = format!("http://h{}.com/{number}", number % 7);
            let target = match number % 3 {
                0 => Target::Page,
                _ => Target::Sitemap { level: number as u8 % 4, allowance: 300 + number as u16 },
            };
            Link { url: WebUrl::parse(&text).unwrap(), depth: number, redirects: number as u8 % 5, target }
        });
        frontier.submit(links.collect(), Time::ZERO);
        frontier
    }

    #[test]
    fn a_restored_frontier_has_the_same_urls_and_starts_with_a_delay() {
        let bytes = filled().snapshot();
        let mut restored = frontier();
        restored.restore(&bytes, Time::ZERO).unwrap();
        assert_eq!(restored.snapshot(), bytes);
        assert_eq!(restored.counts().seen, 50);
        let delay = Politeness::default().delay;
        assert_eq!(restored.next(Time::ZERO), Next::WaitUntil(Time::ZERO + delay));
        assert!(matches!(restored.next(Time::ZERO + delay + Duration::from_millis(1)), Next::Visit(_)));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = filled().snapshot();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            assert!(frontier().restore(&changed, Time::ZERO).is_err(), "bit at {place}");
            assert!(frontier().restore(&bytes[..place], Time::ZERO).is_err(), "cut at {place}");
        }
        let mut newer = bytes;
        newer[8] = 3;
        assert_eq!(frontier().restore(&newer, Time::ZERO), Err(SnapshotError::Version(3)));
    }
}
