//! The lanes beside the state: who writes, reads and tidies up behind the callers' backs, and who waits for whom.
//!
//! Jobs hold the state but never the lanes they run on. Lanes are only called with the state's lock released, because in
//! simulation a lane's jobs run inside such calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mattock_env::{Env, Lane, Step};

use crate::block::Records;
use crate::error::{QueueError, Result};
use crate::segment::{Disk, SegmentFile, lock};
use crate::state::{Reading, State};
use crate::write::Write;

/// Writes under way before a producer has to wait.
const WRITES_MAX: usize = 16;
/// Blocks that are written at once when RAM is short.
const BURST: usize = 8;
/// Removals and checkpoints that wait; more than there will ever be.
const CHORES_MAX: usize = 1 << 16;
/// How long to wait for one lane before a look at the others.
pub(crate) const PATIENCE: Duration = Duration::from_millis(2);

pub(crate) struct Shared {
    pub(crate) state: Arc<Mutex<State>>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) record_max: usize,
    // Dropped in this order: a checkpoint may be waiting for the writer.
    pub(crate) chores: Lane,
    reader: Lane,
    pub(crate) writer: Arc<Lane>,
}

/// What a producer does when RAM is short.
enum Next {
    Go,
    Wait,
    Retry(Arc<Write>),
}

impl Shared {
    pub(crate) fn new(env: &Env, disk: Arc<Disk>, state: State) -> Shared {
        Shared {
            record_max: state.sizes.record_max(),
            state: Arc::new(Mutex::new(state)),
            disk,
            chores: env.workers.lane("queue-chores", CHORES_MAX),
            reader: env.workers.lane("queue-read", WRITES_MAX),
            writer: Arc::new(env.workers.lane("queue-write", WRITES_MAX)),
        }
    }

    /// Lets simulated lanes run a little.
    pub(crate) fn poll(&self) {
        self.writer.poll();
        self.reader.poll();
        self.chores.poll();
    }

    /// A push for which the open block has no room.
    pub(crate) fn push_slowly(&self, id: usize, record: &[u8]) -> Result<()> {
        let need = Records::room_for(record);
        self.poll();
        loop {
            let growth = lock(&self.state).growth(id, need);
            self.make_room(growth)?;
            let mut state = lock(&self.state);
            state.grow(id, need);
            if state.push(id, record) {
                return Ok(());
            }
        }
    }

    /// Frees RAM, and waits for the disk if it must. An error only if nothing can be freed because of it.
    fn make_room(&self, need: usize) -> Result<()> {
        loop {
            let (writes, next) = self.plan_room(&mut lock(&self.state), need)?;
            for write in writes {
                self.submit(write);
            }
            match next {
                Next::Go => return Ok(()),
                Next::Wait => {
                    self.writer.wait_for_progress(PATIENCE);
                    if self.writer.pending() == 0 {
                        // Then it is a checkpoint that writes.
                        self.chores.wait_for_progress(PATIENCE);
                    }
                }
                Next::Retry(write) => write.perform()?,
            }
        }
    }

    fn plan_room(&self, state: &mut State, need: usize) -> Result<(Vec<Arc<Write>>, Next)> {
        if let Some(path) = &state.poisoned {
            return Err(QueueError::Poisoned { path: path.clone() });
        }
        let fits = state.shed(need);
        let mut writes = state.spill(state.sizes.unwritten_bytes_max);
        let failed = state.failed_write();
        if fits {
            // Something may have changed for the better meanwhile.
            if let Some(write) = failed.filter(|_| state.writing == 0) {
                state.failed.pop();
                state.writing += 1;
                writes.push(write);
            }
            return Ok((writes, Next::Go));
        }
        if state.writing == 0 && failed.is_none() && (state.unplaced_bytes > 0 || state.seal_largest()) {
            let burst = BURST * state.sizes.block_bytes;
            writes = state.spill(state.unplaced_bytes.saturating_sub(burst));
        }
        let next = match failed {
            _ if state.writing > 0 => Next::Wait,
            Some(write) => Next::Retry(write),
            // All that is left are small open blocks.
            None => Next::Go,
        };
        Ok((writes, next))
    }

    fn submit(&self, write: Arc<Write>) {
        let state = Arc::clone(&self.state);
        self.writer.submit(Box::new(move || {
            let failed = write.perform().is_err();
            let mut state = lock(&state);
            state.writing -= 1;
            if failed {
                state.failed.push(Arc::clone(&write));
            }
            Step::Done
        }));
    }

    /// Has a block read in the background.
    pub(crate) fn read(&self, reading: Arc<Reading>) {
        self.reader.submit(Box::new(move || {
            let outcome = reading.file.read(reading.sequence, reading.offset, reading.end);
            *lock(&reading.outcome) = Some(outcome);
            Step::Done
        }));
    }

    pub(crate) fn wait_for_reader(&self) {
        self.reader.wait_for_progress(PATIENCE);
    }

    /// Has files removed in the background.
    pub(crate) fn remove(&self, files: Vec<Arc<SegmentFile>>) {
        if files.is_empty() {
            return;
        }
        self.chores.submit(Box::new(move || {
            files.iter().for_each(|file| file.remove());
            Step::Done
        }));
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("dir", &self.disk.dir).finish_non_exhaustive()
    }
}
