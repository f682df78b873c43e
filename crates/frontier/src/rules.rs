//! What hosts say in their robots.txt, kept on disk: host → rules and expiry.
//!
//! Asked when a host comes onto the bench, filled when a robots.txt was fetched. Rules hold for 24 hours (RFC 9309 §2.4). A
//! robots.txt that cannot be had forbids everything (§2.3.1.4) for an hour, and then is asked for again; if there were rules
//! before, those hold on meanwhile. On disk the end is a time of the wall clock: if that is set back, rules are asked for again rather than
//! kept for hours more. A host is asked once: it is on the bench at most once, and keeps what it learns there.
//!
//! A robots.txt may redirect, to other hosts as well, and RFC 9309 §2.3.1.2 has crawlers follow at least five hops and hold what they find there
//! for the rules. Whoever writes a robots.txt must not thereby have us fetch what we would not fetch for a link. So every hop is a visit of the host that it
//! leads to, with that host's pause and gates, past the blocklist and the address guard, whatever the scope. On the host that was asked any
//! path is followed: that host itself says where its rules are. On another one `/robots.txt` is, which everybody may fetch, and any
//! other path if that host's own rules allow it, which are had first. A hop that is refused, or would wait for itself, leads to no
//! rules: nothing is fetched, as where a robots.txt cannot be had. To take such hosts for free of rules, as §2.3.1.2 permits beyond
//! five hops, would pass over rules that somebody has written.

use std::time::Duration;

use mattock_drum::{DrumError, HostData, RobotsCache};
use mattock_env::{Env, Time};
use mattock_fetch::FetchOutcome;
use mattock_robots::{Access, DisallowReason, Robots, access_for_status};
use mattock_weburl::WebUrl;

use crate::RobotsAnswer;
use crate::error::Result;

/// How long rules hold.
pub(crate) const VALID: Duration = Duration::from_secs(24 * 3600);
/// How long a host whose robots.txt could not be had is left alone.
pub(crate) const VALID_UNREACHABLE: Duration = Duration::from_secs(3600);
/// Redirects of a robots.txt that are followed (RFC 9309 §2.3.1.2).
const HOPS_MAX: u8 = 5;
/// Where a robots.txt is, and may be fetched whatever the rules.
pub(crate) const ROBOTS_PATH: &str = "/robots.txt";
/// Hosts whose robots.txt waits for the rules of the next, one after the other.
pub(crate) const GUESTS_IN_A_ROW_MAX: usize = HOPS_MAX as usize;

pub(crate) struct RobotsStage {
    cache: RobotsCache,
    env: Env,
    product_token: String,
    /// Hosts whose answer is outstanding.
    checking: usize,
    /// Tells our questions from those of earlier runs, whose answers were not handed out before the checkpoint.
    run: u64,
}

/// What becomes of an answer to a robots.txt request.
pub(crate) enum Learned {
    /// It redirects: fetch this next.
    Follow(WebUrl),
    /// The rules, and for how long they hold.
    Rules(Box<Robots>, Duration),
}

impl RobotsStage {
    pub(crate) fn new(env: &Env, cache: RobotsCache, product_token: &str) -> RobotsStage {
        let run = cache.position();
        RobotsStage { cache, env: env.clone(), product_token: product_token.to_owned(), checking: 0, run }
    }

    /// Asks what is known of a host.
    pub(crate) fn check(&mut self, host: u64) -> Result<()> {
        let [mut aux, run] = [host, self.run].map(|number| number.to_le_bytes().to_vec());
        aux.extend(run);
        self.cache.check([(host, &aux[..])])?;
        self.checking += 1;
        Ok(())
    }

    /// Hands out what was found: host, rules and when they expire.
    pub(crate) fn answers(&mut self, mut sink: impl FnMut(u64, Option<(Robots, Time)>)) -> Result<()> {
        if self.checking == 0 {
            return Ok(());
        }
        let (now, now_s) = (self.env.clock.now(), self.env.clock.unix().as_seconds());
        let (mut answered, run) = (0, self.run.to_le_bytes());
        self.cache.answers(usize::MAX, |aux, data| {
            let Some((host, asked)) = aux.split_first_chunk() else { return };
            if asked != run {
                // Whoever needs it has asked again.
                return;
            }
            answered += 1;
            let host = u64::from_le_bytes(*host);
            let known = data.and_then(|data| {
                let left = Duration::from_secs(u64::try_from(data.expires_s - now_s).ok()?);
                // Rules that an earlier version wrote in another form are fetched again.
                let robots = Robots::from_bytes(&data.rules).ok()?;
                let valid = if robots.disallow_reason().is_some() { VALID_UNREACHABLE } else { VALID };
                // What seems to hold for longer than anything does is from before the clock was set back: nobody knows its age.
                (left <= valid).then(|| (robots, now + left))
            });
            sink(host, known);
        })?;
        self.checking -= answered;
        Ok(())
    }

    /// Has what is asked answered soon.
    pub(crate) fn hurry(&mut self) -> Result<()> {
        if self.checking > 0 {
            self.cache.flush()?;
        }
        Ok(())
    }

    /// What is on disk.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.cache.stats().store_bytes
    }

    /// Hosts whose answer is outstanding.
    pub(crate) fn checking(&self) -> usize {
        self.checking
    }

    /// What a visit to a robots.txt has brought. `before` is what was known.
    pub(crate) fn learn(
        &self,
        hops: u8,
        outcome: FetchOutcome,
        answer: Option<RobotsAnswer>,
        before: Option<&Robots>,
    ) -> Learned {
        let status = outcome.status();
        let (body, location) = answer.map_or((None, None), |answer| (answer.body, answer.location));
        if let (Some(300..400), Some(location)) = (status, location)
            && hops < HOPS_MAX
        {
            return Learned::Follow(location);
        }
        match (status.map(access_for_status), body, before) {
            (Some(Access::Rules), Some(body), _) => {
                Learned::Rules(Box::new(Robots::parse(&body, &self.product_token)), VALID)
            }
            (Some(Access::AllowAll), _, _) => Learned::Rules(Box::new(Robots::allow_all()), VALID),
            (_, _, Some(before)) if before.disallow_reason().is_none() => {
                Learned::Rules(Box::new(before.clone()), VALID_UNREACHABLE)
            }
            _ => Learned::Rules(unreachable_rules(), VALID_UNREACHABLE),
        }
    }

    /// Remembers the rules of a host.
    pub(crate) fn store(&mut self, host: u64, robots: &Robots, valid: Duration) -> Result<()> {
        let expires_s = self.env.clock.unix().as_seconds() + valid.as_secs().cast_signed();
        let data = HostData { expires_s, addresses: Vec::new(), rules: robots.to_bytes() };
        match self.cache.update([(host, data)]) {
            // The host keeps them while it is on the bench, and is asked again when it comes back.
            Err(DrumError::TooLarge { .. }) => Ok(()),
            other => Ok(other?),
        }
    }

    /// The repository, for checkpoints.
    pub(crate) fn cache(&mut self) -> &mut RobotsCache {
        &mut self.cache
    }
}

/// What holds where a robots.txt leads where we do not go; `before` is what was known.
pub(crate) fn refused_rules(before: Option<&Robots>) -> Box<Robots> {
    let known = before.filter(|robots| robots.disallow_reason().is_none());
    Box::new(known.cloned().unwrap_or_else(|| Robots::disallow_all(DisallowReason::RefusedRedirect)))
}

/// What holds where no rules could be had.
pub(crate) fn unreachable_rules() -> Box<Robots> {
    Box::new(Robots::disallow_all(DisallowReason::Unreachable))
}

/// The robots.txt that holds for a URL.
pub(crate) fn robots_url(url: &WebUrl) -> Option<WebUrl> {
    WebUrl::parse(&format!("{}{ROBOTS_PATH}", url.host())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_drum::Options;
    use mattock_env::sim::Simulation;
    use std::path::Path;

    #[test]
    fn answers_to_an_earlier_run_are_nobodys() {
        Simulation::new(1).run(|env| async move {
            let open = || RobotsCache::open(&env, Path::new("/robots"), Options::new(16 << 20)).unwrap();
            let mut before = RobotsStage::new(&env, open(), "us");
            before.check(1).unwrap();
            before.check(2).unwrap();
            before.cache().checkpoint().unwrap();
            drop(before);
            let mut stage = RobotsStage::new(&env, open(), "us");
            stage.check(2).unwrap();
            let mut answers = Vec::new();
            while stage.checking() > 0 {
                stage.hurry().unwrap();
                stage.answers(|host, rules| answers.push((host, rules.is_some()))).unwrap();
            }
            assert_eq!(answers, [(2, false)]);
        });
    }
    #[test]
    fn a_clock_that_was_set_back_prolongs_nothing() {
        const HOUR: Duration = Duration::from_secs(3600);
        Simulation::new(1).run(|env| async move {
            let cache = RobotsCache::open(&env, Path::new("/robots"), Options::new(16 << 20)).unwrap();
            let mut stage = RobotsStage::new(&env, cache, "us");
            stage.store(1, &Robots::allow_all(), VALID).unwrap();
            stage.store(2, &unreachable_rules(), VALID_UNREACHABLE).unwrap();
            let mut known = |back: Duration| {
                env.clock.set_back(back);
                stage.check(1).unwrap();
                stage.check(2).unwrap();
                let mut left = [None; 2];
                while stage.checking() > 0 {
                    stage.hurry().unwrap();
                    let answers = stage.answers(|host, rules| {
                        left[host as usize - 1] = rules.map(|(_, time)| time.since(env.clock.now()));
                    });
                    answers.unwrap();
                }
                env.clock.set_forward(back);
                left
            };
            assert_eq!(known(Duration::ZERO), [Some(VALID), Some(VALID_UNREACHABLE)]);
            assert_eq!(known(5 * HOUR), [None, None]);
            env.clock.sleep(HOUR / 2).await;
            let half = HOUR / 2;
            assert_eq!(known(Duration::ZERO), [Some(VALID - half), Some(half)]);
            // As long as it may have been so, it counts.
            assert_eq!(known(half), [Some(VALID), Some(HOUR)]);
            assert_eq!(known(HOUR), [None, None]);
        });
    }
}
