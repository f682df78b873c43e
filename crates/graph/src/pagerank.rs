//! PageRank: where somebody is, in the long run, who follows a random link of each page and now and then goes anywhere.
//!
//! ```text
//! x' = (1 − α)/n + α (Σ over links j → i of x[j]/degree[j] + (Σ over j without links of x[j]) / n)
//! ```
//!
//! Pages without links are taken to link to every page alike (as networkx, igraph and WebGraph's default do with an even
//! preference). Every round reads what each page hands on to one of its links, which is settled before the round begins: so the
//! result does not depend on the number of threads, nor on who was faster. After a round, `α/(1−α) · ‖x' − x‖₁` bounds the distance to the true vector in the sum of all
//! components; rounds end when that bound is below `tolerance`.
//!
//! Costs: two numbers of 8 bytes a node and one of 4, one pass over the inlinks a round; with α = 0.85 a tolerance of 1e-6 takes about 85 rounds at
//! worst, each reducing the distance by α at least.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::adjacency::Adjacency;
use crate::held::NodeBytes;
use crate::parallel::{Watch, fill};

/// Nodes that a thread takes at once.
const PIECE: usize = 8192;

/// Bytes that ranks take for each node.
pub const RANK_BYTES: NodeBytes = NodeBytes::both(20);

/// How ranks are computed.
#[derive(Clone, Debug)]
pub struct PageRankOptions {
    /// The probability to follow a link.
    pub alpha: f64,
    /// How far the sum of all differences to the true ranks may be.
    pub tolerance: f64,
    /// Rounds at most.
    pub rounds_max: usize,
    /// Threads.
    pub threads: usize,
}

impl Default for PageRankOptions {
    fn default() -> PageRankOptions {
        PageRankOptions { alpha: 0.85, tolerance: 1e-6, rounds_max: 1000, threads: crate::threads() }
    }
}

/// Ranks, and how they were reached.
#[derive(Clone, Debug, Serialize)]
pub struct PageRank {
    /// The rank of each node; their sum is 1.
    #[serde(skip)]
    pub ranks: Vec<f64>,
    /// After each round, how far the ranks are from the true ones at most.
    pub bounds: Vec<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Ranks nodes by their inlinks; `degrees` are the numbers of their outlinks.
pub fn pagerank(inlinks: &impl Adjacency, degrees: &[u32], options: &PageRankOptions) -> PageRank {
    pagerank_watched(inlinks, degrees, options, &mut |_, _| ControlFlow::Continue(()))
}

/// The same; `watch` is told the bound after each round, and can end it.
pub fn pagerank_watched(
    inlinks: &impl Adjacency,
    degrees: &[u32],
    options: &PageRankOptions,
    watch: Watch<'_>,
) -> PageRank {
    let nodes = inlinks.nodes();
    assert_eq!(degrees.len(), nodes, "every node has a degree");
    let (alpha, count) = (options.alpha, nodes as f64);
    let mut result = PageRank { ranks: vec![1.0 / count; nodes], bounds: Vec::new(), converged: nodes == 0 };
    let mut parts = vec![0.0; nodes];
    while !result.converged && result.bounds.len() < options.rounds_max {
        let ranks = &result.ranks;
        let dangling: f64 = fill(options.threads, &mut parts, PIECE, |start, parts| {
            let mut dangling = 0.0;
            for (at, part) in parts.iter_mut().enumerate() {
                let (rank, degree) = (ranks[start + at], degrees[start + at]);
                match degree {
                    0 => (dangling, *part) = (dangling + rank, 0.0),
                    degree => *part = rank / f64::from(degree),
                }
            }
            dangling
        })
        .into_iter()
        .sum();
        let base = (1.0 - alpha) / count + alpha * dangling / count;
        let parts = &parts;
        // A rank is read by nobody but who writes it: the others see its part.
        let change: f64 = fill(options.threads, &mut result.ranks, PIECE, |start, ranks| {
            let mut change = 0.0;
            inlinks.scan(start..start + ranks.len(), |node, sources| {
                let sum: f64 = sources.iter().map(|source| parts[*source as usize]).sum();
                let (rank, place) = (base + alpha * sum, &mut ranks[node as usize - start]);
                change += (rank - *place).abs();
                *place = rank;
            });
            change
        })
        .into_iter()
        .sum();
        let bound = change * alpha / (1.0 - alpha);
        result.bounds.push(bound);
        result.converged = bound <= options.tolerance;
        if watch(result.bounds.len(), bound).is_break() {
            break;
        }
    }
    result
}

/// The number of links that every node has.
pub fn degrees(graph: &impl Adjacency) -> Vec<u32> {
    let mut degrees = Vec::with_capacity(graph.nodes());
    graph.scan(0..graph.nodes(), |_, targets| degrees.push(targets.len() as u32));
    degrees
}

/// The nodes with the greatest values, greatest first; of equal ones the lesser number.
pub fn top(values: &[f64], count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    let by_value =
        |one: &u32, two: &u32| values[*two as usize].total_cmp(&values[*one as usize]).then(one.cmp(two));
    if count < order.len() {
        order.select_nth_unstable_by(count, by_value);
        order.truncate(count);
    }
    order.sort_unstable_by(by_value);
    order
}
