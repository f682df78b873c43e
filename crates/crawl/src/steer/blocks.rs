//! What the operator has blocked: a list of its own on top of the user's file, kept in the crawl's directory.
//!
//! Changed by calls, in force at once (see [`mattock_frontier::blocklist`]), and written whole and atomically with every change, so that
//! the next run begins with it. The user's own file is never written.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mattock_env::Files;
use mattock_frontier::blocklist::{Blocklist, Blocks, is_same_entry};

use crate::CrawlError;

const HEADER: &str = "# What the operator has blocked. Written by mattock whenever that changes.\n";

/// The operator's list.
#[derive(Debug)]
pub(crate) struct OperatorBlocks {
    files: Files,
    path: PathBuf,
    list: Blocklist,
    entries: Mutex<Vec<String>>,
    /// Whether the file is not as it should be.
    unwritten: AtomicBool,
}

impl OperatorBlocks {
    /// Reads the file, if there is one, and puts it into force.
    pub(crate) fn open(files: &Files, path: &Path, list: &Blocklist) -> Result<OperatorBlocks, CrawlError> {
        let found = files.entry(path).map_err(CrawlError::io("look at", path))?;
        let bytes = match found {
            Some(_) => files.read(path).map_err(CrawlError::io("read the blocklist", path))?,
            None => Vec::new(),
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let entries: Vec<String> = lines.map(str::to_owned).collect();
        let blocks = OperatorBlocks {
            files: files.clone(),
            path: path.to_owned(),
            list: list.clone(),
            entries: Mutex::default(),
            unwritten: AtomicBool::new(false),
        };
        blocks.list.replace_operators(blocks.parse(&entries)?);
        *blocks.lock() = entries;
        Ok(blocks)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parse(&self, entries: &[String]) -> Result<Blocks, CrawlError> {
        Blocks::parse(&entries.join("\n"))
            .map_err(|error| CrawlError::Blocklist { path: self.path.clone(), message: error.to_string() })
    }

    /// The list that is in force: the user's and this one.
    pub(crate) fn in_force(&self) -> Blocklist {
        self.list.clone()
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Adds an entry; whether it is new.
    pub(crate) fn block(&self, rule: &str) -> Result<bool, CrawlError> {
        let rule = one_line(rule)?;
        Blocks::parse(&rule).map_err(|error| wrong(&rule, &error.to_string()))?;
        let mut entries = self.lock();
        if entries.iter().any(|entry| is_same_entry(entry, &rule)) {
            self.write_again(&entries)?;
            return Ok(false);
        }
        let mut changed = entries.clone();
        changed.push(rule);
        self.change(&mut entries, changed)?;
        Ok(true)
    }

    /// Takes an entry off; whether it was there.
    pub(crate) fn unblock(&self, rule: &str) -> Result<bool, CrawlError> {
        let rule = one_line(rule)?;
        let mut entries = self.lock();
        let changed: Vec<String> =
            entries.iter().filter(|entry| !is_same_entry(entry, &rule)).cloned().collect();
        if changed.len() == entries.len() {
            self.write_again(&entries)?;
            return Ok(false);
        }
        self.change(&mut entries, changed)?;
        Ok(true)
    }

    /// First into force: an operator who blocks something is in more of a hurry than the disk.
    fn change(&self, entries: &mut Vec<String>, changed: Vec<String>) -> Result<(), CrawlError> {
        self.list.replace_operators(self.parse(&changed)?);
        *entries = changed;
        self.unwritten.store(true, Ordering::Relaxed);
        self.write_again(entries)
    }

    /// Writes the file, unless it is as it should be: who tries again after an error must not be told that all is done.
    fn write_again(&self, entries: &[String]) -> Result<(), CrawlError> {
        if self.unwritten.load(Ordering::Relaxed) {
            let text = format!("{HEADER}{}\n", entries.join("\n"));
            let written = self.files.write_atomic(&self.path, text.as_bytes());
            written.map_err(CrawlError::io("write", &self.path))?;
            self.unwritten.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn wrong(rule: &str, message: &str) -> CrawlError {
    CrawlError::Rule { rule: rule.to_owned(), message: message.to_owned() }
}

fn one_line(rule: &str) -> Result<String, CrawlError> {
    let rule = rule.trim();
    if rule.is_empty() || rule.starts_with('#') || rule.contains(['\n', '\r']) {
        return Err(wrong(rule, "it is no single entry; write one like `host www.example.com`"));
    }
    Ok(rule.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;
    use mattock_weburl::WebUrl;

    #[test]
    fn what_the_operator_blocks_outlives_the_process_and_the_users_list() {
        Simulation::new(1).run(|env| async move {
            let (path, list) = (Path::new("/blocks.txt"), Blocklist::default());
            let blocks = OperatorBlocks::open(&env.files, path, &list).unwrap();
            let blocked =
                |list: &Blocklist, url: &str| list.snapshot().refuses(&WebUrl::parse(url).unwrap()).is_some();
            assert!(blocks.block("host a.com").unwrap() && !blocks.block(" host  A.com ").unwrap());
            assert!(blocks.block("example.com").unwrap() && !blocks.block("domain example.com").unwrap());
            list.replace(Blocks::parse("host b.com").unwrap());
            assert!(blocked(&list, "http://a.com/") && blocked(&list, "http://b.com/"));
            for bad in ["", "#", "host", "url regex:(", "host a.com\nhost b.com"] {
                assert!(matches!(blocks.block(bad), Err(CrawlError::Rule { .. })), "{bad}");
            }
            assert_eq!(blocks.entries(), ["host a.com", "example.com"]);

            let again = Blocklist::default();
            let reopened = OperatorBlocks::open(&env.files, path, &again).unwrap();
            assert!(blocked(&again, "http://a.com/") && blocked(&again, "http://www.example.com/x"));
            assert!(
                reopened.unblock("domain example.com").unwrap() && !reopened.unblock("example.com").unwrap()
            );
            assert!(!blocked(&again, "http://www.example.com/x") && blocked(&again, "http://a.com/"));
            assert!(reopened.unblock("host a.com").unwrap());
            let empty = OperatorBlocks::open(&env.files, path, &Blocklist::default()).unwrap();
            assert!(empty.entries().is_empty());

            // What could not be written is written by whoever tries again.
            let disk = env.files.clone();
            disk.remove_file(path).unwrap();
            disk.create_dir_all(path).unwrap();
            assert!(empty.block("host c.com").is_err() && blocked(&empty.in_force(), "http://c.com/"));
            assert!(empty.block("host c.com").is_err(), "not done yet");
            disk.remove_dir_all(path).unwrap();
            assert!(!empty.block("host c.com").unwrap());
            let reread = OperatorBlocks::open(&env.files, path, &Blocklist::default()).unwrap();
            assert_eq!(reread.entries(), ["host c.com"]);
        });
    }
}
