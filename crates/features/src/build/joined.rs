//! From fingerprints to ids: joining what is sorted by fingerprint.

use std::path::Path;

use super::{Progress, Stage, Steps};
use crate::error::{FeaturesError, Result};
use crate::generation::Counts;
use crate::sort::Scratch;
use crate::sort::pairs::{PairSorter, PairStream, SortedPairs};

/// Walks along (fingerprint, id), asked for ever greater fingerprints.
pub(super) struct Ids<'a> {
    stream: PairStream<'a>,
    head: Option<(u64, u64)>,
}

impl Ids<'_> {
    pub(super) fn new(ids: &SortedPairs) -> Result<Ids<'_>> {
        let mut stream = ids.stream()?;
        let head = stream.next()?;
        Ok(Ids { stream, head })
    }

    /// The id of a fingerprint: of several, the first.
    #[inline]
    pub(super) fn id(&mut self, fingerprint: u64) -> Result<u64> {
        while let Some((found, id)) = self.head {
            if found == fingerprint {
                return Ok(id);
            }
            self.head = self.stream.next()?;
        }
        // The text of every fingerprint went to the sorter of texts.
        let what = format!("no URL has the fingerprint {fingerprint:016x}");
        Err(FeaturesError::damaged(Path::new("scratch"), 0, what))
    }
}

/// URLs whose fingerprint an earlier URL has.
pub(super) fn collisions(ids: &SortedPairs) -> Result<u64> {
    let mut stream = ids.stream()?;
    let (mut count, mut last) = (0, None);
    while let Some((fingerprint, _)) = stream.next()? {
        count += u64::from(last == Some(fingerprint));
        last = Some(fingerprint);
    }
    Ok(count)
}

/// One bit for each id: whether it was crawled.
pub(super) fn crawled(ids: &SortedPairs, pages: &SortedPairs, counts: &mut Counts) -> Result<Vec<u8>> {
    let mut bits = vec![0_u8; counts.urls.div_ceil(8) as usize];
    let (mut ids, mut pages) = (Ids::new(ids)?, pages.stream()?);
    while let Some((fingerprint, _)) = pages.next()? {
        let id = ids.id(fingerprint)?;
        let (byte, bit) = (&mut bits[(id / 8) as usize], 1 << (id % 8));
        counts.crawled += u64::from(*byte & bit == 0);
        *byte |= bit;
    }
    Ok(bits)
}

/// From (target, source) by fingerprint to (source, target) by id.
pub(super) fn link_ids(
    scratch: &Scratch,
    ids: &SortedPairs,
    links: SortedPairs,
    memory: u64,
    report: &mut dyn FnMut(Progress),
) -> Result<SortedPairs> {
    // Both ends of each.
    let mut steps = Steps::new(report, Stage::Joining, Some(2 * links.len()));
    let mut by_source = PairSorter::new(scratch, "sources", memory);
    let (mut targets, mut stream) = (Ids::new(ids)?, links.stream()?);
    while let Some((target, source)) = stream.next()? {
        by_source.push((source, targets.id(target)?))?;
        steps.step();
    }
    drop(stream);
    drop(links);
    let by_source = by_source.finish()?;
    let mut by_id = PairSorter::new(scratch, "pairs", memory);
    let (mut sources, mut stream) = (Ids::new(ids)?, by_source.stream()?);
    while let Some((source, target)) = stream.next()? {
        by_id.push((sources.id(source)?, target))?;
        steps.step();
    }
    by_id.finish()
}
