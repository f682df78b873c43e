//! WebGraph's own compressor and algorithms, on graphs in our files.

use std::path::Path;

use dsi_bitstream::traits::BE;
use mattock_features::Links;
use webgraph::graphs::csr_graph::CsrGraph;
use webgraph::prelude::{
    BvComp, BvGraph, ConstCodesDecoderFactory, LoadMem, LoadMode, RandomAccessGraph, Static,
};
use webgraph_algo::rank::pagerank::{PageRank, preds};
use webgraph_algo::sccs::tarjan;

use super::{FeaturesBenchError, Result};

/// A compressed graph in memory, its codes known at compile time: the fastest that WebGraph has.
pub(super) type Loaded =
    BvGraph<ConstCodesDecoderFactory<BE, <LoadMem as LoadMode>::Factory<BE>, <LoadMem as LoadMode>::Offsets>>;

/// Every target as a number of its own.
pub(super) type Lists = CsrGraph;

fn wrong(error: impl std::fmt::Display) -> FeaturesBenchError {
    FeaturesBenchError::WebGraph(format!("{error:#}"))
}

/// Opens one direction of a graph that we have written.
pub(super) fn load(base: &Path) -> Result<Loaded> {
    let (nodes, _, _) = webgraph::graphs::bvgraph::parse_properties::<BE>(base.with_extension("properties"))
        .map_err(wrong)?;
    Links::write_elias_fano(base, nodes as u64)?;
    BvGraph::with_basename(base).mode::<LoadMem>().dispatch::<Static>().load().map_err(wrong)
}

/// The same as lists.
pub(super) fn lists(graph: &Loaded) -> Lists {
    CsrGraph::from_seq_graph(graph)
}

/// Bits that WebGraph's compressor makes of a graph.
pub(super) fn compressed_bits(graph: &Loaded, base: &Path) -> Result<u64> {
    BvComp::with_basename(base).comp_graph::<BE>(graph).map_err(wrong)
}

/// Finds the component of each node, numbered by size; the sizes.
pub(super) fn components(graph: &impl RandomAccessGraph) -> Box<[usize]> {
    tarjan(graph, dsi_progress_logger::no_logging![]).sort_by_size()
}

/// Ranks, prepared so that only rounds are left to be done.
pub(super) struct Ranks<'a, G: RandomAccessGraph + Sync> {
    ranking: PageRank<'a, G>,
}

impl<'a, G: RandomAccessGraph + Sync> Ranks<'a, G> {
    /// Of a graph with its links turned round.
    pub(super) fn new(turned: &'a G) -> Ranks<'a, G> {
        let mut ranking = PageRank::new(turned);
        // Degrees are counted in the first run, and kept.
        ranking.run(preds::MaxIter::from(1));
        Ranks { ranking }
    }

    /// Rounds until the ranks are so good; how many there were.
    pub(super) fn run(&mut self, tolerance: f64) -> Result<usize> {
        self.ranking.run(preds::L1Norm::try_from(tolerance).map_err(wrong)?);
        Ok(self.ranking.iterations())
    }

    pub(super) fn ranks(&self) -> &[f64] {
        self.ranking.rank()
    }
}
