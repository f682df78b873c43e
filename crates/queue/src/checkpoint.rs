//! Checkpoints: a moment of all queues, captured at once and made durable behind the owner's back.
//!
//! Capturing waits for nothing: blocks in RAM that are in no segment get a place and are shared, not copied; only open blocks
//! less than a quarter full are copied, into the tail. The rest is a job on a lane: writing those blocks and the tail, syncing
//! the segments that have grown, and then the manifest that names them all, as one atomic step. So a block is written once,
//! however many checkpoints hold it. Tail and manifest are small, and written twice: without one of them nothing could be opened.
//!
//! A checkpoint that failed may yet be on disk, if its manifest was being written: its files stay until a later one
//! succeeds. A failed sync of a segment poisons the queues.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mattock_env::{Files, Lane, OpenMode, Step};

use crate::error::{QueueError, Result};
use crate::kept::{Kept, Phase};
use crate::manifest::{self, Manifest, QueueEntry, SegmentEntry};
use crate::segment::{Disk, SegmentFile, lock};
use crate::shared::{PATIENCE, Shared};
use crate::state::State;
use crate::write::Write;
use mattock_codec::checksum;

/// A durable state: what to copy to have it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, to open it by.
    pub number: u64,
    /// Files in the queues' directory and how many bytes of each belong to it. Segments may grow, all else is immutable. The
    /// manifest is the last; copies are left out.
    pub files: Vec<(String, u64)>,
}

type Outcome = Arc<Mutex<Option<Result<Checkpoint>>>>;

/// A state that was captured and is being made durable. Dropping this changes nothing about that.
#[derive(Debug)]
pub struct Capture {
    shared: Arc<Shared>,
    number: u64,
    outcome: Outcome,
}

impl Capture {
    /// The number that the checkpoint will have.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The checkpoint once it is durable, or why it is not; `None` before, and after it was taken.
    pub fn poll(&self) -> Option<Result<Checkpoint>> {
        self.shared.poll();
        lock(&self.outcome).take()
    }

    /// Waits for it.
    pub fn wait(self) -> Result<Checkpoint> {
        loop {
            if let Some(outcome) = lock(&self.outcome).take() {
                return outcome;
            }
            self.shared.chores.wait_for_progress(PATIENCE);
        }
    }
}

impl Shared {
    /// Captures the present state.
    pub(crate) fn capture(self: &Arc<Shared>) -> Result<Capture> {
        self.poll();
        let outcome = Outcome::default();
        let mut saving = self.begin(&mut lock(&self.state), Arc::clone(&outcome))?;
        let number = saving.manifest.number;
        self.chores.submit(Box::new(move || saving.step()));
        Ok(Capture { shared: Arc::clone(self), number, outcome })
    }

    fn begin(&self, state: &mut State, outcome: Outcome) -> Result<Saving> {
        if let Some(queue) = state.queues.iter().find(|queue| queue.popping) {
            return Err(QueueError::Popping { queue: queue.name.clone() });
        }
        if let Some(path) = &state.poisoned {
            return Err(QueueError::Poisoned { path: path.clone() });
        }
        state.checkpoint_number += 1;
        let mut saving = Saving {
            shared: Arc::clone(&self.state),
            disk: Arc::clone(&self.disk),
            writer: Arc::clone(&self.writer),
            manifest: Manifest { number: state.checkpoint_number, ..Manifest::default() },
            tail: Vec::new(),
            own: VecDeque::new(),
            awaited: VecDeque::new(),
            syncs: VecDeque::new(),
            outcome,
        };
        for id in 0..state.queues.len() {
            saving.take_queue(state, id);
        }
        saving.manifest.next_segment = state.next_segment;
        state.writing += saving.own.len();
        state.kept.push_back(Kept::pending(&saving.manifest));
        Ok(saving)
    }
}

/// A checkpoint on its way to the disk, a step at a time.
struct Saving {
    shared: Arc<Mutex<State>>,
    disk: Arc<Disk>,
    writer: Arc<Lane>,
    manifest: Manifest,
    tail: Vec<u8>,
    /// Blocks that got their place by this checkpoint and are written by it.
    own: VecDeque<Arc<Write>>,
    /// Blocks that the writer was given before.
    awaited: VecDeque<Arc<Write>>,
    syncs: VecDeque<(Arc<SegmentFile>, u64)>,
    outcome: Outcome,
}

impl Saving {
    fn take_queue(&mut self, state: &mut State, id: usize) {
        let unwritten = state.queues[id].resident.values().filter_map(|resident| resident.write.as_ref());
        self.awaited.extend(unwritten.filter(|write| !write.is_written()).cloned());
        if state.queues[id].open.bytes.len() > state.sizes.block_bytes / 4 {
            state.seal(id);
        }
        while let Some(write) = state.place(id) {
            self.own.push_back(write);
        }
        let queue = &state.queues[id];
        // The cursor is in the tail, of which only the rest is taken, or in a segment.
        let (cursor, from) = if queue.head == queue.next {
            (Default::default(), queue.cursor)
        } else {
            (queue.cursor, Default::default())
        };
        let tail = queue.open.bytes.get(from.offset..).unwrap_or_default();
        self.manifest.queues.push(QueueEntry {
            name: queue.name.clone(),
            records: queue.records,
            bytes: queue.bytes,
            head: queue.head,
            offset: cursor.offset as u64,
            record: cursor.record,
            next: queue.next,
            read_offset: queue.read_offset,
            segments: queue
                .segments
                .iter()
                .map(|segment| SegmentEntry {
                    number: segment.file.number,
                    bytes: segment.bytes,
                    stored_max: segment.file.stored_max as u64,
                })
                .collect(),
            tail_bytes: tail.len() as u64,
            tail_records: queue.open.count - from.record,
            tail_sum: checksum(self.manifest.number, self.tail.len() as u64, &[tail]),
        });
        self.tail.extend_from_slice(tail);
        self.syncs.extend(queue.segments.iter().map(|segment| (Arc::clone(&segment.file), segment.bytes)));
    }

    fn step(&mut self) -> Step {
        match self.advance() {
            Ok(None) => Step::Again,
            Ok(Some(checkpoint)) => {
                *lock(&self.outcome) = Some(Ok(checkpoint));
                Step::Done
            }
            Err(error) => {
                self.give_up();
                *lock(&self.outcome) = Some(Err(error));
                Step::Done
            }
        }
    }

    fn advance(&mut self) -> Result<Option<Checkpoint>> {
        if let Some(path) = &lock(&self.shared).poisoned {
            // It may be a file that this one needs too, and syncing it again would succeed.
            return Err(QueueError::Poisoned { path: path.clone() });
        }
        if let Some(write) = self.own.pop_front() {
            let written = write.perform();
            let mut state = lock(&self.shared);
            state.writing -= 1;
            if written.is_err() {
                state.failed.push(write);
            }
            return written.map(|()| None);
        }
        if let Some(write) = self.awaited.front() {
            if write.is_written() {
                self.awaited.pop_front();
            } else if write.has_failed() {
                write.perform()?;
            } else {
                self.writer.wait_for_progress(PATIENCE);
            }
            return Ok(None);
        }
        if !self.tail.is_empty() {
            self.write_tail()?;
            self.tail = Vec::new();
            return Ok(None);
        }
        if let Some((file, bytes)) = self.syncs.pop_front() {
            if let Err(error) = file.sync(bytes) {
                // Nobody knows what of the file is on disk, and trying again would not tell.
                lock(&self.shared).poisoned = Some(file.path().to_owned());
                return Err(error);
            }
            self.close_if_idle(&file);
            return Ok(None);
        }
        self.publish().map(Some)
    }

    fn write_tail(&self) -> Result<()> {
        for name in manifest::tail_names(self.manifest.number) {
            let path = self.disk.dir.join(name);
            self.disk
                .files
                .create_dir_all(&self.disk.dir)
                .and_then(|()| self.disk.files.open(&path, OpenMode::CreateOrTruncate))
                .and_then(|file| file.write_all_at(&self.tail, 0).and_then(|()| file.sync()))
                .map_err(|error| QueueError::io(&path, 0, error))?;
            self.disk.count_written(self.tail.len());
        }
        Ok(())
    }

    /// Segments between the one that is read and the one that is written need no descriptor.
    fn close_if_idle(&self, file: &Arc<SegmentFile>) {
        let state = lock(&self.shared);
        let segments = &state.queues[file.queue as usize].segments;
        let place = segments.iter().position(|segment| Arc::ptr_eq(&segment.file, file));
        if place.is_some_and(|index| index > 0 && index + 1 < segments.len()) {
            file.close();
        }
    }

    fn publish(&mut self) -> Result<Checkpoint> {
        let number = self.manifest.number;
        let dir_durable = {
            let mut state = lock(&self.shared);
            // From here on the new manifest may be the one that a crash goes back to.
            set_phase(&mut state, number, Phase::Unknown);
            state.dir_durable
        };
        let bytes = self.manifest.encode();
        let path = self.disk.dir.join(manifest::name(number));
        let files = &self.disk.files;
        files
            .create_dir_all(&self.disk.dir)
            .and_then(|()| files.sync_dir(&self.disk.dir))
            .and_then(|()| files.write_twice(&path, &bytes))
            .and_then(|()| if dir_durable { Ok(()) } else { sync_parents(files, &self.disk.dir) })
            .map_err(|error| QueueError::io(&path, 0, error))?;
        self.disk.count_written(2 * bytes.len());
        let mut list = self.manifest.files();
        list.push((manifest::name(number), bytes.len() as u64));
        self.forget();
        Ok(Checkpoint { number, files: list })
    }

    /// This one is durable: removes those that are not kept any longer, then the files that only they needed.
    fn forget(&self) {
        let forgotten = {
            let mut state = lock(&self.shared);
            state.dir_durable = true;
            set_phase(&mut state, self.manifest.number, Phase::Durable);
            state.forget_checkpoints()
        };
        forgotten.remove(&self.disk);
    }

    fn give_up(&mut self) {
        let number = self.manifest.number;
        // What is not there now does not come.
        let absent = matches!(self.disk.files.entry(&self.disk.dir.join(manifest::name(number))), Ok(None));
        let removals = {
            let mut state = lock(&self.shared);
            state.writing -= self.own.len();
            self.own.iter().for_each(|write| write.give_up());
            state.failed.extend(self.own.drain(..));
            let begun = state.kept.iter().any(|kept| kept.number == number && kept.phase == Phase::Unknown);
            if begun && !absent {
                return;
            }
            state.kept.retain(|kept| kept.number != number);
            state.bury();
            std::mem::take(&mut state.removals)
        };
        let temporary = manifest::names(number).map(|name| format!("{name}.tmp"));
        manifest::tail_names(number).iter().chain(&temporary).for_each(|name| self.disk.remove(name));
        removals.iter().for_each(|file| file.remove());
    }
}

fn set_phase(state: &mut State, number: u64, phase: Phase) {
    if let Some(kept) = state.kept.iter_mut().find(|kept| kept.number == number) {
        kept.phase = phase;
    }
}

/// Makes the directory's own name durable, and those above it.
fn sync_parents(files: &Files, dir: &Path) -> std::io::Result<()> {
    let mut dir = dir.parent();
    while let Some(parent) = dir
        && !parent.as_os_str().is_empty()
    {
        files.sync_dir(parent)?;
        dir = parent.parent();
    }
    Ok(())
}
