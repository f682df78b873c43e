//! A crawl's directory.
//!
//! | file | what |
//! |---|---|
//! | `crawl.toml` | the configuration that the crawl was last run with, under a line with version and checksum; marks the directory as a crawl. Its owner's alone if a secret stands in it |
//! | `warc/*.warc.*` | the archive |
//! | `blocks.txt` | what the operator has blocked, if anything |
//! | `logs/*` | what the program has said |
//! | `state/lock` | held by the process that crawls, so that there is only one |
//! | `state/CHECKPOINT` | the checkpoint that a restart goes back to; `CHECKPOINT.copy` is the same once more |
//! | `state/BEGUN` | there was a first checkpoint |
//! | `state/STATUS` | what the process that crawls is doing; gone when it has ended in good order |
//! | `state/console-token` | the token that was made for the console of the process that crawls, for its owner alone; gone with it |
//! | `state/frontier/N` | the frontier of partition N |
//! | `state/ledger/N` | what became of every URL of partition N |
//! | `state/frontier-L/N`, `state/ledger-L/N` | the same, of a crawl that was divided otherwise L times |
//! | `state/dividing` | what is needed only while that is done |
//!
//! Ledgers stay when a crawl is divided otherwise, frontiers make way for those of the new division. Which of them count the checkpoint says.

use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode};

use crate::checkpoint::Checkpoint;
use crate::{CrawlError, RawConfig};

/// The file that makes a directory a crawl.
pub(crate) const MARKER: &str = "crawl.toml";

const DIVIDING: &str = "dividing";

/// How the first line of the configuration begins.
const SEAL: &str = "# mattock configuration";
/// Its last line: without it some settings may be missing, and nothing else would show it.
pub(crate) const LAST: &str = "# end of the configuration";
pub(crate) const CONFIG_VERSION: u32 = 1;

/// What the first and the last line of the configuration say of the rest. People may change it, and the next run writes it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// It is as it was written.
    Whole,
    /// Somebody has changed it.
    Changed,
    /// It has no end.
    Cut,
    /// It is of another version of the program.
    Version(u32),
}

impl Seal {
    fn of(text: &str) -> Seal {
        let words = text.lines().next().and_then(|first| first.strip_prefix(SEAL)?.strip_prefix(' '));
        let words = words.and_then(|words| words.split_once(' '));
        if let Some(version) = words.and_then(|(version, _)| version.parse().ok())
            && version != CONFIG_VERSION
        {
            return Seal::Version(version);
        }
        let Some(body) = text.trim_end().strip_suffix(LAST).filter(|body| body.ends_with('\n')) else {
            return Seal::Cut;
        };
        let toml = body.split_once('\n').map_or("", |(_, toml)| toml);
        if body == format!("{}{toml}", first_line(toml)) { Seal::Whole } else { Seal::Changed }
    }
}

fn first_line(toml: &str) -> String {
    format!("{SEAL} {CONFIG_VERSION} {:08x}\n", crc32fast::hash(toml.as_bytes()))
}

/// Paths of one crawl.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    files: Files,
    root: PathBuf,
    /// How often the crawl was divided otherwise.
    layout: u64,
}

impl Directory {
    /// A directory, whatever it holds.
    pub(crate) fn at(files: &Files, root: &Path) -> Directory {
        Directory { files: files.within(root), root: root.to_path_buf(), layout: 0 }
    }

    /// Cuts a ledger back to the length that it had at a checkpoint; whether it was longer. It is synced in any case: a run that
    /// was killed may have cut it without.
    pub(crate) fn cut_ledger(&self, path: &Path, length: u64) -> Result<bool, CrawlError> {
        let entry = self.files.entry(path).map_err(CrawlError::io("look at", path))?;
        let Some(entry) = entry.filter(|entry| length > 0 && entry.len >= length) else {
            return Ok(false);
        };
        let file = self.files.open(path, OpenMode::Write).map_err(CrawlError::io("open", path))?;
        let longer = entry.len > length;
        if longer {
            file.set_len(length).map_err(CrawlError::io("cut back", path))?;
        }
        file.sync().map_err(CrawlError::io("sync", path))?;
        Ok(longer)
    }

    /// The same with the frontiers and ledgers of another division.
    pub(crate) fn with_layout(&self, layout: u64) -> Directory {
        Directory { layout, ..self.clone() }
    }

    /// A directory that is new, empty, or holds a crawl already; in that case also its configuration. Writes nothing.
    pub(crate) fn open(files: &Files, root: &Path) -> Result<(Directory, Option<RawConfig>), CrawlError> {
        let directory = Directory::at(files, root);
        let marker = directory.root.join(MARKER);
        let entry = files.entry(root).map_err(CrawlError::io("look at", root))?;
        if entry.as_ref().is_some_and(|entry| !entry.is_dir) {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(CrawlError::Io { action: "use as a directory", path: root.to_path_buf(), source });
        }
        if files.entry(&marker).map_err(CrawlError::io("look at", &marker))?.is_some() {
            let saved = directory.read_config()?;
            return Ok((directory, Some(saved)));
        }
        if entry.is_some() && !directory.is_skeleton(root, 0)? {
            return Err(CrawlError::NotACrawl { path: root.to_path_buf() });
        }
        Ok((directory, None))
    }

    /// Whether there is nothing below but what [`Directory::create`] makes, if it is interrupted before it is done.
    fn is_skeleton(&self, path: &Path, depth: usize) -> Result<bool, CrawlError> {
        for entry in self.files.list(path).map_err(CrawlError::io("list", path))? {
            let known = match (depth, entry.is_dir) {
                (0, true) => ["state", "warc"].contains(&entry.name.as_str()),
                (0, false) => entry.name.strip_suffix(".tmp") == Some(MARKER),
                (1, true) => entry.name == "ledger",
                (1, false) => entry.name == "lock",
                _ => false,
            };
            if !known || entry.is_dir && !self.is_skeleton(&path.join(&entry.name), depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes what is missing.
    pub(crate) fn create(&self) -> Result<(), CrawlError> {
        let sync = |path: &Path| self.files.sync_dir(path).map_err(CrawlError::io("sync", path));
        let mut known = self.root.clone();
        // The names of what is made durable must be durable too.
        while self.files.entry(&known).map_err(CrawlError::io("look at", &known))?.is_none() {
            match known.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => known = parent.to_path_buf(),
                _ => break,
            }
        }
        for path in [self.root.clone(), self.state(), self.warc(), self.ledgers()] {
            self.files.create_dir_all(&path).map_err(CrawlError::io("create", &path))?;
        }
        for path in [self.state(), self.root.clone()] {
            sync(&path)?;
        }
        for path in self.root.ancestors().skip(1).filter(|path| path.starts_with(&known)) {
            sync(if path.as_os_str().is_empty() { Path::new(".") } else { path })?;
        }
        Ok(())
    }

    /// Keeps other processes out for as long as the returned file is open.
    pub(crate) fn lock(&self) -> Result<File, CrawlError> {
        let path = self.state().join("lock");
        let file = self.files.open(&path, OpenMode::CreateOrKeep).map_err(CrawlError::io("open", &path))?;
        match file.try_lock().map_err(CrawlError::io("lock", &path))? {
            true => Ok(file),
            false => Err(CrawlError::InUse { path: self.root.clone() }),
        }
    }

    /// Whether somebody is crawling into it, as far as can be seen without leaving a trace.
    pub(crate) fn is_in_use(&self) -> bool {
        let lock = self.files.open(&self.state().join("lock"), OpenMode::Read);
        lock.is_ok_and(|file| file.is_locked().unwrap_or(false))
    }

    fn read_config(&self) -> Result<RawConfig, CrawlError> {
        let path = self.root.join(MARKER);
        let bytes = self.files.read(&path).map_err(CrawlError::io("read", &path))?;
        let text = String::from_utf8_lossy(&bytes);
        let seal = Seal::of(&text);
        if let Seal::Version(version) = seal {
            return Err(CrawlError::ConfigVersion { path, version });
        }
        let raw = RawConfig::parse_saved(&text, &path.display().to_string())?;
        if seal == Seal::Cut { Err(CrawlError::ConfigCut { path }) } else { Ok(raw) }
    }

    pub(crate) fn write_config(&self, config: &RawConfig) -> Result<(), CrawlError> {
        let toml = config.to_toml();
        let sealed = format!("{}{toml}{LAST}\n", first_line(&toml));
        let path = self.root.join(MARKER);
        let written = match config.holds_secret() {
            true => self.files.write_private(&path, sealed.as_bytes()),
            false => self.files.write_atomic(&path, sealed.as_bytes()),
        };
        written.map_err(CrawlError::io("write", &path))
    }

    /// Whether the configuration is as it was written.
    pub(crate) fn seal(&self) -> Result<Seal, CrawlError> {
        let path = self.root.join(MARKER);
        let bytes = self.files.read(&path).map_err(CrawlError::io("read", &path))?;
        Ok(std::str::from_utf8(&bytes).map_or(Seal::Changed, Seal::of))
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Whether there is an archive, and nothing of what is made before its first page: somebody has removed the state.
    pub(crate) fn has_lost_state(&self) -> Result<bool, CrawlError> {
        let listed =
            |path: PathBuf| match self.files.entry(&path).map_err(CrawlError::io("look at", &path))? {
                Some(_) => self.files.list(&path).map_err(CrawlError::io("list", &path)),
                None => Ok(Vec::new()),
            };
        let is_state = |name: &str| name.starts_with("CHECKPOINT") || name.starts_with("ledger");
        Ok(!listed(self.state())?.iter().any(|entry| is_state(&entry.name))
            && !listed(self.warc())?.is_empty())
    }

    /// The checkpoint that a restart goes back to.
    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.state().join("CHECKPOINT")
    }

    /// What the process that crawls is doing.
    pub(crate) fn status(&self) -> PathBuf {
        self.state().join("STATUS")
    }

    /// The directory of the frontiers.
    pub(crate) fn frontiers(&self) -> PathBuf {
        self.state().join(self.name("frontier"))
    }

    /// The directory of the ledgers.
    pub(crate) fn ledgers(&self) -> PathBuf {
        self.state().join(self.name("ledger"))
    }

    /// What is needed only while the crawl is divided otherwise.
    pub(crate) fn dividing(&self) -> PathBuf {
        self.state().join(DIVIDING)
    }

    /// A file that says of these frontiers that they are damaged: they are put aside, not removed, once they are of no use.
    pub(crate) fn damage_mark(frontiers: &Path) -> PathBuf {
        frontiers.join("DAMAGED")
    }

    /// A name for damaged frontiers that is free.
    pub(crate) fn aside(&self) -> Result<PathBuf, CrawlError> {
        let names = (0u32..).map(|number| self.state().join(format!("damaged-{number}")));
        for path in names {
            if self.files.entry(&path).map_err(CrawlError::io("look at", &path))?.is_none() {
                return Ok(path);
            }
        }
        unreachable!("there are not so many")
    }

    fn name(&self, what: &str) -> String {
        match self.layout {
            0 => what.to_owned(),
            layout => format!("{what}-{layout}"),
        }
    }

    /// Directories of frontiers and ledgers that do not belong to a checkpoint: those of an earlier division, or of one that was
    /// interrupted.
    pub(crate) fn litter(&self, checkpoint: &Checkpoint) -> Result<Vec<PathBuf>, CrawlError> {
        let state = self.state();
        if self.files.entry(&state).map_err(CrawlError::io("look at", &state))?.is_none() {
            return Ok(Vec::new());
        }
        let entries = self.files.list(&state).map_err(CrawlError::io("list", &state))?;
        let of = |name: &str, what: &str| match name.strip_prefix(what)?.strip_prefix('-') {
            None => (name == what).then_some(0),
            Some(layout) => layout.parse::<u64>().ok(),
        };
        let is_litter = |name: &str| {
            let ledger = |layout| checkpoint.has_ledgers(layout) || layout == 0;
            name == DIVIDING
                || of(name, "frontier").is_some_and(|layout| layout != checkpoint.layout)
                || of(name, "ledger").is_some_and(|layout| !ledger(layout))
        };
        let litter = entries.into_iter().filter(|entry| entry.is_dir && is_litter(&entry.name));
        Ok(litter.map(|entry| state.join(entry.name)).collect())
    }

    /// The directories of the frontiers of all divisions that have left any.
    pub(crate) fn all_frontiers(&self) -> Result<Vec<PathBuf>, CrawlError> {
        let state = self.state();
        if self.files.entry(&state).map_err(CrawlError::io("look at", &state))?.is_none() {
            return Ok(Vec::new());
        }
        let entries = self.files.list(&state).map_err(CrawlError::io("list", &state))?.into_iter();
        let frontiers = entries.filter(|entry| entry.is_dir && entry.name.starts_with("frontier"));
        Ok(frontiers.map(|entry| state.join(entry.name)).collect())
    }

    pub(crate) fn warc(&self) -> PathBuf {
        self.root.join("warc")
    }

    /// What the operator has blocked.
    pub(crate) fn blocks(&self) -> PathBuf {
        self.root.join("blocks.txt")
    }

    /// The logs.
    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The frontier of a partition.
    pub(crate) fn frontier(&self, partition: usize) -> PathBuf {
        self.frontiers().join(partition.to_string())
    }

    /// The ledger of a partition.
    pub(crate) fn ledger(&self, partition: usize) -> PathBuf {
        self.ledgers().join(partition.to_string())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use mattock_env::{Random, SimFiles};

    use super::*;

    #[test]
    fn a_configuration_shows_what_was_done_to_it() {
        let toml = "[crawl]\nseeds = [\"http://a.com/\"]\n";
        let text = format!("{}{toml}{LAST}\n", first_line(toml));
        assert_eq!(Seal::of(&text), Seal::Whole);
        assert_eq!(Seal::of(&text.replace("a.com", "b.com")), Seal::Changed);
        assert_eq!(Seal::of(&text.replace(" 1 ", " 12 ")), Seal::Version(12));
        assert_eq!(Seal::of(&format!("{toml}{LAST}\n")), Seal::Changed);
        for length in 0..text.len() - 1 {
            assert_eq!(Seal::of(&text[..length]), Seal::Cut, "{length}");
        }
    }

    #[test]
    fn a_cut_lasts_though_an_earlier_one_was_not_synced() {
        let path = Path::new("/crawl/state/ledger/0");
        for seed in 0..20 {
            let disk = SimFiles::new(Random::from_seed(seed));
            let files = Files::simulated(disk.clone());
            files.create_dir_all(path.parent().unwrap()).unwrap();
            files.write_atomic(path, &[1; 10_000]).unwrap();
            path.ancestors().skip(1).for_each(|parent| files.sync_dir(parent).unwrap());
            let file = files.open(path, OpenMode::Write).unwrap();
            file.set_len(4000).unwrap();
            disk.kill();
            let directory = Directory::at(&files, Path::new("/crawl"));
            assert!(!directory.cut_ledger(path, 4000).unwrap());
            disk.crash();
            assert_eq!(files.entry(path).unwrap().unwrap().len, 4000, "seed {seed}");
        }
    }
}
