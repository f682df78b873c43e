//! One partition at work: a loop that gives out visits, takes them back, and lets nothing else decide.
//!
//! Everything happens on one thread. A fetch is a local task that owns its URL and connection and sends back what it
//! got; all state (frontier, archive, counts) belongs to the loop. So there are no locks, and in virtual time the
//! order of events depends on the seed alone.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Time};
use mattock_extract::Options;
use mattock_fetch::{Client, Connection, DecodeEnd, DecodeLimits, Exchange, Truncation};
use mattock_frontier::{Finished, Frontier, Next, Purpose, RobotsAnswer, Settled, Visit};
use mattock_repository::{Page, Truncated, WarcWriter};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::connections::Connections;
use crate::page;
use crate::progress::Reading;
use crate::summary::Totals;
use crate::{Config, Control, CrawlError, End, Progress};

/// How long a stop waits for what is under way. Visits that take longer are given up and made again by the next run.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// A fetch that has come back.
struct Fetched {
    /// Of the visit, in [`Run::in_flight`].
    number: u64,
    exchange: Exchange,
    connection: Option<Connection>,
}

/// A partition with its state. The caller keeps the state when the run is over.
pub(crate) struct Partition {
    pub(crate) env: Env,
    pub(crate) config: Config,
    pub(crate) frontier: Frontier,
    pub(crate) archive: WarcWriter,
    pub(crate) totals: Totals,
    pub(crate) control: Control,
    pub(crate) progress: Arc<Progress>,
}

/// The loop's own part: gone when the run is over.
struct Run<'a> {
    partition: &'a mut Partition,
    client: Rc<Client>,
    connections: Connections,
    extract: Options,
    sender: UnboundedSender<Fetched>,
    /// Fetches under way with their tasks, and how many of them are for pages.
    in_flight: BTreeMap<u64, (Visit, JoinHandle<()>)>,
    pages_in_flight: u64,
    number_next: u64,
}

/// What the dispatcher found.
enum Idle {
    /// Wait for a visit to end, or for this time.
    Until(Option<Time>),
    /// The run is over when no visit is under way.
    Over(End),
}

impl Partition {
    /// Crawls until there is nothing left, a limit is reached, or it is asked to stop.
    pub(crate) async fn run(&mut self) -> Result<End, CrawlError> {
        let (sender, receiver) = unbounded_channel();
        let client = Rc::new(Client::new(&self.env, self.config.client_options()));
        let connections = Connections::new(self.config.connections);
        let extract =
            Options { embeds: false, product_token: self.config.product.clone(), ..Options::default() };
        let mut run = Run {
            partition: self,
            client,
            connections,
            extract,
            sender,
            in_flight: BTreeMap::new(),
            pages_in_flight: 0,
            number_next: 0,
        };
        let end = run.drive(receiver).await;
        run.publish();
        end
    }
}

impl Run<'_> {
    async fn drive(&mut self, mut receiver: UnboundedReceiver<Fetched>) -> Result<End, CrawlError> {
        let control = self.partition.control.clone();
        let clock = self.partition.env.clock.clone();
        let mut give_up = None;
        loop {
            let idle = self.dispatch();
            self.publish();
            let (until, over) = match idle {
                Idle::Until(time) => (time, None),
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
                return Ok(end);
            }
            tokio::select! {
                biased;
                Some(fetched) = receiver.recv() => {
                    self.settle(fetched)?;
                    while let Ok(fetched) = receiver.try_recv() {
                        self.settle(fetched)?;
                    }
                }
                () = control.stopped(), if over.is_none() => {}
                () = clock.sleep_until(until.unwrap_or_default()), if until.is_some() => {}
            }
        }
    }

    /// Begins as many visits as are allowed now.
    fn dispatch(&mut self) -> Idle {
        loop {
            if self.partition.control.is_stopping() {
                return Idle::Over(End::Stopped);
            }
            let page_limit = self.partition.config.max_pages.unwrap_or(u64::MAX);
            if self.partition.totals.pages >= page_limit {
                return Idle::Over(End::MaxPages);
            }
            let full = self.in_flight.len() >= self.partition.config.connections;
            if full || self.partition.totals.pages + self.pages_in_flight >= page_limit {
                return Idle::Until(None);
            }
            match self.partition.frontier.next(self.partition.env.clock.now()) {
                Next::Visit(visit) => self.begin(visit),
                Next::WaitUntil(time) => return Idle::Until(Some(time)),
                Next::WaitForVisits => return Idle::Until(None),
                Next::Empty => return Idle::Over(End::Complete),
            }
        }
    }

    fn begin(&mut self, visit: Visit) {
        let number = self.number_next;
        self.number_next += 1;
        self.pages_in_flight += u64::from(visit.purpose == Purpose::Page);
        let connection = self.connections.take(visit.request.url.host());
        let (client, sender) = (self.client.clone(), self.sender.clone());
        let url = visit.request.url.clone();
        let task = tokio::task::spawn_local(async move {
            let (exchange, connection) = client.fetch(&url, connection).await;
            // The loop outlives its fetches, unless it failed; then nobody is interested.
            let _ = sender.send(Fetched { number, exchange, connection });
        });
        self.in_flight.insert(number, (visit, task));
    }

    /// Gives up what is under way: the URLs go back to where they wait.
    fn abandon(&mut self) {
        let now = self.partition.env.clock.now();
        for (_, (visit, task)) in std::mem::take(&mut self.in_flight) {
            task.abort();
            self.partition.frontier.abandoned(visit, now);
        }
        self.pages_in_flight = 0;
    }

    /// Takes a visit back: archive, links, counts.
    fn settle(&mut self, fetched: Fetched) -> Result<(), CrawlError> {
        let Fetched { number, exchange, connection } = fetched;
        let Some((visit, _)) = self.in_flight.remove(&number) else { return Ok(()) };
        let partition = &mut *self.partition;
        let now = partition.env.clock.now();
        let (url, depth) = (visit.request.url.clone(), visit.request.depth);
        let is_page = visit.purpose == Purpose::Page;
        self.pages_in_flight -= u64::from(is_page);
        partition.totals.bytes += exchange.bytes_received();
        partition.totals.robots_fetches += u64::from(!is_page);
        if let Some(connection) = connection {
            self.connections.keep(url.host().into(), connection);
        }
        let outcome = exchange.outcome;
        let settled = partition.frontier.finished(
            Finished {
                visit,
                outcome,
                at: exchange.finished,
                retry_after_s: asked_to_wait(&exchange).map(|wait| wait.as_secs()),
                robots: (!is_page).then(|| RobotsAnswer {
                    body: whole_body(&exchange, &partition.config.limits.decode),
                    location: page::redirect(&url, &exchange),
                }),
            },
            now,
        );
        if settled == Settled::Done {
            if outcome.status().is_some() {
                archive(&mut partition.archive, url.as_str(), depth, &exchange)?;
            }
            if is_page {
                partition.totals.count(outcome, &url);
                let links =
                    page::links(&url, depth, &exchange, &self.extract, &partition.config.limits.decode);
                partition.frontier.submit(links, now);
            }
        }
        self.client.recycle(exchange);
        Ok(())
    }

    fn publish(&self) {
        let partition = &*self.partition;
        let counts = partition.frontier.counts();
        partition.progress.publish(Reading {
            pages: partition.totals.pages,
            bytes: partition.totals.bytes,
            errors: partition.totals.errors,
            queued: counts.queued,
            in_flight: self.in_flight.len() as u64,
            hosts: counts.hosts,
            seen: counts.seen,
        });
    }
}

/// How long the server wants to be left alone. On other answers than these the field means nothing, and one page could
/// keep us from its whole host for a day.
fn asked_to_wait(exchange: &Exchange) -> Option<Duration> {
    matches!(exchange.outcome.status(), Some(429 | 503 | 300..400)).then(|| exchange.retry_after()).flatten()
}

/// A robots.txt as far as its rules count: `None` if the network cut it short or it cannot be decoded. One that is
/// longer than our limits is whole enough.
fn whole_body(exchange: &Exchange, limits: &DecodeLimits) -> Option<Vec<u8>> {
    if matches!(exchange.truncated, Some(Truncation::Time | Truncation::Disconnect)) {
        return None;
    }
    let decoded = exchange.decoded(limits);
    let usable =
        matches!(decoded.end, DecodeEnd::Whole | DecodeEnd::Length | DecodeEnd::Garbage | DecodeEnd::Cut);
    usable.then(|| decoded.bytes.into_owned())
}

impl Totals {
    /// Counts a page visit that is the last word on its URL.
    fn count(&mut self, outcome: mattock_fetch::FetchOutcome, url: &mattock_weburl::WebUrl) {
        match outcome.status() {
            Some(200) => {
                self.pages += 1;
                *self.domains.entry(url.domain().to_owned()).or_default() += 1;
            }
            Some(0..400) => {}
            _ => self.errors += 1,
        }
        *self.outcomes.entry(outcome.to_string()).or_default() += 1;
    }
}

/// Stores one exchange.
fn archive(writer: &mut WarcWriter, url: &str, depth: u32, exchange: &Exchange) -> Result<(), CrawlError> {
    writer.write_page(&Page {
        url,
        ip: exchange.address,
        date: exchange.begun_unix,
        request: &exchange.request,
        response_head: exchange.head_bytes(),
        body: exchange.body(),
        truncated: exchange.truncated.map(|truncation| match truncation {
            Truncation::Length => Truncated::Length,
            Truncation::Time => Truncated::Time,
            Truncation::Disconnect => Truncated::Disconnect,
        }),
        metadata: &[
            ("depth", depth.to_string()),
            ("fetchTimeMs", exchange.finished.since(exchange.begun).as_millis().to_string()),
        ],
    })?;
    Ok(())
}
