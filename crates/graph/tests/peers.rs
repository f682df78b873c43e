//! WebGraph's own algorithms on the same graphs: components must be the same, ranks within a millionth.

use mattock_features::{Direction, Grain};
use mattock_graph::{Adjacency, Components, Csr, PageRankOptions, degrees, pagerank, strong_components};
use proptest::prelude::*;
use webgraph::graphs::vec_graph::VecGraph;
use webgraph_algo::rank::pagerank::{PageRank, preds};
use webgraph_algo::sccs::tarjan;

use crate::naive::graphs;
use crate::simulated::Crawled;

fn theirs(graph: &Csr) -> VecGraph {
    let mut theirs = VecGraph::empty(graph.nodes());
    for node in 0..graph.nodes() {
        theirs.add_arcs(graph.list(node as u32).iter().map(|target| (node, *target as usize)));
    }
    theirs
}

fn same_components(graph: &Csr) {
    let (ours, found) = (strong_components(graph), tarjan(theirs(graph), dsi_progress_logger::no_logging![]));
    assert_eq!(ours.sizes().len(), found.num_components());
    let number = |ours: &Components, node: usize| ours.of(node as u32);
    let mut known = vec![u32::MAX; found.num_components()];
    for (node, theirs) in found.components().iter().enumerate() {
        if known[*theirs] == u32::MAX {
            known[*theirs] = number(&ours, node);
        }
        assert_eq!(known[*theirs], number(&ours, node), "node {node}");
    }
}

fn same_ranks(graph: &Csr) {
    let turned = graph.transposed();
    let options = PageRankOptions { tolerance: 1e-9, ..PageRankOptions::default() };
    let ours = pagerank(&turned, &degrees(graph), &options);
    let turned = theirs(&turned);
    let mut ranking = PageRank::new(&turned);
    ranking.run(preds::L1Norm::try_from(1e-9).unwrap());
    assert_eq!(ours.ranks.len(), ranking.rank().len());
    let distance: f64 = ours.ranks.iter().zip(ranking.rank()).map(|(one, two)| (one - two).abs()).sum();
    assert!(distance < 1e-6, "{distance}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn random_graphs(graph in graphs()) {
        same_components(&graph);
        same_ranks(&graph);
    }
}

#[test]
fn the_graphs_of_a_small_crawl() {
    let features = Crawled::tiny(7).features();
    for grain in [Grain::Pages, Grain::Hosts, Grain::Domains] {
        let graph = Csr::load(&features.links(grain, Direction::Out).unwrap());
        assert!(graph.arcs() > 20, "{grain:?} have {} links", graph.arcs());
        same_components(&graph);
        same_ranks(&graph);
    }
}
