//! Durability: making the present state one that can be opened.
//!
//! A checkpoint copies what is only in RAM (the *tail* of each generation: unfinished chunks and log blocks), and that is all
//! the producer waits for. A lane then writes the tails, makes files durable, and writes the manifest that names them, as one
//! atomic step. Nothing that is in a file already is copied, so it costs what the buffers hold, whatever the size of the
//! store. A crash goes back to the newest manifest. Tails and the manifest are written twice: without one of them the whole state
//! could not be opened, and nothing else holds what is in them.
//!
//! Files are never changed once a manifest names them: logs and chunks only grow behind the length it gives, and all else
//! is written once. A file goes when neither the state nor a kept manifest needs it, its manifest before it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::{OpenMode, Step, copy_path};

use crate::disk::{DataFile, Disk};
use crate::drum::Drum;
use crate::error::{DrumError, Result};
use crate::generation::Tail;
use crate::kept::Kept;
use crate::manifest::{self, Manifest, RunEntry};
use crate::plan::Deliver;
use crate::run::Run;
use crate::value::Value;
use crate::writer::Writer;

/// A durable state: what to copy to have it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, to open it by.
    pub number: u64,
    /// Operations that it contains.
    pub position: u64,
    /// Files in the repository's directory and how many bytes of each belong to it. All but logs and keys, which may
    /// grow, are immutable. The manifest is the last; copies are left out.
    pub files: Vec<(String, u64)>,
}

/// A checkpoint that a lane is writing.
pub(crate) struct Pending {
    checkpoint: Checkpoint,
    /// Generations that were sealed and had to be made durable, and whether they were merged: as long as that stays,
    /// the next checkpoint need not do it again.
    sealed: Vec<(u64, bool)>,
    outcome: Ending,
}

/// The bytes of the manifest, or why there is none.
type Ending = Arc<Mutex<Option<std::result::Result<u64, Failure>>>>;

/// Why a checkpoint did not come about.
struct Failure {
    error: DrumError,
    /// Nobody knows what of this file is on disk, and trying again would not tell.
    poisoned: Option<PathBuf>,
    /// Whether its manifest may be on disk.
    begun: bool,
}

impl<V: Value> Drum<V> {
    /// Makes the present state durable. Once this has returned, a crash goes back to here or later, never before.
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.begin_checkpoint()?;
        self.end_checkpoint()
    }

    /// Waits for the checkpoint that was begun last, unless [`finished_checkpoint`](Drum::finished_checkpoint) has told how it ended.
    ///
    /// # Panics
    /// If none was begun.
    pub fn end_checkpoint(&mut self) -> Result<Checkpoint> {
        assert!(self.pending.is_some() || self.finished.is_some(), "a checkpoint was begun");
        let before = self.clock.now();
        loop {
            self.checkpoint_lane.wait_all();
            if let Some(outcome) = self.finished_checkpoint() {
                self.note_pause(before);
                return outcome;
            }
        }
    }

    /// Begins to make the present state durable, in the background; its number. The state is that of this moment,
    /// whatever is submitted and delivered later. [`finished_checkpoint`](Drum::finished_checkpoint) tells when it is done. If
    /// another one is under way, this waits for it.
    pub fn begin_checkpoint(&mut self) -> Result<u64> {
        if self.pending.is_some() {
            self.checkpoint_lane.wait_all();
        }
        self.poll();
        self.finished = None;
        if let Some(path) = &self.poisoned {
            return Err(DrumError::Poisoned { path: path.clone() });
        }
        let before = self.clock.now();
        let number = self.checkpoint_number + 1;
        self.checkpoint_number = number;
        let mut manifest = Manifest {
            number,
            buckets: self.plan.buckets as u64,
            has_values: !V::NONE,
            delivers_all: self.options.deliver == Deliver::All,
            position: self.position,
            next_number: self.next_number,
            cursor: self.cursor,
            runs: self.runs.iter().map(|run| run_entry(run)).collect(),
            generations: Vec::new(),
        };
        let (mut tails, mut to_sync, mut sealed) = (Vec::new(), Vec::new(), Vec::new());
        for generation in self.generations.iter().chain([&self.open]) {
            if generation.is_empty() {
                continue;
            }
            let tail = generation.tail();
            if !generation.synced {
                generation.files(&mut to_sync);
                if generation.sealed_s > 0 {
                    sealed.push((generation.number, generation.resolved.is_some()));
                }
            }
            manifest.generations.push(generation.entry(&tail));
            tails.push(tail);
        }
        // From here on the new manifest may be the one that a crash goes back to.
        self.kept.push_back(Kept::begun(&manifest));
        let files = manifest.files();
        let outcome = Arc::default();
        let mut work = Work {
            disk: Arc::clone(&self.disk),
            writes: self.writer.last(),
            writer: self.writer.clone(),
            tails,
            to_sync,
            manifest,
            placed: self.placed,
            outcome: Arc::clone(&outcome),
        };
        self.checkpoint_lane.submit(Box::new(move || work.step()));
        let checkpoint = Checkpoint { number, position: self.position, files };
        self.pending = Some(Pending { checkpoint, sealed, outcome });
        self.note_pause(before);
        let pause = self.clock.now().since(before).as_nanos() as u64;
        self.stats.longest_checkpoint_pause_ns = self.stats.longest_checkpoint_pause_ns.max(pause);
        Ok(number)
    }

    /// Waits until [`finished_checkpoint`](Drum::finished_checkpoint) can tell how the last one ended.
    pub fn wait_for_checkpoint(&mut self) {
        self.checkpoint_lane.wait_all();
    }

    /// How the checkpoint ended that was begun last: once, and `None` while it is being written.
    pub fn finished_checkpoint(&mut self) -> Option<Result<Checkpoint>> {
        self.poll();
        self.finished.take()
    }

    /// Takes over what the lane has done.
    pub(crate) fn poll_checkpoint(&mut self) {
        self.checkpoint_lane.poll();
        let Some(pending) = self.pending.take() else { return };
        let outcome = pending.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(outcome) = outcome else {
            self.pending = Some(pending);
            return;
        };
        self.finished = Some(match outcome {
            Ok(manifest_bytes) => {
                self.placed = true;
                for generation in &mut self.generations {
                    let state = (generation.number, generation.resolved.is_some());
                    generation.synced |= pending.sealed.contains(&state);
                }
                if let Some(newest) = self.kept.back_mut() {
                    newest.durable = true;
                }
                self.forget_checkpoints();
                let mut checkpoint = pending.checkpoint;
                checkpoint.files.push((manifest::name(checkpoint.number), manifest_bytes));
                Ok(checkpoint)
            }
            Err(failure) => {
                self.poisoned = failure.poisoned;
                if !failure.begun {
                    self.forget_failed(pending.checkpoint.number);
                }
                Err(failure.error)
            }
        });
    }
}

/// What the lane does for a checkpoint, one file per step.
struct Work {
    disk: Arc<Disk>,
    writer: Writer,
    /// The last write that belongs to it.
    writes: u64,
    /// The tails that are still to be written, of the first generations of the manifest.
    tails: Vec<Tail>,
    to_sync: Vec<Arc<DataFile>>,
    manifest: Manifest,
    /// Whether the names of the directory and those above it are durable.
    placed: bool,
    outcome: Ending,
}

impl Work {
    fn step(&mut self) -> Step {
        let outcome = match self.go_on() {
            Ok(None) => return Step::Again,
            Ok(Some(manifest_bytes)) => Ok(manifest_bytes),
            Err(failure) => Err(failure),
        };
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Step::Done
    }

    /// One step; the bytes of the manifest after the last.
    fn go_on(&mut self) -> std::result::Result<Option<u64>, Failure> {
        let files = &self.disk.files;
        let plain = |error| Failure { error, poisoned: None, begun: false };
        if let Some(tail) = self.tails.pop() {
            let generation = &mut self.manifest.generations[self.tails.len()];
            generation.tail_sum = tail.sum(generation.number);
            let path = self.disk.dir.join(manifest::tail_name(generation.number, self.manifest.number));
            files
                .create_dir_all(&self.disk.dir)
                .and_then(|()| write_new(files, &path, &tail))
                .and_then(|()| write_new(files, &copy_path(&path), &tail))
                .map_err(|error| plain(DrumError::io(&path, error)))?;
            self.disk.count_written(2 * tail.bytes().len());
            return Ok(None);
        }
        if let Some(file) = self.to_sync.pop() {
            self.writer.settle_until(self.writes).map_err(plain)?;
            file.sync().map_err(|error| Failure {
                error,
                poisoned: Some(file.path().to_owned()),
                begun: false,
            })?;
            return Ok(None);
        }
        let bytes = self.manifest.encode();
        let path = self.disk.dir.join(manifest::name(self.manifest.number));
        files
            .create_dir_all(&self.disk.dir)
            .and_then(|()| files.sync_dir(&self.disk.dir))
            .and_then(|()| files.write_twice(&path, &bytes))
            .and_then(|()| if self.placed { Ok(()) } else { sync_parents(files, &self.disk.dir) })
            .map_err(|error| Failure {
                error: DrumError::io(&path, error),
                poisoned: None,
                // What is not there now does not come.
                begun: !matches!(files.entry(&path), Ok(None)),
            })?;
        self.disk.count_written(2 * bytes.len());
        Ok(Some(bytes.len() as u64))
    }
}

fn run_entry(run: &Run) -> RunEntry {
    RunEntry { number: run.file().number(), directory: run.directory(), bytes: run.bytes() }
}

fn write_new(files: &mattock_env::Files, path: &Path, tail: &Tail) -> std::io::Result<()> {
    let file = files.open_direct(path, OpenMode::CreateOrTruncate)?;
    file.write_all_at(tail.pages(), 0)?;
    file.sync()
}

/// Makes the directory's own name durable, and those above it.
fn sync_parents(files: &mattock_env::Files, dir: &Path) -> std::io::Result<()> {
    let mut dir = dir.parent();
    while let Some(parent) = dir
        && !parent.as_os_str().is_empty()
    {
        files.sync_dir(parent)?;
        dir = parent.parent();
    }
    Ok(())
}
