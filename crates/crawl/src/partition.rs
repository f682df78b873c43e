//! One partition at work: a loop that gives out visits, takes them back, and lets nothing else decide.
//!
//! Everything happens on one thread; with the other partitions it speaks through the [exchange](crate::exchange). A fetch is a local task that owns its URL and connection and sends back what it
//! got; all state (frontier, archive, counts) belongs to the loop. So there are no locks, and in virtual time the
//! order of events depends on the seed alone.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Time};
use mattock_extract::Options;
use mattock_fetch::{Client, ClientOptions, Connection, Exchange, Failure};
use mattock_frontier::{Frontier, HostToResolve, Next, Purpose, Visit};
use mattock_repository::WarcWriter;
use mattock_weburl::WebUrl;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::connections::Connections;
use crate::exchange::{Inbox, Outbox, Parcel};
use crate::progress::Reading;
use crate::returns::{BULKY_BYTES, Haste, Returns};
use crate::summary::Totals;
use crate::task::Report;
use crate::{Config, Control, CrawlError, End, LinkRules, Progress, task};

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
    Visit(Visit),
    Locate(HostToResolve),
}

/// How long an address holds before the resolver is asked again, which keeps it for as long as its time to live.
pub(crate) const ADDRESS_VALID: Duration = Duration::from_secs(60);

/// As much of a page's text as tells it from others.
const SKETCHED_BYTES_MAX: usize = 8 << 10;

/// Visits that are begun or taken back in one turn of the loop; between two turns the fetches have theirs. Also how many may
/// wait to be taken back before no more are begun: where the CPU is what is short, as with a farm of hosts that answer at
/// once, more visits under way would only make each of them, and every healthy host's, wait longer.
const TURN: usize = 16;

/// So many turns of a busy loop go by before others hear of it.
const TURNS_UNSEEN: u64 = 32;
/// How long the loop rests after a bulky document.
const AFTER_BULKY: Duration = Duration::from_millis(1);
/// How long until a partition that others hold up looks again.
const HELD_UP: Duration = Duration::from_millis(5);
/// Parcels taken in between two turns.
const PARCELS: usize = 4;

/// A partition with its state. The caller keeps the state when the run is over.
pub(crate) struct Partition {
    pub(crate) env: Env,
    pub(crate) config: Config,
    pub(crate) frontier: Frontier,
    pub(crate) archive: WarcWriter,
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
    connections_max: usize,
    pub(crate) extract: Options,
    sender: UnboundedSender<Report<Came>>,
    /// Errands under way with their tasks.
    pub(crate) in_flight: BTreeMap<u64, (Errand, JoinHandle<()>)>,
    number_next: u64,
    /// Errands that are back.
    pub(crate) returns: Returns<Report<Came>>,
}

/// What was taken back in a turn.
#[derive(PartialEq, Eq)]
enum Taken {
    Nothing,
    Plain,
    /// A bulky document, as the last.
    Bulky,
}

/// What the dispatcher found.
enum Idle {
    /// There is more to begin; the fetches have their turn first.
    Not,
    /// Wait for a visit to end, or for this time.
    Until(Option<Time>),
    /// The run is over when no visit is under way.
    Over(End),
}

impl Partition {
    /// Crawls until there is nothing left, a limit is reached, or it is asked to stop.
    pub(crate) async fn run(&mut self) -> Result<End, CrawlError> {
        let (sender, receiver) = unbounded_channel();
        let options = ClientOptions { spill: Some(self.spill()), ..self.config.client_options() };
        let client = Rc::new(Client::new(&self.env, options));
        let connections_max = (self.config.connections / self.inbox.hub.partitions()).max(1);
        let extract = Options {
            text_bytes_max: SKETCHED_BYTES_MAX,
            product_token: self.config.product.clone(),
            ..Options::default()
        };
        self.frontier.share_connections(connections_max);
        let mut run = Run {
            partition: self,
            client,
            connections: Connections::new(connections_max),
            connections_max,
            extract,
            sender,
            in_flight: BTreeMap::new(),
            number_next: 0,
            returns: Returns::new(),
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
            let idle = self.dispatch(self.returns.plain())?;
            turns += 1;
            if turns.is_multiple_of(TURNS_UNSEEN) || !matches!(idle, Idle::Not) {
                self.publish();
                self.partition.outbox.flush();
            }
            let (until, over) = match idle {
                Idle::Not => {
                    self.take_back_some(Haste::Busy)?;
                    self.take_in_some()?;
                    fetched = false;
                    tokio::task::yield_now().await;
                    continue;
                }
                Idle::Until(time) => (time.into_iter().chain(self.returns.due()).min(), None),
                Idle::Over(end) => {
                    let give_up = *give_up.get_or_insert_with(|| clock.now() + STOP_GRACE);
                    if clock.now() >= give_up {
                        self.abandon();
                    }
                    (Some(give_up), Some(end))
                }
            };
            if let Some(end) = over
                && self.in_flight.is_empty()
            {
                if !self.partition.inbox.pass_gate().await {
                    return Err(CrawlError::OtherPartition);
                }
                while self.take_in_some()? {}
                return Ok(end);
            }
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
                        // Timers have their turn too.
                        clock.sleep(AFTER_BULKY).await;
                    }
                    tokio::task::yield_now().await;
                    continue;
                }
            }
            if !fetched && self.returns.due().is_some_and(|due| due <= clock.now()) {
                // What has just begun goes first, and may be back at once.
                fetched = true;
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                biased;
                Some(report) = receiver.recv() => {
                    self.sort(report);
                    self.take_back_some(Haste::Busy)?;
                    fetched = false;
                }
                parcel = self.partition.inbox.take() => self.take_in(&parcel)?,
                () = control.stopped(), if over.is_none() => {}
                () = hub.ended(), if over.is_none() => {}
                () = clock.sleep_until(until.unwrap_or_default()), if until.is_some() => {}
            }
        }
    }

    /// Begins visits that are allowed now, a turn's worth of them; none if so many wait to be taken back.
    fn dispatch(&mut self, come_back: usize) -> Result<Idle, CrawlError> {
        let hub = self.partition.inbox.hub.clone();
        let mut left = if come_back < TURN { TURN } else { 0 };
        loop {
            if self.partition.control.is_stopping() {
                hub.finish(End::Stopped);
            }
            if let Some(end) = hub.end() {
                return Ok(Idle::Over(end));
            }
            if self.in_flight.len() >= self.connections_max {
                return Ok(Idle::Until(None));
            }
            if left == 0 {
                return Ok(Idle::Not);
            }
            let now = self.partition.env.clock.now();
            if self.partition.outbox.is_held_up() {
                return Ok(Idle::Until(Some(now + HELD_UP)));
            }
            if !hub.claim_page() {
                // What others have claimed may come back.
                return Ok(Idle::Until((hub.partitions() > 1).then(|| now + HELD_UP)));
            }
            let next = self.partition.frontier.next(now)?;
            if !matches!(&next, Next::Visit(visit) if visit.is_page()) {
                hub.unclaim_page();
            }
            self.count_failed();
            match next {
                Next::Visit(visit) => {
                    left -= 1;
                    self.begin(visit);
                }
                Next::Resolve(host) => self.locate(host, now),
                Next::WaitUntil(time) => return Ok(Idle::Until(Some(time))),
                Next::WaitForVisits => return Ok(Idle::Until(None)),
                Next::Empty => {
                    // Perhaps the others have something; the last one to find nothing ends the run.
                    self.partition.outbox.flush();
                    if !self.take_in_some()? {
                        self.partition.inbox.rest();
                        return Ok(hub.end().map_or(Idle::Until(None), Idle::Over));
                    }
                }
            }
        }
    }

    /// Takes in a few parcels; whether there were any.
    fn take_in_some(&mut self) -> Result<bool, CrawlError> {
        for count in 0..PARCELS {
            let Some(parcel) = self.partition.inbox.try_take() else { return Ok(count > 0) };
            self.take_in(&parcel)?;
        }
        Ok(true)
    }

    fn take_in(&mut self, parcel: &Parcel) -> Result<(), CrawlError> {
        self.partition.frontier.receive(&parcel.links, &parcel.edges)?;
        self.partition.inbox.taken_in();
        Ok(())
    }

    /// Counts URLs that failed because their host did.
    pub(crate) fn count_failed(&mut self) {
        let partition = &mut *self.partition;
        for (request, outcome) in partition.frontier.take_failed() {
            partition.totals.count_request(&request, outcome);
        }
    }

    fn locate(&mut self, host: HostToResolve, now: Time) {
        let Ok(url) = WebUrl::parse(&host.host) else {
            debug_assert!(false, "a host is the beginning of a URL");
            return self.partition.frontier.unresolved(&host, now);
        };
        let (client, turn) = (self.client.clone(), usize::from(host.strikes));
        self.spawn(Errand::Locate(host), async move { Came::Located(client.locate(&url, turn).await) });
    }

    fn spawn(&mut self, errand: Errand, work: impl Future<Output = Came> + 'static) {
        let number = self.number_next;
        self.number_next += 1;
        let task = task::spawn(number, self.sender.clone(), work);
        self.in_flight.insert(number, (errand, task));
    }

    fn begin(&mut self, visit: Visit) {
        let connection = self.connections.take(visit.request.url.host());
        let (client, url, server) = (self.client.clone(), visit.request.url.clone(), visit.server);
        let is_robots = visit.purpose != Purpose::Page;
        // One byte more than is read of it tells that there is more.
        let body_bytes_max = if is_robots { mattock_robots::BODY_BYTES_MAX + 1 } else { usize::MAX };
        self.spawn(Errand::Visit(visit), async move {
            let (exchange, connection) =
                client.fetch_beginning(&url, server, connection, body_bytes_max).await;
            Came::Fetched(Box::new(exchange), connection)
        });
    }

    /// Gives up what is under way: the URLs go back to where they wait.
    fn abandon(&mut self) {
        let now = self.partition.env.clock.now();
        self.returns.clear();
        for (_, (errand, task)) in std::mem::take(&mut self.in_flight) {
            task.abort();
            match errand {
                Errand::Visit(visit) => {
                    if visit.is_page() {
                        self.partition.inbox.hub.unclaim_page();
                    }
                    self.partition.frontier.abandoned(visit, now);
                }
                Errand::Locate(host) => self.partition.frontier.unresolved(&host, now),
            }
        }
    }

    /// Puts an errand that is back where it waits.
    fn sort(&mut self, report: Report<Came>) {
        let bulky = match &report {
            (_, Some(Came::Fetched(exchange, _))) => {
                // What is coded may be much more than it looks, if its host is not known to mean well.
                let coded = || exchange.field("content-encoding").is_some();
                let known = || match self.in_flight.get(&report.0) {
                    Some((Errand::Visit(visit), _)) => self.partition.frontier.is_brisk(&visit.request.url),
                    _ => false,
                };
                exchange.bytes_received() >= BULKY_BYTES || coded() && !known()
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

    fn publish(&self) {
        let partition = &*self.partition;
        let counts = partition.frontier.counts();
        partition.progress.publish(
            partition.inbox.index,
            Reading {
                pages: partition.totals.pages,
                bytes: partition.totals.bytes,
                errors: partition.totals.errors,
                queued: counts.queued,
                in_flight: self.in_flight.len() as u64,
                hosts: counts.hosts,
                seen: counts.seen,
            },
        );
    }
}

#[cfg(test)]
mod tests;
