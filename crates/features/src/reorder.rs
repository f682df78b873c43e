//! The same graph with other numbers: in an order in which like lists stand closer together, links take fewer bits.
//!
//! Ids stay in the order of URLs, which hosts and ranges depend on; a reordered graph is a generation of its own without URLs, for
//! keeping and for computing on. Whoever makes one keeps the order: it leads from the old numbers to the new.

use std::path::Path;

use mattock_env::Files;

use crate::build::{BuildOptions, Report, build_from_ids};
use crate::error::{FeaturesError, Result};
use crate::generation::Counts;
use crate::links::Links;

/// Builds a generation in which node `n` of `links` has the number `numbers[n]`. Each number must be there once.
pub fn reorder(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    links: &Links,
    numbers: &[u32],
    report: Report<'_>,
) -> Result<Counts> {
    let mut seen = vec![false; numbers.len()];
    let once =
        |number: &u32| seen.get_mut(*number as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    if numbers.len() as u64 != links.nodes() || !numbers.iter().all(once) {
        let what = "an order must have each number once".into();
        return Err(FeaturesError::Input { name: "the order".into(), line: 0, what });
    }
    let mut scan = links.scan(0..links.nodes());
    let (mut ready, mut at) = (Vec::new(), 0);
    let pairs = std::iter::from_fn(|| {
        while at >= ready.len() {
            let (node, targets) = scan.next()?;
            let source = u64::from(numbers[node as usize]);
            ready.clear();
            ready.extend(targets.iter().map(|target| (source, u64::from(numbers[*target]))));
            at = 0;
        }
        at += 1;
        Some(Ok(ready[at - 1]))
    });
    build_from_ids(files, dir, options, Some(links.nodes()), pairs, report)
}
