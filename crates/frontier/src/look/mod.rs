//! Looking at a partition's frontier at a checkpoint, without touching it: where is this URL, what waits, and for what?
//!
//! For tools beside the process that crawls, which may be at work meanwhile. Files are opened for reading only; if one is gone because the crawl
//! has made a newer checkpoint, the error [says so](crate::FrontierError::has_moved_on), and there is a newer one to open.
//!
//! A URL is looked for in the order of its life: in `seen`, which knows all URLs that were ever taken; then where it may wait, from the bench
//! back to the door. Who is in `seen` and waits nowhere is settled: fetched, failed, or refused at the last moment.
//!
//! Costs: memory for `STATE-N` (what the running frontier has on its bench) and one block of a queue. Time: one pass over what waits, for
//! however many URLs are asked for at once.

mod digest;
mod find;
mod survey;

use std::path::Path;
use std::time::Duration;

use mattock_drum::{HostData, View};
use mattock_env::{Env, UnixTime};
use mattock_robots::Robots;
use mattock_weburl::WebUrl;

pub use crate::star::Standing;
pub use survey::{HostLoad, Survey};

use crate::admission::Admission;
use crate::beast::Places;
use crate::blocklist::Blocklist;
use crate::error::Result;
use crate::rules::{VALID, VALID_UNREACHABLE};
use crate::star::Standings;
use crate::state::{self, Saved};
use crate::traps::Limits;
use crate::{Accounts, Application, BudgetPolicy, Link, Refusal, Scope, budget};

/// Where a URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// No link to it was taken.
    Unseen,
    /// It waits nowhere: it was fetched, or has failed, or was refused when its turn came.
    Settled,
    /// A link to it is on its way through `seen`.
    Arriving,
    /// It waits until it is known how many domains link to its own.
    Budgeting,
    /// It waits until its domain's budget lets it through.
    Budgeted {
        /// In which queue.
        queue: BudgetQueue,
        /// Records before it in that queue.
        ahead: u64,
        /// The budget that its domain had when it was put there; 0 if it had none yet.
        budget: u32,
    },
    /// It may be fetched, and waits until the bench has room.
    Ready {
        /// Its priority band.
        band: u8,
        /// URLs before it, in this band and in more urgent ones.
        ahead: u64,
    },
    /// Its host has no more room on the bench: it waits on disk behind it.
    Behind {
        /// URLs of its host before it.
        ahead: u64,
        /// Its host.
        host: HostState,
    },
    /// On the bench; or, if nothing is before it, under way.
    Bench {
        /// URLs of its host before it.
        ahead: u64,
        /// Tries that have failed.
        attempt: u8,
        /// Its host.
        host: HostState,
    },
    /// It has failed for a reason that may pass, and waits for another try.
    Again {
        /// Tries that have failed.
        attempt: u8,
        /// Until the next one.
        wait: Duration,
    },
}

/// A queue of BEAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetQueue {
    /// One of those that are read in turn.
    Number {
        /// Which one, counted from the beginning of the crawl.
        number: u64,
        /// The one that is being read.
        reading: u64,
    },
    /// QF: over budget, to be looked at again.
    Over,
}

/// A host on the bench.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostState {
    /// How long it must still be left alone.
    pub wait: Duration,
    /// Its URLs on the bench.
    pub on_bench: u64,
    /// Its URLs on disk behind it.
    pub behind: u64,
}

/// What is known of a host's robots.txt.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRules {
    /// The rules.
    pub robots: Robots,
    /// Until when they hold.
    pub expires: UnixTime,
}

impl HostRules {
    /// When they were fetched, as far as that is certain: rules whose file could not be had again are kept for a while.
    pub fn fetched(&self, checkpoint: UnixTime) -> Option<UnixTime> {
        let valid = match self.robots.disallow_reason() {
            None => VALID,
            Some(_) => VALID_UNREACHABLE,
        };
        let micros = |duration: Duration| duration.as_micros() as i64;
        // Had they been kept, they would not hold for so long.
        let kept_until = checkpoint.as_micros() + micros(VALID_UNREACHABLE);
        let certain = self.robots.disallow_reason().is_some() || self.expires.as_micros() > kept_until;
        certain.then(|| UnixTime::from_micros(self.expires.as_micros() - micros(valid)))
    }
}

/// By what links are judged before anything is remembered of them.
pub struct Wanted {
    /// With the seeds.
    pub scope: Scope,
    /// As it is now.
    pub blocklist: Blocklist,
    /// The limits on links.
    pub traps: Limits,
    /// What the crawl is for.
    pub application: Box<dyn Fn() -> Box<dyn Application>>,
}

/// A partition's frontier at a checkpoint.
pub struct Look {
    saved: Option<Saved>,
    seen: View<()>,
    robots: View<HostData>,
    queues: mattock_queue::View,
    /// Where there are budgets.
    standings: Option<Standings>,
    places: Option<Places>,
}

impl Look {
    /// Opens checkpoint `number` of the frontier in `dir`; 0 is the empty one before the first.
    pub fn open(env: &Env, dir: &Path, number: u64) -> Result<Look> {
        let saved = state::read(env, dir, number)?;
        let at = saved.as_ref().map(|saved| saved.checkpoints).unwrap_or_default();
        let (star, beast) = saved.as_ref().and_then(|saved| saved.budgets()).unzip();
        let standings =
            star.map(|star| Standings::open(env, &dir.join(budget::DEGREES), star)).transpose()?;
        let places =
            beast.map(|beast| Places::decode(beast).ok_or(crate::FrontierError::Record)).transpose()?;
        Ok(Look {
            seen: View::open(env, &dir.join("seen"), at.seen)?,
            robots: View::open(env, &dir.join("robots"), at.robots)?,
            queues: mattock_queue::View::open(env, &dir.join("queues"), at.queues)?,
            standings,
            places,
            saved,
        })
    }

    /// How many URLs are known, and how many are settled.
    pub fn accounts(&self) -> Accounts {
        self.saved.as_ref().map(|saved| saved.accounts).unwrap_or_default()
    }

    /// What is known of the robots.txt of a URL's host, be it outdated.
    pub fn rules(&self, url: &WebUrl) -> Result<Option<HostRules>> {
        let data = self.robots.look_up(url.host_fingerprint().0)?;
        Ok(data.and_then(|data| {
            let expires = UnixTime::from_micros(data.expires_s.saturating_mul(1_000_000));
            Some(HostRules { robots: Robots::from_bytes(&data.rules).ok()?, expires })
        }))
    }

    /// What a URL's domain may have; `None` if nobody counts who links to it.
    pub fn standing(&self, url: &WebUrl, policy: &BudgetPolicy) -> Result<Option<Standing>> {
        let standings = self.standings.as_ref().filter(|_| policy.uses_degrees());
        standings.map(|standings| standings.of(url.domain_fingerprint().0, policy)).transpose()
    }

    /// Why a link would not be taken; `None` if it would.
    pub fn refuses(&self, link: &Link, wanted: &Wanted) -> Option<Refusal> {
        let learnt = self.saved.as_ref().map(|saved| &saved.traps[..]);
        // A new one every time: it learns from what it judges.
        let mut admission =
            Admission::new(wanted.scope.clone(), &wanted.blocklist, wanted.traps.clone(), learnt);
        admission.serve((wanted.application)());
        admission.judge(link).err()
    }

    /// Where a URL is.
    pub fn find(&self, url: &WebUrl) -> Result<Whereabouts> {
        Ok(self.find_all(&[url])?.pop().unwrap_or(Whereabouts::Unseen))
    }
}
