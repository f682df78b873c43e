//! Reading results back: blocks of the log ahead of time, values of answers part by part.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::{Block, Lane, Step, Workers};

use crate::error::{DrumError, Result};
use crate::log::Log;
use crate::merge::Answers;
use mattock_codec::Reader;

/// Blocks that are read before they are asked for.
const AHEAD: usize = 3;

type Place = (u64, u32);
type Loaded = BTreeMap<Place, Result<(Block, usize)>>;

/// Fetches blocks of logs in order, a few ahead, on a lane of its own.
pub(crate) struct ReadAhead {
    lane: Lane,
    loaded: Arc<Mutex<Loaded>>,
    pending: VecDeque<(Place, u64)>,
    /// The block that is being delivered.
    held: Option<(Place, Block, usize)>,
}

impl ReadAhead {
    pub(crate) fn new(workers: &Workers) -> ReadAhead {
        let lane = workers.lane("drum-read", AHEAD + 1);
        ReadAhead { lane, loaded: Arc::default(), pending: VecDeque::new(), held: None }
    }

    /// The bytes in use of a written block; `None` if it is not read yet and we are not to wait for it.
    pub(crate) fn block(
        &mut self,
        generation: u64,
        block: u32,
        log: &Log,
        wait: bool,
    ) -> Result<Option<&[u8]>> {
        let place = (generation, block);
        if self.held.as_ref().is_none_or(|(held, ..)| *held != place) {
            self.held = None;
            match self.fetch(place, log, wait)? {
                Some((content, fill)) => self.held = Some((place, content, fill)),
                None => return Ok(None),
            }
        }
        Ok(self.held.as_ref().map(|(_, content, fill)| &content[..*fill]))
    }

    fn fetch(&mut self, wanted: Place, log: &Log, wait: bool) -> Result<Option<(Block, usize)>> {
        while let Some((place, ticket)) = self.pending.front().copied()
            && place != wanted
        {
            self.lane.wait(ticket);
            self.lock().remove(&place);
            self.pending.pop_front();
        }
        let mut next = self.pending.back().map_or(wanted.1, |((_, block), _)| block + 1);
        while self.pending.len() < AHEAD && (next < log.written() || next == wanted.1) {
            let place = (wanted.0, next);
            let (reader, loaded) = (log.reader(), Arc::clone(&self.loaded));
            let ticket = self.lane.submit(Box::new(move || {
                let read = reader.read(place.1);
                loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(place, read);
                Step::Done
            }));
            self.pending.push_back((place, ticket));
            next += 1;
        }
        let Some((_, ticket)) = self.pending.front().copied() else { return Ok(None) };
        if !wait {
            self.lane.poll();
            if self.lane.completed() < ticket {
                return Ok(None);
            }
        }
        self.lane.wait(ticket);
        self.pending.pop_front();
        let read = self.lock().remove(&wanted);
        read.transpose()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One part of a generation's answers, sorted.
#[derive(Default)]
pub(crate) struct AnswerPart {
    /// Of which generation and part.
    of: Option<(u64, usize)>,
    raw: Vec<u8>,
    /// Record, and where its value is.
    entries: Vec<(u32, usize, usize)>,
}

impl AnswerPart {
    /// The value for a record, if the merge found one.
    pub(crate) fn value(&mut self, generation: u64, answers: &Answers, record: u32) -> Result<Option<&[u8]>> {
        let part = (record >> answers.shift) as usize;
        if self.of != Some((generation, part)) {
            self.of = None;
            answers.buckets.load(part, &mut self.raw)?;
            let corrupt =
                || DrumError::corrupt(answers.buckets.file().path(), 0, "answers that cannot be read");
            self.entries.clear();
            let mut reader = Reader::new(&self.raw);
            while !reader.is_empty() {
                let number = reader.u32().ok_or_else(corrupt)?;
                let value = reader.counted().ok_or_else(corrupt)?;
                self.entries.push((number, reader.at() - value.len(), reader.at()));
            }
            self.entries.sort_unstable();
            self.of = Some((generation, part));
        }
        let found = self.entries.binary_search_by_key(&record, |entry| entry.0);
        Ok(found.ok().map(|index| &self.raw[self.entries[index].1..self.entries[index].2]))
    }
}
