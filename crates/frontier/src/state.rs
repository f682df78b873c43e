//! The frontier on disk: saving it and taking it up again.
//!
//! Repositories and queues make checkpoints of their own. The file `STATE` names one of each, and holds what is in RAM: counts,
//! the bench with its hosts, what waits for another try, and the visits that are under way. It is replaced in one atomic step
//! after the others are durable, so whatever happens, the newest `STATE` is one consistent moment.
//!
//! ```text
//! "MATTOCKF", version u32, then numbers as u64, u32, u8 little-endian and counted bytes (u32), CRC-32 of all before it
//! ```

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use mattock_env::{Env, Time};
use mattock_weburl::WebUrl;

use crate::error::{FrontierError, Result, StateProblem};
use crate::frontier::{DeferredRequest, Frontier};
use crate::{Request, record};

const MAGIC: &[u8; 8] = b"MATTOCKF";
pub(crate) const VERSION: u32 = 5;
const NAME: &str = "STATE";

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
struct SavedHost {
    name: String,
    overflow: u64,
    /// How long it must still be left alone.
    wait: Duration,
    requests: Vec<Request>,
}

/// What `STATE` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) checkpoints: Checkpoints,
    seen_count: u64,
    number_next: u64,
    /// Star's and Beast's own state, if there are budgets.
    budgets: Option<(Vec<u8>, Vec<u8>)>,
    novelty: Vec<u8>,
    traps: Vec<u8>,
    hosts: Vec<SavedHost>,
    deferred: Vec<(Duration, Request)>,
}

impl Frontier {
    /// Makes everything durable: a crash goes back to here or later. Visits under way are saved as not yet made.
    pub fn save(&mut self, now: Time) -> Result<()> {
        self.take_new()?;
        let budgets = self.budget.as_mut().map(|budget| budget.save()).transpose()?;
        // The disk is asked by all of them at once: most of a checkpoint is waiting for it.
        let checkpoints = Checkpoints {
            content: self.content.digests().begin_checkpoint()?,
            seen: self.seen.begin_checkpoint()?,
            robots: self.robots.cache().begin_checkpoint()?,
            queues: self.queues.checkpoint()?.number,
        };
        self.content.digests().end_checkpoint()?;
        self.seen.end_checkpoint()?;
        self.robots.cache().end_checkpoint()?;
        let novelty = self.content.encode();
        let saved = Saved { budgets, novelty, ..self.to_saved(checkpoints, now) };
        let bytes = saved.encode();
        let path = self.dir.join(NAME);
        self.env.files.write_atomic(&path, &bytes).map_err(|source| FrontierError::Io { path, source })
    }

    /// What is in RAM here; what the stages know of themselves is to be added.
    fn to_saved(&self, checkpoints: Checkpoints, now: Time) -> Saved {
        let hosts = self.bench.iter().map(|(_, host)| {
            let under_way = self.in_flight.values().filter(|request| request.url.host() == &*host.name);
            SavedHost {
                name: host.name.to_string(),
                overflow: host.overflow,
                wait: host.next_allowed.since(now),
                requests: host.requests().chain(under_way).cloned().collect(),
            }
        });
        Saved {
            checkpoints,
            seen_count: self.seen_count,
            number_next: self.number_next,
            budgets: None,
            novelty: Vec::new(),
            traps: self.admission.encode(),
            hosts: hosts.collect(),
            deferred: self
                .deferred
                .iter()
                .map(|Reverse((time, _, entry))| (time.since(now), entry.0.clone()))
                .collect(),
        }
    }

    /// Takes up what was saved. Every host is left alone for a full delay, as nobody knows when it was visited last.
    pub(crate) fn restore(&mut self, saved: Saved) -> Result<()> {
        let now = self.env.clock.now();
        (self.seen_count, self.number_next) = (saved.seen_count, saved.number_next);
        for host in saved.hosts {
            let url = WebUrl::parse(&host.name).map_err(|_| FrontierError::Record)?;
            let slot = self.slot_of(&url)?;
            self.bench.hold(slot, now + host.wait.max(self.politeness.delay));
            self.bench.host_mut(slot).overflow = host.overflow;
            for request in host.requests {
                self.bench.push(slot, request, now);
            }
            self.bench.schedule(slot, now);
        }
        for (wait, request) in saved.deferred {
            self.deferred.push(Reverse((now + wait, request.number, DeferredRequest(request))));
        }
        Ok(())
    }
}

/// Reads the state in `dir`, if there is one.
pub(crate) fn read(env: &Env, dir: &Path) -> Result<Option<Saved>> {
    let path = dir.join(NAME);
    let bytes = match env.files.read(&path) {
        Ok(bytes) => bytes,
        // Up to version 2 all of it was one file, and up to version 4 there was one partition.
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            let parent = dir.parent().unwrap_or(dir);
            for path in [dir.to_owned(), parent.to_owned(), parent.join(NAME)] {
                if let Ok(bytes) = env.files.read(&path) {
                    let problem = Saved::decode(&bytes).err().unwrap_or(StateProblem::NotAState);
                    return Err(FrontierError::State { path, problem });
                }
            }
            return Ok(None);
        }
        Err(source) => return Err(FrontierError::Io { path, source }),
    };
    Saved::decode(&bytes).map(Some).map_err(|problem| FrontierError::State { path, problem })
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

    fn encode(&self) -> Vec<u8> {
        let mut out = Writer { bytes: MAGIC.to_vec(), record: Vec::new() };
        out.u32(VERSION);
        let Checkpoints { seen, robots, queues, content } = self.checkpoints;
        for number in [seen, robots, queues, content, self.seen_count, self.number_next] {
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
            out.counted(host.name.as_bytes());
            out.u64(host.overflow);
            out.duration(host.wait);
            out.u64(host.requests.len() as u64);
            host.requests.iter().for_each(|request| out.request(request));
        }
        out.u64(self.deferred.len() as u64);
        for (wait, request) in &self.deferred {
            out.duration(*wait);
            out.request(request);
        }
        let checksum = crc32fast::hash(&out.bytes);
        out.u32(checksum);
        out.bytes
    }

    fn decode(bytes: &[u8]) -> Result<Saved, StateProblem> {
        let body = bytes.strip_prefix(MAGIC).ok_or(StateProblem::NotAState)?;
        let version =
            body.first_chunk().map(|chunk| u32::from_le_bytes(*chunk)).ok_or(StateProblem::Damaged)?;
        if version != VERSION {
            return Err(StateProblem::Version(version));
        }
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or(StateProblem::Damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(StateProblem::Damaged);
        }
        Saved::parse(&mut Reader { bytes: &content[MAGIC.len() + 4..] }).ok_or(StateProblem::Damaged)
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Saved> {
        let checkpoints = Checkpoints {
            seen: reader.u64()?,
            robots: reader.u64()?,
            queues: reader.u64()?,
            content: reader.u64()?,
        };
        let (seen_count, number_next) = (reader.u64()?, reader.u64()?);
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
        Some(Saved { checkpoints, seen_count, number_next, budgets, novelty, traps, hosts, deferred })
    }
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
