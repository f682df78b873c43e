//! A repository, from its directory: that of a crawl as its last checkpoint has it, or one of imported files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use mattock_crawl::{CrawlError, SavedCrawl};
use mattock_env::{Env, Files, Random, is_url};
use mattock_index::{
    IndexError, IndexOptions, LedgerSource, Manifest, Snapshot, TAIL_ROWS, Updated, importing_since_ms,
};
use mattock_query::{Options, PartSums, Session, Source};
use mattock_study::columns_directory;

use crate::analyzers::Analyzers;
use crate::args::repository::{AskArgs, EngineArgs};
use crate::exit::Usage;
use crate::places;
use crate::shell::quoted;

/// What of a repository the index is made of.
pub(crate) struct Repository {
    env: Env,
    root: PathBuf,
    ledgers: Vec<LedgerSource>,
    /// Whether somebody was crawling when it was looked at.
    in_use: bool,
    /// The files of the crawl's archive, as rows name them, and what of them is committed: all of it, where the crawl's state is gone.
    archives: Vec<(String, u64)>,
    /// Where its features are, if somewhere else.
    features: Option<PathBuf>,
    options: IndexOptions,
}

/// The directory of a crawl's archive.
const ARCHIVE: &str = "warc";

impl Repository {
    /// Looks at the directory or URL. A crawl may be running there, in a directory.
    pub(crate) fn open(env: &Env, root: &Path) -> anyhow::Result<Repository> {
        // Files are named by absolute paths wherever they do not lie below it.
        let given = root;
        let root = &places::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let options = IndexOptions { crawl: name_of(root), archive: ARCHIVE.to_owned() };
        let mut archives = Vec::new();
        if is_url(root) {
            if Manifest::read(&env.files, root)?.parts.is_empty() {
                let message = "there is no repository: `mattock publish DIR URL` puts one there, and `mattock import` makes one";
                return Err(Usage(format!("{}: {message}", root.display())).into());
            }
            return Ok(Repository {
                env: env.clone(),
                root: root.clone(),
                ledgers: Vec::new(),
                in_use: false,
                archives,
                features: None,
                options,
            });
        }
        let mut in_use = false;
        let ledgers = match SavedCrawl::open(env, root) {
            Ok(saved) => {
                in_use = saved.is_in_use();
                let named = |(name, bytes): (&String, &u64)| (format!("{ARCHIVE}/{name}"), *bytes);
                archives.extend(saved.archive().iter().map(named));
                let ledgers = saved.ledgers().into_iter();
                ledgers
                    .map(|ledger| LedgerSource { name: ledger.name, path: ledger.path, bytes: ledger.bytes })
                    .collect()
            }
            Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. })
                if !Manifest::read(&env.files, root)?.is_empty() =>
            {
                Vec::new()
            }
            Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. }) => {
                if Manifest::is_lost(&env.files, root)? {
                    let path = Manifest::directory(root).join("INDEX");
                    return Err(IndexError::Lost { path }.into());
                }
                let message = "there is no repository: neither a crawl (crawl.toml) nor documents of imported archives (index/INDEX); `mattock import` takes archives in";
                return Err(Usage(format!("{}: {message}", given.display())).into());
            }
            Err(error) => return Err(error.into()),
        };
        if ledgers.is_empty() && !in_use && has_rows_of_a_crawl(&env.files, root) {
            // Nobody will ever write into them.
            let present = env.files.list(&root.join(ARCHIVE)).unwrap_or_default();
            let files = present.into_iter().filter(|entry| !entry.is_dir);
            archives = files.map(|entry| (format!("{ARCHIVE}/{}", entry.name), entry.len)).collect();
        }
        Ok(Repository {
            env: env.clone(),
            root: root.clone(),
            ledgers,
            in_use,
            archives,
            features: None,
            options,
        })
    }

    /// The same with features that were built into another directory, if one is named.
    pub(crate) fn with_features(self, dir: Option<&Path>) -> anyhow::Result<Repository> {
        Ok(Repository { features: dir.map(places::absolute).transpose()?, ..self })
    }

    /// Makes parts of what is in none, if it is as much as `at_least` rows.
    pub(crate) fn index(&self, at_least: usize, progress: impl FnMut(u64)) -> Result<Updated, IndexError> {
        mattock_index::update(&self.env.files, &self.root, &self.ledgers, &self.options, at_least, progress)
    }

    /// Makes all parts of the crawl anew.
    pub(crate) fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Updated, IndexError> {
        mattock_index::rebuild(&self.env.files, &self.root, &self.ledgers, &self.options, progress)
    }

    /// Whether an index reaches no further than what is committed here. Otherwise somebody has looked at a newer checkpoint meanwhile. Where there
    /// are no ledgers, nobody commits anything.
    pub(crate) fn is_up_to(&self, manifest: &Manifest) -> bool {
        self.ledgers.is_empty()
            || manifest.covered.iter().all(|covered| {
                let ledger = self.ledgers.iter().find(|ledger| ledger.name == covered.ledger);
                ledger.is_some_and(|ledger| covered.bytes <= ledger.bytes)
            })
    }

    /// The files of the crawl's archive, as rows name them, and what of them is committed.
    pub(crate) fn archives(&self) -> &[(String, u64)] {
        &self.archives
    }

    /// Whether a crawl's ledgers are there, to make its parts from.
    pub(crate) fn has_ledgers(&self) -> bool {
        !self.ledgers.is_empty()
    }

    fn has_archives(&self) -> bool {
        !is_url(&self.root)
            && self.env.files.list(&self.root.join(ARCHIVE)).is_ok_and(|files| !files.is_empty())
    }

    /// What is committed now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.env.files, &self.root, &self.ledgers, &self.options)
    }

    /// Opens it for queries.
    pub(crate) fn session(&self, options: Options) -> anyhow::Result<Session> {
        // Rows that are in no part are read from ledgers each time; what cannot be written is no reason not to ask.
        if !is_url(&self.root) {
            match self.index(TAIL_ROWS, |_| {}) {
                Ok(_) | Err(IndexError::Io { .. } | IndexError::Locked { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let importing = || importing_since_ms(&self.env.files, &self.root);
        // Before and after: one that ends meanwhile has been under way.
        let importing_before = importing();
        let snapshot = self.snapshot()?;
        let importing_ms = [importing_before, importing()].into_iter().flatten().min();
        if snapshot.damaged() > 0 {
            say!(
                "warning: {} block(s) of ledgers cannot be read, and their rows are missing: `mattock check` says more",
                snapshot.damaged()
            );
        }
        if !snapshot.lost().is_empty() {
            say!(
                "warning: rows of {} imported archive(s) are lost: `mattock index --rebuild` imports again those that are there, and `mattock check` names them",
                snapshot.lost().len()
            );
        }
        if snapshot.rows() == 0 && self.ledgers.is_empty() && !self.in_use && self.has_archives() {
            say!(
                "warning: there are archives, but neither a checkpoint of the crawl nor an index; `mattock import` makes an index of them in \
                 another directory"
            );
        }
        let (parts, tail) = (snapshot.parts().to_vec(), snapshot.tail().to_vec());
        let mut source = Source::new(&self.root, mattock_index::schema(), parts, tail);
        source.sums = PartSums::of(&snapshot);
        source.undated = snapshot.has_undated();
        source.languages = snapshot.has_languages();
        source.ledgers = self.ledgers.clone();
        // Something may have been imported since the last checkpoint, and the next one may be of a moment before that.
        let checkpointed_ms = snapshot.ledgers_ms().filter(|_| self.in_use);
        // And what an import that is under way will bring has a time already.
        let before_import_ms = importing_ms.map(|since_ms| since_ms - 1);
        source.settled_ms = [checkpointed_ms, before_import_ms].into_iter().flatten().min();
        let (files, root, features) = (self.env.files.clone(), self.root.clone(), self.features.clone());
        source.by_url = Arc::new(move || columns(&files, &root, features.as_deref()));
        Ok(Session::with_source(&self.env.files, source, options)?)
    }
}

/// Whether an index has rows of a crawl, be its state there or not.
fn has_rows_of_a_crawl(files: &Files, root: &Path) -> bool {
    Manifest::read(files, root).is_ok_and(|manifest| !manifest.covered.is_empty())
}

/// Where columns of features are; what to do about it, if they cannot be where they are looked for.
fn columns(files: &Files, root: &Path, features: Option<&Path>) -> io::Result<Option<PathBuf>> {
    let found = columns_directory(files, features.unwrap_or(root)).map_err(io::Error::other)?;
    match (found, features) {
        (None, Some(dir)) => Err(io::Error::other(format!(
            "there are no features of URLs in {}; make them with `mattock features build --into`",
            dir.display()
        ))),
        (None, None) if is_url(root) => Err(io::Error::other(
            "features of a URL are built with `mattock features build URL --into DIR`, and --features DIR finds them",
        )),
        (found, _) => Ok(found),
    }
}

/// How queries have a column that was kept among the features of a directory, which need not be that of a repository.
pub(crate) fn kept(env: &Env, dir: &Path, column: &str) -> String {
    let shown = quoted(&dir.display().to_string());
    match Repository::open(env, dir) {
        Ok(_) => format!("Kept: mattock query {shown} 'select name, {column}'"),
        Err(_) => format!("Kept: with --features {shown} a query of a repository has the column `{column}`"),
    }
}

/// So many requests at least are under way at once for a query of a URL.
const FAR_THREADS: usize = 8;

/// What the column `crawl` says of a directory's rows.
pub(crate) fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| "crawl".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Threads that ask the repository `dir`, if nobody says how many.
pub(crate) fn cores(dir: &Path) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    // Far away, most of the time is waiting.
    if is_url(dir) { cores.max(FAR_THREADS) } else { cores }
}

/// What the flags say, with the analyzers that are loaded to ask `text` of the repository `dir`.
pub(crate) fn options(env: &Env, args: &AskArgs, dir: &Path, text: &str) -> anyhow::Result<Options> {
    let mut options = engine_options(&args.engine, dir)?;
    options.analyzers = Analyzers::find(env, &args.loaded, Some(dir))?.load(text)?;
    Ok(options)
}

/// What the flags say, without analyzers that are loaded.
pub(crate) fn engine_options(args: &EngineArgs, dir: &Path) -> anyhow::Result<Options> {
    let mut options = Options::new(Random::from_entropy());
    options.memory_bytes = usize::try_from(args.memory).context("so much memory there is not")?;
    options.threads = args.threads.unwrap_or_else(|| cores(dir));
    options.as_of_ms = args.as_of.as_deref().map(milliseconds).transpose()?;
    options.inserted_by_ms = args.inserted_by.as_deref().map(milliseconds).transpose()?;
    Ok(options)
}

/// For questions about columns.
pub(crate) fn plain_options() -> Options {
    Options::new(Random::from_entropy())
}

/// A time as users write it, in milliseconds since 1970.
pub(crate) fn milliseconds(text: &str) -> anyhow::Result<i64> {
    crate::times::parse(text)
        .ok_or_else(|| Usage(format!("`{text}` is no time: write 2026-01-31 or 2026-01-31T12:00:00Z")).into())
}
