//! To which partition a key belongs, of which nothing but its fingerprint is left.
//!
//! `seen` and the robots cache know URLs and hosts by their fingerprints, which do not tell the domain. Filled with every URL whose text is
//! still somewhere; asked for every key. A [`Drum`] does both in bounded memory, in a directory that is thrown away.

use std::path::Path;

use mattock_drum::{Batch, Deliver, Drum, DrumError, Options, Value};
use mattock_env::Env;
use mattock_weburl::WebUrl;

use crate::error::Result;

/// Operations that are handed to the repository together.
const BATCH_MAX: usize = 1024;
/// Hosts and domains that are remembered to be known: a power of two.
const RECENT: usize = 1 << 16;

/// A partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner(u32);

impl Value for Owner {
    fn encode(&self, out: &mut Vec<u8>) {
        crate::record::put_varint(out, self.0);
    }

    fn decode(bytes: &[u8]) -> Option<Owner> {
        crate::record::Reader { bytes }.varint().map(Owner)
    }
}

/// Knows which of so many partitions a domain belongs to.
pub type OwnerOf = fn(domain: u64, partitions: usize) -> usize;

/// Who takes answers: what was given along, and the partition.
type Sink<'a> = dyn FnMut(&[u8], Option<usize>) -> Result<()> + 'a;

/// Aux that is surely no more than fits into a record.
const AUX_BYTES_SMALL: usize = 4096;

/// The owners of keys.
pub(super) struct Owners {
    owner_of: OwnerOf,
    partitions: usize,
    /// Where there is only one, nobody need ask, unless it matters which are known at all.
    known: Option<Known>,
}

struct Known {
    drum: Drum<Owner>,
    batch: Batch<Owner>,
    recent: Vec<u64>,
}

impl Owners {
    pub(super) fn open(
        env: &Env,
        dir: &Path,
        memory_bytes: u64,
        owner_of: OwnerOf,
        (partitions, always): (usize, bool),
    ) -> Result<Owners> {
        let options = Options { deliver: Deliver::All, ..Options::new(memory_bytes) };
        let known = match partitions {
            1 if !always => None,
            _ => Some(Known {
                drum: Drum::open_at(env, dir, options, Some(0))?,
                batch: Batch::new(),
                recent: vec![0; RECENT],
            }),
        };
        Ok(Owners { owner_of, partitions, known })
    }

    /// The partition of a domain.
    pub(super) fn of(&self, domain: u64) -> usize {
        (self.owner_of)(domain, self.partitions)
    }

    /// The partition of a URL, which is remembered for its fingerprint and those of its host and its domain.
    pub(super) fn note(&mut self, url: &WebUrl) -> Result<usize> {
        let domain = url.domain_fingerprint().0;
        let owner = self.of(domain);
        if let Some(known) = &mut self.known {
            let value = Owner(owner as u32);
            known.batch.update(url.fingerprint().0, value);
            for key in [url.host_fingerprint().0, domain] {
                let place = (key >> 20) as usize % RECENT;
                if std::mem::replace(&mut known.recent[place], key) != key {
                    known.batch.update(key, value);
                }
            }
            if known.batch.len() >= BATCH_MAX {
                known.submit()?;
            }
        }
        Ok(owner)
    }

    /// Asks whose a key is. Sooner or later `sink` gets what was given along, and the partition: `None` if nobody knows.
    pub(super) fn ask(&mut self, key: u64, aux: &[u8], sink: &mut Sink<'_>) -> Result<()> {
        let Some(known) = &mut self.known else { return sink(aux, Some(0)) };
        if known.batch.len() >= BATCH_MAX {
            known.submit()?;
            known.deliver(sink)?;
        }
        if aux.len() > AUX_BYTES_SMALL {
            // It may be more than fits, and then only this one is refused.
            known.submit()?;
            let mut one = Batch::new();
            one.check(key, aux);
            return match known.drum.submit(&one) {
                Err(DrumError::TooLarge { .. }) => sink(aux, None),
                other => Ok(other?),
            };
        }
        known.batch.check(key, aux);
        Ok(())
    }

    /// Has everything that was asked answered.
    pub(super) fn settle(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        let Some(known) = &mut self.known else { return Ok(()) };
        known.submit()?;
        loop {
            known.drum.flush()?;
            known.drum.wait_for_merges()?;
            known.deliver(sink)?;
            if !known.drum.is_unsettled() {
                return Ok(());
            }
        }
    }
}

impl Known {
    fn submit(&mut self) -> Result<()> {
        self.drum.submit(&self.batch)?;
        self.batch.clear();
        Ok(())
    }

    /// Hands out what is answered.
    fn deliver(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        loop {
            let mut outcome = Ok(());
            let count = self.drum.deliver(BATCH_MAX, |answer| {
                if outcome.is_ok() {
                    outcome = sink(answer.aux, answer.value.map(|owner| owner.0 as usize));
                }
            })?;
            outcome?;
            if count < BATCH_MAX {
                return Ok(());
            }
        }
    }
}
