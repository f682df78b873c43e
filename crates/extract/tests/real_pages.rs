//! Recall and precision over saved news and blog pages, as they are and with a markup byte broken every few kilobytes.

use std::path::PathBuf;

use mattock_extract::{Options, extract};

use crate::oracle;

/// The bodies of the saved pages, or nothing where they are absent.
#[expect(clippy::disallowed_methods, reason = "the pages are real files that lie outside the project")]
#[expect(clippy::print_stderr, reason = "a skipped suite says so")]
fn pages() -> Vec<(PathBuf, Vec<u8>)> {
    fn collect(folder: PathBuf, found: &mut Vec<PathBuf>) {
        #[expect(
            clippy::disallowed_methods,
            reason = "the pages are real files that lie outside the project"
        )]
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                collect(path, found);
            } else if path.ends_with("source.html") {
                found.push(path);
            }
        }
    }
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/html"));
    let mut paths = Vec::new();
    collect(folder.clone(), &mut paths);
    paths.sort();
    if paths.is_empty() {
        eprintln!("skipped: no pages in {}", folder.display());
    }
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a readable page"))).collect()
}

#[derive(Default)]
struct Score {
    expected: usize,
    missed: usize,
    extra: usize,
    examples: Vec<String>,
}

impl Score {
    fn page(&mut self, path: &std::path::Path, body: &[u8]) {
        let options = Options {
            embeds: true,
            forms: true,
            links_max: usize::MAX,
            target_bytes_max: usize::MAX,
            ..Options::default()
        };
        let found = extract(body, None, &options);
        let ours: oracle::Links = found.links.into_iter().map(|link| (link.kind, link.target)).collect();
        let (text, _) = found.charset.decode_with_bom_removal(body);
        let theirs = oracle::links(&text);
        self.expected += theirs.len();
        for (name, count, side) in [
            ("missed", &mut self.missed, theirs.difference(&ours)),
            ("extra", &mut self.extra, ours.difference(&theirs)),
        ] {
            for link in side {
                *count += 1;
                if self.examples.len() < 20 {
                    self.examples.push(format!("{}: {name} {link:?}", path.display()));
                }
            }
        }
    }

    #[track_caller]
    fn at_least(&self, share: f64) {
        let recall = 1.0 - self.missed as f64 / self.expected as f64;
        let precision = 1.0 - self.extra as f64 / self.expected as f64;
        assert!(
            recall >= share && precision >= share,
            "recall {recall:.5}, precision {precision:.5} of {}:\n{}",
            self.expected,
            self.examples.join("\n")
        );
    }
}

#[test]
fn as_saved() {
    let pages = pages();
    if pages.is_empty() {
        return;
    }
    let mut score = Score::default();
    for (path, body) in &pages {
        score.page(path, body);
    }
    assert!(score.expected > 10_000, "only {} links: the pages are not whole", score.expected);
    score.at_least(0.9995);
}

#[test]
fn with_broken_markup() {
    let pages = pages();
    if pages.is_empty() {
        return;
    }
    let mut score = Score::default();
    // A fixed generator: a failure repeats.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for (path, body) in &pages {
        let mut broken = body.clone();
        for _ in 0..=body.len() / 3_000 {
            let at = random(broken.len());
            match random(2) {
                0 => broken.insert(at, b"<>\"'=/-! "[random(9)]),
                _ => {
                    if let Some(markup) = broken[at..].iter().position(|b| b"<>\"'=/-!".contains(b)) {
                        broken.remove(at + markup);
                    }
                }
            }
        }
        score.page(path, &broken);
    }
    // Here the tree matters now and then: it drops elements in places where they may not stand.
    score.at_least(0.998);
}
