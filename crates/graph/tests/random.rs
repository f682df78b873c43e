//! Random graphs: every result against one that is found by trying everything.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Direction, Features, Grain, build_from_ids};
use mattock_graph::{
    Adjacency, Components, Csr, DistanceOptions, PARTS, PageRankOptions, Part, SampleOptions, bowtie,
    degrees, distances, distances_from, distances_watched, pagerank, pagerank_watched, path, sample,
    strong_components, top, weak_components,
};
use proptest::prelude::*;

use crate::naive::{all_distances, graphs};

/// Whether two nodes are in one component exactly if `joined` says so; and whether sizes and numbers are right.
fn check_components(components: &Components, joined: impl Fn(usize, usize) -> bool) {
    let of = components.all();
    for one in 0..of.len() {
        for two in 0..of.len() {
            assert_eq!(of[one] == of[two], joined(one, two), "{one} and {two}");
        }
    }
    assert!(components.sizes().is_sorted_by(|one, two| one >= two));
    for (number, size) in components.sizes().iter().enumerate() {
        assert_eq!(of.iter().filter(|of| **of == number as u32).count(), *size as usize);
    }
    assert_eq!(
        components.by_size().iter().map(|group| u64::from(group.size) * group.count).sum::<u64>(),
        of.len() as u64
    );
}

proptest! {
    #[test]
    fn components_are_those_of_reachability(graph in graphs()) {
        let reached = all_distances(&graph);
        check_components(&strong_components(&graph), |one, two| reached[one][two].is_some() && reached[two][one].is_some());
        let both = graph.undirected(&graph.transposed());
        let reached = all_distances(&both);
        check_components(&weak_components(&graph), |one, two| reached[one][two].is_some());
        prop_assert_eq!(graph.transposed().transposed(), graph);
    }

    #[test]
    fn the_parts_of_a_bowtie_are_what_they_are_called(graph in graphs()) {
        let components = strong_components(&graph);
        let bowtie = bowtie(&graph, &graph.transposed(), &components);
        let reached = all_distances(&graph);
        let joined = all_distances(&graph.undirected(&graph.transposed()));
        let nodes = 0..graph.nodes();
        let core: Vec<usize> = nodes.clone().filter(|node| components.of(*node as u32) == 0).collect();
        let is = |node: usize, part| bowtie.part(node as u32) == part;
        for node in nodes.clone() {
            let (to_core, from_core) = (reached[node][core[0]].is_some(), reached[core[0]][node].is_some());
            prop_assert_eq!(is(node, Part::Core), to_core && from_core);
            prop_assert_eq!(is(node, Part::In), to_core && !from_core);
            prop_assert_eq!(is(node, Part::Out), !to_core && from_core);
            let from_in = nodes.clone().any(|other| is(other, Part::In) && reached[other][node].is_some());
            let to_out = nodes.clone().any(|other| is(other, Part::Out) && reached[node][other].is_some());
            prop_assert_eq!(is(node, Part::Tubes), !to_core && !from_core && from_in && to_out);
            prop_assert_eq!(is(node, Part::Disconnected), joined[node][core[0]].is_none());
        }
        prop_assert_eq!(PARTS.iter().map(|part| bowtie.size(*part)).sum::<u64>(), graph.nodes() as u64);
    }

    #[test]
    fn shortest_ways_are_shortest(graph in graphs()) {
        let expected = all_distances(&graph);
        for (from, expected) in expected.iter().enumerate() {
            let found = distances_from(&graph, from as u32);
            for to in 0..graph.nodes() {
                prop_assert_eq!((found[to] != u32::MAX).then_some(found[to]), expected[to]);
                let way = path(&graph, from as u32, to as u32);
                prop_assert_eq!(way.as_ref().map(|way| way.len() as u32 - 1), expected[to]);
                for step in way.unwrap_or_default().windows(2) {
                    prop_assert!(graph.list(step[0]).contains(&step[1]));
                }
            }
        }
    }

    #[test]
    fn ranks_solve_their_equation_for_any_number_of_threads(graph in graphs()) {
        let (inlinks, degrees) = (graph.transposed(), degrees(&graph));
        let options = PageRankOptions { tolerance: 1e-12, threads: 1, ..PageRankOptions::default() };
        let found = pagerank(&inlinks, &degrees, &options);
        prop_assert!(found.converged && found.bounds.is_sorted_by(|one, two| *two <= *one * 0.86 || *two < 1e-11));
        let nodes = graph.nodes() as f64;
        let mut next = vec![0.15 / nodes; graph.nodes()];
        for node in 0..graph.nodes() {
            let share = 0.85 * found.ranks[node];
            match graph.list(node as u32) {
                [] => next.iter_mut().for_each(|rank| *rank += share / nodes),
                list => list.iter().for_each(|target| next[*target as usize] += share / list.len() as f64),
            }
        }
        for (one, two) in found.ranks.iter().zip(&next) {
            prop_assert!((one - two).abs() < 1e-11);
        }
        prop_assert!((found.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let best = top(&found.ranks, 3);
        prop_assert!(found.ranks.iter().all(|rank| *rank <= found.ranks[best[0] as usize]));
    }

    #[test]
    fn distances_of_small_graphs_are_nearly_exact(graph in graphs()) {
        let options = DistanceOptions { log2_registers: 14, ..DistanceOptions::default() };
        let found = distances(&graph, &options);
        let expected = all_distances(&graph);
        let all: Vec<u32> = expected.iter().flatten().flatten().copied().collect();
        prop_assert_eq!(found.pairs_within.len() as u32 - 1, *all.iter().max().unwrap());
        for (distance, pairs) in found.pairs_within.iter().enumerate() {
            let exact = all.iter().filter(|found| **found as usize <= distance).count() as f64;
            prop_assert!((pairs / exact - 1.0).abs() < 0.02, "{} of {}", pairs, exact);
        }
        for (node, harmonic) in found.harmonic.iter().enumerate() {
            let exact: f64 = expected[node].iter().flatten().filter(|distance| **distance > 0).map(|distance| 1.0 / f64::from(*distance)).sum();
            prop_assert!((harmonic - exact).abs() < 0.05 * exact + 0.01, "{} of {}", harmonic, exact);
        }
        let alone = distances(&graph, &DistanceOptions { threads: 1, ..options });
        prop_assert_eq!(alone.pairs_within, found.pairs_within);
    }
}

#[test]
fn a_page_is_no_pair_with_itself() {
    let options = DistanceOptions { log2_registers: 14, ..DistanceOptions::default() };
    let diameter = |lists: &[Vec<u32>]| distances(&Csr::from_lists(lists), &options).effective_diameter;
    // Its only distance is 1; nine tenths of the way to it, nine tenths of the pairs are reached.
    assert!((diameter(&[vec![1], vec![]]) - 0.9).abs() < 0.01);
    // Three pairs at distance 1, two at 2, one at 3: 5.4 of the six.
    assert!((diameter(&[vec![1], vec![2], vec![3], vec![]]) - 2.4).abs() < 0.01);
    assert_eq!(diameter(&[vec![], vec![]]), 0.0);
}

#[test]
fn many_threads_come_to_the_same_bits() {
    let mut random = Random::from_seed(4);
    let lists: Vec<Vec<u32>> = (0..60_000)
        .map(|_| {
            let mut list: Vec<u32> =
                (0..random.next_u64() % 9).map(|_| (random.next_u64() % 60_000) as u32).collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let graph = Csr::from_lists(&lists);
    let (inlinks, degrees) = (graph.transposed(), degrees(&graph));
    let ranks = [1, 3].map(|threads| {
        pagerank(&inlinks, &degrees, &PageRankOptions { threads, ..Default::default() }).ranks
    });
    assert_eq!(ranks[0], ranks[1]);
    let found = [1, 3].map(|threads| {
        distances(&graph, &DistanceOptions { threads, log2_registers: 4, ..Default::default() }).harmonic
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn rounds_are_watched_and_end_when_told() {
    let graph = Csr::from_lists(&[vec![1], vec![2], vec![3], vec![4], vec![5], vec![0]]);
    let mut told = Vec::new();
    let mut watch = |number: usize, value: f64| {
        told.push((number, value));
        if number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // One node has more than its share at first, or there would be nothing to do.
    let lopsided = Csr::from_lists(&[vec![1, 2], vec![2], vec![0]]);
    let ranks = pagerank_watched(
        &lopsided.transposed(),
        &degrees(&lopsided),
        &PageRankOptions { tolerance: 0.0, ..Default::default() },
        &mut watch,
    );
    assert!(!ranks.converged && ranks.bounds.len() == 3);
    assert_eq!(told, (1..).zip(ranks.bounds).collect::<Vec<_>>());
    told.clear();
    let mut watch = |number: usize, value: f64| {
        told.push((number, value));
        if number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = distances_watched(&graph, &DistanceOptions::default(), &mut watch);
    assert_eq!(found.pairs_within.len(), 4);
    assert_eq!(told, (1..).zip(found.pairs_within[1..].iter().copied()).collect::<Vec<_>>());
}

#[test]
fn a_walk_samples_popular_nodes_no_more_than_others() {
    // A hub that all others link to, and a ring.
    let lists: Vec<Vec<u32>> =
        (0..50_u32).map(|node| if node == 0 { vec![1] } else { vec![0, node % 49 + 1] }).collect();
    let graph = Csr::from_lists(&lists);
    let options = SampleOptions { count: 50_000, burn_in: 1000, thinning: 5, seed: 1 };
    let nodes = sample(&graph, &graph.transposed(), 7, &options);
    assert_eq!(nodes.len(), 50_000);
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    nodes.iter().for_each(|node| *counts.entry(*node).or_default() += 1);
    assert!(counts.len() == 50 && counts.values().all(|count| (700..1300).contains(count)), "{counts:?}");
    let alone = Csr::from_lists(&[vec![]]);
    assert_eq!(sample(&alone, &alone, 0, &SampleOptions { count: 2, ..options }), [0, 0]);
}

#[test]
fn the_link_database_and_a_graph_in_memory_give_the_same() {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    let mut random = Random::from_seed(2);
    let pairs: Vec<(u64, u64)> =
        (0..5000).map(|_| (random.next_u64() % 700, random.next_u64() % 700)).collect();
    let dir = Path::new("/features");
    build_from_ids(
        &files,
        dir,
        &BuildOptions::default(),
        Some(700),
        pairs.iter().copied().map(Ok),
        &mut |_| {},
    )
    .unwrap();
    let features = Features::open(&files, dir).unwrap();
    let [links, turned] =
        [Direction::Out, Direction::In].map(|direction| features.links(Grain::Pages, direction).unwrap());
    let csr = Csr::load(&links);
    assert_eq!(csr.transposed(), Csr::load(&turned));
    assert_eq!(strong_components(&links), strong_components(&csr));
    let ranks = pagerank(&turned, &degrees(&links), &PageRankOptions::default());
    assert_eq!(ranks.ranks, pagerank(&csr.transposed(), &degrees(&csr), &PageRankOptions::default()).ranks);
    assert_eq!(path(&links, 3, 8), path(&csr, 3, 8));
}
