//! How far pages are apart: HyperBall (Boldi and Vigna, *In-core computation of geometric centralities with HyperBall*, 2013).
//!
//! Every node has a HyperLogLog counter of the nodes within distance `t`; those within `t + 1` are the union of its successors' counters
//! and its own, and unions of such counters are greatest registers. When nothing changes any more, all distances are known to
//! the precision of the counters: a relative error of about `1.06/√m` for each, less for sums over many.
//!
//! Costs: two times `m` bytes a node, a pass over the links for each step of the distance; a list none of whose counters changed is not
//! looked at again. Registers are one byte wide: longer than needed, and three times as fast as packed ones.

use std::ops::ControlFlow;

use serde::Serialize;

use crate::adjacency::Adjacency;
use crate::held::NodeBytes;
use crate::parallel::{Watch, fill};

/// How distances are estimated.
#[derive(Clone, Debug)]
pub struct DistanceOptions {
    /// The binary logarithm of the number of registers of a counter, from 4 to 16.
    pub log2_registers: u32,
    /// Rounds at most.
    pub rounds_max: usize,
    /// Decides what is counted together.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
}

impl Default for DistanceOptions {
    fn default() -> DistanceOptions {
        DistanceOptions { log2_registers: 6, rounds_max: 10_000, seed: 0, threads: crate::threads() }
    }
}

impl DistanceOptions {
    /// Bytes that are kept for each node.
    pub fn node_bytes(&self) -> NodeBytes {
        NodeBytes::both((2 << self.log2_registers.clamp(4, 16)) + 25)
    }
}

/// Distances between all pairs, estimated.
#[derive(Clone, Debug, Serialize)]
pub struct Distances {
    /// For each distance from 0 on: pairs (a node and one that it reaches, itself too) that are no farther apart.
    pub pairs_within: Vec<f64>,
    /// Of pairs of different nodes of which one reaches the other.
    pub average: f64,
    /// The least distance within which 90 % of the pairs of different nodes that are joined are, between whole numbers by a straight line.
    pub effective_diameter: f64,
    /// The share of pairs of different nodes of which one reaches the other.
    pub reachable: f64,
    /// The relative standard error of one counter.
    pub error: f64,
    /// The sum of 1/distance over all that a node reaches, for each node; of a graph that is turned round, the harmonic centrality.
    #[serde(skip)]
    pub harmonic: Vec<f64>,
}

struct Counters {
    registers: usize,
    log2_registers: u32,
}

impl Counters {
    /// The register and the value of a node.
    fn place(&self, node: u32, seed: u64) -> (usize, u8) {
        let mut hash = (u64::from(node) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            hash = (hash ^ hash >> 31).wrapping_mul(factor);
        }
        hash ^= hash >> 29;
        let rest = hash >> self.log2_registers | 1 << (63 - self.log2_registers);
        (hash as usize & (self.registers - 1), rest.trailing_zeros() as u8 + 1)
    }

    /// How many different nodes went into a counter.
    fn estimate(&self, counter: &[u8], powers: &[f64; 65]) -> f64 {
        let count = self.registers as f64;
        let (mut sum, mut empty) = (0.0, 0_u32);
        for register in counter {
            sum += powers[*register as usize];
            empty += u32::from(*register == 0);
        }
        let alpha = match self.log2_registers {
            4 => 0.673,
            5 => 0.697,
            6 => 0.709,
            _ => 0.7213 / (1.0 + 1.079 / count),
        };
        let estimate = alpha * count * count / sum;
        match empty {
            1.. if estimate < 2.5 * count => count * (count / f64::from(empty)).ln(),
            _ => estimate,
        }
    }
}

/// Estimates distances along the links of a graph.
pub fn distances(graph: &impl Adjacency, options: &DistanceOptions) -> Distances {
    distances_watched(graph, options, &mut |_, _| ControlFlow::Continue(()))
}

/// The same; `watch` is told after each distance how many pairs are no farther apart, and can end it: longer distances are then not
/// counted.
pub fn distances_watched(graph: &impl Adjacency, options: &DistanceOptions, watch: Watch<'_>) -> Distances {
    let log2_registers = options.log2_registers.clamp(4, 16);
    let counters = Counters { registers: 1 << log2_registers, log2_registers };
    let (nodes, size) = (graph.nodes(), counters.registers);
    let powers: [f64; 65] = std::array::from_fn(|exponent| 0.5_f64.powi(exponent as i32));
    let mut now = vec![0_u8; nodes * size];
    for node in 0..nodes {
        let (register, value) = counters.place(node as u32, options.seed);
        now[node * size + register] = value;
    }
    let mut next = now.clone();
    let mut changed = vec![true; nodes];
    let mut reached = vec![(1.0_f64, 0.0_f64, true); nodes];
    let mut pairs_within = vec![nodes as f64];
    let piece = (1 << 20 >> log2_registers).max(1);
    while changed.contains(&true) && pairs_within.len() <= options.rounds_max {
        let distance = pairs_within.len() as f64;
        let (before, was_changed) = (&now, &changed);
        fill(options.threads, &mut next, piece * size, |start, part| {
            let first = start / size;
            graph.scan(first..first + part.len() / size, |node, targets| {
                let own = (node as usize - first) * size;
                let counter = &mut part[own..own + size];
                counter.copy_from_slice(&before[node as usize * size..][..size]);
                for target in targets.iter().filter(|target| was_changed[**target as usize]) {
                    let other = &before[*target as usize * size..][..size];
                    counter.iter_mut().zip(other).for_each(|(one, two)| *one = (*one).max(*two));
                }
            });
        });
        let after = &next;
        let sums = fill(options.threads, &mut reached, piece, |start, part| {
            let mut sum = 0.0;
            for (at, (size_of_ball, harmonic, is_changed)) in part.iter_mut().enumerate() {
                let place = (start + at) * size..(start + at + 1) * size;
                *is_changed = after[place.clone()] != before[place.clone()];
                if *is_changed {
                    let estimate = counters.estimate(&after[place], &powers).max(*size_of_ball);
                    *harmonic += (estimate - *size_of_ball) / distance;
                    *size_of_ball = estimate;
                }
                sum += *size_of_ball;
            }
            sum
        });
        changed.iter_mut().zip(&reached).for_each(|(changed, (_, _, is_changed))| *changed = *is_changed);
        std::mem::swap(&mut now, &mut next);
        if changed.contains(&true) {
            let pairs = sums.into_iter().sum();
            pairs_within.push(pairs);
            if watch(pairs_within.len() - 1, pairs).is_break() {
                break;
            }
        }
    }
    let harmonic = reached.into_iter().map(|(_, harmonic, _)| harmonic).collect();
    summary(pairs_within, nodes as f64, 1.06 / (size as f64).sqrt(), harmonic)
}

fn summary(pairs_within: Vec<f64>, nodes: f64, error: f64, harmonic: Vec<f64>) -> Distances {
    let all = pairs_within.last().copied().unwrap_or(0.0);
    let joined = all - nodes;
    let weighted: f64 = pairs_within
        .windows(2)
        .enumerate()
        .map(|(before, pair)| (before + 1) as f64 * (pair[1] - pair[0]))
        .sum();
    // A node is no pair with itself: at distance 0 nothing is reached yet.
    let goal = nodes + 0.9 * joined;
    let place = pairs_within.partition_point(|pairs| *pairs < goal);
    let effective_diameter = match place {
        0 => 0.0,
        place if place == pairs_within.len() => (place - 1) as f64,
        place => {
            let (below, above) = (pairs_within[place - 1], pairs_within[place]);
            (place - 1) as f64 + (goal - below) / (above - below)
        }
    };
    Distances {
        average: if joined > 0.0 { weighted / joined } else { 0.0 },
        effective_diameter,
        reachable: if nodes > 1.0 { joined / (nodes * (nodes - 1.0)) } else { 0.0 },
        error,
        harmonic,
        pairs_within,
    }
}
