//! cnr-2000: a real graph, whose size in WebGraph's own files is known.

use std::path::{Path, PathBuf};

use mattock_env::{Env, Random};
use mattock_features::{BuildOptions, Direction, Features, Grain, Links, build_from_ids, reorder};
use mattock_graph::{Csr, OrderOptions, label_order};

use super::{Result, theirs};

/// So many lists are looked up to measure one.
const LOOKUPS: u64 = 1_000_000;

/// Bits of a link, outlinks and inlinks.
pub(super) struct Cnr {
    pub(super) bits: [f64; 2],
    pub(super) bits_reordered: [f64; 2],
    pub(super) webgraph_bits: [f64; 2],
    pub(super) random_access_ns: f64,
}

/// The graph in our files, in the order of URLs: outlinks and inlinks, and where the files are.
pub(super) struct Graphs {
    pub(super) links: [Links; 2],
    pub(super) bases: [PathBuf; 2],
}

const DIRECTIONS: [Direction; 2] = [Direction::Out, Direction::In];

pub(super) fn measure(env: &Env, dir: &Path, foreign: &Path) -> Result<(Cnr, Graphs)> {
    let (files, options) = (&env.files, BuildOptions::default());
    let given = Links::open_foreign(files, foreign)?;
    let (url_order, reordered) = (dir.join("url-order"), dir.join("reordered"));
    let lists = (0..given.nodes()).map(|node| (node, given.successors(node).collect::<Vec<_>>()));
    let pairs = lists.flat_map(|(node, list)| list.into_iter().map(move |target| Ok((node, target as u64))));
    build_from_ids(files, &url_order, &options, Some(given.nodes()), pairs, &mut |_| {})?;
    let graphs = opened(env, &url_order)?;

    let lists = Csr::load(&graphs.links[0]);
    let numbers = label_order(&lists.undirected(&lists.transposed()), &OrderOptions::default(), &mut |_| {});
    reorder(files, &reordered, &options, &graphs.links[0], &numbers, &mut |_| {})?;

    let mut webgraph_bits = [0.0; 2];
    for (bits, base) in webgraph_bits.iter_mut().zip(&graphs.bases) {
        let graph = theirs::load(base)?;
        *bits = theirs::compressed_bits(&graph, &dir.join("theirs"))? as f64 / given.arcs() as f64;
    }
    let bits = |graphs: &Graphs| [0, 1].map(|index: usize| graphs.links[index].bits_per_link());
    let cnr = Cnr {
        bits: bits(&graphs),
        bits_reordered: bits(&opened(env, &reordered)?),
        webgraph_bits,
        random_access_ns: random_access_ns(env, &graphs.links[0]),
    };
    Ok((cnr, graphs))
}

fn opened(env: &Env, dir: &Path) -> Result<Graphs> {
    let features = Features::open(&env.files, dir)?;
    let [out_links, in_links] = DIRECTIONS.map(|direction| features.links(Grain::Pages, direction));
    let bases = DIRECTIONS.map(|direction| features.links_base(Grain::Pages, direction));
    Ok(Graphs { links: [out_links?, in_links?], bases })
}

/// Nanoseconds for a whole list of a node that is drawn at random.
fn random_access_ns(env: &Env, links: &Links) -> f64 {
    let mut random = Random::from_seed(174);
    let nodes: Vec<u64> = (0..LOOKUPS).map(|_| random.below(links.nodes().max(1))).collect();
    let begun = env.clock.now();
    let sum: usize = nodes.iter().flat_map(|node| links.successors(*node)).fold(0, usize::wrapping_add);
    let took = env.clock.now().since(begun).as_secs_f64();
    std::hint::black_box(sum);
    took * 1e9 / nodes.len() as f64
}
