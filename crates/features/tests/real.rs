//! Real graphs: their size in our files, and WebGraph's own reader on them.

use std::path::{Path, PathBuf};

use mattock_env::{Files, Random};
use mattock_features::{BuildOptions, Builder, Direction, Features, Grain, Links, build_from_ids};
use mattock_weburl::WebUrl;
use webgraph::prelude::{BvGraph, RandomAccessGraph, RandomAccessLabeling, SequentialLabeling};

/// Where data sets lie beside the project; `None`, with a word, where they do not.
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

struct TemporaryDir(PathBuf);

impl TemporaryDir {
    fn new() -> TemporaryDir {
        let number = Random::from_entropy().next_u64();
        TemporaryDir(std::env::temp_dir().join(format!("mattock-features-{number:016x}")))
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        drop(Files::real().remove_dir_all(&self.0));
    }
}

#[test]
fn webgraph_opens_our_files_and_we_open_its() {
    let Some(base) = data("cnr-2000/webgraph-java/cnr-2000.graph") else { return };
    let (files, dir) = (Files::real(), TemporaryDir::new());
    let theirs = Links::open_foreign(&files, &base).unwrap();
    assert_eq!((theirs.nodes(), theirs.arcs()), (325_557, 3_216_152));
    let lists = (0..theirs.nodes()).map(|node| (node, theirs.successors(node).collect::<Vec<_>>()));
    let pairs = lists.flat_map(|(node, list)| list.into_iter().map(move |target| Ok((node, target as u64))));
    let options = BuildOptions { memory: 16 << 20, ..BuildOptions::default() };
    build_from_ids(&files, &dir.0, &options, Some(theirs.nodes()), pairs, &mut |_| {}).unwrap();

    let features = Features::open(&files, &dir.0).unwrap();
    let links =
        [Direction::Out, Direction::In].map(|direction| features.links(Grain::Pages, direction).unwrap());
    assert!(
        links[0].bits_per_link() < 3.6 && links[1].bits_per_link() < 3.2,
        "{} {}",
        links[0].bits_per_link(),
        links[1].bits_per_link()
    );
    let base = features.links_base(Grain::Pages, Direction::Out);
    Links::write_elias_fano(&base, links[0].nodes()).unwrap();
    let opened = BvGraph::with_basename(&base).load().unwrap();
    assert_eq!((opened.num_nodes() as u64, opened.num_arcs()), (theirs.nodes(), theirs.arcs()));
    for node in (0..theirs.nodes()).step_by(37) {
        let expected: Vec<_> = theirs.successors(node).collect();
        assert_eq!(opened.successors(node as usize).collect::<Vec<_>>(), expected);
        assert_eq!(links[0].successors(node).collect::<Vec<_>>(), expected);
        for target in expected {
            assert!(links[1].successors(target as u64).any(|source| source as u64 == node));
        }
    }
}

#[test]
fn the_urls_of_a_real_site_are_small() {
    let Some(path) = data("hollins-webgraph/hollins.dat") else { return };
    let (files, dir) = (Files::real(), TemporaryDir::new());
    let text = String::from_utf8(files.read(&path).unwrap()).unwrap();
    let mut lines = text.lines();
    let count: usize = lines.next().unwrap().split(' ').next().unwrap().parse().unwrap();
    let urls: Vec<WebUrl> = lines
        .by_ref()
        .take(count)
        .map(|line| WebUrl::parse(line.split_whitespace().nth(1).unwrap()).unwrap())
        .collect();
    let report = &mut |_| {};
    let mut builder = Builder::begin(&files, &dir.0, &BuildOptions::default(), report).unwrap();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let ends: Vec<usize> = line.split_whitespace().map(|end| end.parse().unwrap()).collect();
        builder.link(&urls[ends[0] - 1], &urls[ends[1] - 1]).unwrap();
    }
    let counts = builder.finish().unwrap();
    assert_eq!(counts.links_given, 23_875);
    let features = Features::open(&files, &dir.0).unwrap();
    let found = features.urls().unwrap();
    let bytes = found.bytes() as f64 / found.len() as f64;
    assert!(bytes < 12.0, "{bytes} bytes a URL");
    for url in &urls {
        assert!(found.id(url).unwrap().is_some());
    }
}
