//! A request as bytes: what lies in queues and logs between the stages.
//!
//! ```text
//! flags u8, [depth varint], [redirects u8], [attempt u8], [sitemap: level u8, allowance varint], [budget varint], URL text
//! ```
//!
//! What is zero is left out, and a flag says so: a page of depth 3 takes two bytes beside its text. The three highest bits of the
//! flags are the band. The URL goes to the end of the record.

use mattock_weburl::WebUrl;

use crate::{BANDS, Link, Request, Target};

const DEPTH: u8 = 1;
const REDIRECTS: u8 = 2;
const ATTEMPT: u8 = 4;
const SITEMAP: u8 = 8;
const BUDGET: u8 = 16;
const BAND_SHIFT: u32 = 5;
const _: () = assert!(BANDS == 1 << (u8::BITS - BAND_SHIFT));

/// Appends the record of a request to `out`. `number` is not in it: the place in a queue says the same.
pub(crate) fn encode(request: &Request, out: &mut Vec<u8>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(request.depth > 0, DEPTH)
            | flag(request.redirects > 0, REDIRECTS)
            | flag(request.attempt > 0, ATTEMPT)
            | flag(request.target != Target::Page, SITEMAP)
            | flag(request.budget > 0, BUDGET)
            | request.band.min(BANDS - 1) << BAND_SHIFT,
    );
    let &Request { depth, redirects, attempt, target, budget, .. } = request;
    put_head(out, depth, redirects, attempt, target, budget);
    out.extend_from_slice(request.url.as_str().as_bytes());
}

/// The record of a link, as that of the request that it becomes in this band.
pub(crate) fn encode_link(link: &Link, band: u8, out: &mut Vec<u8>) {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(link.depth > 0, DEPTH)
            | flag(link.redirects > 0, REDIRECTS)
            | flag(link.target != Target::Page, SITEMAP)
            | band.min(BANDS - 1) << BAND_SHIFT,
    );
    put_head(out, link.depth, link.redirects, 0, link.target, 0);
    out.extend_from_slice(link.url.as_str().as_bytes());
}

fn put_head(out: &mut Vec<u8>, depth: u32, redirects: u8, attempt: u8, target: Target, budget: u32) {
    if depth > 0 {
        put_varint(out, depth);
    }
    if redirects > 0 {
        out.push(redirects);
    }
    if attempt > 0 {
        out.push(attempt);
    }
    if let Target::Sitemap { level, allowance } = target {
        out.push(level);
        put_varint(out, allowance.into());
    }
    if budget > 0 {
        put_varint(out, budget);
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
    let target = if has(SITEMAP) {
        Target::Sitemap { level: reader.u8()?, allowance: reader.varint()?.try_into().ok()? }
    } else {
        Target::Page
    };
    let budget = if has(BUDGET) { reader.varint()? } else { 0 };
    let url = WebUrl::parse(std::str::from_utf8(reader.bytes).ok()?).ok()?;
    Some(Request { url, depth, redirects, target, band: flags >> BAND_SHIFT, attempt, budget, number: 0 })
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
    for flag in [REDIRECTS, ATTEMPT, SITEMAP] {
        if flags & flag != 0 {
            reader.u8()?;
        }
    }
    if flags & SITEMAP != 0 {
        reader.varint()?;
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
            (any::<u8>(), any::<u16>()).prop_map(|(level, allowance)| Target::Sitemap { level, allowance })
        ];
        let small = prop_oneof![Just(0u32), 0..300u32, any::<u32>()];
        let byte = prop_oneof![Just(0u8), any::<u8>()];
        ("[a-z]{1,9}", small.clone(), byte.clone(), target, byte, small).prop_map(
            |(path, depth, redirects, target, attempt, budget)| Request {
                url: WebUrl::parse(&format!("https://www.example.org/{path}?q={depth}")).unwrap(),
                depth,
                redirects,
                target,
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
            prop_assert!(bytes.len() <= request.url.as_str().len() + 18);
            prop_assert_eq!(url(&bytes), Some(request.url.as_str()));
            prop_assert_eq!(decode(&bytes), Some(request));
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
            band: 0,
            attempt: 0,
            budget: 0,
            number: 7,
        };
        encode(&request, &mut bytes);
        assert_eq!(bytes, b"\x01\x03http://example.org/");
    }
}
