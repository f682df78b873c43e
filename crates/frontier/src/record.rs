//! A request as bytes: what lies in queues and logs between the stages.
//!
//! ```text
//! flags u8, [depth varint], [redirects u8], [attempt u8], [extra], [budget varint], URL text
//! extra: kind u8, [sitemap: allowance varint], [via: fingerprint u64]
//! ```
//!
//! What is zero is left out, and a flag says so: a page of depth 3 takes two bytes beside its text, and nine more if it is known what it was
//! found on. The three highest bits of the flags are the band. The lower seven bits of the kind are the level of a sitemap, or all set for a
//! page; the highest says that a fingerprint follows. States up to version 6 know no fingerprints and have only sitemaps there, whose
//! bytes were the same. The URL goes to the end of the record.

use mattock_weburl::{Fingerprint, WebUrl};

use crate::{BANDS, Link, Request, Target};

const DEPTH: u8 = 1;
const REDIRECTS: u8 = 2;
const ATTEMPT: u8 = 4;
const EXTRA: u8 = 8;
const BUDGET: u8 = 16;
const BAND_SHIFT: u32 = 5;
const _: () = assert!(BANDS == 1 << (u8::BITS - BAND_SHIFT));
/// In the kind: a fingerprint follows.
const VIA: u8 = 0x80;
/// The kind of what is no sitemap. Levels stay far below: an index behind an index is rare, and crawls follow a handful.
const PAGE: u8 = 0x7f;

/// Appends the record of a request to `out`. `number` is not in it: the place in a queue says the same.
pub(crate) fn encode(request: &Request, out: &mut Vec<u8>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(request.depth > 0, DEPTH)
            | flag(request.redirects > 0, REDIRECTS)
            | flag(request.attempt > 0, ATTEMPT)
            | flag(has_extra(request.target, request.via), EXTRA)
            | flag(request.budget > 0, BUDGET)
            | request.band.min(BANDS - 1) << BAND_SHIFT,
    );
    let &Request { depth, redirects, attempt, target, via, budget, .. } = request;
    put_steps(out, depth, redirects, attempt);
    put_extra(out, target, via);
    if budget > 0 {
        put_varint(out, budget);
    }
    out.extend_from_slice(request.url.as_str().as_bytes());
}

/// The record of a link, as that of the request that it becomes in this band.
pub(crate) fn encode_link(link: &Link, band: u8, out: &mut Vec<u8>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(link.depth > 0, DEPTH)
            | flag(link.redirects > 0, REDIRECTS)
            | flag(has_extra(link.target, link.via), EXTRA)
            | band.min(BANDS - 1) << BAND_SHIFT,
    );
    put_steps(out, link.depth, link.redirects, 0);
    put_extra(out, link.target, link.via);
    out.extend_from_slice(link.url.as_str().as_bytes());
}

fn has_extra(target: Target, via: Option<Fingerprint>) -> bool {
    target != Target::Page || via.is_some()
}

fn put_steps(out: &mut Vec<u8>, depth: u32, redirects: u8, attempt: u8) {
    if depth > 0 {
        put_varint(out, depth);
    }
    if redirects > 0 {
        out.push(redirects);
    }
    if attempt > 0 {
        out.push(attempt);
    }
}

fn put_extra(out: &mut Vec<u8>, target: Target, via: Option<Fingerprint>) {
    if !has_extra(target, via) {
        return;
    }
    let via_flag = if via.is_some() { VIA } else { 0 };
    match target {
        Target::Page => out.push(PAGE | via_flag),
        Target::Sitemap { level, allowance } => {
            out.push(level.min(PAGE - 1) | via_flag);
            put_varint(out, allowance.into());
        }
    }
    if let Some(Fingerprint(via)) = via {
        out.extend_from_slice(&via.to_le_bytes());
    }
}

/// The request of a record; `None` if it is none.
pub(crate) fn decode(record: &[u8]) -> Option<Request> {
    let mut reader = Reader { bytes: record };
    let flags = reader.u8()?;
    let has = |flag: u8| flags & flag != 0;
    let depth = if has(DEPTH) { reader.varint()? } else { 0 };
    let redirects = if has(REDIRECTS) { reader.u8()? } else { 0 };
    let attempt = if has(ATTEMPT) { reader.u8()? } else { 0 };
    let (target, via) = if has(EXTRA) { reader.extra()? } else { (Target::Page, None) };
    let budget = if has(BUDGET) { reader.varint()? } else { 0 };
    let url = WebUrl::parse(std::str::from_utf8(reader.bytes).ok()?).ok()?;
    Some(Request {
        url,
        depth,
        redirects,
        target,
        via,
        band: flags >> BAND_SHIFT,
        attempt,
        budget,
        number: 0,
    })
}

/// The URL of a record as it stands there, unchecked; `None` if it is no record.
pub(crate) fn url(record: &[u8]) -> Option<&str> {
    let (flags, mut reader) = up_to_budget(record)?;
    if flags & BUDGET != 0 {
        reader.varint()?;
    }
    std::str::from_utf8(reader.bytes).ok()
}

/// The flags of a record, and what comes behind all that stands before the budget.
fn up_to_budget(record: &[u8]) -> Option<(u8, Reader<'_>)> {
    let mut reader = Reader { bytes: record };
    let flags = reader.u8()?;
    if flags & DEPTH != 0 {
        reader.varint()?;
    }
    for flag in [REDIRECTS, ATTEMPT] {
        if flags & flag != 0 {
            reader.u8()?;
        }
    }
    if flags & EXTRA != 0 {
        reader.extra()?;
    }
    Some((flags, reader))
}

/// The band of a record; the last one if it is no record.
pub(crate) fn band(record: &[u8]) -> u8 {
    record.first().map_or(BANDS - 1, |flags| flags >> BAND_SHIFT)
}

/// Puts a record into another band.
pub(crate) fn set_band(record: &mut [u8], band: u8) {
    if let Some(flags) = record.first_mut() {
        *flags = *flags & ((1 << BAND_SHIFT) - 1) | band.min(BANDS - 1) << BAND_SHIFT;
    }
}

/// Appends the same record with another budget to `out`; `None` if it is no record.
pub(crate) fn with_budget(record: &[u8], budget: u32, out: &mut Vec<u8>) -> Option<()> {
    let (flags, mut reader) = up_to_budget(record)?;
    let head = record.len() - reader.bytes.len();
    if flags & BUDGET != 0 {
        reader.varint()?;
    }
    out.push(if budget > 0 { flags | BUDGET } else { flags & !BUDGET });
    out.extend_from_slice(&record[1..head]);
    if budget > 0 {
        put_varint(out, budget);
    }
    out.extend_from_slice(reader.bytes);
    Some(())
}

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what was put.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl Reader<'_> {
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn extra(&mut self) -> Option<(Target, Option<Fingerprint>)> {
        let kind = self.u8()?;
        let target = match kind & !VIA {
            PAGE => Target::Page,
            level => Target::Sitemap { level, allowance: self.varint()?.try_into().ok()? },
        };
        if kind & VIA == 0 {
            return Some((target, None));
        }
        let (via, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some((target, Some(Fingerprint(u64::from_le_bytes(*via)))))
    }

    pub(crate) fn varint(&mut self) -> Option<u32> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value.try_into().ok();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requests() -> impl Strategy<Value = Request> {
        let target = prop_oneof![
            Just(Target::Page),
            (0..PAGE, any::<u16>()).prop_map(|(level, allowance)| Target::Sitemap { level, allowance })
        ];
        let small = prop_oneof![Just(0u32), 0..300u32, any::<u32>()];
        let byte = prop_oneof![Just(0u8), any::<u8>()];
        let via = proptest::option::of(any::<u64>().prop_map(Fingerprint));
        ("[a-z]{1,9}", small.clone(), byte.clone(), target, via, byte, small).prop_map(
            |(path, depth, redirects, target, via, attempt, budget)| Request {
                url: WebUrl::parse(&format!("https://www.example.org/{path}?q={depth}")).unwrap(),
                depth,
                redirects,
                target,
                via,
                band: (depth % 8) as u8,
                attempt,
                budget,
                number: 0,
            },
        )
    }

    proptest! {
        #[test]
        fn a_request_comes_back(request in requests()) {
            let mut bytes = Vec::new();
            encode(&request, &mut bytes);
            prop_assert!(bytes.len() <= request.url.as_str().len() + 26);
            prop_assert_eq!(url(&bytes), Some(request.url.as_str()));
            prop_assert_eq!(decode(&bytes), Some(request));
        }

        #[test]
        fn a_link_is_the_record_of_its_request(request in requests()) {
            let request = Request { attempt: 0, budget: 0, ..request };
            let Request { url, depth, redirects, target, via, band, .. } = request.clone();
            let mut bytes = Vec::new();
            encode_link(&Link { url, depth, redirects, target, via }, band, &mut bytes);
            prop_assert_eq!(decode(&bytes), Some(request));
        }

        #[test]
        fn only_the_band_changes(request in requests(), band in 0..BANDS) {
            let mut bytes = Vec::new();
            encode(&request, &mut bytes);
            set_band(&mut bytes, band);
            prop_assert_eq!(decode(&bytes), Some(Request { band, ..request }));
        }

        #[test]
        fn only_the_budget_changes(request in requests(), budget in prop_oneof![Just(0u32), any::<u32>()]) {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            encode(&request, &mut before);
            with_budget(&before, budget, &mut after).unwrap();
            prop_assert_eq!(decode(&after), Some(Request { budget, ..request }));
        }

        #[test]
        fn nonsense_is_no_request_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some(request) = decode(&bytes) {
                prop_assert!(!request.url.as_str().is_empty());
            }
        }
    }

    #[test]
    fn a_page_takes_two_bytes_beside_its_text() {
        let url = WebUrl::parse("http://example.org/").unwrap();
        let mut bytes = Vec::new();
        let request = Request {
            url,
            depth: 3,
            redirects: 0,
            target: Target::Page,
            via: None,
            band: 0,
            attempt: 0,
            budget: 0,
            number: 7,
        };
        encode(&request, &mut bytes);
        assert_eq!(bytes, b"\x01\x03http://example.org/");
        bytes.clear();
        encode(&Request { via: Some(Fingerprint(0x0807_0605_0403_0201)), ..request }, &mut bytes);
        assert_eq!(bytes, b"\x09\x03\xff\x01\x02\x03\x04\x05\x06\x07\x08http://example.org/");
    }

    #[test]
    fn a_sitemap_of_a_state_of_version_6_can_be_read() {
        let record = b"\x09\x03\x02\x80\x02http://example.org/s.xml";
        let request = decode(record).unwrap();
        assert_eq!((request.depth, request.via), (3, None));
        assert_eq!(request.target, Target::Sitemap { level: 2, allowance: 256 });
        assert_eq!(url(record), Some("http://example.org/s.xml"));
        let mut again = Vec::new();
        encode(&request, &mut again);
        assert_eq!(again, record);
    }
}
