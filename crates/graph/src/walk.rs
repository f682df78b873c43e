//! Ways through a graph: the shortest from one page to another, and a random walk that visits pages nearly alike.
//!
//! **Sampling.** Whoever follows random links meets popular pages more often. [`sample`] walks over links in either direction and takes a
//! step from `u` to `v` only with probability `min(1, degree(u)/degree(v))` (Metropolis and Hastings): its stationary distribution is even over
//! all nodes that are joined to the start. It is *near* uniform only after the walk has forgotten its start, hence `burn_in`, and
//! samples are `thinning` steps apart, as neighbours are alike. What is not joined to the start is never seen.

use std::collections::VecDeque;

use mattock_env::Random;

use crate::adjacency::Adjacency;

/// The shortest way from one node to another, both in it; `None` if there is none. Of equally short ways the one with the least numbers
/// from the start on that the search finds first.
pub fn path(graph: &impl Adjacency, from: u32, to: u32) -> Option<Vec<u32>> {
    let mut before = vec![u32::MAX; graph.nodes()];
    before[from as usize] = from;
    let mut waiting = VecDeque::from([from]);
    while before[to as usize] == u32::MAX {
        let node = waiting.pop_front()?;
        for target in graph.successors(node) {
            if before[target as usize] == u32::MAX {
                before[target as usize] = node;
                waiting.push_back(target);
            }
        }
    }
    let mut way = vec![to];
    while way.last() != Some(&from) {
        way.push(before[way[way.len() - 1] as usize]);
    }
    way.reverse();
    Some(way)
}

/// How far each node is from a start: [`u32::MAX`] for what cannot be reached.
pub fn distances_from(graph: &impl Adjacency, start: u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.nodes()];
    distances[start as usize] = 0;
    let mut waiting = VecDeque::from([start]);
    while let Some(node) = waiting.pop_front() {
        for target in graph.successors(node) {
            if distances[target as usize] == u32::MAX {
                distances[target as usize] = distances[node as usize] + 1;
                waiting.push_back(target);
            }
        }
    }
    distances
}

/// How a random walk samples.
#[derive(Clone, Debug)]
pub struct SampleOptions {
    /// Nodes to sample; one may come several times.
    pub count: usize,
    /// Steps before the first.
    pub burn_in: usize,
    /// Steps from one to the next.
    pub thinning: usize,
    /// Decides the way.
    pub seed: u64,
}

impl Default for SampleOptions {
    fn default() -> SampleOptions {
        SampleOptions { count: 1000, burn_in: 10_000, thinning: 100, seed: 0 }
    }
}

/// Samples nodes by a walk over links in either direction. `turned` has the same links turned round.
pub fn sample(
    graph: &impl Adjacency,
    turned: &impl Adjacency,
    start: u32,
    options: &SampleOptions,
) -> Vec<u32> {
    let mut random = Random::from_seed(options.seed);
    let degree = |node: u32| (graph.degree(node) + turned.degree(node)) as u64;
    let (mut node, mut own) = (start, degree(start));
    let mut step = || {
        if own > 0 {
            let choice = (random.next_u64() % own) as usize;
            let out = graph.degree(node);
            let next = match choice < out {
                true => graph.successors(node).nth(choice),
                false => turned.successors(node).nth(choice - out),
            };
            let next = next.expect("there are as many links as the degree says");
            let other = degree(next);
            if random.next_u64() % other < own {
                (node, own) = (next, other);
            }
        }
        node
    };
    let mut walk = |steps: usize| (0..steps).map(|_| step()).last();
    walk(options.burn_in);
    (0..options.count).filter_map(|_| walk(options.thinning.max(1))).collect()
}
