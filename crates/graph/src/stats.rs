//! What a graph is like in numbers: degrees, reciprocity, and the power law that the tail of the degrees follows.
//!
//! The exponent is fitted by maximum likelihood after Clauset, Shalizi and Newman (*Power-law distributions in empirical data*, 2009): for
//! degrees from `xmin` on, `α = 1 + n / Σ ln(x / (xmin − ½))`, their approximation for whole numbers, which is good to a few per cent
//! from `xmin` = 6 on and is not used below 2. `xmin` is the degree for which the greatest distance between the distribution and the fitted
//! one (Kolmogorov–Smirnov) is least. Where very many degrees are different, it is looked for in steps: first among some that are spread over all
//! of them, by factors, then among those around the best. The standard error is `(α − 1)/√n`; it says how sure the exponent is if the tail
//! follows a power law, and the distance how well it does.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::adjacency::Adjacency;

/// The degrees of a graph in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct Degrees {
    /// The greatest.
    pub max: u32,
    /// A node that has it.
    pub max_node: u32,
    /// Of all nodes.
    pub average: f64,
    /// Nodes without links.
    pub zero: u64,
    /// How many nodes there are of each degree that occurs, by degree.
    #[serde(skip)]
    pub histogram: Vec<(u32, u64)>,
    /// The tail as a power law; none if too few degrees are different.
    pub power_law: Option<PowerLaw>,
}

/// A power law fitted to the tail of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerLaw {
    /// The exponent.
    pub alpha: f64,
    /// Its standard error.
    pub error: f64,
    /// The least degree that belongs to the tail.
    pub xmin: u32,
    /// Nodes in the tail.
    pub tail: u64,
    /// The greatest distance between the fitted and the found distribution of the tail.
    pub distance: f64,
}

/// What a graph is like.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// Nodes.
    pub nodes: u64,
    /// Links.
    pub arcs: u64,
    /// Links of a node to itself.
    pub loops: u64,
    /// The share of links between two different nodes that are answered by one the other way.
    pub reciprocity: f64,
    /// Outlinks.
    pub out_degrees: Degrees,
    /// Inlinks.
    pub in_degrees: Degrees,
}

/// Counts. `turned` has the same links turned round.
pub fn stats(graph: &impl Adjacency, turned: &impl Adjacency) -> Stats {
    let nodes = graph.nodes();
    let (mut loops, mut mutual) = (0_u64, 0_u64);
    graph.scan(0..nodes, |node, targets| {
        let mut sources = turned.successors(node).peekable();
        for target in targets {
            loops += u64::from(*target == node);
            while sources.next_if(|source| source < target).is_some() {}
            mutual += u64::from(sources.peek() == Some(target) && *target != node);
        }
    });
    let between = graph.arcs() - loops;
    Stats {
        nodes: nodes as u64,
        arcs: graph.arcs(),
        loops,
        reciprocity: if between == 0 { 0.0 } else { mutual as f64 / between as f64 },
        out_degrees: degrees_of(&crate::degrees(graph)),
        in_degrees: degrees_of(&crate::degrees(turned)),
    }
}

fn degrees_of(degrees: &[u32]) -> Degrees {
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable();
    let histogram: Vec<(u32, u64)> =
        sorted.chunk_by(|one, two| one == two).map(|group| (group[0], group.len() as u64)).collect();
    let max = sorted.last().copied().unwrap_or(0);
    let sum: u64 = degrees.iter().map(|degree| u64::from(*degree)).sum();
    Degrees {
        max,
        max_node: degrees.iter().position(|degree| *degree == max).unwrap_or(0) as u32,
        average: sum as f64 / degrees.len().max(1) as f64,
        zero: histogram.first().filter(|(degree, _)| *degree == 0).map_or(0, |(_, count)| *count),
        power_law: fit(&histogram),
        histogram,
    }
}

/// How many nodes there are of each degree that occurs, by degree: one pass over the links, and no memory for nodes.
pub fn degree_counts(graph: &impl Adjacency) -> Vec<(u32, u64)> {
    let mut counts = BTreeMap::new();
    graph.scan(0..graph.nodes(), |_, targets| *counts.entry(targets.len() as u32).or_default() += 1);
    counts.into_iter().collect()
}

/// Candidates for the beginning of the tail that are compared at once, at most.
const CANDIDATES: usize = 200;
/// A tail has at least so many nodes.
const TAIL_MIN: u64 = 50;

/// Fits a power law to the tail of a histogram that is sorted by degree.
pub fn fit(histogram: &[(u32, u64)]) -> Option<PowerLaw> {
    // Nodes from each degree on.
    let mut tails: Vec<u64> = histogram
        .iter()
        .rev()
        .scan(0, |tail, (_, count)| {
            *tail += count;
            Some(*tail)
        })
        .collect();
    tails.reverse();
    // The law has two numbers: three different degrees are the least to fit it to.
    let last = tails.partition_point(|tail| *tail >= TAIL_MIN).min(histogram.len().saturating_sub(2));
    let mut range = histogram.partition_point(|(degree, _)| *degree < 2)..last;
    let mut best: Option<PowerLaw> = None;
    while !range.is_empty() {
        let candidates = spread(histogram, range.clone());
        let (mut least, mut at) = (f64::INFINITY, 0);
        for (number, index) in candidates.iter().enumerate() {
            let law = fit_from(&histogram[*index..], histogram[*index].0, tails[*index]);
            if law.distance < least {
                (least, at) = (law.distance, number);
            }
            if best.is_none_or(|best| law.distance < best.distance) {
                best = Some(law);
            }
        }
        if candidates.len() == range.len() {
            break;
        }
        // Between the neighbours of the best, which have been compared.
        let begin = if at == 0 { range.start } else { candidates[at - 1] + 1 };
        range = begin..candidates.get(at + 1).copied().unwrap_or(range.end);
    }
    best
}

/// Places of a range, all of them or [`CANDIDATES`] at most, each degree greater than the one before by about the same factor.
fn spread(histogram: &[(u32, u64)], range: std::ops::Range<usize>) -> Vec<usize> {
    if range.len() <= CANDIDATES {
        return range.collect();
    }
    let [low, high] = [range.start, range.end - 1].map(|at| f64::from(histogram[at].0).ln());
    let mut places: Vec<usize> = (0..CANDIDATES)
        .map(|step| {
            let degree = (low + (high - low) * step as f64 / (CANDIDATES - 1) as f64).exp();
            // Rounded: the ends are degrees themselves.
            let place = histogram.partition_point(|(other, _)| f64::from(*other) < degree - 0.5);
            place.clamp(range.start, range.end - 1)
        })
        .collect();
    places.dedup();
    places
}

fn fit_from(tail: &[(u32, u64)], xmin: u32, count: u64) -> PowerLaw {
    let (low, nodes) = (f64::from(xmin) - 0.5, count as f64);
    let logs: f64 = tail.iter().map(|(degree, count)| *count as f64 * (f64::from(*degree) / low).ln()).sum();
    let alpha = 1.0 + nodes / logs;
    let (mut distance, mut left) = (0.0_f64, nodes);
    for (degree, count) in tail {
        // Both as the share of nodes with at least this degree, before and after it.
        let fitted = |x: f64| ((x - 0.5) / low).powf(1.0 - alpha);
        distance = distance.max((left / nodes - fitted(f64::from(*degree))).abs());
        left -= *count as f64;
        distance = distance.max((left / nodes - fitted(f64::from(*degree) + 1.0)).abs());
    }
    PowerLaw { alpha, error: (alpha - 1.0) / nodes.sqrt(), xmin, tail: count, distance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    #[test]
    fn a_power_law_is_found_again() {
        for alpha in [2.1, 2.7] {
            let law = fit(&of_law(6, 3000, alpha, 1e6)).unwrap();
            assert!((law.alpha - alpha).abs() < 0.02 && law.distance < 0.01, "{law:?}");
            assert!(law.error > 0.0 && law.error < 0.02, "{law:?}");
        }
        assert_eq!(fit(&[(3, 1000)]), None);
        assert_eq!(fit(&[(2, 9), (3, 4), (9, 1)]), None);
    }

    /// As many nodes of each degree as a law says that begins at `xmin`.
    fn of_law(xmin: u32, max: u32, alpha: f64, nodes: f64) -> Vec<(u32, u64)> {
        let share = |x: u32| ((f64::from(x) - 0.5) / (f64::from(xmin) - 0.5)).powf(1.0 - alpha);
        let count = |degree| ((share(degree) - share(degree + 1)) * nodes).round() as u64;
        (xmin..max).map(|degree| (degree, count(degree))).filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn a_tail_is_found_behind_many_other_degrees() {
        // As many of each degree up to 300, then a law.
        let mut histogram: Vec<(u32, u64)> = (1..=300).map(|degree| (degree, 1000)).collect();
        histogram.extend(of_law(500, 20_000, 2.5, 1e6));
        let law = fit(&histogram).unwrap();
        assert!((490..=520).contains(&law.xmin), "{law:?}");
        assert!((law.alpha - 2.5).abs() < 0.05 && law.distance < 0.01, "{law:?}");
    }

    #[test]
    fn candidates_reach_over_all_degrees() {
        let histogram: Vec<(u32, u64)> = (2..100_000).map(|degree| (degree, 1)).collect();
        let places = spread(&histogram, 10..histogram.len());
        assert!(places.len() <= CANDIDATES && places.is_sorted_by(|one, two| one < two));
        assert_eq!((places[0], places[places.len() - 1]), (10, histogram.len() - 1));
        assert_eq!(spread(&histogram, 7..9), [7, 8]);
    }

    #[test]
    fn links_that_are_answered_are_counted() {
        let graph = Csr::from_lists(&[vec![0, 1, 2], vec![0], vec![], vec![2]]);
        let stats = stats(&graph, &graph.transposed());
        assert_eq!((stats.nodes, stats.arcs, stats.loops), (4, 5, 1));
        assert_eq!(stats.reciprocity, 0.5);
        assert_eq!((stats.out_degrees.max, stats.out_degrees.max_node, stats.out_degrees.zero), (3, 0, 1));
        assert_eq!((stats.in_degrees.max, stats.in_degrees.zero), (2, 1));
        assert_eq!(stats.in_degrees.histogram, [(0, 1), (1, 1), (2, 2)]);
        assert_eq!(degree_counts(&graph.transposed()), stats.in_degrees.histogram);
        assert_eq!(stats.out_degrees.average, 1.25);
    }
}
