//! What the pages that came were worth: copies, near copies, or news, by host and by domain.
//!
//! Filled with every page that was fetched; asked whenever a host or a domain gets its due. A digest says whether the crawl has
//! this very page already ([`ContentSeen`], on disk, answered in batches once the crawl is large), a sketch of its text
//! whether its host or domain has nearly the same ([`Novelty`]). From both comes a factor: 1 for sites with news, down to 1/64
//! for those that only repeat themselves. Budgets are multiplied by it, and delays divided, so that a calendar
//! without end, a soft 404 or a farm of mirrors costs little, whatever its URLs look like; and nothing is lost, as a site
//! that has news again rises again.
//!
//! Memory: what it was given, half of it for the digests.

use std::path::Path;

use mattock_drum::{ContentSeen, Options};
use mattock_env::Env;

use crate::error::Result;
use crate::novelty::{Kind, Novelty};

/// What identifies the content of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageContent {
    /// A digest of its bytes.
    pub digest: [u8; 16],
    /// What its text looks like.
    pub sketch: Sketch,
}

/// What the text of a page looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sketch {
    /// There is none.
    NoText,
    /// Its [`simhash`](crate::novelty::simhash).
    Simhash(u64),
    /// Nobody has looked, as [`Frontier::wants_sketch`](crate::Frontier::wants_sketch) said.
    Unknown,
}

/// Of hosts that always had news so many pages go by before one is looked at.
const SAMPLED: u64 = 4;

/// How many pages turned out to be what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentCounts {
    /// Pages whose bytes the crawl had already.
    pub copies: u64,
    /// Others that are nearly like one of the last pages of their domain.
    pub near_copies: u64,
}

/// About what a host takes in [`Novelty`].
const HOST_BYTES: u64 = 176;
/// Answers taken at once.
const BATCH: usize = 256;
/// A domain with a lower factor has no news to speak of.
const STALE: f64 = 1.0 / 8.0;

/// What was submitted with a page: host, domain, kind of sketch, sketch.
const AUX_BYTES: usize = 25;

/// The domain of a page, of what was submitted with it; `None` if it was something else.
pub(crate) fn domain_of(aux: &[u8]) -> Option<u64> {
    (aux.len() == AUX_BYTES).then(|| aux[8..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes)))?
}

/// A page is known to be a copy or not.
fn judge(novelty: &mut Novelty, counts: &mut ContentCounts, aux: &[u8], is_new: bool) {
    let number = |at: usize| aux[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if aux.len() != AUX_BYTES {
        return;
    }
    if aux[16] == 2 && is_new {
        // As far as anybody knows it is like those that were looked at.
        return;
    }
    let sketch = (aux[16] == 1).then(|| number(17));
    novelty.page(number(0), is_new, sketch);
    match novelty.page(number(8), is_new, sketch) {
        Kind::News => {}
        Kind::NearDuplicate => counts.near_copies += 1,
        Kind::Copy => counts.copies += 1,
    }
}

pub(crate) struct ContentStage {
    seen: ContentSeen,
    novelty: Novelty,
    counts: ContentCounts,
    instances: u64,
}

impl ContentStage {
    /// As it was at a checkpoint, with what was learnt by then; empty before the first.
    pub(crate) fn open(
        env: &Env,
        dir: &Path,
        memory_bytes: u64,
        checkpoint: u64,
        learnt: Option<&[u8]>,
    ) -> Result<ContentStage> {
        let seen = ContentSeen::open_at(env, dir, Options::new(memory_bytes / 2), Some(checkpoint))?;
        let hosts = (memory_bytes / 2 / HOST_BYTES) as usize;
        let novelty = learnt.and_then(|bytes| Novelty::decode(hosts, bytes));
        let novelty = novelty.unwrap_or_else(|| Novelty::new(hosts));
        Ok(ContentStage { seen, novelty, counts: ContentCounts::default(), instances: 0 })
    }

    /// A page of this host and domain was fetched.
    pub(crate) fn page(&mut self, host: u64, domain: u64, content: PageContent) -> Result<()> {
        let mut aux = [0; AUX_BYTES];
        aux[..8].copy_from_slice(&host.to_le_bytes());
        aux[8..16].copy_from_slice(&domain.to_le_bytes());
        let (kind, sketch) = match content.sketch {
            Sketch::NoText => (0, 0),
            Sketch::Simhash(sketch) => (1, sketch),
            Sketch::Unknown => (2, 0),
        };
        aux[16] = kind;
        aux[17..].copy_from_slice(&sketch.to_le_bytes());
        self.instances += 1;
        self.seen.submit_contents([(content.digest, self.instances, &aux[..])])?;
        self.take_answers()
    }

    fn take_answers(&mut self) -> Result<()> {
        let ContentStage { seen, novelty, counts, .. } = self;
        loop {
            let count =
                seen.answers_ready(BATCH, |aux, first| judge(novelty, counts, aux, first.is_none()))?;
            if count < BATCH {
                return Ok(());
            }
        }
    }

    /// Takes over what another stage has [learnt](ContentStage::encode) of these keys; what cannot be read is learnt again.
    pub(crate) fn adopt(&mut self, learnt: &[u8], wanted: impl FnMut(u64) -> bool) {
        let _ = self.novelty.adopt(learnt, wanted);
    }

    /// Takes over a page of which another stage knows whether it is a copy: what was submitted with it, and whether it is not.
    pub(crate) fn adopt_page(&mut self, aux: &[u8], is_new: bool) {
        judge(&mut self.novelty, &mut self.counts, aux, is_new);
    }

    /// Whether the next page of a host is to be looked at.
    pub(crate) fn wants_sketch(&self, host: u64, domain: u64) -> bool {
        let steady = self.novelty.is_steady(host) && self.novelty.is_steady(domain);
        !steady || self.instances.is_multiple_of(SAMPLED)
    }

    /// What a host's or a domain's due is multiplied by.
    pub(crate) fn factor(&self, key: u64) -> f64 {
        self.novelty.factor(key)
    }

    /// Whether a domain has no news to speak of.
    pub(crate) fn is_stale(&self, domain: u64) -> bool {
        self.factor(domain) < STALE
    }

    pub(crate) fn counts(&self) -> ContentCounts {
        self.counts
    }

    /// The repository of digests, for checkpoints.
    pub(crate) fn digests(&mut self) -> &mut ContentSeen {
        &mut self.seen
    }

    /// What was learnt.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut learnt = Vec::new();
        self.novelty.encode(&mut learnt);
        learnt
    }
}
