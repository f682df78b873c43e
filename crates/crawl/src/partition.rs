//! One partition at work: a loop that gives out visits, takes them back, and lets nothing else decide.
//!
//! Everything happens on one thread. A fetch is a local task that owns its URL and connection and sends back what it
//! got; all state (frontier, archive, counts) belongs to the loop. So there are no locks, and in virtual time the
//! order of events depends on the seed alone.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Time};
use mattock_extract::Options;
use mattock_fetch::{
    Client, Connection, DecodeEnd, DecodeLimits, Decoded, Exchange, Failure, FetchOutcome, Truncation,
};
use mattock_frontier::{
    Finished, Frontier, HostToResolve, Next, Purpose, Request, RobotsAnswer, Settled, Target, Visit,
};
use mattock_repository::WarcWriter;
use mattock_weburl::WebUrl;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::connections::Connections;
use crate::progress::Reading;
use crate::rules::Harvest;
use crate::summary::Totals;
use crate::task::Report;
use crate::{Config, Control, CrawlError, End, LinkRules, Progress, archive, page, sitemap, task};

/// How long a stop waits for what is under way. Visits that take longer are given up and made again by the next run.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// What a task brings back.
enum Came {
    /// A fetch.
    Fetched(Box<Exchange>, Option<Connection>),
    /// Where a host is; nowhere in particular if others find out.
    Located(Result<Option<IpAddr>, Failure>),
}

/// What a task is for.
enum Errand {
    Visit(Visit),
    Locate(HostToResolve),
}

/// How long an address holds before the resolver is asked again, which keeps it for as long as its time to live.
const ADDRESS_VALID: Duration = Duration::from_secs(60);

/// Visits that are begun or taken back in one turn of the loop; between two turns the fetches have theirs. Also how many may
/// wait to be taken back before no more are begun: where the CPU is what is short, as with a farm of hosts that answer at
/// once, more visits under way would only make each of them, and every healthy host's, wait longer.
const TURN: usize = 16;

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
}

/// The loop's own part: gone when the run is over.
struct Run<'a> {
    partition: &'a mut Partition,
    client: Rc<Client>,
    connections: Connections,
    extract: Options,
    sender: UnboundedSender<Report<Came>>,
    /// Errands under way with their tasks, and how many of them are for pages.
    in_flight: BTreeMap<u64, (Errand, JoinHandle<()>)>,
    pages_in_flight: u64,
    number_next: u64,
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
    async fn drive(&mut self, mut receiver: UnboundedReceiver<Report<Came>>) -> Result<End, CrawlError> {
        let control = self.partition.control.clone();
        let clock = self.partition.env.clock.clone();
        let mut give_up = None;
        loop {
            let idle = self.dispatch(receiver.len())?;
            self.publish();
            let (until, over) = match idle {
                Idle::Not => {
                    self.take_back_some(&mut receiver)?;
                    tokio::task::yield_now().await;
                    continue;
                }
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
                Some(report) = receiver.recv() => {
                    self.take_back(report)?;
                    self.take_back_some(&mut receiver)?;
                }
                () = control.stopped(), if over.is_none() => {}
                () = clock.sleep_until(until.unwrap_or_default()), if until.is_some() => {}
            }
        }
    }

    /// Begins visits that are allowed now, a turn's worth of them; none if so many wait to be taken back.
    fn dispatch(&mut self, come_back: usize) -> Result<Idle, CrawlError> {
        let mut left = if come_back < TURN { TURN } else { 0 };
        loop {
            if self.partition.control.is_stopping() {
                return Ok(Idle::Over(End::Stopped));
            }
            let page_limit = self.partition.config.max_pages.unwrap_or(u64::MAX);
            if self.partition.totals.pages >= page_limit {
                return Ok(Idle::Over(End::MaxPages));
            }
            let full = self.in_flight.len() >= self.partition.config.connections;
            if full || self.partition.totals.pages + self.pages_in_flight >= page_limit {
                return Ok(Idle::Until(None));
            }
            if left == 0 {
                return Ok(Idle::Not);
            }
            let now = self.partition.env.clock.now();
            let next = self.partition.frontier.next(now)?;
            self.count_failed();
            match next {
                Next::Visit(visit) => {
                    left -= 1;
                    self.begin(visit);
                }
                Next::Resolve(host) => self.locate(host, now),
                Next::WaitUntil(time) => return Ok(Idle::Until(Some(time))),
                Next::WaitForVisits => return Ok(Idle::Until(None)),
                Next::Empty => return Ok(Idle::Over(End::Complete)),
            }
        }
    }

    /// Counts URLs that failed because their host did.
    fn count_failed(&mut self) {
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
        self.pages_in_flight += u64::from(visit.is_page());
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
        for (_, (errand, task)) in std::mem::take(&mut self.in_flight) {
            task.abort();
            match errand {
                Errand::Visit(visit) => self.partition.frontier.abandoned(visit, now),
                Errand::Locate(host) => self.partition.frontier.unresolved(&host, now),
            }
        }
        self.pages_in_flight = 0;
    }

    /// Takes a turn's worth of visits back.
    fn take_back_some(&mut self, receiver: &mut UnboundedReceiver<Report<Came>>) -> Result<(), CrawlError> {
        for _ in 0..TURN {
            let Ok(report) = receiver.try_recv() else { break };
            self.take_back(report)?;
        }
        Ok(())
    }

    fn take_back(&mut self, (number, came): Report<Came>) -> Result<(), CrawlError> {
        // What was given up may still report.
        let Some((errand, _)) = self.in_flight.remove(&number) else { return Ok(()) };
        let visit = match errand {
            Errand::Visit(visit) => visit,
            Errand::Locate(host) => return self.located(&host, came),
        };
        self.pages_in_flight -= u64::from(visit.is_page());
        match came {
            Some(Came::Fetched(exchange, connection)) => self.settle(visit, *exchange, connection),
            _ => self.settle_broken(visit),
        }
    }

    fn located(&mut self, host: &HostToResolve, came: Option<Came>) -> Result<(), CrawlError> {
        let now = self.partition.env.clock.now();
        let found = match came {
            Some(Came::Located(found)) => found,
            _ => Err(Failure::Internal),
        };
        match found.transpose() {
            Some(found) => {
                let found = found.map(|address| (address, ADDRESS_VALID));
                self.partition.frontier.resolved(host, found, now)?;
            }
            None => self.partition.frontier.resolved_by_others(host, now),
        }
        Ok(())
    }

    /// Takes a visit back: archive, then frontier, links, counts. What the frontier takes for done is in the archive.
    fn settle(
        &mut self,
        visit: Visit,
        exchange: Exchange,
        connection: Option<Connection>,
    ) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        let now = partition.env.clock.now();
        let request = visit.request.clone();
        let is_robots = visit.purpose != Purpose::Page;
        partition.totals.bytes += exchange.bytes_received();
        partition.totals.robots_fetches += u64::from(is_robots);
        if let Some(connection) = connection {
            self.connections.keep(request.url.host().into(), connection);
        }
        let outcome = exchange.outcome;
        let limits = &partition.config.limits.decode;
        let last = partition.frontier.settles(&visit, outcome) == Settled::Done;
        let content =
            if is_robots { None } else { content(request.target, &exchange, limits, &partition.rules) };
        if last && outcome.status().is_some() {
            let coded = exchange.field("content-encoding").is_some();
            let cut = coded && content.as_ref().is_some_and(|content| content.end == DecodeEnd::Length);
            archive::store(&mut partition.archive, request.url.as_str(), request.depth, &exchange, cut)?;
        }
        partition.frontier.finished(
            Finished {
                visit,
                outcome,
                at: exchange.finished,
                took: exchange.finished.since(exchange.begun),
                retry_after_s: asked_to_wait(&exchange).map(|wait| wait.as_secs()),
                robots: is_robots.then(|| RobotsAnswer {
                    body: whole_body(&exchange, limits),
                    location: page::redirect(&request.url, &exchange),
                }),
            },
            now,
        )?;
        if is_robots {
            self.ask_for_sitemaps()?;
        } else if last {
            let harvest = match (outcome.status(), &content) {
                (Some(300..400), _) => page::moved(&request, &exchange, &partition.rules),
                (_, None) => Harvest::default(),
                (_, Some(content)) => match request.target {
                    Target::Page => {
                        page::links(&request, &exchange, &content.bytes, &self.extract, &partition.rules)
                    }
                    Target::Sitemap { level, allowance } => {
                        let kind = exchange.field("content-type");
                        let limits = &partition.rules.sitemaps.limits;
                        let sitemap = mattock_robots::sitemap::parse(&content.bytes, kind, limits);
                        partition.totals.count_sitemap(sitemap::kind_name(sitemap.kind));
                        sitemap::links(&request, level, allowance, &sitemap, &partition.rules)
                    }
                },
            };
            match request.target {
                Target::Page => partition.totals.count(outcome, &request.url),
                Target::Sitemap { .. } if content.is_some() => {}
                Target::Sitemap { .. } => partition.totals.count_sitemap(&outcome.to_string()),
            }
            partition.submit(harvest, Some(&request.url))?;
        }
        drop(content);
        self.client.recycle(exchange);
        Ok(())
    }

    /// A visit whose task broke down is over too: its host must go on.
    fn settle_broken(&mut self, visit: Visit) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        let now = partition.env.clock.now();
        let outcome = FetchOutcome::Failed(Failure::Internal);
        tracing::error!(url = visit.request.url.as_str(), "a fetch broke down");
        match &visit.purpose {
            Purpose::Robots { .. } => partition.totals.robots_fetches += 1,
            Purpose::Page => partition.totals.count_request(&visit.request, outcome),
        }
        let finished =
            Finished { visit, outcome, at: now, took: Duration::ZERO, retry_after_s: None, robots: None };
        partition.frontier.finished(finished, now)?;
        Ok(())
    }

    /// Makes requests of the sitemaps that a robots.txt has named, where their pages are wanted at all.
    fn ask_for_sitemaps(&mut self) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        for named in partition.frontier.take_sitemaps() {
            let wanted = partition.config.max_depth.is_none_or(|limit| named.depth < limit);
            if wanted && partition.rules.sitemaps.read {
                partition.submit(sitemap::named(&named, &partition.rules), None)?;
            }
        }
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

/// The body, if anything is looked for in it, with its coding undone.
fn content<'a>(
    target: Target,
    exchange: &'a Exchange,
    limits: &DecodeLimits,
    rules: &LinkRules,
) -> Option<Decoded<'a>> {
    match target {
        Target::Page => page::is_read(exchange).then(|| exchange.decoded(limits)),
        Target::Sitemap { .. } => matches!(exchange.outcome.status(), Some(200..300)).then(|| {
            let bytes_max = rules.sitemaps.limits.decoded_bytes_max;
            exchange.decoded(&DecodeLimits { bytes_max, ..limits.clone() })
        }),
    }
}

impl Partition {
    fn submit(&mut self, harvest: Harvest, source: Option<&WebUrl>) -> Result<(), CrawlError> {
        for (reason, count) in harvest.untaken {
            *self.totals.refused.entry(reason.name().to_owned()).or_default() += count;
        }
        Ok(self.frontier.submit(&harvest.links, source)?)
    }
}

impl Totals {
    /// Counts a request that came to nothing.
    fn count_request(&mut self, request: &Request, outcome: FetchOutcome) {
        match request.target {
            Target::Page => self.count(outcome, &request.url),
            Target::Sitemap { .. } => self.count_sitemap(&outcome.to_string()),
        }
    }

    /// Counts a page visit that is the last word on its URL.
    fn count(&mut self, outcome: FetchOutcome, url: &WebUrl) {
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

    fn count_sitemap(&mut self, name: &str) {
        *self.sitemaps.entry(name.to_owned()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests;
