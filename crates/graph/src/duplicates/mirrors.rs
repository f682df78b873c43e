//! Mirrored hosts: pairs of hosts with the same pages at the same paths.
//!
//! After Bharat and Broder (*Mirror, Mirror on the Web*, 1999): two hosts mirror each other if a large part of their paths is on both, with the same or
//! nearly the same content. A page is known by its path and its cluster. Hosts that have such a page in common are
//! counted as a pair; pairs with enough of them, for the smaller of the two hosts, are mirrors.
//!
//! A page that very many hosts have, as the one that every new server shows, would make a pair of every two of them: from [`HOSTS_MAX`] hosts on only neighbours
//! are paired, in the order of host names. A site with more mirrors than that is therefore told as a chain: each with the next.
//!
//! Costs: 16 bytes for each page that is in a cluster, and a look at its URL; pairs are counted by sorting, and if they do not fit into
//! memory, in several turns, each for a part of them.

use std::ops::Range;

use mattock_features::{Hosts, Result, Shingles, Urls};
use mattock_weburl::Fingerprint;
use serde::Serialize;

use super::Duplicates;
use super::groups::{mixed, turns};

/// So many hosts with one page are paired each with each.
const HOSTS_MAX: usize = 16;

/// When hosts count as mirrors.
#[derive(Clone, Debug)]
pub struct MirrorOptions {
    /// So many pages must be on both, at the least.
    pub pages_min: u64,
    /// And such a share of the pages of the smaller host.
    pub share_min: f64,
    /// Bytes for counting pairs, beside those of pages.
    pub memory: u64,
}

impl Default for MirrorOptions {
    fn default() -> MirrorOptions {
        MirrorOptions { pages_min: 3, share_min: 0.5, memory: 512 << 20 }
    }
}

/// Two hosts with the same pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mirror {
    /// One host, by its number.
    pub one: u64,
    /// The other, a greater number.
    pub two: u64,
    /// Pages with text of the one.
    pub pages_one: u64,
    /// Pages with text of the other.
    pub pages_two: u64,
    /// Paths that are on both, with text.
    pub common: u64,
    /// Those of them with the same or nearly the same text.
    pub same: u64,
    /// The share of the smaller host's pages that is the same on the other.
    pub score: f64,
}

/// Finds mirrored hosts among the pages that are in clusters; best first.
pub fn mirrors(
    urls: &Urls,
    hosts: &Hosts,
    shingles: &Shingles,
    duplicates: &Duplicates,
    options: &MirrorOptions,
) -> Result<Vec<Mirror>> {
    // Pages and who stands for them become a hash of path and cluster, and the host.
    let mut pages = duplicates.representatives();
    for (page, representative) in &mut pages {
        let path = Fingerprint::of(path_of(&urls.url(*page)?.unwrap_or_default())).0;
        (*page, *representative) = (mixed(path ^ mixed(*representative)), hosts.host_of(*page));
    }
    pages.sort_unstable();
    pages.dedup();
    let mut found = Vec::new();
    for_each_pair(&pages, options.memory, |[one, two], same| {
        let ranges = [one, two].map(|host| hosts.ids_of_host(host).expect("the host of a page exists"));
        let [pages_one, pages_two] = ranges.clone().map(|ids| {
            let places = shingles.places(ids);
            places.end - places.start
        });
        let score = same as f64 / pages_one.min(pages_two).max(1) as f64;
        if same >= options.pages_min && score >= options.share_min {
            let common = paths_on_both(urls, shingles, ranges)?;
            found.push(Mirror { one, two, pages_one, pages_two, common, same, score });
        }
        Ok(())
    })?;
    found.sort_by(|one, two| {
        two.score
            .total_cmp(&one.score)
            .then(two.same.cmp(&one.same))
            .then(one.one.cmp(&two.one))
            .then(one.two.cmp(&two.two))
    });
    Ok(found)
}

/// Pairs of hosts that have a page in common, and how many pages each pair has, in turns of as many pairs as fit. Pages are sorted, each with its
/// host.
fn for_each_pair(
    pages: &[(u64, u64)],
    memory: u64,
    mut visit: impl FnMut([u64; 2], u64) -> Result<()>,
) -> Result<()> {
    // Hosts are 32 bits wide, and so are pairs of them 64.
    let all = || {
        let groups = pages.chunk_by(|one, two| one.0 == two.0);
        groups.flat_map(|group| {
            let reach = if group.len() <= HOSTS_MAX { group.len() } else { 1 };
            let others = move |at: usize| group[at + 1..].iter().take(reach);
            let pairs = move |(at, one): (usize, &(u64, u64))| {
                let first = one.1;
                others(at).map(move |two| first << 32 | two.1)
            };
            group.iter().enumerate().flat_map(pairs)
        })
    };
    let turns = turns(all().count() as u64, memory);
    let mut pairs: Vec<u64> = Vec::new();
    for turn in 0..turns {
        pairs.clear();
        let of_turn = |pair: &u64| ((mixed(*pair) >> 32) * turns) >> 32 == turn;
        pairs.reserve_exact(all().filter(of_turn).count());
        pairs.extend(all().filter(of_turn));
        pairs.sort_unstable();
        for equal in pairs.chunk_by(|one, two| one == two) {
            visit([equal[0] >> 32, equal[0] & u64::from(u32::MAX)], equal.len() as u64)?;
        }
    }
    Ok(())
}

/// Path and query of a URL.
fn path_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or("/", |at| &url[host + at..])
}

/// How many paths two hosts have in common, of pages with text. Ids of a host are in the order of paths, so they are walked along side by side.
fn paths_on_both(urls: &Urls, shingles: &Shingles, ranges: [Range<u64>; 2]) -> Result<u64> {
    let texts = |ids: Range<u64>| {
        let with_text = shingles.places(ids);
        with_text.filter_map(|place| shingles.id_at(place)).map(|id| urls.url(id))
    };
    let [one, two] = ranges;
    let (mut one, mut two) = (texts(one), texts(two));
    let (mut first, mut second) = (one.next().transpose()?.flatten(), two.next().transpose()?.flatten());
    let mut common = 0;
    while let (Some(one_url), Some(two_url)) = (&first, &second) {
        let order = path_of(one_url).cmp(path_of(two_url));
        common += u64::from(order.is_eq());
        if order.is_le() {
            first = one.next().transpose()?.flatten();
        }
        if order.is_ge() {
            second = two.next().transpose()?.flatten();
        }
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn pairs_are_the_same_in_any_number_of_turns() {
        // Pages of 2 to 20 hosts each.
        let mut pages: Vec<(u64, u64)> = (0..4000_u64)
            .flat_map(|page| {
                (0..2 + page % 19).map(move |host| (mixed(page + 1), (page * 7 + host * host) % 90))
            })
            .collect();
        pages.sort_unstable();
        pages.dedup();
        let counted = |memory: u64| {
            let (mut found, mut visits) = (BTreeMap::new(), 0);
            let visit = |pair: [u64; 2], count: u64| {
                visits += 1;
                *found.entry(pair).or_insert(0) += count;
                Ok(())
            };
            for_each_pair(&pages, memory, visit).unwrap();
            // A pair comes in one turn.
            assert_eq!(visits, found.len());
            found
        };
        let expected = counted(1 << 30);
        let all: u64 = expected.values().sum();
        assert!(turns(all, 1 << 16) > 10 && turns(all, 1 << 30) == 1, "{all}");
        assert_eq!(counted(1 << 16), expected);
        assert_eq!(counted(0), expected);
    }
}
