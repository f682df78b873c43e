//! Pages that say nearly the same: clusters of them, and hosts that mirror each other.
//!
//! Asked by `mattock duplicates`; filled from the shingleprints of a generation ([`Shingles`]), whose module says how alike pages are and how often
//! pairs of them are found. The steps:
//!
//! 1. Pages with the same print are copies. Of each such set one goes on.
//! 2. Pages that share two super-shingles are candidates. Every pair of a page's 12 super-shingles becomes one number, 66 in all; pages that have a number in
//!    common are [grouped](groups).
//! 3. Candidates whose prints agree enough are joined (union-find). In a small group all pairs are compared, in a large one every
//!    page with the first [`LEADERS_MAX`] that are in different clusters: so the cost is linear in the size of a group. A template with
//!    thousands of instances makes such groups, and most of them are joined with the first leader.
//! 4. Each cluster gets a representative: the page with the most inlinks, of these the one with the shortest URL, of these the first.
//!
//! Clusters are what is connected: two pages of one need not be alike themselves, if there are some between them.
//!
//! Costs: 17 bytes a page in memory, the pages of clusters, and `memory` for grouping: if the numbers do not fit, prints are read
//! several times, each time for a part of the numbers. Nothing is written to disk. The result does not depend on `memory`, unless groups are large.

mod groups;
mod mirrors;
mod union;

use std::ops::ControlFlow;

use mattock_features::{DESIGN_ESTIMATE, Result, SUPER_SHINGLES, Shingleprint, Shingles};
use serde::Serialize;

use groups::{Grouping, Key, Prints, mixed};
pub use mirrors::{Mirror, MirrorOptions, mirrors};
use union::Union;

/// Up to so many pages of a group are compared each with each.
const ALL_PAIRS_MAX: usize = 32;
/// So many pages of a large group are compared with all others.
const LEADERS_MAX: usize = 32;
/// Pairs of super-shingles.
const PAIRS: usize = SUPER_SHINGLES * (SUPER_SHINGLES - 1) / 2;

/// How clusters are found.
#[derive(Clone, Debug)]
pub struct DuplicateOptions {
    /// Pages are near-duplicates if their resemblance is estimated so high.
    pub threshold: f64,
    /// Bytes for grouping.
    pub memory: u64,
}

impl Default for DuplicateOptions {
    fn default() -> DuplicateOptions {
        DuplicateOptions { threshold: DESIGN_ESTIMATE, memory: 512 << 20 }
    }
}

/// What decides who stands for a cluster.
pub struct Preference<'a> {
    /// How many pages link to a page.
    pub inlinks: &'a dyn Fn(u64) -> u64,
    /// How long its URL is; asked only where the links do not decide.
    pub url_length: &'a dyn Fn(u64) -> Result<usize>,
}

impl std::fmt::Debug for Preference<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("by inlinks, then by the length of URLs")
    }
}

/// Pages that are nearly the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The one that stands for all.
    pub representative: u64,
    /// All of them, in order; two at least.
    pub pages: Vec<u64>,
    /// How many different prints they have: the rest are copies.
    pub distinct: u64,
}

/// All near-duplicates of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// Pages that have a print.
    pub pages: u64,
    /// Largest first, then by representative.
    pub clusters: Vec<Cluster>,
}

/// Near-duplicates in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DuplicateCounts {
    /// Pages with text.
    pub pages: u64,
    /// Clusters.
    pub clusters: u64,
    /// Pages in them.
    pub clustered: u64,
    /// Pages that could be left out: all of the clusters but one each.
    pub redundant: u64,
    /// Those of them that have the very print of another.
    pub exact: u64,
    /// The share of the pages that could be left out.
    pub redundant_share: f64,
}

impl Duplicates {
    /// In numbers.
    pub fn counts(&self) -> DuplicateCounts {
        let sum = |of: fn(&Cluster) -> u64| self.clusters.iter().map(of).sum::<u64>();
        let (clustered, distinct) =
            (sum(|cluster| cluster.pages.len() as u64), sum(|cluster| cluster.distinct));
        let clusters = self.clusters.len() as u64;
        let redundant = clustered - clusters;
        DuplicateCounts {
            pages: self.pages,
            clusters,
            clustered,
            redundant,
            exact: clustered - distinct,
            redundant_share: redundant as f64 / self.pages.max(1) as f64,
        }
    }

    /// By page, in order: the representatives of those that are in clusters.
    pub fn representatives(&self) -> Vec<(u64, u64)> {
        let of = |cluster: &Cluster| {
            let representative = cluster.representative;
            cluster.pages.iter().map(move |page| (*page, representative)).collect::<Vec<_>>()
        };
        let mut pages: Vec<_> = self.clusters.iter().flat_map(of).collect();
        pages.sort_unstable();
        pages
    }
}

/// Finds clusters. `progress` is told from 0 to 1, and can end it: then there is no result.
pub fn duplicates(
    shingles: &Shingles,
    options: &DuplicateOptions,
    preference: &Preference<'_>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Option<Duplicates>> {
    assert!(shingles.len() <= u64::from(u32::MAX), "pages are 32 bits wide");
    let prints = Prints::new(shingles, options.memory / 2)?;
    let mut union = Union::new(shingles.len() as usize);
    let mut is_copy = vec![false; shingles.len() as usize];
    // By far most of the work is in the pairs.
    let steps = 1.0 + PAIRS as f64;
    let by_print = Grouping { prints: &prints, memory: options.memory / 2, left_out: None, keys_per_page: 1 };
    let ended = by_print.run(
        |print, keys| keys.push(whole(print)),
        |group| join(&prints, group, &mut union, |one, two| one == two, |page| is_copy[page as usize] = true),
        |share| progress(share / steps),
    )?;
    if ended.is_break() {
        return Ok(None);
    }
    let by_pair = Grouping { left_out: Some(&is_copy), keys_per_page: PAIRS as u64, ..by_print };
    let alike = |one: &Shingleprint, two: &Shingleprint| one.resemblance(two) >= options.threshold;
    let ended = by_pair.run(
        pairs,
        |group| join(&prints, group, &mut union, alike, |_| {}),
        |share| progress((1.0 + share * PAIRS as f64) / steps),
    )?;
    if ended.is_break() {
        return Ok(None);
    }
    let mut clusters = Vec::new();
    for places in union.sets() {
        let distinct = places.iter().filter(|place| !is_copy[**place as usize]).count() as u64;
        let pages: Vec<u64> = places.iter().filter_map(|place| shingles.id_at(u64::from(*place))).collect();
        clusters.push(Cluster { representative: preferred(&pages, preference)?, pages, distinct });
    }
    clusters.sort_unstable_by_key(|cluster| (std::cmp::Reverse(cluster.pages.len()), cluster.representative));
    Ok(Some(Duplicates { pages: shingles.len(), clusters }))
}

/// Joins the pages of a group that are alike; `joined` is told of each that was found to be like an earlier one.
fn join(
    prints: &Prints<'_>,
    group: &[u32],
    union: &mut Union,
    alike: impl Fn(&Shingleprint, &Shingleprint) -> bool,
    mut joined: impl FnMut(u32),
) -> Result<()> {
    let is_small = group.len() <= ALL_PAIRS_MAX;
    // Those that later ones are compared with, and their prints when they have been needed.
    let mut leaders: Vec<(u32, Option<Shingleprint>)> = Vec::with_capacity(group.len().min(ALL_PAIRS_MAX));
    for page in group {
        let root = union.root(*page);
        if !is_small && leaders.iter().any(|(leader, _)| union.root(*leader) == root) {
            // One leader speaks for its cluster.
            continue;
        }
        let (mut print, mut found) = (None, false);
        for (leader, leader_print) in &mut leaders {
            if union.root(*leader) == union.root(*page) {
                continue;
            }
            if print.is_none() {
                print = Some(prints.at(*page)?);
            }
            if leader_print.is_none() {
                *leader_print = Some(prints.at(*leader)?);
            }
            if leader_print.zip(print).is_some_and(|(one, two)| alike(&one, &two)) {
                union.join(*leader, *page);
                joined(*page);
                found = true;
                if !is_small {
                    break;
                }
            }
        }
        if is_small || !found && leaders.len() < LEADERS_MAX {
            leaders.push((*page, print));
        }
    }
    Ok(())
}

/// The number of a whole print.
fn whole(print: &Shingleprint) -> Key {
    print.as_bytes().as_chunks::<8>().0.iter().fold(0, |hash, part| mixed(hash ^ u64::from_le_bytes(*part)))
}

/// A number for each pair of super-shingles.
fn pairs(print: &Shingleprint, keys: &mut Vec<Key>) {
    let supers = print.super_shingles();
    for one in 0..SUPER_SHINGLES {
        for two in one + 1..SUPER_SHINGLES {
            let place = (one * SUPER_SHINGLES + two) as u64;
            keys.push(mixed(mixed(supers[one] | place << 40) ^ supers[two]));
        }
    }
}

fn preferred(pages: &[u64], preference: &Preference<'_>) -> Result<u64> {
    let inlinks: Vec<u64> = pages.iter().map(|page| (preference.inlinks)(*page)).collect();
    let most = inlinks.iter().max();
    let mut best: Vec<u64> =
        pages.iter().zip(&inlinks).filter(|(_, links)| Some(*links) == most).map(|(page, _)| *page).collect();
    if best.len() > 1 {
        let lengths: Vec<usize> =
            best.iter().map(|page| (preference.url_length)(*page)).collect::<Result<_>>()?;
        let shortest = lengths.iter().min().copied();
        let mut at = 0;
        best.retain(|_| {
            at += 1;
            Some(lengths[at - 1]) == shortest
        });
    }
    Ok(best[0])
}
