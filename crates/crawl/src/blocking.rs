//! The blocklist's file: read when the crawl begins, and again whenever it has changed.
//!
//! A list that cannot be read or understood later on is not put into force: the one before holds on, and a warning says so.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mattock_env::{Clock, Files};
use mattock_frontier::blocklist::{Blocklist, Blocks};
use xxhash_rust::xxh3::xxh3_64;

use crate::CrawlError;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Keeps a list as its file says.
pub(crate) struct BlocklistFile {
    files: Files,
    path: PathBuf,
    list: Blocklist,
    /// The hash of what was taken last, good or bad.
    last: u64,
    /// That of something new, which may be half written: it is taken if the next look finds the same.
    pending: Option<u64>,
}

impl BlocklistFile {
    /// Reads the file; here a mistake is an error.
    pub(crate) fn open(files: &Files, path: &Path, list: &Blocklist) -> Result<BlocklistFile, CrawlError> {
        let bytes = files.read(path).map_err(CrawlError::io("read the blocklist", path))?;
        list.replace(parse(path, &bytes)?);
        Ok(BlocklistFile {
            files: files.clone(),
            path: path.to_owned(),
            list: list.clone(),
            last: xxh3_64(&bytes),
            pending: None,
        })
    }

    /// Looks at the file for ever.
    pub(crate) async fn watch(mut self, clock: Clock) {
        loop {
            clock.sleep(LOOK_EVERY).await;
            self.look();
        }
    }

    fn look(&mut self) {
        let path = self.path.display();
        let bytes = match self.files.read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if std::mem::take(&mut self.last) != 0 {
                    tracing::warn!("cannot read the blocklist {path}: {error}; the one before holds on");
                }
                return;
            }
        };
        let now = xxh3_64(&bytes);
        if now == self.last {
            self.pending = None;
            return;
        }
        if self.pending.replace(now) != Some(now) {
            return;
        }
        self.last = now;
        match parse(&self.path, &bytes) {
            Ok(blocks) => {
                tracing::info!("the blocklist {path} has {} entries now", blocks.len());
                self.list.replace(blocks);
            }
            Err(error) => tracing::warn!("{error}; the list before holds on"),
        }
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Blocks, CrawlError> {
    let wrong = |message: String| CrawlError::Blocklist { path: path.to_owned(), message };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    Blocks::parse(text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;
    use mattock_weburl::WebUrl;

    #[test]
    fn a_changed_file_is_put_into_force_and_a_broken_one_is_not() {
        Simulation::new(1).run(|env| async move {
            let (path, list) = (Path::new("/blocked.txt"), Blocklist::default());
            assert!(BlocklistFile::open(&env.files, path, &list).is_err());
            let write = |text: &str| env.files.write_atomic(path, text.as_bytes()).unwrap();
            let blocks = |text: &str| list.snapshot().refuses(&WebUrl::parse(text).unwrap()).is_some();
            write("host a.com\n");
            let file = BlocklistFile::open(&env.files, path, &list).unwrap();
            tokio::task::spawn_local(file.watch(env.clock.clone()));
            assert!(blocks("http://a.com/") && !blocks("http://b.com/"));
            write("host b.com\n");
            env.clock.sleep(LOOK_EVERY * 3).await;
            assert!(!blocks("http://a.com/") && blocks("http://b.com/"));
            for nonsense in ["address nowhere\n", "url regex:(\n"] {
                write(nonsense);
                env.clock.sleep(LOOK_EVERY * 3).await;
                assert!(blocks("http://b.com/"), "the list before holds on");
            }
        });
    }
}
