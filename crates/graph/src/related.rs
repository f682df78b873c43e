//! Pages like a page, by links alone: *Finding related pages in the World Wide Web* (Dean and Henzinger, 1999), and HITS (Kleinberg).
//!
//! - **cocitation**: pages that are linked to by those who link to the page, next to it; the more often, the more alike.
//! - **companion**: the page's vicinity is taken (parents, children of parents, children, parents of children, each up to a limit),
//!   and hubs and authorities are computed in it. A host's links to one page share one vote, and so do one page's links to
//!   pages of one host, so that no site speaks with many voices. The best authorities are the companions.
//!
//! Where we differ: which links of a parent stand next to the page is told by ids, that is by URL, not by their place on the parent: the
//! link database does not know places. Copies of the page under other URLs are not merged here.
//!
//! [`hits`] is Kleinberg's, on any set of nodes and the links between them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::adjacency::Adjacency;

/// How much of the vicinity is looked at.
#[derive(Clone, Debug)]
pub struct Vicinity {
    /// Parents of the page, at most.
    pub parents: usize,
    /// Children of each parent, at most: the nearest to the page.
    pub siblings: usize,
    /// Children of the page, at most.
    pub children: usize,
    /// Parents of each child, at most.
    pub mates: usize,
}

impl Default for Vicinity {
    fn default() -> Vicinity {
        // The paper's numbers.
        Vicinity { parents: 2000, siblings: 8, children: 500, mates: 8 }
    }
}

/// A page and how much it is like the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Related {
    /// The page.
    pub node: u32,
    /// More is more alike.
    pub score: f64,
}

fn sorted(scores: impl IntoIterator<Item = (u32, f64)>, count: usize) -> Vec<Related> {
    let mut related: Vec<Related> = scores.into_iter().map(|(node, score)| Related { node, score }).collect();
    related.sort_unstable_by(|one, two| two.score.total_cmp(&one.score).then(one.node.cmp(&two.node)));
    related.truncate(count);
    related
}

/// Evenly spread over a list, at most `count` of it: parents of a popular page should not all be of one host.
fn spread(list: impl IntoIterator<Item = u32>, count: usize) -> Vec<u32> {
    let list: Vec<u32> = list.into_iter().collect();
    if list.len() <= count {
        return list;
    }
    (0..count).map(|index| list[index * list.len() / count]).collect()
}

/// The targets of `parent` that are nearest to `node`, without it.
fn beside(graph: &impl Adjacency, parent: u32, node: u32, count: usize) -> Vec<u32> {
    let list: Vec<u32> = graph.successors(parent).collect();
    let place = list.partition_point(|target| *target < node);
    let (before, after) = (&list[..place], &list[place..]);
    let after = after.strip_prefix(&[node]).unwrap_or(after);
    let half = count.div_ceil(2);
    let from_after = after.len().min(count - half.min(before.len()));
    let from_before = before.len().min(count - from_after);
    before[before.len() - from_before..].iter().chain(&after[..from_after]).copied().collect()
}

/// Pages that are linked to together with this one, by the number of pages that do so. Only those with two at least.
pub fn cocitation(
    graph: &impl Adjacency,
    turned: &impl Adjacency,
    node: u32,
    vicinity: &Vicinity,
    count: usize,
) -> Vec<Related> {
    let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
    for parent in spread(turned.successors(node).filter(|parent| *parent != node), vicinity.parents) {
        for sibling in beside(graph, parent, node, vicinity.siblings) {
            *counts.entry(sibling).or_default() += 1.0;
        }
    }
    sorted(counts.into_iter().filter(|(_, count)| *count >= 2.0), count)
}

/// A page and its vicinity, by number: parents, children of parents, children, parents of children.
pub fn around(graph: &impl Adjacency, turned: &impl Adjacency, node: u32, vicinity: &Vicinity) -> Vec<u32> {
    let mut nodes = vec![node];
    for parent in spread(turned.successors(node).filter(|parent| *parent != node), vicinity.parents) {
        nodes.push(parent);
        nodes.extend(beside(graph, parent, node, vicinity.siblings));
    }
    for child in spread(graph.successors(node).filter(|child| *child != node), vicinity.children) {
        nodes.push(child);
        nodes.extend(beside(turned, child, node, vicinity.mates));
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The best authorities around a page. `host` tells the host of a node: links within one are left out.
pub fn companions(
    graph: &impl Adjacency,
    turned: &impl Adjacency,
    node: u32,
    host: impl Fn(u32) -> u64,
    vicinity: &Vicinity,
    count: usize,
) -> Vec<Related> {
    let nodes = around(graph, turned, node, vicinity);
    let hosts: Vec<u64> = nodes.iter().map(|node| host(*node)).collect();
    let links: Vec<(usize, usize)> =
        links_within(graph, &nodes).into_iter().filter(|(from, to)| hosts[*from] != hosts[*to]).collect();
    let (mut to_page, mut to_host) = (BTreeMap::new(), BTreeMap::new());
    for (from, to) in &links {
        *to_page.entry((hosts[*from], *to)).or_insert(0.0) += 1.0;
        *to_host.entry((*from, hosts[*to])).or_insert(0.0) += 1.0;
    }
    let weighted: Vec<Weighted> = links
        .iter()
        .map(|(from, to)| Weighted {
            from: *from,
            to: *to,
            authority: 1.0 / to_page[&(hosts[*from], *to)],
            hub: 1.0 / to_host[&(*from, hosts[*to])],
        })
        .collect();
    let (authorities, _) = iterate(nodes.len(), &weighted);
    let scores = nodes.iter().copied().zip(authorities);
    sorted(scores.filter(|(other, score)| *other != node && *score > NOTHING), count)
}

/// Hubs and authorities.
#[derive(Clone, Debug)]
pub struct Hits {
    /// Nodes that good hubs link to, best first. The squares of all scores add up to 1.
    pub authorities: Vec<Related>,
    /// Nodes that link to good authorities, best first.
    pub hubs: Vec<Related>,
}

/// Computes hubs and authorities among some nodes, by the links between them.
pub fn hits(graph: &impl Adjacency, nodes: &[u32], count: usize) -> Hits {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    let links: Vec<Weighted> = links_within(graph, &nodes)
        .into_iter()
        .filter(|(from, to)| from != to)
        .map(|(from, to)| Weighted { from, to, authority: 1.0, hub: 1.0 })
        .collect();
    let (authorities, hubs) = iterate(nodes.len(), &links);
    let best = |scores: Vec<f64>| {
        let scores = nodes.iter().copied().zip(scores);
        sorted(scores.filter(|(_, score)| *score > NOTHING), count)
    };
    Hits { authorities: best(authorities), hubs: best(hubs) }
}

/// Links between the given nodes, as places in their list, which is sorted.
fn links_within(graph: &impl Adjacency, nodes: &[u32]) -> Vec<(usize, usize)> {
    let mut links = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let targets = graph.successors(*node);
        links.extend(targets.filter_map(|target| nodes.binary_search(&target).ok().map(|to| (from, to))));
    }
    links
}

struct Weighted {
    from: usize,
    to: usize,
    authority: f64,
    hub: f64,
}

/// Rounds at most. The scores change by less than [`ENOUGH`] long before, unless two vectors are equally good.
const ROUNDS: usize = 200;
const ENOUGH: f64 = 1e-12;
/// A score that is less goes to nothing as the rounds go on.
const NOTHING: f64 = 1e-9;

fn iterate(nodes: usize, links: &[Weighted]) -> (Vec<f64>, Vec<f64>) {
    let mut hubs = vec![1.0; nodes];
    let mut authorities = vec![0.0; nodes];
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; nodes];
        links.iter().for_each(|link| next[link.to] += hubs[link.from] * link.authority);
        normalize(&mut next);
        hubs.fill(0.0);
        links.iter().for_each(|link| hubs[link.from] += next[link.to] * link.hub);
        normalize(&mut hubs);
        let change: f64 =
            next.iter().zip(&authorities).map(|(one, two): (&f64, &f64)| (one - two).abs()).sum();
        authorities = next;
        if change < ENOUGH {
            break;
        }
    }
    (authorities, hubs)
}

fn normalize(values: &mut [f64]) {
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    fn nodes(related: &[Related]) -> Vec<u32> {
        related.iter().map(|related| related.node).collect()
    }

    #[test]
    fn who_is_linked_to_together_is_alike() {
        // 0, 1 and 2 link to 3; 0 and 1 also to 4, and 2 to 5.
        let graph = Csr::from_lists(&[vec![3, 4], vec![3, 4], vec![3, 5], vec![], vec![], vec![]]);
        let turned = graph.transposed();
        let found = cocitation(&graph, &turned, 3, &Vicinity::default(), 9);
        assert_eq!(found, [Related { node: 4, score: 2.0 }]);
        let found = companions(&graph, &turned, 3, u64::from, &Vicinity::default(), 9);
        assert_eq!(nodes(&found), [4, 5]);
        // Had all parents one host, they would have one vote.
        let found = companions(&graph, &turned, 3, |node| u64::from(node / 3), &Vicinity::default(), 9);
        assert!((found[0].score - found[1].score).abs() < 1.0, "{found:?}");
        let none = companions(&graph, &turned, 3, |_| 1, &Vicinity::default(), 9);
        assert_eq!(none, []);
    }

    #[test]
    fn nearest_siblings_are_taken_from_both_sides() {
        let graph = Csr::from_lists(&[
            vec![1, 2, 3, 5, 6, 7],
            vec![],
            vec![],
            vec![],
            vec![],
            vec![],
            vec![],
            vec![],
        ]);
        assert_eq!(beside(&graph, 0, 4, 2), [3, 5]);
        assert_eq!(beside(&graph, 0, 5, 4), [2, 3, 6, 7]);
        assert_eq!(beside(&graph, 0, 1, 3), [2, 3, 5]);
        assert_eq!(beside(&graph, 0, 7, 3), [3, 5, 6]);
        assert_eq!(spread(0..10, 4), [0, 2, 5, 7]);
    }

    #[test]
    fn hubs_and_authorities_of_a_star() {
        let graph = Csr::from_lists(&[vec![2, 3], vec![2], vec![], vec![]]);
        let found = hits(&graph, &[0, 1, 2, 3], 2);
        assert_eq!(nodes(&found.authorities), [2, 3]);
        assert_eq!(nodes(&found.hubs), [0, 1]);
        // The authorities are the first eigenvector of [[2, 1], [1, 1]].
        let ratio = found.authorities[0].score / found.authorities[1].score;
        assert!((ratio - (1.0 + 5.0_f64.sqrt()) / 2.0).abs() < 1e-9);
    }
}
