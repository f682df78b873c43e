//! The queues of one directory: made, opened, captured, and counted together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use mattock_env::{Env, StoredFile, Unread};

use crate::block::Records;
use crate::checkpoint::{Capture, Checkpoint};
use crate::error::{QueueError, Result};
use crate::kept::{Kept, NO_PIN};
use crate::manifest::{self, Manifest, QueueEntry};
use crate::options::{Options, Sizes, Stats};
use crate::queue::Queue;
use crate::segment::{Disk, SegmentFile, lock};
use crate::shared::Shared;
use crate::state::{Cursor, QueueState, Segment, State};
use mattock_codec::checksum;

/// Any number of queues that share a directory, a memory and a writer.
#[derive(Clone, Debug)]
pub struct Queues {
    pub(crate) shared: Arc<Shared>,
}

impl Queues {
    /// Opens the queues in `dir` as their newest checkpoint left them, or none. Makes no file, unless there is now less memory.
    pub fn open(env: &Env, dir: &Path, options: &Options) -> Result<Queues> {
        Queues::open_at(env, dir, options, None)
    }

    /// Opens an earlier checkpoint; later ones are forgotten. Number 0 is the state before the first: no queue. It stays, and
    /// all that follow it, until [`keep_from`](Queues::keep_from) tells which one is needed now.
    pub fn open_at(env: &Env, dir: &Path, options: &Options, checkpoint: Option<u64>) -> Result<Queues> {
        let io = |error| QueueError::io(dir, 0, error);
        let present = match env.files.entry(dir).map_err(io)? {
            Some(_) => env.files.list(dir).map_err(io)?,
            None => Vec::new(),
        };
        let mut numbers: Vec<u64> =
            present.iter().filter_map(|file| manifest::number_of(&file.name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let newest = checkpoint.unwrap_or_else(|| numbers.last().copied().unwrap_or(0));
        if newest > 0 && !numbers.contains(&newest) {
            return Err(QueueError::NoSuchCheckpoint { path: dir.into(), number: newest });
        }
        let mut kept = Vec::new();
        for number in numbers.iter().copied().filter(|number| *number <= newest) {
            match manifest::read(&env.files, dir, number) {
                Ok(manifest) => kept.push(manifest),
                Err(error) if number == newest => return Err(error),
                // Of an older one nothing is needed.
                Err(_) => {}
            }
        }
        kept.drain(..kept.len().saturating_sub(options.checkpoints_kept.max(1)));

        let disk = Disk::new(env.files.clone(), dir);
        let sizes = options.sizes.unwrap_or_else(|| Sizes::new(options.memory_bytes));
        let mut state = State::new(Arc::clone(&disk), sizes, options.memory_bytes);
        state.checkpoint_number = numbers.last().copied().unwrap_or(0).max(newest);
        state.kept = kept.iter().map(Kept::found).collect();
        state.pinned = checkpoint.unwrap_or(NO_PIN);
        state.checkpoints_kept = options.checkpoints_kept.max(1);
        let mut tails = Vec::new();
        if let Some((manifest, older)) = kept.split_last() {
            tails = restore(env, &disk, &mut state, manifest, &present)?;
            let numbers: BTreeSet<u64> = older.iter().flat_map(|kept| Kept::found(kept).segments).collect();
            for number in numbers.difference(&Kept::found(manifest).segments) {
                state.dead.push(Arc::new(SegmentFile::new(&disk, *number, 0, 0, 1)));
            }
        }
        remove_litter(env, dir, &present, &kept)?;
        let queues = Queues { shared: Arc::new(Shared::new(env, disk, state)) };
        for (id, tail) in tails.iter().enumerate() {
            queues.push_tail(id, tail)?;
        }
        Ok(queues)
    }

    /// The blocks may have another size now, so the records of a tail are pushed anew. The queue's counts include them.
    fn push_tail(&self, id: usize, tail: &Records) -> Result<()> {
        let counts = |state: &State| (state.queues[id].records, state.queues[id].bytes);
        let before = counts(&lock(&self.shared.state));
        let queue = Queue { shared: Arc::clone(&self.shared), id };
        let mut offset = 0;
        for _ in 0..tail.count {
            let (record, next) = tail.at(offset).ok_or_else(|| {
                QueueError::corrupt(&self.shared.disk.dir, 0, "a tail holds fewer records than it says")
            })?;
            queue.push(record)?;
            offset = next;
        }
        let state = &mut lock(&self.shared.state).queues[id];
        (state.records, state.bytes) = before;
        Ok(())
    }

    /// The queue of this name; made if there is none.
    pub fn queue(&self, name: &str) -> Queue {
        let mut state = lock(&self.shared.state);
        let found = state.queues.iter().position(|queue| queue.name == name);
        let id = found.unwrap_or_else(|| {
            state.queues.push(QueueState { name: name.to_owned(), ..QueueState::default() });
            state.queues.len() - 1
        });
        Queue { shared: Arc::clone(&self.shared), id }
    }

    /// The names of all queues, in the order in which they were made.
    pub fn names(&self) -> Vec<String> {
        lock(&self.shared.state).queues.iter().map(|queue| queue.name.clone()).collect()
    }

    /// Captures the state of all queues at this moment, and has it made durable in the background. Waits for nothing; copies
    /// at most a quarter of a block per queue. Not from within a pop.
    pub fn capture(&self) -> Result<Capture> {
        self.shared.capture()
    }

    /// Captures the state and waits until it is durable.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.capture()?.wait()
    }

    /// How much there is, and how much was moved.
    pub fn stats(&self) -> Stats {
        let state = lock(&self.shared.state);
        Stats {
            ram_bytes: state.ram_bytes as u64,
            disk_bytes: state
                .queues
                .iter()
                .flat_map(|queue| &queue.segments)
                .map(|segment| segment.bytes)
                .sum(),
            read_bytes: self.shared.disk.read_bytes(),
            written_bytes: self.shared.disk.written_bytes(),
        }
    }

    /// Lets simulated lanes run a little; elsewhere nothing.
    pub fn poll(&self) {
        self.shared.poll();
    }
}

/// Puts the queues of a manifest into an empty state. Returns what belongs behind them.
fn restore(
    env: &Env,
    disk: &Arc<Disk>,
    state: &mut State,
    manifest: &Manifest,
    present: &[StoredFile],
) -> Result<Vec<Records>> {
    let lengths: BTreeMap<&str, u64> = present.iter().map(|file| (file.name.as_str(), file.len)).collect();
    // Of the tail there may be a copy.
    for (name, bytes) in
        manifest.files().into_iter().filter(|(name, _)| *name != manifest::tail_name(manifest.number))
    {
        let path = disk.dir.join(&name);
        match lengths.get(name.as_str()) {
            None => return Err(QueueError::corrupt(&path, 0, "the file is missing")),
            Some(len) if *len < bytes => {
                return Err(QueueError::corrupt(&path, *len, "the file is too short"));
            }
            Some(_) => {}
        }
    }
    state.next_segment = manifest.next_segment;
    for (id, entry) in manifest.queues.iter().enumerate() {
        state.queues.push(restore_queue(disk, id as u32, entry));
    }
    read_tails(env, &disk.dir, manifest)
}

fn restore_queue(disk: &Arc<Disk>, id: u32, entry: &QueueEntry) -> QueueState {
    let segments = entry.segments.iter().map(|segment| Segment {
        file: Arc::new(SegmentFile::new(
            disk,
            segment.number,
            id,
            segment.stored_max as usize,
            segment.bytes,
        )),
        bytes: segment.bytes,
        closed: true,
    });
    QueueState {
        name: entry.name.clone(),
        records: entry.records,
        bytes: entry.bytes,
        head: entry.head,
        cursor: Cursor { offset: entry.offset as usize, record: entry.record },
        placed: entry.next,
        next: entry.next,
        segments: segments.collect(),
        read_offset: entry.read_offset,
        ..QueueState::default()
    }
}

fn read_tails(env: &Env, dir: &Path, manifest: &Manifest) -> Result<Vec<Records>> {
    if manifest.tail_bytes() == 0 {
        return Ok(manifest.queues.iter().map(|_| Records::default()).collect());
    }
    let path = dir.join(manifest::tail_name(manifest.number));
    env.files.read_either(&path, |bytes| parts_of_tail(bytes, manifest)).map_err(|unread| match unread {
        unread if unread.is_missing() => QueueError::corrupt(&path, 0, "the file is missing"),
        Unread::Io(error) => QueueError::io(&path, 0, error),
        Unread::Content(offset) => QueueError::corrupt(&path, offset, "the tail fails its checksum"),
    })
}

/// What is in the file of a tail for each queue; where it is damaged, if it is.
pub(crate) fn parts_of_tail(bytes: &[u8], manifest: &Manifest) -> std::result::Result<Vec<Records>, u64> {
    let mut rest = bytes;
    let mut tails = Vec::new();
    for queue in &manifest.queues {
        let offset = (bytes.len() - rest.len()) as u64;
        let (tail, behind) = rest.split_at_checked(queue.tail_bytes as usize).ok_or(offset)?;
        if checksum(manifest.number, offset, &[tail]) != queue.tail_sum {
            return Err(offset);
        }
        tails.push(Records { bytes: tail.to_vec(), count: queue.tail_records });
        rest = behind;
    }
    Ok(tails)
}

/// Removes what a crash left behind, later manifests first: their files are going to be overwritten.
fn remove_litter(env: &Env, dir: &Path, present: &[StoredFile], kept: &[Manifest]) -> Result<()> {
    let needed: BTreeSet<String> = kept
        .iter()
        .flat_map(|manifest| {
            let number = manifest.number;
            let twins = manifest::names(number).into_iter().chain(manifest::tail_names(number));
            manifest.files().into_iter().map(|(name, _)| name).chain(twins)
        })
        .collect();
    let litter = present
        .iter()
        .filter(|file| !file.is_dir && manifest::is_ours(&file.name) && !needed.contains(&file.name));
    let (manifests, others): (Vec<_>, Vec<_>) =
        litter.partition(|file| manifest::number_of(&file.name).is_some());
    let remove = |file: &StoredFile| {
        let path = dir.join(&file.name);
        env.files.remove_file(&path).map_err(|error| QueueError::io(&path, 0, error))
    };
    if !manifests.is_empty() {
        manifests.into_iter().try_for_each(remove)?;
        env.files.sync_dir(dir).map_err(|error| QueueError::io(dir, 0, error))?;
    }
    others.into_iter().try_for_each(remove)
}
