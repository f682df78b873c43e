//! A small repository of imported archives on a simulated disk, and the naive model of its features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{Files, Random, SimFiles, UnixTime};
use mattock_features::{Direction, Features, Grain};
use mattock_query::sink::JsonSink;
use mattock_query::{Cancel, Language, Options, Session};
use mattock_repository::{Page, WarcWriter, WriterOptions};
use mattock_study::{BuildFeatures, Built, FEATURES, Result, build, columns_directory};

pub(crate) const ROOT: &str = "/repository";

/// What a URL answered.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) url: String,
    pub(crate) second: i64,
    pub(crate) status: u16,
    /// Links of a page, or where a redirect leads.
    pub(crate) links: Vec<String>,
    pub(crate) text: String,
}

impl Doc {
    pub(crate) fn page(url: &str, second: i64, links: &[&str]) -> Doc {
        let links = links.iter().map(|link| (*link).to_owned()).collect();
        Doc { url: url.into(), second, status: 200, links, text: format!("the page {url}") }
    }

    pub(crate) fn other(url: &str, second: i64, status: u16, links: &[&str]) -> Doc {
        Doc { status, ..Doc::page(url, second, links) }
    }
}

/// A repository that grows by archives, each of which becomes a part of the index.
pub(crate) struct Shelf {
    pub(crate) disk: SimFiles,
    pub(crate) files: Files,
    archives: u64,
    docs: Vec<Doc>,
}

impl Shelf {
    pub(crate) fn new(seed: u64) -> Shelf {
        let disk = SimFiles::new(Random::from_seed(seed));
        let files = Files::simulated(disk.clone());
        Shelf { disk, files, archives: 0, docs: Vec::new() }
    }

    /// Takes an archive with these documents into the repository.
    pub(crate) fn add(&mut self, docs: &[Doc]) {
        self.archives += 1;
        let directory = Path::new(ROOT).join(format!("warc-{}", self.archives));
        self.files.create_dir_all(&directory).unwrap();
        let options = WriterOptions { revisit_payloads: 100, ..WriterOptions::default() };
        let mut writer =
            WarcWriter::open(&self.files, &directory, options, Random::from_seed(self.archives)).unwrap();
        for doc in docs {
            let (head, body) = written(doc);
            writer
                .write_page(&Page {
                    url: &doc.url,
                    ip: None,
                    date: UnixTime::from_micros((1_700_000_000 + doc.second) * 1_000_000),
                    request: &[],
                    response_head: head.as_bytes(),
                    body: body.as_bytes(),
                    truncated: None,
                    security: None,
                    metadata: &[],
                })
                .unwrap();
        }
        writer.finish().unwrap();
        let foreign: Vec<mattock_index::Foreign> = self
            .files
            .list(&directory)
            .unwrap()
            .into_iter()
            .map(|entry| mattock_index::Foreign {
                path: directory.join(&entry.name),
                name: format!("warc-{}/{}", self.archives, entry.name),
            })
            .collect();
        let now = || UnixTime::from_micros(1_800_000_000_000_000);
        let imported = mattock_index::import(
            &self.files,
            Path::new(ROOT),
            &foreign,
            &mattock_index::ImportOptions::named("shelf"),
            &now,
            |_, _| {},
        )
        .unwrap();
        assert_eq!(imported.instances, docs.len() as u64, "{imported:?}");
        for path in [&directory, Path::new(ROOT), Path::new("/")] {
            self.files.sync_dir(path).unwrap();
        }
        self.docs.extend_from_slice(docs);
    }

    pub(crate) fn build(&self) -> Result<Built> {
        self.build_with(|_| {})
    }

    pub(crate) fn build_with(&self, change: impl FnOnce(&mut BuildFeatures<'_>)) -> Result<Built> {
        let mut options = BuildFeatures::new(Path::new(ROOT));
        (options.memory, options.threads) = (64 << 20, 1);
        change(&mut options);
        build(&self.files, &options, &mut |_| {}, &Cancel::new())
    }

    pub(crate) fn features(&self) -> Features {
        Features::open(&self.files, &Path::new(ROOT).join(FEATURES)).unwrap()
    }

    /// The names of what was gathered.
    pub(crate) fn gathered(&self) -> Vec<String> {
        let listed = self.files.list(&Path::new(ROOT).join(FEATURES).join("gathered")).unwrap();
        listed.into_iter().map(|entry| entry.name).filter(|name| name != "LOCK").collect()
    }

    /// The files of the generation in use, byte for byte, by name.
    pub(crate) fn generation(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dir = self.features().dir().to_path_buf();
        let within =
            |(path, bytes): (PathBuf, Vec<u8>)| Some((path.strip_prefix(&dir).ok()?.to_path_buf(), bytes));
        self.disk.snapshot().into_iter().filter_map(within).collect()
    }

    /// The features must be what the documents say.
    pub(crate) fn check(&self) {
        let mut newest: BTreeMap<&str, &Doc> = BTreeMap::new();
        for doc in self.docs.iter().filter(|doc| doc.status != 304) {
            let known = newest.entry(&doc.url).or_insert(doc);
            if known.second <= doc.second {
                *known = doc;
            }
        }
        let mut expected: Graph = BTreeMap::new();
        for doc in newest.values() {
            if doc.status == 200 || (300..400).contains(&doc.status) && !doc.links.is_empty() {
                expected.insert(doc.url.clone(), doc.links.iter().cloned().collect());
            }
        }
        assert_eq!(graph(&self.features()), expected);
    }

    /// The answer to a query, a line for each row.
    pub(crate) fn ask(&self, query: &str) -> Vec<String> {
        let snapshot =
            mattock_index::Snapshot::open(&self.files, Path::new(ROOT), &[], &Default::default()).unwrap();
        let mut source: mattock_query::Source = snapshot.into();
        let files = self.files.clone();
        source.by_url =
            Arc::new(move || columns_directory(&files, Path::new(ROOT)).map_err(std::io::Error::other));
        let session = Session::with_source(&self.files, source, Options::new(Random::from_seed(1))).unwrap();
        let mut out = Vec::new();
        let query = session.plan(query, Language::Sql).unwrap_or_else(|error| panic!("{error}"));
        query.run(&mut JsonSink::new(&mut out), &mut |_| {}, &Cancel::new()).unwrap();
        let mut lines: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

fn written(doc: &Doc) -> (String, String) {
    let (mut head, mut body) = (format!("HTTP/1.1 {} OK\r\n", doc.status), String::new());
    if (300..400).contains(&doc.status) {
        head += &doc.links.iter().map(|link| format!("Location: {link}\r\n")).collect::<String>();
    } else {
        let links: String = doc.links.iter().map(|link| format!("<a href='{link}'>there</a> ")).collect();
        head += "Content-Type: text/html\r\n";
        body = format!("<html><body><p>{}</p><p>{links}</p></body></html>", doc.text);
    }
    (head + "\r\n", body)
}

/// Crawled URLs, and where they link to.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph that features have. Turned round it must be the same.
pub(crate) fn graph(features: &Features) -> Graph {
    let urls = features.urls().unwrap();
    let names: Vec<String> = urls.iter(0..urls.len()).collect::<mattock_features::Result<_>>().unwrap();
    let crawled = features.crawled().unwrap();
    let out_links = features.links(Grain::Pages, Direction::Out).unwrap();
    let in_links = features.links(Grain::Pages, Direction::In).unwrap();
    let mut graph = Graph::new();
    for (id, name) in names.iter().enumerate() {
        let targets: BTreeSet<String> =
            out_links.successors(id as u64).map(|target| names[target].clone()).collect();
        for target in out_links.successors(id as u64) {
            assert!(in_links.successors(target as u64).any(|source| source == id));
        }
        match crawled.contains(id as u64) {
            true => drop(graph.insert(name.clone(), targets)),
            false => assert!(targets.is_empty(), "{name} was not crawled"),
        }
    }
    assert_eq!(in_links.arcs(), out_links.arcs());
    graph
}
