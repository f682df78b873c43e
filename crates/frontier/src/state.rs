//! The file `STATE-N`: what of the frontier is in RAM at checkpoint N, and which checkpoints of its parts belong to it.
//!
//! ```text
//! "MATTOCKF", version u32, then numbers as u64, u32, u8 little-endian and counted bytes (u32), CRC-32 of all before it
//! ```
//!
//! It is kept twice: `STATE-N.copy` has the same bytes.

use std::borrow::Borrow;
use std::path::Path;
use std::time::Duration;

use mattock_env::{Env, Unread, without_copy};

use crate::accounts::Accounts;
use crate::error::{FrontierError, Result, StateProblem};
use crate::{Request, record};

const MAGIC: &[u8; 8] = b"MATTOCKF";
pub(crate) const VERSION: u32 = 7;
/// The oldest that is read. Version 6 has the same layout; its requests do not say what they were found on. It counts for
/// the queues and for `seen` as well, whose records are of the same form: a program that does not know it must not open those either.
const VERSION_OLDEST: u32 = 6;
const NAME: &str = "STATE";

/// The name of the state of a checkpoint.
pub(crate) fn name(checkpoint: u64) -> String {
    format!("{NAME}-{checkpoint}")
}

/// The checkpoint that a state of this name belongs to, or its copy.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    without_copy(name).strip_prefix(NAME)?.strip_prefix('-')?.parse().ok()
}

/// The checkpoints of the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoints {
    pub(crate) seen: u64,
    pub(crate) robots: u64,
    pub(crate) queues: u64,
    pub(crate) content: u64,
}

/// What was learnt of hosts and queries.
#[derive(Clone, Copy)]
pub(crate) struct Learnt<'a> {
    pub(crate) novelty: &'a [u8],
    pub(crate) traps: &'a [u8],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedHost<R = Request, N = String> {
    pub(crate) name: N,
    pub(crate) overflow: u64,
    /// How long it must still be left alone.
    pub(crate) wait: Duration,
    /// Those under way included.
    pub(crate) requests: Vec<R>,
}

/// What `STATE` holds; to be written it need not be owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saved<R = Request, N = String> {
    pub(crate) checkpoints: Checkpoints,
    pub(crate) accounts: Accounts,
    pub(crate) number_next: u64,
    /// Star's and Beast's own state, if there are budgets.
    pub(crate) budgets: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) novelty: Vec<u8>,
    pub(crate) traps: Vec<u8>,
    pub(crate) hosts: Vec<SavedHost<R, N>>,
    pub(crate) deferred: Vec<(Duration, R)>,
}

/// Reads the state of a checkpoint in `dir`; there is none of number 0.
pub(crate) fn read(env: &Env, dir: &Path, checkpoint: u64) -> Result<Option<Saved>> {
    if checkpoint == 0 {
        return refuse_old(env, dir).map(|()| None);
    }
    let path = dir.join(name(checkpoint));
    match env.files.read_either(&path, whole) {
        Ok(Ok(saved)) => Ok(Some(saved)),
        Ok(Err(problem)) | Err(Unread::Content(problem)) => Err(FrontierError::State { path, problem }),
        Err(Unread::Io(source)) => Err(FrontierError::Io { path, source }),
    }
}

/// What is in a state; a version that is not known is an answer too, if the bytes are as they were written.
fn whole(bytes: &[u8]) -> Result<Result<Saved, StateProblem>, StateProblem> {
    match Saved::decode(bytes) {
        Err(problem @ StateProblem::Version(_)) if is_sealed(bytes) => Ok(Err(problem)),
        decoded => decoded.map(Ok),
    }
}

/// Whether these bytes are those of a state, as they were written, in whatever version.
pub(crate) fn check(bytes: &[u8]) -> Result<(), StateProblem> {
    whole(bytes).map(|_| ())
}

fn is_sealed(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk::<4>()
        .is_some_and(|(content, checksum)| crc32fast::hash(content) == u32::from_le_bytes(*checksum))
}

/// Up to version 2 all of it was one file, up to version 4 there was one partition, and up to version 5 one checkpoint.
pub(crate) fn refuse_old(env: &Env, dir: &Path) -> Result<()> {
    let parent = dir.parent().unwrap_or(dir);
    for path in [dir.join(NAME), dir.to_owned(), parent.to_owned(), parent.join(NAME)] {
        if let Ok(bytes) = env.files.read(&path) {
            let problem = Saved::decode(&bytes).err().unwrap_or(StateProblem::NotAState);
            return Err(FrontierError::State { path, problem });
        }
    }
    Ok(())
}

impl Saved {
    /// Star's and Beast's state.
    pub(crate) fn budgets(&self) -> Option<(&[u8], &[u8])> {
        self.budgets.as_ref().map(|(star, beast)| (&star[..], &beast[..]))
    }

    /// What was learnt.
    pub(crate) fn learnt(&self) -> Learnt<'_> {
        Learnt { novelty: &self.novelty, traps: &self.traps }
    }
}

impl<R: Borrow<Request>, N: AsRef<str>> Saved<R, N> {
    /// Without its checksum, which [`seal`] adds.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer { bytes: MAGIC.to_vec(), record: Vec::new() };
        out.u32(VERSION);
        let Checkpoints { seen, robots, queues, content } = self.checkpoints;
        let Accounts { seen: urls, fetched, failed, refused } = self.accounts;
        for number in [seen, robots, queues, content, urls, fetched, failed, refused, self.number_next] {
            out.u64(number);
        }
        out.u64(u64::from(self.budgets.is_some()));
        for state in self.budgets.iter().flat_map(|(star, beast)| [star, beast]) {
            out.counted(state);
        }
        out.counted(&self.novelty);
        out.counted(&self.traps);
        out.u64(self.hosts.len() as u64);
        for host in &self.hosts {
            out.counted(host.name.as_ref().as_bytes());
            out.u64(host.overflow);
            out.duration(host.wait);
            out.u64(host.requests.len() as u64);
            host.requests.iter().for_each(|request| out.request(request.borrow()));
        }
        out.u64(self.deferred.len() as u64);
        for (wait, request) in &self.deferred {
            out.duration(*wait);
            out.request(request.borrow());
        }
        out.bytes
    }
}

impl Saved {
    fn decode(bytes: &[u8]) -> Result<Saved, StateProblem> {
        let body = bytes.strip_prefix(MAGIC).ok_or(StateProblem::NotAState)?;
        let version =
            body.first_chunk().map(|chunk| u32::from_le_bytes(*chunk)).ok_or(StateProblem::Damaged)?;
        if !(VERSION_OLDEST..=VERSION).contains(&version) {
            return Err(StateProblem::Version(version));
        }
        let (content, _) =
            bytes.split_last_chunk::<4>().filter(|_| is_sealed(bytes)).ok_or(StateProblem::Damaged)?;
        let content = content.get(MAGIC.len() + 4..).ok_or(StateProblem::Damaged)?;
        Saved::parse(&mut Reader { bytes: content }).ok_or(StateProblem::Damaged)
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Saved> {
        let checkpoints = Checkpoints {
            seen: reader.u64()?,
            robots: reader.u64()?,
            queues: reader.u64()?,
            content: reader.u64()?,
        };
        let accounts = Accounts {
            seen: reader.u64()?,
            fetched: reader.u64()?,
            failed: reader.u64()?,
            refused: reader.u64()?,
        };
        let number_next = reader.u64()?;
        let budgets = match reader.u64()? {
            0 => None,
            _ => Some((reader.counted()?.to_vec(), reader.counted()?.to_vec())),
        };
        let (novelty, traps) = (reader.counted()?.to_vec(), reader.counted()?.to_vec());
        let hosts = reader.many(|reader| {
            Some(SavedHost {
                name: reader.text()?,
                overflow: reader.u64()?,
                wait: reader.duration()?,
                requests: reader.many(Reader::request)?,
            })
        })?;
        let deferred = reader.many(|reader| Some((reader.duration()?, reader.request()?)))?;
        Some(Saved { checkpoints, accounts, number_next, budgets, novelty, traps, hosts, deferred })
    }
}

/// Adds the checksum.
pub(crate) fn seal(bytes: &mut Vec<u8>) {
    let checksum = crc32fast::hash(bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
}

struct Writer {
    bytes: Vec<u8>,
    record: Vec<u8>,
}

impl Writer {
    fn u32(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn duration(&mut self, duration: Duration) {
        self.u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    fn request(&mut self, request: &Request) {
        self.u64(request.number);
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        record::encode(request, &mut record);
        self.counted(&record);
        self.record = record;
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn duration(&mut self) -> Option<Duration> {
        self.u64().map(Duration::from_nanos)
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.counted()?.to_vec()).ok()
    }

    fn request(&mut self) -> Option<Request> {
        let number = self.u64()?;
        let request = record::decode(self.counted()?)?;
        Some(Request { number, ..request })
    }

    fn many<T>(&mut self, mut one: impl FnMut(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
        // Not allocated at once: the number is checked only by what follows it.
        (0..self.u64()?).map(|_| one(self)).collect()
    }
}
