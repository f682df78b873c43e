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
//! Costs: [`JOINING_BYTES`] a page, and what `memory` leaves beside them for grouping: if the numbers do not fit, prints are read several times, each
//! time for a part of the numbers. When the pages have been compared, all of that is freed but the clusters, and only then are links
//! asked for. [`duplicates_within`] says beforehand whether all of it fits. Nothing is written to disk. The result does not depend on `memory`,
//! unless groups are large.

mod groups;
mod mirrors;
mod union;

use std::ops::ControlFlow;

use mattock_features::{DESIGN_ESTIMATE, LinkSize, Result, SUPER_SHINGLES, Shingleprint, Shingles};
use serde::Serialize;

use crate::held::{GraphError, bytes_coded};
use groups::{Grouping, Key, Prints, mixed};
pub use mirrors::{Mirror, MirrorOptions, mirrors};
use union::{Sets, Union};

/// Up to so many pages of a group are compared each with each.
const ALL_PAIRS_MAX: usize = 32;
/// So many pages of a large group are compared with all others.
const LEADERS_MAX: usize = 32;
/// Pairs of super-shingles.
const PAIRS: usize = SUPER_SHINGLES * (SUPER_SHINGLES - 1) / 2;

/// Bytes for each page while pages are compared: the sets, and who is a copy.
const JOINING_BYTES: u64 = 5;
/// Bytes of clusters for each page, if all pages are in clusters of two.
const CLUSTER_BYTES: u64 = (size_of::<Cluster>() as u64 + ALLOCATED_BYTES) / 2 + 8;
/// What an allocation takes beside what was asked for.
const ALLOCATED_BYTES: u64 = 16;
/// Bytes for each page beside clusters while they are made, and while it is said of each page in which it is.
const BESIDE_BYTES: u64 = 16;

/// Bytes that remain for sorting beside clusters of so many pages, of those that are allowed.
pub fn beside_clusters(pages: u64, memory: u64) -> u64 {
    memory.saturating_sub(pages * (CLUSTER_BYTES + BESIDE_BYTES))
}

/// Whether clusters of so many pages, with links of this size to them, can be found in so many bytes, however many copies there are.
pub fn duplicates_within(pages: u64, inlinks: LinkSize, memory: u64) -> std::result::Result<(), GraphError> {
    if pages > u64::from(u32::MAX) {
        return Err(GraphError::Nodes { nodes: pages });
    }
    let with_links = pages * CLUSTER_BYTES + bytes_coded(&[inlinks]);
    let needed = with_links.max(pages * (CLUSTER_BYTES + BESIDE_BYTES));
    if needed > memory {
        return Err(GraphError::Memory { nodes: pages, arcs: inlinks.arcs, needed, memory });
    }
    Ok(())
}

/// How clusters are found.
#[derive(Clone, Debug)]
pub struct DuplicateOptions {
    /// Pages are near-duplicates if their resemblance is estimated so high.
    pub threshold: f64,
    /// Bytes that may be used; however few they are, some pages are grouped at once.
    pub memory: u64,
}

impl Default for DuplicateOptions {
    fn default() -> DuplicateOptions {
        DuplicateOptions { threshold: DESIGN_ESTIMATE, memory: 512 << 20 }
    }
}

/// How many pages link to a page.
pub type Inlinks = Box<dyn Fn(u64) -> u64>;

/// What decides who stands for a cluster.
pub struct Preference<'a> {
    /// How many pages link to each; asked for once, when pages have been compared and their memory is free.
    pub inlinks: &'a dyn Fn() -> Result<Inlinks>,
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
        let count = self.clusters.iter().map(|cluster| cluster.pages.len()).sum();
        let mut pages = Vec::with_capacity(count);
        for cluster in &self.clusters {
            pages.extend(cluster.pages.iter().map(|page| (*page, cluster.representative)));
        }
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
    let memory = options.memory.saturating_sub(shingles.len() * JOINING_BYTES);
    let prints = Prints::new(shingles, memory / 2)?;
    let mut union = Union::new(shingles.len() as usize);
    let mut is_copy = vec![false; shingles.len() as usize];
    // By far most of the work is in the pairs.
    let steps = 1.0 + PAIRS as f64;
    let by_print = Grouping { prints: &prints, memory: memory / 2, left_out: None, keys_per_page: 1 };
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
    drop(prints);
    let mut clusters = clusters(shingles, &union.sets(), &is_copy);
    drop(is_copy);
    if !clusters.is_empty() {
        let inlinks = (preference.inlinks)()?;
        for cluster in &mut clusters {
            cluster.representative = preferred(&cluster.pages, &inlinks, preference.url_length)?;
        }
    }
    clusters.sort_unstable_by_key(|cluster| (std::cmp::Reverse(cluster.pages.len()), cluster.representative));
    Ok(Some(Duplicates { pages: shingles.len(), clusters }))
}

/// Clusters of sets of places, each with its first page as the representative.
fn clusters(shingles: &Shingles, sets: &Sets, is_copy: &[bool]) -> Vec<Cluster> {
    let mut clusters = Vec::with_capacity(sets.len());
    for places in sets.iter() {
        let distinct = places.iter().filter(|place| !is_copy[**place as usize]).count() as u64;
        let mut pages = Vec::with_capacity(places.len());
        pages.extend(places.iter().filter_map(|place| shingles.id_at(u64::from(*place))));
        clusters.push(Cluster { representative: pages[0], pages, distinct });
    }
    clusters
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

fn preferred(pages: &[u64], inlinks: &Inlinks, url_length: &dyn Fn(u64) -> Result<usize>) -> Result<u64> {
    // The most links, then the shortest URL, then the first.
    let most = pages.iter().map(|page| inlinks(*page)).max();
    let mut best = pages.iter().filter(|page| Some(inlinks(**page)) == most);
    let first = best.next().copied().unwrap_or(pages[0]);
    let mut shortest: Option<(usize, u64)> = None;
    for page in best {
        let (length, preferred) = match shortest {
            Some(shortest) => shortest,
            None => (url_length(first)?, first),
        };
        let other = url_length(*page)?;
        shortest = Some(if other < length { (other, *page) } else { (length, preferred) });
    }
    Ok(shortest.map_or(first, |(_, page)| page))
}
