//! What waits: on the bench, behind it, in the bands, for budgets, and on its way through `seen`.

use std::cmp::Reverse;
use std::time::Duration;

use mattock_drum::View;
use mattock_queue::{Options, Queue, Queues};
use mattock_weburl::WebUrl;

use super::{Division, keep_error};
use crate::error::{FrontierError, Result};
use crate::frontier::DeferredRequest;
use crate::star::Standings;
use crate::state::SavedHost;
use crate::{BANDS, Frontier, Request, bands, beast, budget, overflow, record, star};

/// Records taken from one queue before it is the next partition's turn.
const TURN: u64 = 256;

/// What a share gets on its bench.
#[derive(Default)]
struct OnBench {
    hosts: Vec<SavedHost>,
    deferred: Vec<(Duration, Request)>,
}

impl OnBench {
    /// Numbers all requests anew, in the order that they had: those of different partitions have the same numbers.
    fn number(&mut self) -> u64 {
        let requests = self.hosts.iter_mut().flat_map(|host| &mut host.requests);
        let mut all: Vec<&mut Request> =
            requests.chain(self.deferred.iter_mut().map(|(_, request)| request)).collect();
        all.sort_by_key(|request| request.number);
        for (number, request) in (1..).zip(&mut all) {
            request.number = number;
        }
        all.len() as u64
    }
}

impl Frontier {
    /// Takes over a URL that waits for its budget, which may be that of another time.
    fn adopt_budgeting(&mut self, domain: u64, record: &[u8]) -> Result<()> {
        match &mut self.budget {
            Some(budget) => budget.push(domain, self.content.factor(domain) as f32, record),
            None => self.ready.push(record),
        }
    }
}

/// Hands out the records of queues of several partitions, a few of each at a time.
fn in_turn(queues: &[Queue], mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    while queues.iter().any(|queue| !queue.is_empty()) {
        for queue in queues {
            queue.try_pop_with(TURN, &mut sink)?;
        }
    }
    Ok(())
}

impl Division {
    /// Hosts and what they have in RAM, and what waits for another try.
    pub(super) fn divide_bench(&mut self) -> Result<()> {
        let mut parts: Vec<OnBench> = self.shares.iter().map(|_| OnBench::default()).collect();
        for source in &mut self.sources {
            for host in std::mem::take(&mut source.saved.hosts) {
                let url = WebUrl::parse(&host.name).map_err(|_| FrontierError::Record)?;
                for request in &host.requests {
                    self.owners.note(&request.url)?;
                }
                parts[self.owners.of(url.domain_fingerprint().0)].hosts.push(host);
            }
            for (wait, request) in std::mem::take(&mut source.saved.deferred) {
                parts[self.owners.note(&request.url)?].deferred.push((wait, request));
            }
        }
        let now = self.now;
        for (share, mut part) in self.shares.iter_mut().zip(parts) {
            share.number_next = part.number();
            for host in part.hosts {
                let url = WebUrl::parse(&host.name).map_err(|_| FrontierError::Record)?;
                let key = url.host_fingerprint().0;
                // Of another partition's host at most the delay is remembered, for a robots.txt that led there.
                let slot = share.bench.find(key).unwrap_or_else(|| {
                    share.bench.add_host(key, url.host().into(), url.domain_fingerprint().0)
                });
                share.bench.hold(slot, now + host.wait);
                for request in host.requests {
                    share.bench.push(slot, request, now);
                }
                share.bench.schedule(slot, now);
            }
            for (wait, request) in part.deferred {
                share.deferred.push(Reverse((now + wait, request.number, DeferredRequest(request))));
            }
        }
        Ok(())
    }

    /// Everything in queues on disk. They are opened and read as a run would, which changes nothing that the checkpoint names.
    pub(super) fn divide_queues(&mut self) -> Result<()> {
        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let options = Options::new(source.queues_bytes as usize);
            let at = Some(source.saved.checkpoints.queues);
            all.push(Queues::open_at(&self.env, &source.dir.join("queues"), &options, at)?);
        }
        // What a host has in the queue that it shares came before what it has in its own.
        for own in [false, true] {
            let behind = |name: &String| overflow::is_own(name) == Some(own);
            for queues in &all {
                for name in queues.names().iter().filter(|name| behind(name)) {
                    in_turn(&[queues.queue(name)], |record| self.push_behind(record))?;
                }
            }
        }
        for band in 0..BANDS {
            let queues: Vec<Queue> = all.iter().map(|queues| queues.queue(&bands::name(band))).collect();
            in_turn(&queues, |record| {
                let request = record::decode(record).ok_or(FrontierError::Record)?;
                self.shares[self.owners.note(&request.url)?].ready.push(record)
            })?;
        }
        self.divide_budgeted(&all)
    }

    /// A record behind the bench: its host is there.
    fn push_behind(&mut self, record: &[u8]) -> Result<()> {
        let request = record::decode(record).ok_or(FrontierError::Record)?;
        let share = &mut self.shares[self.owners.note(&request.url)?];
        let key = request.url.host_fingerprint().0;
        let Some(slot) = share.bench.find(key) else { return share.ready.push(record) };
        share.overflow.push(&share.queues, key, share.bench.host(slot).overflow, record)?;
        share.bench.host_mut(slot).overflow += 1;
        Ok(())
    }

    /// Beast's queues in the order in which they would be read, then what is over budget.
    fn divide_budgeted(&mut self, all: &[Queues]) -> Result<()> {
        let prefix = format!("{}-", budget::PREFIX);
        let (mut numbered, mut over) = (Vec::new(), Vec::new());
        for (queues, source) in all.iter().zip(&self.sources) {
            let Some(places) = source.places else { continue };
            for name in queues.names() {
                let Some(slot) = name.strip_prefix(&prefix) else { continue };
                match slot.parse::<u64>() {
                    // From the one that is being read, which all of them are at.
                    Ok(slot) => numbered.push((places.number(slot) - places.current, queues.queue(&name))),
                    Err(_) => over.push(queues.queue(&name)),
                }
            }
        }
        numbered.sort_by_key(|(turn, _)| *turn);
        for of_a_turn in numbered.chunk_by(|one, other| one.0 == other.0) {
            let queues: Vec<Queue> = of_a_turn.iter().map(|(_, queue)| queue.clone()).collect();
            in_turn(&queues, |record| self.push_budgeted(record, false))?;
        }
        in_turn(&over, |record| {
            self.push_budgeted(record.get(beast::DOMAIN_BYTES..).unwrap_or_default(), true)
        })
    }

    fn push_budgeted(&mut self, record: &[u8], over: bool) -> Result<()> {
        let request = record::decode(record).ok_or(FrontierError::Record)?;
        let share = &mut self.shares[self.owners.note(&request.url)?];
        let domain = request.url.domain_fingerprint().0;
        match &mut share.budget {
            Some(budget) => budget.adopt(domain, if over { 0 } else { request.budget }, record),
            None => share.ready.push(record),
        }
    }

    /// Whose the URLs are that wait for an in-degree, or are on their way through `seen`.
    pub(super) fn note_arriving(&mut self) -> Result<()> {
        let owners = &mut self.owners;
        let mut outcome = Ok(());
        let mut note = |record: &[u8]| {
            let request = record::decode(record).ok_or(FrontierError::Record)?;
            owners.note(&request.url).map(|_| ())
        };
        for source in &self.sources {
            if let Some((star, _)) = source.saved.budgets() {
                let standings = Standings::open(&self.env, &source.dir.join(budget::DEGREES), star)?;
                standings.degrees.undelivered(|answer| {
                    keep_error(
                        &mut outcome,
                        answer.aux.get(star::HEADER_BYTES..).unwrap_or_default(),
                        &mut note,
                    );
                })?;
            }
            let seen = View::<()>::open(&self.env, &source.dir.join("seen"), source.saved.checkpoints.seen)?;
            seen.undelivered(|link| keep_error(&mut outcome, link.aux, &mut note))?;
        }
        outcome
    }

    /// URLs that wait for an in-degree ask for it again.
    pub(super) fn push_budgeting(&mut self) -> Result<()> {
        for source in &self.sources {
            let Some((star, _)) = source.saved.budgets() else { continue };
            let standings = Standings::open(&self.env, &source.dir.join(budget::DEGREES), star)?;
            let mut outcome = Ok(());
            standings.degrees.undelivered(|answer| {
                keep_error(&mut outcome, answer.aux, |aux| {
                    let record = aux.get(star::HEADER_BYTES..).unwrap_or_default();
                    let request = record::decode(record).ok_or(FrontierError::Record)?;
                    let domain = request.url.domain_fingerprint().0;
                    self.shares[self.owners.of(domain)].adopt_budgeting(domain, record)
                });
            })?;
            outcome?;
        }
        Ok(())
    }

    /// Links on their way through `seen`: those that are known to be new are on, the others ask again. All keys that are known must be
    /// in `seen` before.
    pub(super) fn push_arriving(&mut self) -> Result<()> {
        for source in &self.sources {
            let seen = View::<()>::open(&self.env, &source.dir.join("seen"), source.saved.checkpoints.seen)?;
            let mut outcome = Ok(());
            seen.undelivered(|link| {
                keep_error(&mut outcome, link, |link| {
                    let request = record::decode(link.aux).ok_or(FrontierError::Record)?;
                    let share = &mut self.shares[self.owners.of(request.url.domain_fingerprint().0)];
                    if link.unique == Some(true) {
                        share.accounts.seen += 1;
                        share.new.push_back(link.aux.to_vec());
                        return share.pass_on_new();
                    }
                    Ok(share.seen.submit_links(&[request.url.fingerprint().0], |_| link.aux)?)
                });
            })?;
            outcome?;
        }
        Ok(())
    }
}
