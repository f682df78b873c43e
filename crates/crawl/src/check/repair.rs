//! Bringing in order what can be: only what no checkpoint counts is ever cut off or removed. Damaged frontiers are made anew from what can
//! be read, and put aside.

use std::path::Path;

use mattock_env::{Env, copy_path};
use mattock_frontier::Frontier;
use mattock_frontier::split::Divided;
use mattock_repository::{LedgerReader, WriterOptions, cut_back};

use super::report::{CheckReport, Finding, FindingKind, Findings};
use super::{CheckProgress, check_at, open, rebuild};
use crate::checkpoint::{Checkpoint, PartitionRecord};
use crate::crawl::with_partitions;
use crate::directory::Directory;
use crate::repartition::{self, Cleared, Division};
use crate::{CheckpointProblem, Config, CrawlError};

const MENDED: &str = "it was damaged, and was written anew from the other one of the two";

/// Takes a crawl that does not run back to its last checkpoint, makes the checkpoint anew if it is damaged and that is safe, and
/// checks the result. What cannot be repaired is left alone and stands in the report.
pub fn repair(
    env: &Env,
    root: &Path,
    progress: &mut dyn FnMut(CheckProgress<'_>),
) -> Result<CheckReport, CrawlError> {
    let env = &env.within(root);
    let directory = open(env, root)?;
    if directory.has_lost_state()? {
        let path = directory.checkpoint();
        return Err(CrawlError::Checkpoint { path, problem: CheckpointProblem::Gone });
    }
    let _lock = directory.lock()?;
    let mut repairs = Repairs { env, directory: &directory, names: Findings::new(root), done: Vec::new() };
    let path = directory.checkpoint();
    repairs.twins(&path)?;
    match Checkpoint::read(&env.files, &path) {
        Ok(Some(mut checkpoint)) => {
            repairs.shorten(&mut checkpoint)?;
            repairs.go_back(&checkpoint)?;
            repairs.remake(&checkpoint)?;
        }
        Err(CrawlError::Checkpoint { problem: CheckpointProblem::Damaged, .. }) | Ok(None) => {
            repairs.checkpoint(&path, progress)?;
        }
        // The check will tell.
        Err(_) => {}
    }
    let repaired = repairs.done;
    let report = check_at(env, root, false, None, progress)?;
    Ok(CheckReport { repaired, ..report })
}

struct Repairs<'a> {
    env: &'a Env,
    directory: &'a Directory,
    names: Findings,
    done: Vec<Finding>,
}

impl Repairs<'_> {
    fn did(&mut self, path: &Path, what: impl Into<String>) {
        let finding = self.names.finding(FindingKind::Repaired, path, None, what);
        self.done.push(finding);
    }

    /// Sees to it that the checkpoint and its copy are whole and the same, if one of them can be read.
    fn twins(&mut self, path: &Path) -> Result<(), CrawlError> {
        let files = &self.env.files;
        if let Some(mended) =
            files.mend_twin(path, Checkpoint::decode).map_err(CrawlError::io("write", path))?
        {
            self.did(&mended, MENDED);
            return Ok(());
        }
        let copy = copy_path(path);
        if let (Ok(first), Ok(second)) = (files.read(path), files.read(&copy))
            && first != second
            && Checkpoint::decode(&first).is_ok()
        {
            files.write_atomic(&copy, &first).map_err(CrawlError::io("write", &copy))?;
            self.did(
                &copy,
                "written anew: it was of another checkpoint than the file of which it is the copy",
            );
        }
        Ok(())
    }

    /// Takes archive, ledgers and states back to the checkpoint.
    fn go_back(&mut self, checkpoint: &Checkpoint) -> Result<(), CrawlError> {
        let warc = self.directory.warc();
        let prefixes = self.prefixes(checkpoint.partitions.len());
        let done = cut_back(&self.env.files, &warc, &checkpoint.archive, &prefixes)?;
        for name in &done.cut {
            self.did(&warc.join(name), "cut back to the checkpoint");
        }
        for name in &done.removed {
            self.did(&warc.join(name), "removed: it was begun after the checkpoint");
        }
        self.clear_litter(checkpoint)?;
        let directory = self.directory.with_layout(checkpoint.layout);
        for (partition, record) in checkpoint.partitions.iter().enumerate() {
            self.cut_ledger(&directory.ledger(partition), record.ledger_bytes)?;
            let frontier = directory.frontier(partition);
            for mended in Frontier::mend_twins(self.env, &frontier, checkpoint.number)? {
                self.did(&mended, MENDED);
            }
            for left in Frontier::leftovers(self.env, &frontier, checkpoint.number)? {
                self.env.files.remove_file(&left).map_err(CrawlError::io("remove", &left))?;
                self.did(&left, "removed: only another checkpoint needed it");
            }
        }
        Ok(())
    }

    fn clear_litter(&mut self, checkpoint: &Checkpoint) -> Result<(), CrawlError> {
        for cleared in repartition::remove_litter(self.env, self.directory, checkpoint)? {
            match cleared {
                Cleared::Removed(path) => self.did(&path, "removed: another division of the crawl needed it"),
                Cleared::PutAside(path) => {
                    self.did(&path, "the damaged files were put here; nothing needs them");
                }
            }
        }
        Ok(())
    }

    /// Has the checkpoint say of archive files that lost their ends how long they are, so that the crawl can go on.
    fn shorten(&mut self, checkpoint: &mut Checkpoint) -> Result<(), CrawlError> {
        let warc = self.directory.warc();
        let before = checkpoint.clone();
        for (name, length) in &mut checkpoint.archive {
            let path = warc.join(name);
            let entry = self.env.files.entry(&path).map_err(CrawlError::io("look at", &path))?;
            if let Some(entry) = entry.filter(|entry| entry.len < *length) {
                let lost = std::mem::replace(length, entry.len) - entry.len;
                let what = format!(
                    "its last {lost} bytes are lost, and the checkpoint does not count on them any more; the pages in them stay \
                     listed as fetched. If you have a whole copy, put it back under another name: under this one it would be cut off here"
                );
                self.did(&path, what);
            }
        }
        if *checkpoint != before {
            let path = self.directory.checkpoint();
            let written = checkpoint.write(&self.env.files, &path);
            written.map_err(CrawlError::io("write", &path))?;
        }
        Ok(())
    }

    /// Makes frontiers anew from what can be read, if one of them is damaged or a ledger cannot be gone on with.
    fn remake(&mut self, checkpoint: &Checkpoint) -> Result<(), CrawlError> {
        let old = self.directory.with_layout(checkpoint.layout);
        let is_usable = |(index, record): (usize, &PartitionRecord)| {
            let frontier = Frontier::verify(self.env, &old.frontier(index), checkpoint.number, |_| {});
            let ledger = LedgerReader::open(&self.env.files, &old.ledger(index), record.ledger_bytes);
            frontier.problems.is_empty() && (record.ledger_bytes == 0 || ledger.is_ok())
        };
        if checkpoint.partitions.iter().enumerate().all(is_usable) {
            return Ok(());
        }
        // What is wrong with it the check tells.
        let Ok((_, Some(raw))) = Directory::open(&self.env.files, self.directory.root()) else {
            return Ok(());
        };
        let Ok(config) = raw.check() else { return Ok(()) };
        let config = Config { partitions: checkpoint.partitions.len(), ..config };
        let division = Division { env: self.env, directory: self.directory, config: &config };
        let (remade, divided) = match division.remake(checkpoint) {
            // Without it nothing can be made of the rest, and the check names it.
            Err(CrawlError::Frontier(error)) if error.is_loss() => {
                tracing::warn!(%error, "the frontiers cannot be made anew");
                return repartition::remove_litter(self.env, self.directory, checkpoint).map(|_| ());
            }
            remade => remade?,
        };
        let what =
            format!("made anew as checkpoint {}, from what can be read: {}", remade.number, lost(&divided));
        self.did(&self.directory.with_layout(remade.layout).frontiers(), what);
        self.clear_litter(&remade)
    }

    /// How the names of the crawl's archive files begin.
    fn prefixes(&self, partitions: usize) -> Vec<String> {
        let mut prefixes = vec![WriterOptions::default().prefix];
        if let Ok((_, Some(raw))) = Directory::open(&self.env.files, self.directory.root()) {
            prefixes.extend(raw.archive.prefix);
        }
        with_partitions(&prefixes, partitions)
    }

    fn cut_ledger(&mut self, path: &Path, length: u64) -> Result<(), CrawlError> {
        if self.directory.cut_ledger(path, length)? {
            self.did(path, "cut back to the checkpoint");
        }
        Ok(())
    }

    /// Makes a checkpoint anew, if all that it counts is there and whole.
    fn checkpoint(
        &mut self,
        path: &Path,
        progress: &mut dyn FnMut(CheckProgress<'_>),
    ) -> Result<(), CrawlError> {
        let Some(checkpoint) = rebuild::checkpoint(self.env, self.directory, &self.prefixes(1 << 10))? else {
            return Ok(());
        };
        let root = self.directory.root();
        if !check_at(self.env, root, false, Some(&checkpoint), progress)?.whole {
            return Ok(());
        }
        let files = &self.env.files;
        for (damaged, extension) in [(path.to_owned(), "damaged"), (copy_path(path), "copy.damaged")] {
            if let Ok(bytes) = files.read(&damaged) {
                let aside = path.with_extension(extension);
                files.write_atomic(&aside, &bytes).map_err(CrawlError::io("write", &aside))?;
                self.did(&aside, "the damaged checkpoint was put here");
            }
        }
        checkpoint.write(files, path).map_err(CrawlError::io("write", path))?;
        let what = format!(
            "made anew as checkpoint {}, from the states, the ledgers and the archive, which are whole and agree; pages are \
             counted anew, with sitemaps among them, and bytes, refusals and robots.txt files from 0",
            checkpoint.number
        );
        self.did(path, what);
        Ok(())
    }
}

/// What could not be read, in words.
fn lost(divided: &Divided) -> String {
    let changes = divided.lost_changes.iter().map(|(name, lost)| match lost {
        Some(lost) => format!("; {lost} of the last changes to {name} are lost"),
        None => format!("; how many of the last changes to {name} are lost is not known"),
    });
    lost_urls(divided) + &changes.collect::<String>()
}

fn lost_urls(divided: &Divided) -> String {
    let lost = match (divided.lost, divided.lost_links) {
        (0, false) => return "no URL that waited is lost".to_owned(),
        (0, true) => "links of which it was not known yet whether they are new are lost".to_owned(),
        (lost, false) => format!("{lost} URLs that waited are lost"),
        (lost, true) => format!("{lost} URLs that waited are lost, and links that were on their way"),
    };
    match divided.forgotten {
        true => format!("{lost}, until another link leads to them again"),
        false => {
            format!("{lost}, and are not found again, as a damaged ledger does not say what was fetched")
        }
    }
}
