//! A small repository with one file of every kind: a crawl that is not at its end, an import, an index with parts, kept columns, features.

use std::path::{Path, PathBuf};

use mattock_env::Files;

use crate::process::Scratch;
use crate::served::Served;

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Part,
    Index,
    Kept,
    Checkpoint,
    Ledger,
    State,
    Drum,
    Queue,
    Features,
    ByUrl,
}

impl Kind {
    pub(super) const ALL: [Kind; 10] = [
        Kind::Part,
        Kind::Index,
        Kind::Kept,
        Kind::Checkpoint,
        Kind::Ledger,
        Kind::State,
        Kind::Drum,
        Kind::Queue,
        Kind::Features,
        Kind::ByUrl,
    ];

    /// Whether queries read it. The others are read by who goes on with the crawl.
    pub(super) fn is_asked(self) -> bool {
        matches!(self, Kind::Part | Kind::Index | Kind::Kept | Kind::Features | Kind::ByUrl)
    }

    /// That of a file, by its path in the repository.
    fn of(path: &str) -> Option<Kind> {
        let name = path.rsplit('/').next()?;
        let words: Vec<&str> = path.split('/').collect();
        Some(match words[0] {
            "index" if name == "INDEX" => Kind::Index,
            "index" if name.ends_with(".parquet") => Kind::Part,
            "columns" if name != "lock" => Kind::Kept,
            "state" if name.starts_with("CHECKPOINT") => Kind::Checkpoint,
            "state" if words[1] == "ledger" => Kind::Ledger,
            "state" if name.starts_with("STATE") => Kind::State,
            "state" if words.contains(&"queues") => Kind::Queue,
            "state" if words.len() > 4 => Kind::Drum,
            "features" if words.contains(&"columns") => Kind::ByUrl,
            "features" if name != "LOCK" => Kind::Features,
            _ => return None,
        })
    }
}

/// The sound repository in `site`.
pub(super) struct Site {
    pub(super) scratch: Scratch,
    /// Kept: it is crawled on.
    pub(super) served: Served,
    /// Files with what they are, by path.
    pub(super) files: Vec<(Kind, String)>,
    binary: PathBuf,
}

impl Site {
    pub(super) fn make(name: &str, binary: &Path) -> Site {
        let scratch = Scratch::new(name);
        let served = Served::start(7, "0s", 0);
        let mut site = Site { scratch, served, files: Vec::new(), binary: binary.to_owned() };
        let crawl: Vec<&str> = site.served.crawl.iter().map(String::as_str).collect();
        site.done(&[&crawl[..], &["--max-pages", "60", "--partitions", "2"]].concat());
        let page = |name: &str| {
            let http = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{name}</title><p>Spades and mattocks."
            );
            let head = format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a-sim.com/{name}\r\nWARC-Date: 2026-01-02T03:04:05Z"
            );
            let rest = format!(
                "WARC-Record-ID: <urn:test:{name}>\r\nContent-Type: application/http\r\nContent-Length: {}",
                http.len()
            );
            format!("{head}\r\n{rest}\r\n\r\n{http}\r\n\r\n")
        };
        site.scratch.write("other.warc", &["a", "b", "c"].map(page).concat());
        site.done(&["index", "crawl"]);
        site.done(&["import", "crawl", "other.warc", "--copy"]);
        site.done(&["materialize", "crawl", "title"]);
        site.done(&["materialize", "crawl", "links"]);
        site.done(&["features", "build", "crawl"]);
        let mut found = Vec::new();
        walk(&site.scratch.path().join("crawl"), "", &mut found);
        site.files = found.into_iter().filter_map(|path| Some((Kind::of(&path)?, path))).collect();
        for kind in Kind::ALL {
            assert!(site.files.iter().any(|(of, _)| *of == kind), "{kind:?}: {:?}", site.files);
        }
        site
    }

    fn done(&self, arguments: &[&str]) {
        let output = self
            .scratch
            .command(&self.binary.to_string_lossy())
            .args(arguments)
            .output()
            .expect("it can be run");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A copy of it in a directory of its own; what was there is gone.
    pub(super) fn copy(&self, name: &str) -> PathBuf {
        let to = self.scratch.path().join(name);
        let _ = Files::real().remove_dir_all(&to);
        copy(&self.scratch.path().join("crawl"), &to.join("crawl"));
        to
    }
}

/// The files below a directory, in the order of their paths.
fn walk(directory: &Path, before: &str, found: &mut Vec<String>) {
    let mut entries = Files::real().list(directory).expect("the directory is there");
    entries.sort_by(|one, two| one.name.cmp(&two.name));
    for entry in entries {
        let path = format!("{before}{}", entry.name);
        match entry.is_dir {
            true => walk(&directory.join(&entry.name), &format!("{path}/"), found),
            false => found.push(path),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let files = Files::real();
    files.create_dir_all(to).expect("a directory can be made");
    for entry in files.list(from).expect("the directory is there") {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        match entry.is_dir {
            true => copy(&from, &to),
            false => {
                let file = files.open(&to, mattock_env::OpenMode::CreateOrTruncate).expect("it can be made");
                let bytes = files.read(&from).expect("the file can be read");
                file.write_all_at(&bytes, 0).expect("it can be written");
            }
        }
    }
}
