//! Features of lists, graphs and WAT files of others.

use std::io::Write;
use std::path::{Path, PathBuf};

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{Direction, Features, FeaturesError, Grain, Input, Inputs, ListKind};
use mattock_query::Cancel;
use mattock_study::{Built, FEATURES, Foreign, Reading, Result, Texts, build_from, parts_of, uncompressed};

use crate::shelf::{Graph, graph};

const DIR: &str = "/graph";

fn files() -> Files {
    Files::simulated(SimFiles::new(Random::from_seed(1)))
}

fn put(files: &Files, name: &str, bytes: &[u8]) -> PathBuf {
    files.create_dir_all(Path::new("/in")).unwrap();
    let path = Path::new("/in").join(name);
    files.write_atomic(&path, bytes).unwrap();
    path
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn texts<'a>(files: &'a Files, paths: &'a [PathBuf]) -> Texts<'a> {
    let open = |path: &'a PathBuf| {
        let file = files.open(path, mattock_env::OpenMode::Read);
        let text = file.and_then(|file| uncompressed(Reading::new(file)));
        let text = text.map_err(|source| FeaturesError::Io { path: path.clone(), source })?;
        Ok(Input { name: path.display().to_string(), text })
    };
    let inputs: Inputs<'a> = Box::new(paths.iter().map(open));
    Texts { parts: parts_of(files, paths), inputs }
}

fn built(files: &Files, foreign: Foreign<'_>) -> Result<(Built, Features)> {
    let built = build_from(files, Path::new(DIR), foreign, 64 << 20, &mut |_| {}, &Cancel::new())?;
    Ok((built, Features::open(files, &Path::new(DIR).join(FEATURES)).unwrap()))
}

fn linked(links: &[(&str, &[&str])]) -> Graph {
    let set = |targets: &[&str]| targets.iter().map(|target| (*target).to_owned()).collect();
    links.iter().map(|(source, targets)| ((*source).to_owned(), set(targets))).collect()
}

#[test]
fn lists_in_several_files_are_one_list() {
    let files = files();
    let paths = [
        put(&files, "one.gz", &gzip("http://a.com/\thttp://b.com/\nhttp://a.com/\thttp://c.com/\n")),
        put(&files, "none", b""),
        put(&files, "two.zst", &zstd::bulk::compress(b"http://b.com/\thttp://a.com/\n", 1).unwrap()),
    ];
    let (_, features) = built(&files, Foreign::List(ListKind::Urls, texts(&files, &paths))).unwrap();
    let expected = linked(&[
        ("http://a.com/", &["http://b.com/", "http://c.com/"]),
        ("http://b.com/", &["http://a.com/"]),
    ]);
    assert_eq!(graph(&features), expected);
    assert_eq!(features.origin().how, "a list of URLs");
    assert_eq!(features.origin().parts.len(), 3);
    assert!(features.origin().parts[0].bytes > 0);

    let paths = [put(&files, "one", b"0\t1\n"), put(&files, "two", b"1\t0\n\n2\tx\n")];
    let error = built(&files, Foreign::List(ListKind::Ids, texts(&files, &paths))).unwrap_err();
    assert_eq!(error.to_string(), "/in/two, line 3: there are no two numbers");
    let paths = [PathBuf::from("/in/missing")];
    let error = built(&files, Foreign::List(ListKind::Ids, texts(&files, &paths))).unwrap_err();
    assert!(error.to_string().starts_with("/in/missing: "), "{error}");
    assert_eq!(features.generation(), 1);
}

#[test]
fn a_graph_of_hosts_gets_its_names() {
    let files = files();
    let vertices = [
        put(&files, "vertices-1.gz", &gzip("0\tcom.a\n1\tcom.a.www\n")),
        put(&files, "vertices-2.gz", &gzip("2\torg.b\t17\n9\tno name\n4\tuk.co.c\n")),
    ];
    let edges = [put(&files, "edges.gz", &gzip("4\t0\n0\t1\n0\t2\n2\t0\n2\t9\n9\t2\n2\t77\n"))];
    let foreign = || Foreign::Graph { vertices: texts(&files, &vertices), edges: texts(&files, &edges) };
    let (result, features) = built(&files, foreign()).unwrap();
    let expected = linked(&[
        ("http://a.com/", &["http://b.org/", "http://www.a.com/"]),
        ("http://b.org/", &["http://a.com/"]),
        ("http://c.co.uk/", &["http://a.com/"]),
    ]);
    assert_eq!(graph(&features), expected);
    let counts = result.counts.unwrap();
    assert_eq!((counts.urls, counts.crawled, counts.hosts, counts.domains, counts.refused), (4, 3, 4, 3, 4));
    let domains = features.links(Grain::Domains, Direction::Out).unwrap();
    assert_eq!(domains.arcs(), 3);

    let twice = [put(&files, "twice", b"0\tcom.a\n0\tcom.b\n")];
    let foreign = Foreign::Graph { vertices: texts(&files, &twice), edges: texts(&files, &edges) };
    let error = built(&files, foreign).unwrap_err().to_string();
    assert!(error.contains("0 has two names"), "{error}");
    let wrong = [put(&files, "wrong", b"com.a\n")];
    let foreign = Foreign::Graph { vertices: texts(&files, &wrong), edges: texts(&files, &edges) };
    let error = built(&files, foreign).unwrap_err().to_string();
    assert_eq!(error, "/in/wrong, line 1: there is no number, tab and name");
}

fn wat(url: &str, date: &str, status: u16, rest: &str) -> String {
    let json = format!(
        r#"{{"Container":{{"Compressed":true}},"Envelope":{{"Format":"WARC","WARC-Header-Metadata":{{"WARC-Type":"response","WARC-Date":"{date}","WARC-Target-URI":"{url}"}},"Payload-Metadata":{{"HTTP-Response-Metadata":{{"Response-Message":{{"Status":"{status}"}}{rest}}}}}}}}}"#
    );
    record("metadata", "application/json", &json)
}

fn record(kind: &str, content_type: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn wat_files_tell_of_links() {
    let files = files();
    let html = |links: &str| {
        let links: Vec<String> =
            links.split(' ').map(|link| format!(r#"{{"path":"A@/href","url":"{link}"}}"#)).collect();
        format!(r#","HTML-Metadata":{{"Head":{{"Title":"x"}},"Links":[{}]}}"#, links.join(","))
    };
    let first: Vec<u8> = [
        record("warcinfo", "application/warc-fields", "software: x\r\n"),
        wat("http://a.com/", "2026-01-02T00:00:00Z", 200, &html("/1 http://b.com")),
        wat("http://a.com/1", "2026-01-01T00:00:00Z", 200, &html("/never")),
        wat("http://a.com/gone", "2026-01-01T00:00:00Z", 404, &html("/never")),
        record("metadata", "application/json", "{ no JSON"),
    ]
    .iter()
    .flat_map(|record| gzip(record))
    .collect();
    let second: Vec<u8> = [
        wat("http://a.com/1", "2026-01-03T00:00:00Z", 200, &html("../2#x")),
        wat("http://a.com/2", "2026-01-03T00:00:00Z", 302, r#","Headers":{"Location":"/1"}"#),
        wat("http://a.com/image", "2026-01-03T00:00:00Z", 200, ""),
    ]
    .iter()
    .flat_map(|record| gzip(record))
    .collect();
    let paths = vec![put(&files, "a.warc.wat.gz", &first), put(&files, "b.warc.wat.gz", &second)];
    let (result, features) = built(&files, Foreign::Wat(paths)).unwrap();
    let expected = linked(&[
        ("http://a.com/", &["http://a.com/1", "http://b.com/"]),
        ("http://a.com/1", &["http://a.com/2"]),
        ("http://a.com/2", &["http://a.com/1"]),
        ("http://a.com/image", &[]),
    ]);
    assert_eq!(graph(&features), expected);
    assert_eq!((result.documents, result.parts), (6, 2));
    assert_eq!((result.failures.len(), result.failures[0].count), (1, 1), "{:?}", result.failures);
}
