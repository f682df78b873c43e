//! A repository, from its directory: that of a crawl as its last checkpoint has it, or one of imported files.

use std::path::Path;

use anyhow::Context;
use mattock_crawl::{CrawlError, SavedCrawl};
use mattock_env::{Env, Random};
use mattock_index::{IndexError, IndexOptions, LedgerSource, Manifest, Snapshot, TAIL_ROWS, Updated};
use mattock_query::{Options, Session, Source};

use crate::analyzers;
use crate::args::repository::AskArgs;
use crate::exit::Usage;

/// What of a repository the index is made of.
pub(crate) struct Repository {
    env: Env,
    root: std::path::PathBuf,
    ledgers: Vec<LedgerSource>,
    options: IndexOptions,
}

impl Repository {
    /// Looks at the directory. A crawl may be running there.
    pub(crate) fn open(env: &Env, root: &Path) -> anyhow::Result<Repository> {
        // Files are named by absolute paths wherever they do not lie below it.
        let root = &std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
        let ledgers = match SavedCrawl::open(env, root) {
            Ok(saved) => saved
                .ledgers()
                .into_iter()
                .map(|ledger| LedgerSource { name: ledger.name, path: ledger.path, bytes: ledger.bytes })
                .collect(),
            Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. })
                if !Manifest::read(&env.files, root)?.parts.is_empty() =>
            {
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        };
        let options = IndexOptions { crawl: name_of(root), archive: "warc".to_owned() };
        Ok(Repository { env: env.clone(), root: root.clone(), ledgers, options })
    }

    /// Makes parts of what is in none, if it is as much as `at_least` rows.
    pub(crate) fn index(&self, at_least: usize, progress: impl FnMut(u64)) -> Result<Updated, IndexError> {
        mattock_index::update(&self.env.files, &self.root, &self.ledgers, &self.options, at_least, progress)
    }

    /// What is committed now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.env.files, &self.root, &self.ledgers, &self.options)
    }

    /// Opens it for queries.
    pub(crate) fn session(&self, options: Options) -> anyhow::Result<Session> {
        // Rows that are in no part are read from ledgers each time; what cannot be written is no reason not to ask.
        match self.index(TAIL_ROWS, |_| {}) {
            Ok(_) | Err(IndexError::Io { .. } | IndexError::Locked { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let snapshot = self.snapshot()?;
        if snapshot.damaged() > 0 {
            eprintln!(
                "warning: {} block(s) of ledgers cannot be read, and their rows are missing: `mattock check` says more",
                snapshot.damaged()
            );
        }
        let (parts, tail) = (snapshot.parts().to_vec(), snapshot.tail().to_vec());
        let source = Source::new(&self.root, mattock_index::schema(), parts, tail);
        Ok(Session::with_source(&self.env.files, source, options)?)
    }
}

/// What the column `crawl` says of a directory's rows.
pub(crate) fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| "crawl".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What the flags say, with the analyzers that are loaded to ask `text` of the repository `dir`.
pub(crate) fn options(env: &Env, args: &AskArgs, dir: &Path, text: &str) -> anyhow::Result<Options> {
    let mut options = Options::new(Random::from_entropy());
    options.memory_bytes = usize::try_from(args.memory).context("so much memory there is not")?;
    options.threads =
        args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()));
    options.analyzers = analyzers::load(&env.files, &args.loaded, dir, text)?;
    options.as_of_ms = args.as_of.as_deref().map(milliseconds).transpose()?;
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
