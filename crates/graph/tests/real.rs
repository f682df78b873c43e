//! A real graph, of which others have told components and ranks.

use std::path::{Path, PathBuf};

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Direction, Features, Grain, Links, reorder};
use mattock_graph::{
    Csr, OrderOptions, PARTS, PageRankOptions, bowtie, degrees, label_order, pagerank, stats,
    strong_components, top,
};

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn data(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("MATTOCK_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = base.join(name);
    let found = Files::real().entry(&path).ok().flatten().is_some();
    if !found {
        eprintln!("skipped: {} is not there", path.display());
    }
    found.then_some(path)
}

#[test]
fn components_and_ranks_of_cnr_2000() {
    let Some(base) = data("cnr-2000/webgraph-rs/cnr-2000.graph") else { return };
    let files = Files::real();
    let links = Links::open_foreign(&files, &base).unwrap();
    let turned = Links::open_foreign(&files, &base.with_file_name("cnr-2000-t.graph")).unwrap();
    let (graph, inlinks) = (Csr::load(&links), Csr::load(&turned));
    assert_eq!(graph.transposed(), inlinks);

    let components = strong_components(&graph);
    assert_eq!(components.sizes().len(), 100_977);
    assert_eq!(components.sizes()[..5], [112_023, 18_233, 7_518, 5_618, 5_060]);
    // Their component of each node: equal numbers must be equal numbers here, and the other way round.
    let theirs = files.read(&base.with_extension("scc")).unwrap();
    let theirs: Vec<u32> = theirs.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
    let mut ours_of = vec![u32::MAX; components.sizes().len()];
    for (node, theirs) in theirs.iter().enumerate() {
        let ours = &mut ours_of[*theirs as usize];
        assert!(*ours == u32::MAX || *ours == components.of(node as u32));
        *ours = components.of(node as u32);
    }

    let ranks = pagerank(&inlinks, &degrees(&graph), &PageRankOptions::default());
    assert!(ranks.converged);
    let best = ranks.ranks[top(&ranks.ranks, 1)[0] as usize];
    assert!((best - 0.017_771_887).abs() < 1e-6, "{best}");

    let stats = stats(&graph, &inlinks);
    assert_eq!((stats.nodes, stats.arcs, stats.loops), (325_557, 3_216_152, 87_442));
    assert_eq!((stats.out_degrees.max, stats.in_degrees.max, stats.out_degrees.zero), (2716, 18_235, 78_056));
    let law = stats.in_degrees.power_law.unwrap();
    assert!(law.alpha > 1.5 && law.alpha < 3.0 && law.distance < 0.1, "{law:?}");

    let bowtie = bowtie(&graph, &inlinks, &components);
    assert_eq!(bowtie.size(PARTS[0]), 112_023);
    assert_eq!(PARTS.iter().map(|part| bowtie.size(*part)).sum::<u64>(), 325_557);
}

#[test]
fn links_of_cnr_2000_take_fewer_bits_in_another_order() {
    let Some(base) = data("cnr-2000/webgraph-java/cnr-2000.graph") else { return };
    let links = Links::open_foreign(&Files::real(), &base).unwrap();
    let graph = Csr::load(&links);
    let numbers = label_order(&graph.undirected(&graph.transposed()), &OrderOptions::default(), &mut |_| {});
    let (files, dir) = (Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/ordered"));
    reorder(&files, dir, &BuildOptions::default(), &links, &numbers, &mut |_| {}).unwrap();
    let features = Features::open(&files, dir).unwrap();
    let bits = [Direction::Out, Direction::In]
        .map(|direction| features.links(Grain::Pages, direction).unwrap().bits_per_link());
    assert!(bits[0] < 3.1 && bits[1] < 2.5, "{bits:?}");
}
