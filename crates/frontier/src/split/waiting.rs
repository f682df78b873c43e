//! What waits: on the bench, behind it, in the bands, for budgets, and on its way through `seen`.

use std::cmp::Reverse;
use std::time::Duration;

use mattock_drum::{Sources, Undelivered};
use mattock_queue::{Blocks, View};
use mattock_weburl::WebUrl;

use super::{Division, keep_error};
use crate::error::{FrontierError, Result};
use crate::frontier::DeferredRequest;
use crate::state::SavedHost;
use crate::{BANDS, Frontier, Request, bands, beast, budget, overflow, record, star};

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

/// The blocks of a queue, or those that can be read.
fn blocks<'a>(view: &'a View, name: &str, salvaging: bool) -> Blocks<'a> {
    if salvaging { view.whole_blocks(name) } else { view.blocks(name) }
}

/// Hands out the records of queues of several partitions, a block of each at a time.
fn in_turn(queues: &mut [Blocks<'_>], mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    loop {
        let mut is_more = false;
        for queue in &mut *queues {
            let mut outcome = Ok(());
            is_more |= queue.next_block(|record| keep_error(&mut outcome, record, &mut sink))?;
            outcome?;
        }
        if !is_more {
            return Ok(());
        }
    }
}

impl Division {
    /// Hosts and what they have in RAM, and what waits for another try.
    pub(super) fn divide_bench(&mut self) -> Result<()> {
        let mut parts: Vec<OnBench> = self.shares.iter().map(|_| OnBench::default()).collect();
        let (mut hosts, mut deferred) = (Vec::new(), Vec::new());
        for source in &mut self.sources {
            hosts.append(&mut source.saved.hosts);
            deferred.append(&mut source.saved.deferred);
        }
        for host in hosts {
            let url = WebUrl::parse(&host.name).map_err(|_| FrontierError::Record)?;
            for request in &host.requests {
                self.note_known(&request.url)?;
            }
            parts[self.owners.of(url.domain_fingerprint().0)].hosts.push(host);
        }
        for (wait, request) in deferred {
            parts[self.note_known(&request.url)?].deferred.push((wait, request));
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

    /// Everything in queues on disk.
    pub(super) fn divide_queues(&mut self) -> Result<()> {
        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            all.push(self.queues(&source.dir, source.saved.checkpoints.queues)?);
        }
        let salvaging = self.salvage.is_some();
        // What a host has in the queue that it shares came before what it has in its own.
        for own in [false, true] {
            for view in &all {
                for name in view.names().filter(|name| overflow::is_own(name) == Some(own)) {
                    in_turn(&mut [blocks(view, name, salvaging)], |record| self.push_behind(record))?;
                }
            }
        }
        for band in 0..BANDS {
            let name = bands::name(band);
            let mut queues: Vec<_> = all.iter().map(|view| blocks(view, &name, salvaging)).collect();
            in_turn(&mut queues, |record| {
                let request = record::decode(record).ok_or(FrontierError::Record)?;
                let owner = self.note_known(&request.url)?;
                self.shares[owner].ready.push(record)
            })?;
        }
        self.divide_budgeted(&all)
    }

    /// A record behind the bench: its host is there.
    fn push_behind(&mut self, record: &[u8]) -> Result<()> {
        let request = record::decode(record).ok_or(FrontierError::Record)?;
        let owner = self.note_known(&request.url)?;
        let share = &mut self.shares[owner];
        let key = request.url.host_fingerprint().0;
        let Some(slot) = share.bench.find(key) else { return share.ready.push(record) };
        share.overflow.push(&share.queues, key, share.bench.host(slot).overflow, record)?;
        share.bench.host_mut(slot).overflow += 1;
        Ok(())
    }

    /// Beast's queues in the order in which they would be read, then what is over budget.
    fn divide_budgeted(&mut self, all: &[View]) -> Result<()> {
        let prefix = format!("{}-", budget::PREFIX);
        let (mut numbered, mut over) = (Vec::new(), Vec::new());
        let salvaging = self.salvage.is_some();
        for (view, source) in all.iter().zip(&self.sources) {
            let Some(places) = source.places else { continue };
            for name in view.names() {
                let Some(slot) = name.strip_prefix(&prefix) else { continue };
                match slot.parse::<u64>() {
                    // From the one that is being read, which all of them are at.
                    Ok(slot) => numbered.push((places.number(slot) - places.current, view, name)),
                    Err(_) => over.push(blocks(view, name, salvaging)),
                }
            }
        }
        numbered.sort_by_key(|(turn, ..)| *turn);
        for of_a_turn in numbered.chunk_by(|one, other| one.0 == other.0) {
            let mut queues: Vec<_> =
                of_a_turn.iter().map(|(_, view, name)| blocks(view, name, salvaging)).collect();
            in_turn(&mut queues, |record| self.push_budgeted(record, false))?;
        }
        in_turn(&mut over, |record| {
            self.push_budgeted(record.get(beast::DOMAIN_BYTES..).unwrap_or_default(), true)
        })
    }

    fn push_budgeted(&mut self, record: &[u8], over: bool) -> Result<()> {
        let request = record::decode(record).ok_or(FrontierError::Record)?;
        let owner = self.note_known(&request.url)?;
        let share = &mut self.shares[owner];
        let domain = request.url.domain_fingerprint().0;
        match &mut share.budget {
            Some(budget) => budget.adopt(domain, if over { 0 } else { request.budget }, record),
            None => share.ready.push(record),
        }
    }

    /// The URLs of a partition that wait for an in-degree.
    fn each_budgeting(
        &mut self,
        index: usize,
        mut visit: impl FnMut(&mut Division, &[u8], Request) -> Result<()>,
    ) -> Result<()> {
        let source = &self.sources[index];
        let Some((state, _)) = source.saved.budgets() else { return Ok(()) };
        let (checkpoint, _) = star::checkpoint_and_waiting(state).ok_or(FrontierError::Record)?;
        let dir = source.dir.clone();
        let degrees: mattock_drum::View<Sources> = self.results(&dir, budget::DEGREES, checkpoint)?;
        let mut outcome = Ok(());
        degrees.undelivered(|answer| {
            keep_error(&mut outcome, answer.aux.get(star::HEADER_BYTES..).unwrap_or_default(), |record| {
                let request = record::decode(record).ok_or(FrontierError::Record)?;
                visit(self, record, request)
            });
        })?;
        outcome
    }

    /// Links of a partition on their way through `seen`, each with whether it is known to be new.
    fn each_arriving(
        &mut self,
        index: usize,
        mut visit: impl FnMut(&mut Division, Undelivered<'_>, Request) -> Result<()>,
    ) -> Result<()> {
        let source = &self.sources[index];
        let (dir, checkpoint) = (source.dir.clone(), source.saved.checkpoints.seen);
        let seen: mattock_drum::View<()> = self.results(&dir, "seen", checkpoint)?;
        let mut outcome = Ok(());
        seen.undelivered(|link| {
            keep_error(&mut outcome, link, |link| {
                let request = record::decode(link.aux).ok_or(FrontierError::Record)?;
                visit(self, link, request)
            });
        })?;
        outcome
    }

    /// Whose the URLs are that wait for an in-degree, or are on their way through `seen`.
    pub(super) fn note_arriving(&mut self) -> Result<()> {
        for index in 0..self.sources.len() {
            self.each_budgeting(index, |division, _, request| division.note_known(&request.url).map(|_| ()))?;
            self.each_arriving(index, |division, link, request| {
                // What it leads to may be lost, and must then not be taken for known: without an owner its key is forgotten.
                let is_doubtful = division.salvage.is_some() && link.unique.is_none();
                if is_doubtful { Ok(()) } else { division.owners.note(&request.url).map(|_| ()) }
            })?;
        }
        Ok(())
    }

    /// URLs that wait for an in-degree ask for it again.
    pub(super) fn push_budgeting(&mut self) -> Result<()> {
        for index in 0..self.sources.len() {
            self.each_budgeting(index, |division, record, request| {
                let domain = request.url.domain_fingerprint().0;
                division.shares[division.owners.of(domain)].adopt_budgeting(domain, record)
            })?;
        }
        Ok(())
    }

    /// Links on their way through `seen`: those that are known to be new are on, the others ask again. All keys that are known must be
    /// in `seen` before.
    pub(super) fn push_arriving(&mut self) -> Result<()> {
        for index in 0..self.sources.len() {
            self.each_arriving(index, |division, link, request| {
                let is_new = link.unique == Some(true);
                if is_new {
                    // Its key may be among those that are lost, and whoever asks behind it must hear of it.
                    division.note_known(&request.url)?;
                    division.settle_known()?;
                }
                let share = &mut division.shares[division.owners.of(request.url.domain_fingerprint().0)];
                if is_new {
                    share.accounts.seen += 1;
                    share.new.push_back(link.aux.to_vec());
                    return share.pass_on_new();
                }
                Ok(share.seen.submit_links(&[request.url.fingerprint().0], |_| link.aux)?)
            })?;
        }
        Ok(())
    }
}
