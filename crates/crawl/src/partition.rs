//! One partition at work: a loop that gives out visits, takes them back, and lets nothing else decide.
//!
//! Everything happens on one thread; with the other partitions it speaks through the [exchange](crate::exchange). A fetch is a local task that owns its URL and connection and sends back what it
//! got; all state (frontier, archive, counts) belongs to the loop. So there are no locks, and in virtual time the
//! order of events depends on the seed alone.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_analyze::LANGUAGE_TEXT_BYTES;
use mattock_env::{Env, Time};
use mattock_extract::Options;
use mattock_fetch::{Client, ClientOptions, Connection, Exchange, Failure};
use mattock_frontier::{Frontier, HostToResolve, Purpose, Visit};
use mattock_repository::{Ledger, WarcWriter};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::checkpoint::Part;
use crate::connections::Connections;
use crate::dispatch::Idle;
use crate::exchange::{Inbox, Order, Outbox, Parcel};
use crate::progress::{Reading, Waiting};
use crate::returns::{Haste, Returns};
use crate::settle::Unread;
use crate::steer::limiter::Claim;
use crate::summary::Totals;
use crate::task::Report;
use crate::{Config, Control, CrawlError, End, LinkRules, Progress};

/// How long a stop waits for what is under way. Visits that take longer are given up and made again by the next run.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// What a task brings back.
pub(crate) enum Came {
    /// A fetch.
    Fetched(Box<Exchange>, Option<Connection>),
    /// Where a host is; nowhere in particular if others find out.
    Located(Result<Option<IpAddr>, Failure>),
}

/// What a task is for.
pub(crate) enum Errand {
    Visit(Visit, Claim),
    Locate(HostToResolve),
}

/// How long an address holds before the resolver is asked again, which keeps it for as long as its time to live.
pub(crate) const ADDRESS_VALID: Duration = Duration::from_secs(60);

/// As much of a page's text as tells it from others.
const SKETCHED_BYTES_MAX: usize = 8 << 10;

/// Visits that are begun or taken back in one turn of the loop; between two turns the fetches have theirs. Also how many may
/// wait to be taken back before no more are begun: where the CPU is what is short, as with a farm of hosts that answer at
/// once, more visits under way would only make each of them, and every healthy host's, wait longer.
pub(crate) const TURN: usize = 16;

/// So many turns of a busy loop go by before others hear of it.
const TURNS_UNSEEN: u64 = 32;
/// How often others hear of what is dearer to find out.
const PUBLISH_EVERY: Duration = Duration::from_millis(100);
/// Parcels taken in between two turns.
const PARCELS: usize = 4;

/// A partition with its state. The caller keeps the state when the run is over.
pub(crate) struct Partition {
    pub(crate) env: Env,
    pub(crate) config: Config,
    pub(crate) frontier: Frontier,
    pub(crate) archive: WarcWriter,
    pub(crate) ledger: Ledger,
    pub(crate) part: Part,
    pub(crate) rules: LinkRules,
    pub(crate) totals: Totals,
    pub(crate) control: Control,
    pub(crate) progress: Arc<Progress>,
    pub(crate) inbox: Inbox,
    pub(crate) outbox: Outbox,
}

/// The loop's own part: gone when the run is over.
pub(crate) struct Run<'a> {
    pub(crate) partition: &'a mut Partition,
    pub(crate) client: Rc<Client>,
    pub(crate) connections: Connections,
    /// Errands that may be under way at once.
    pub(crate) connections_max: usize,
    pub(crate) extract: Options,
    pub(crate) sender: UnboundedSender<Report<Came>>,
    /// Errands under way with their tasks.
    pub(crate) in_flight: BTreeMap<u64, (Errand, JoinHandle<()>)>,
    pub(crate) number_next: u64,
    /// Errands that are back and wait to be settled.
    pub(crate) returns: Returns<Report<Came>>,
    /// What was settled and is read while the next requests are on their way: at most a turn's worth, and none when a checkpoint
    /// begins.
    pub(crate) unread: VecDeque<Unread>,
    pub(crate) publish_next: Time,
}

/// What was taken back in a turn.
#[derive(PartialEq, Eq)]
enum Taken {
    Nothing,
    Plain,
    /// A bulky document, as the last.
    Bulky,
}

impl Drop for Run<'_> {
    /// A run that failed asks for nothing more: who takes its place knows nothing of what is under way.
    fn drop(&mut self) {
        self.in_flight.values().for_each(|(_, task)| task.abort());
    }
}

impl Partition {
    /// What was counted over all runs until now.
    pub(crate) fn totals_now(&self) -> Totals {
        let mut totals = self.totals.clone();
        let counts = self.frontier.counts();
        for (refusal, count) in &counts.refused {
            *totals.refused.entry(refusal.to_string()).or_default() += count;
        }
        totals.copies += counts.content.copies;
        totals.near_copies += counts.content.near_copies;
        totals.links_exchanged += self.outbox.sent;
        totals
    }

    /// Crawls until there is nothing left, a limit is reached, or it is asked to stop.
    pub(crate) async fn run(&mut self) -> Result<End, CrawlError> {
        let (sender, receiver) = unbounded_channel();
        let options = ClientOptions { spill: Some(self.spill()), ..self.config.client_options() };
        let client = Rc::new(Client::new(&self.env, options));
        let connections_max = (self.config.connections / self.inbox.hub.partitions()).max(1);
        let extract = Options {
            text: self.config.archive_languages,
            text_bytes_max: LANGUAGE_TEXT_BYTES,
            raw_text_bytes_max: SKETCHED_BYTES_MAX,
            product_token: self.config.product.clone(),
            ..Options::default()
        };
        self.frontier.share_connections(connections_max);
        let begun = self.env.clock.now();
        let mut run = Run {
            partition: self,
            client,
            connections: Connections::new(connections_max),
            connections_max,
            extract,
            sender,
            in_flight: BTreeMap::new(),
            number_next: 0,
            returns: Returns::new(begun),
            unread: VecDeque::new(),
            publish_next: Time::ZERO,
        };
        let end = run.drive(receiver).await;
        run.publish();
        end
    }

    /// Where large bodies wait for their turn.
    pub(crate) fn spill(&self) -> PathBuf {
        self.frontier.dir().join("spill")
    }
}

impl Run<'_> {
    async fn drive(&mut self, mut receiver: UnboundedReceiver<Report<Came>>) -> Result<End, CrawlError> {
        let (control, hub) = (self.partition.control.clone(), self.partition.inbox.hub.clone());
        let clock = self.partition.env.clock.clone();
        let mut give_up = None;
        let mut turns = 0u64;
        // Whether the fetches have had a turn since something was begun or came.
        let mut fetched = false;
        loop {
            while let Ok(report) = receiver.try_recv() {
                self.sort(report);
            }
            let mut idle = self.dispatch(self.returns.plain())?;
            let reads = !self.unread.is_empty();
            if reads {
                // The servers get what was begun, and answer while we read what came before.
                tokio::task::yield_now().await;
                self.read_unread()?;
                if !matches!(idle, Idle::Over(_)) {
                    idle = Idle::Not;
                }
            }
            let over = if let Idle::Over(end) = idle { Some(end) } else { None };
            let drained = over.filter(|_| self.in_flight.is_empty());
            let free = self.poll_checkpoint()?;
            if drained.is_some() {
                self.partition.part.seat.ask_for_last();
            }
            let call = self.partition.part.seat.call();
            if free
                && let Some(call) = call
                && (drained.is_some() || !call.last)
            {
                self.take_part(call, drained).await?;
                if let (true, Some(end)) = (call.last, drained) {
                    return self.end(end).await;
                }
                continue;
            }
            turns += 1;
            if turns.is_multiple_of(TURNS_UNSEEN) || !matches!(idle, Idle::Not) {
                self.publish();
                self.partition.outbox.flush();
            }
            let until = match idle {
                Idle::Not => {
                    self.take_back_some(Haste::Busy)?;
                    self.take_in_some()?;
                    fetched = false;
                    if !reads {
                        tokio::task::yield_now().await;
                    }
                    continue;
                }
                Idle::Until(time) => time.into_iter().chain(self.returns.due()).min(),
                Idle::Over(_) => {
                    let give_up = *give_up.get_or_insert_with(|| clock.now() + STOP_GRACE);
                    if clock.now() >= give_up && drained.is_none() {
                        self.abandon();
                        continue;
                    }
                    drained.is_none().then_some(give_up)
                }
            };
            let haste = match over {
                Some(_) => Haste::Ending,
                None if fetched => Haste::Idle,
                None => Haste::Busy,
            };
            match self.take_back_some(haste)? {
                Taken::Nothing => {}
                taken => {
                    fetched = false;
                    if taken == Taken::Bulky {
                        // Sockets and timers have their turn too.
                        tokio::task::yield_now().await;
                    }
                    continue;
                }
            }
            if !fetched && self.returns.due().is_some_and(|due| due <= clock.now()) {
                // What has just begun goes first, and may be back at once.
                fetched = true;
                tokio::task::yield_now().await;
                continue;
            }
            let part = &self.partition.part;
            let now = clock.now();
            let until = [until, part.look_at(now)].into_iter().flatten().min();
            self.returns.rests(now);
            tokio::select! {
                biased;
                Some(report) = receiver.recv() => {
                    self.returns.rested(clock.now());
                    self.sort(report);
                    self.take_back_some(Haste::Busy)?;
                    fetched = false;
                    continue;
                }
                parcel = self.partition.inbox.take() => self.take_in(parcel)?,
                () = part.seat.called(), if call.is_none() => {}
                () = control.stopped(), if over.is_none() => {}
                () = hub.ended(), if over.is_none() => {}
                () = clock.sleep_until(until.unwrap_or_default()), if until.is_some() => {}
            }
            self.returns.rested(clock.now());
        }
    }

    /// Takes in a few parcels; whether there were any.
    pub(crate) fn take_in_some(&mut self) -> Result<bool, CrawlError> {
        for count in 0..PARCELS {
            let Some(parcel) = self.partition.inbox.try_take() else { return Ok(count > 0) };
            self.take_in(parcel)?;
        }
        Ok(true)
    }

    pub(crate) fn take_in(&mut self, parcel: Parcel) -> Result<(), CrawlError> {
        self.partition.frontier.receive(&parcel.links, &parcel.edges)?;
        if let Some(order) = parcel.order {
            self.carry_out(order)?;
        }
        self.partition.inbox.taken_in();
        Ok(())
    }

    /// Does what an operator wants.
    fn carry_out(&mut self, order: Order) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        match order {
            Order::Seeds(seeds) => {
                for seed in seeds.iter() {
                    partition.frontier.include(seed);
                }
                let (hub, own) = (partition.inbox.hub.clone(), partition.inbox.index);
                for seed in seeds.iter().filter(|seed| hub.owner(seed) == own) {
                    partition.frontier.seed(seed.clone())?;
                }
            }
            Order::Politeness(politeness) => {
                partition.config.politeness = (*politeness).clone();
                partition.frontier.set_politeness(*politeness);
            }
            Order::Hosts(query, answer) => {
                let (now, domains) = (partition.env.clock.now(), &partition.totals.domains);
                let pages = |domain: &str| domains.get(domain).copied();
                let rows = query.answer(&partition.frontier, partition.inbox.index, now, pages);
                // Whoever asked may have gone away meanwhile.
                let _ = answer.send(rows);
            }
        }
        Ok(())
    }

    /// Counts URLs that failed because their host did.
    pub(crate) fn count_failed(&mut self) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        for (request, outcome) in partition.frontier.take_failed() {
            partition.count_request(&request, outcome, "because its host did");
            partition.note_failure(&request, outcome)?;
        }
        Ok(())
    }

    /// Puts an errand that is back where it waits.
    fn sort(&mut self, report: Report<Came>) {
        let bulky = match (&report.1, self.in_flight.get(&report.0)) {
            (Some(Came::Fetched(exchange, _)), Some((Errand::Visit(visit, _), _))) => {
                self.is_bulky(visit, exchange)
            }
            _ => false,
        };
        self.returns.put(report, bulky);
    }

    /// Takes a turn's worth of visits back.
    fn take_back_some(&mut self, haste: Haste) -> Result<Taken, CrawlError> {
        let mut taken = Taken::Nothing;
        for _ in 0..TURN {
            let now = self.partition.env.clock.now();
            let Some(report) = self.returns.take(now, haste) else { break };
            taken = Taken::Plain;
            let bytes = self.take_back(report)?;
            if self.returns.settled(bytes, self.partition.env.clock.now()) {
                return Ok(Taken::Bulky);
            }
        }
        Ok(taken)
    }

    fn publish(&mut self) {
        let partition = &*self.partition;
        let counts = partition.frontier.counts();
        let count =
            |is: fn(&Errand) -> bool| self.in_flight.values().filter(|(errand, _)| is(errand)).count();
        let locating = count(|errand| matches!(errand, Errand::Locate(_)));
        let robots =
            count(|errand| matches!(errand, Errand::Visit(visit, _) if visit.purpose != Purpose::Page));
        let index = partition.inbox.index;
        let reading = Reading {
            pages: partition.totals.pages,
            bytes: partition.totals.bytes,
            errors: partition.totals.errors,
            requests: partition.totals.requests,
            queued: counts.queued,
            in_flight: self.in_flight.len() as u64,
            locating: locating as u64,
            robots: robots as u64,
            hosts: counts.hosts,
            seen: counts.accounts.seen,
            waiting: Waiting::default(),
        };
        partition.progress.publish(index, &reading);
        let now = partition.env.clock.now();
        if now < self.publish_next {
            return;
        }
        let stages = partition.frontier.stages();
        let waiting = Waiting {
            exchange: partition.inbox.hub.waiting(index),
            arriving: stages.arriving,
            new: stages.new,
            budget: stages.budget,
            ready: stages.ready,
            overflow: stages.overflow,
            bench: stages.bench,
            deferred: stages.deferred,
            rules: stages.rules,
            returned: self.returns.len() as u64,
            unread: self.unread.len() as u64,
        };
        partition.progress.publish_waiting(index, waiting);
        self.publish_next = now + PUBLISH_EVERY;
    }
}

#[cfg(test)]
mod tests;
