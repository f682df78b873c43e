//! What the metadata record behind a document tells of its visit: `application/warc-fields`, as Heritrix and this crawler write them.
//!
//! ```text
//! via: http://example.org/          the URL that the link was found on
//! hopsFromSeed: LLE                 a letter for each step from a seed; Heritrix writes 12+LLE for 15 of them. Names in any case
//! seed:                             it is a seed
//! depth: 3                          the same, in ours
//! fetchTimeMs: 47
//! ```
//!
//! Lines that say nothing of this, or nothing that can be read, are passed over.

use mattock_repository::{RecordType, StoredRecord};
use mattock_weburl::{Fingerprint, WebUrl};

use crate::rows::Instance;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    via: Option<u64>,
    depth: Option<u32>,
    took_ms: Option<u64>,
}

impl Told {
    /// Reads a record, if it is one that tells something.
    pub(crate) fn of(record: &StoredRecord<'_>) -> Option<Told> {
        let kind = record.fields.get("Content-Type").unwrap_or_default();
        let fields = ["application/warc-fields", "text/anvl"].iter().any(|known| kind.starts_with(known));
        (fields && record.kind() == Some(RecordType::Metadata))
            .then(|| Self::read(record.block))
            .filter(|told| *told != Told::default())
    }

    fn read(block: &[u8]) -> Told {
        let mut told = Told::default();
        for line in String::from_utf8_lossy(block).lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                // As the text is, as keys of rows are made.
                "via" if WebUrl::parse_archived(value).is_ok() => told.via = Some(Fingerprint::of(value).0),
                "hopsfromseed" => told.depth = hops(value).or(told.depth),
                "seed" => told.depth = Some(0),
                "depth" => told.depth = value.parse().ok().or(told.depth),
                "fetchtimems" => told.took_ms = value.parse().ok().or(told.took_ms),
                _ => {}
            }
        }
        told
    }

    /// What is told here, and what is not stays as it is.
    pub(crate) fn tell(&self, instance: &mut Instance<'_>) {
        instance.details.via = self.via.or(instance.details.via);
        instance.depth = self.depth.or(instance.depth);
        instance.took_ms = self.took_ms.or(instance.took_ms);
    }
}

/// How many links there are in `LLE`, or in `12+LLE`, of which the first twelve are not shown. A redirect is no link here, as in crawls of ours, nor
/// is what had to be fetched first, like a robots.txt. Some write a number.
fn hops(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (more, letters) = text.split_once('+').unwrap_or(("0", text));
    let known = letters.bytes().all(|letter| letter.is_ascii_alphabetic());
    let links = letters.bytes().filter(|letter| !matches!(letter, b'R' | b'P')).count();
    let more = more.parse::<u32>().ok().filter(|_| known)?;
    more.checked_add(u32::try_from(links).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_heritrix_and_ours() {
        let heritrix = b"via: http://example.org/a\r\nhopsFromSeed: LLE\r\nfetchTimeMs: 47\r\noutlink: http://b.org/ L a/@href\r\n";
        let via = Some(Fingerprint::of("http://example.org/a").0);
        assert_eq!(Told::read(heritrix), Told { via, depth: Some(3), took_ms: Some(47) });
        assert_eq!(Told::read(b"seed:\nfetchTimeMs: 5\n").depth, Some(0));
        assert_eq!(Told::read(b"depth: 4\r\n").depth, Some(4));
        assert_eq!(
            Told::read(b"via: nowhere\nhopsFromSeed: ?\nfetchTimeMs: soon\nno line\xff"),
            Told::default()
        );
    }

    #[test]
    fn long_paths_are_counted() {
        assert_eq!(
            (hops("12+LLE"), hops(""), hops("L"), hops("x+L"), hops("4294967295+L")),
            (Some(15), Some(0), Some(1), None, None)
        );
    }
}
