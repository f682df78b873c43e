//! What a column answers changes only together with its version: values that were kept (`mattock materialize`) are used as long as the
//! version is the same. `versions.tsv` has each column with its version and a hash of what it answers for real pages and pieces of them.
//! `MATTOCK_UPDATE=1` writes it anew, unless a version was forgotten.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use mattock_analyze::{Document, built_ins};
use xxhash_rust::xxh3::Xxh3Default;

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
const PIECE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
/// Of so many bytes languages are hard to tell.
const PIECE_BYTES: usize = 60;

/// The bodies of saved news and blog pages, in the order of their names; nothing where they are absent.
#[expect(clippy::disallowed_methods, reason = "the pages are real files that lie outside the project")]
fn pages() -> Vec<Vec<u8>> {
    let folder =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/html/readability/readability"));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("source.html")).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the list is a file of the project")]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn answers_change_with_versions() {
    let pages = pages();
    if pages.is_empty() {
        eprintln!("skipped: no pages");
        return;
    }
    let document = |head, body| Document::new("http://www.a.example/b/", 0, 200, head, body, false);
    let pieces = pages.iter().flat_map(|page| page.chunks(PIECE_BYTES).step_by(50));
    let documents: Vec<Document<'_>> = pages
        .iter()
        .map(|page| document(PAGE, page))
        .chain(pieces.map(|piece| document(PIECE, piece)))
        .collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/versions.tsv");
    let listed = std::fs::read_to_string(file).unwrap_or_default();
    let listed: BTreeMap<&str, &str> = listed.lines().filter_map(|line| line.split_once('\t')).collect();
    let (mut list, mut forgotten) = (String::new(), Vec::new());
    for analyzer in built_ins() {
        let mut hash = Xxh3Default::new();
        for document in &documents {
            hash.update(format!("{:?}\n", analyzer.analyze(document)).as_bytes());
        }
        let answers = format!("{}\t{:016x}", analyzer.version(), hash.digest());
        if let Some((version, _)) = listed.get(analyzer.name()).and_then(|before| before.split_once('\t'))
            && version == analyzer.version()
            && listed[analyzer.name()] != answers
        {
            forgotten.push(analyzer.name().to_owned());
        }
        writeln!(list, "{}\t{answers}", analyzer.name()).expect("a string takes it");
    }
    assert!(forgotten.is_empty(), "other answers, but the same version in built_in.rs: {forgotten:?}");
    if std::env::var_os("MATTOCK_UPDATE").is_some() {
        std::fs::write(file, list).expect("the list can be written");
    } else {
        let listed: String = listed.iter().map(|(name, answers)| format!("{name}\t{answers}\n")).collect();
        assert_eq!(list, listed, "`MATTOCK_UPDATE=1 cargo test -p mattock-analyze versions` writes it anew");
    }
}
