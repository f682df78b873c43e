//! What becomes of an errand that is over: stored, judged, its links taken, its host released.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mattock_extract::sniff;
use mattock_fetch::{
    Connection, DecodeEnd, DecodeLimits, Decoded, Exchange, Failure, FetchOutcome, Truncation,
};
use mattock_frontier::{
    Finished, HostToResolve, Link, PageContent, Purpose, Request, RobotsAnswer, Settled, Sketch, Target,
    Visit,
};
use mattock_repository::{Details, Row, Written};
use mattock_weburl::WebUrl;
use xxhash_rust::xxh3::xxh3_128;

use crate::page::Read;
use crate::partition::{ADDRESS_VALID, Came, Errand, Partition, Run};
use crate::returns::BULKY_BYTES;
use crate::rules::Harvest;
use crate::task::Report;
use crate::{CrawlError, LinkRules, archive, page, sitemap};

/// What came of a visit that is over, until it is stored and read. Its URL is done as far as the frontier knows: nothing may be
/// saved while there are any.
pub(crate) struct Unread {
    request: Request,
    exchange: Exchange,
    is_robots: bool,
    /// Whether the URL is not tried again.
    last: bool,
}

impl Run<'_> {
    /// Takes an errand back; how many bytes there were to look at.
    pub(crate) fn take_back(&mut self, (number, came): Report<Came>) -> Result<u64, CrawlError> {
        // What was given up may still report.
        let Some((errand, _)) = self.in_flight.remove(&number) else { return Ok(0) };
        let mut bytes = 0;
        match (errand, came) {
            (Errand::Visit(visit, claim), Some(Came::Fetched(exchange, connection))) => {
                self.partition.totals.requests += 1;
                let now = self.partition.env.clock.now();
                self.partition.control.limiter().came(claim, exchange.bytes_received(), now);
                self.partition.watch(exchange.outcome);
                bytes = self.settle(visit, *exchange, connection)?;
            }
            (Errand::Visit(visit, _), _) => self.settle_broken(visit)?,
            (Errand::Locate(host), came) => self.located(&host, came)?,
        }
        self.count_failed()?;
        Ok(bytes)
    }

    fn located(&mut self, host: &HostToResolve, came: Option<Came>) -> Result<(), CrawlError> {
        let now = self.partition.env.clock.now();
        let found = match came {
            Some(Came::Located(found)) => found,
            _ => Err(Failure::Internal),
        };
        if let Ok(Some(_)) | Err(_) = &found {
            self.partition.count_lookup(found.as_ref().err().copied());
        }
        match found.transpose() {
            Some(found) => {
                let found = found.map(|address| (address, ADDRESS_VALID));
                self.partition.frontier.resolved(host, found, now)?;
            }
            None => self.partition.frontier.resolved_by_others(host, now),
        }
        Ok(())
    }

    /// Takes a visit back: its host is free for the next one. What came waits to be [read](Run::read_unread) until that is on its
    /// way, unless there is no next one yet, or it is bulky. How many bytes were looked at.
    fn settle(
        &mut self,
        visit: Visit,
        mut exchange: Exchange,
        connection: Option<Connection>,
    ) -> Result<u64, CrawlError> {
        let bulky = self.is_bulky(&visit, &exchange);
        let partition = &mut *self.partition;
        exchange.restore().map_err(CrawlError::io("read back what was spilled to", &partition.spill()))?;
        let now = partition.env.clock.now();
        let request = visit.request.clone();
        let is_robots = visit.purpose != Purpose::Page;
        partition.totals.bytes += exchange.bytes_received();
        partition.totals.robots_fetches += u64::from(is_robots);
        if let Some(connection) = connection {
            self.connections.keep(request.url.host().into(), connection);
        }
        let outcome = exchange.outcome;
        let last = partition.frontier.settles(&visit, outcome) == Settled::Done;
        if visit.is_page() {
            match outcome.status() {
                Some(200) if last => {
                    partition.inbox.hub.count_page();
                    partition.part.seat.coordinator.count_page();
                }
                _ => partition.inbox.hub.unclaim_page(),
            }
        }
        partition.frontier.finished(
            Finished {
                visit,
                outcome,
                at: exchange.finished,
                took: exchange.finished.since(exchange.begun),
                retry_after_s: asked_to_wait(&exchange).map(|wait| wait.as_secs()),
                robots: is_robots.then(|| RobotsAnswer {
                    body: whole_body(&exchange, &partition.config.limits.decode),
                    location: page::redirect(&request.url, &exchange),
                }),
                content: None,
            },
            now,
        )?;
        if is_robots {
            self.ask_for_sitemaps()?;
        }
        self.unread.push_back(Unread { request, exchange, is_robots, last });
        if bulky || !self.partition.frontier.has_waiting() { self.read_unread() } else { Ok(0) }
    }

    /// Whether a document takes so long to be read that others would notice.
    pub(crate) fn is_bulky(&self, visit: &Visit, exchange: &Exchange) -> bool {
        // What is coded may be much more than it looks, if its host is not known to mean well.
        let coded = || exchange.field("content-encoding").is_some();
        let known = || self.partition.frontier.is_brisk(&visit.request.url);
        exchange.bytes_received() >= BULKY_BYTES || coded() && !known()
    }

    /// Stores and reads what was taken back; how many bytes were looked at.
    pub(crate) fn read_unread(&mut self) -> Result<u64, CrawlError> {
        let mut bytes = 0;
        while let Some(unread) = self.unread.pop_front() {
            bytes += self.read_one(unread)?;
        }
        Ok(bytes)
    }

    /// Archive, content, links, counts.
    fn read_one(&mut self, unread: Unread) -> Result<u64, CrawlError> {
        let Unread { request, exchange, is_robots, last } = unread;
        let partition = &mut *self.partition;
        let outcome = exchange.outcome;
        let limits = &partition.config.limits.decode;
        let content =
            if is_robots { None } else { content(request.target, &exchange, limits, &partition.rules) };
        let mut written = None;
        if last && outcome.status().is_some() && (is_robots || partition.wants(&exchange)) {
            let coded = exchange.field("content-encoding").is_some();
            let cut = coded && content.as_ref().is_some_and(|content| content.end == DecodeEnd::Length);
            let archive = &mut partition.archive;
            written = Some(archive::store(archive, &request, &exchange, cut, is_robots)?);
        }
        if last && !is_robots {
            let read = match &content {
                _ if matches!(outcome.status(), Some(300..400)) => {
                    Read::of_links(page::moved(&request, &exchange, &partition.rules))
                }
                None => Read::of_links(Harvest::default()),
                Some(content) => self.read(&request, &exchange, content),
            };
            let body = content.as_ref().map_or(exchange.body(), |content| &content.bytes);
            self.partition.note(&request, &exchange, body, written, &read)?;
            let Read { harvest, sketch, .. } = read;
            let partition = &mut *self.partition;
            if request.target == Target::Page && outcome.status() == Some(200) {
                let content = PageContent { digest: xxh3_128(body).to_be_bytes(), sketch };
                partition.frontier.came(&request.url, content)?;
            }
            match request.target {
                Target::Page => {
                    let took = exchange.finished.since(exchange.begun);
                    let detail = || format!("try {}, {} ms", request.attempt + 1, took.as_millis());
                    partition.count_page(&request.url, outcome, detail);
                }
                Target::Sitemap { .. } if content.is_some() => {}
                Target::Sitemap { .. } => partition.totals.count_sitemap(&outcome.to_string()),
            }
            partition.submit(harvest, Some(&request.url))?;
        }
        // A decoder that was stopped may have done all that it is allowed to.
        let decoded = match &content {
            Some(content) if content.end != DecodeEnd::Whole => self.partition.config.limits.decode.bytes_max,
            Some(content) => content.bytes.len(),
            None => 0,
        } as u64;
        let bytes = exchange.bytes_received() + decoded;
        self.client.recycle(exchange);
        Ok(bytes)
    }

    /// Takes the links out of a page or a sitemap, and of a page also the sketch of its text.
    fn read(&mut self, request: &Request, exchange: &Exchange, content: &Decoded<'_>) -> Read {
        let partition = &mut *self.partition;
        match request.target {
            Target::Page => {
                self.extract.raw_text = partition.frontier.wants_sketch(&request.url);
                page::read(request, exchange, &content.bytes, &self.extract, &partition.rules)
            }
            Target::Sitemap { level, allowance } => {
                let kind = exchange.field("content-type");
                let limits = &partition.rules.sitemaps.limits;
                let sitemap = mattock_robots::sitemap::parse(&content.bytes, kind, limits);
                partition.totals.count_sitemap(sitemap::kind_name(sitemap.kind));
                Read::of_links(sitemap::links(request, level, allowance, &sitemap, &partition.rules))
            }
        }
    }

    /// A visit whose task broke down is over too: its host must go on.
    fn settle_broken(&mut self, visit: Visit) -> Result<(), CrawlError> {
        let partition = &mut *self.partition;
        let now = partition.env.clock.now();
        let outcome = FetchOutcome::Failed(Failure::Internal);
        if visit.purpose == Purpose::Page && partition.frontier.settles(&visit, outcome) == Settled::Done {
            partition.note_failure(&visit.request, outcome)?;
        }
        tracing::error!(url = visit.request.url.as_str(), "a fetch broke down");
        match &visit.purpose {
            Purpose::Robots { .. } => partition.totals.robots_fetches += 1,
            Purpose::Page => partition.count_request(&visit.request, outcome, "its fetch broke down"),
        }
        if visit.is_page() {
            partition.inbox.hub.unclaim_page();
        }
        let finished = Finished {
            visit,
            outcome,
            at: now,
            took: Duration::ZERO,
            retry_after_s: None,
            robots: None,
            content: None,
        };
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
}

/// Whether it is the name servers' fault.
fn is_name_server(failure: Failure) -> bool {
    matches!(failure, Failure::NameServer | Failure::NameTimeout)
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
    /// Counts a page that is the last word on its URL, and keeps it as an example if it came to nothing.
    fn count_page(&mut self, url: &WebUrl, outcome: FetchOutcome, detail: impl FnOnce() -> String) {
        self.totals.count(outcome, url);
        self.progress.count(outcome);
        if outcome.status().is_none_or(|status| status >= 400) {
            let unix_micros = self.env.clock.unix().as_micros();
            self.progress.examples().add(outcome.to_string(), url.as_str(), unix_micros, detail());
        }
    }

    /// The same for a request that had no answer of its own.
    pub(crate) fn count_request(&mut self, request: &Request, outcome: FetchOutcome, detail: &str) {
        match request.target {
            Target::Page => self.count_page(&request.url, outcome, || detail.to_owned()),
            Target::Sitemap { .. } => self.totals.count_sitemap(&outcome.to_string()),
        }
    }

    /// Counts what came of a request, for those who watch.
    fn watch(&self, outcome: FetchOutcome) {
        let failed = match outcome {
            FetchOutcome::Answered(status) => status >= 500 || status == 429,
            FetchOutcome::Failed(failure) => {
                if is_name_server(failure) {
                    self.count_lookup(Some(failure));
                }
                true
            }
        };
        if failed {
            self.progress.counters().failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a look-up of a name.
    fn count_lookup(&self, failure: Option<Failure>) {
        let counters = self.progress.counters();
        counters.lookups.fetch_add(1, Ordering::Relaxed);
        if failure.is_some_and(is_name_server) {
            counters.lookups_failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A URL is settled by an answer: with what the index wants to know of it.
    fn note(
        &mut self,
        request: &Request,
        exchange: &Exchange,
        body: &[u8],
        written: Option<Written>,
        read: &Read,
    ) -> Result<(), CrawlError> {
        let mime = page::declared_type(exchange);
        let redirect = page::redirect(&request.url, exchange);
        let languages = match (self.config.archive_languages, &read.languages) {
            (false, _) => None,
            (true, Some(found)) => Some(found.clone()),
            (true, None) => Some(page::languages_of_text(&request.url, exchange, &self.config.limits.decode)),
        };
        let details = Details {
            detected: sniff(body, &mime).unwrap_or_default(),
            mime: &mime,
            charset: read.charset,
            languages: languages.as_deref(),
            redirect: redirect.as_ref().map_or("", |url| url.as_str()),
            via: request.via.map(|via| via.0),
            truncated: exchange.truncated.map(archive::truncated),
            domain_in_degree: self.frontier.known_in_degree(&request.url),
            sketch: match read.sketch {
                Sketch::Simhash(sketch) => Some(sketch),
                Sketch::NoText | Sketch::Unknown => None,
            },
            revisit: written.as_ref().is_some_and(|written| written.is_revisit),
        };
        Ok(self.ledger.append(&Row {
            url: request.url.as_str(),
            time: exchange.begun_unix,
            outcome: &exchange.outcome.to_string(),
            depth: request.depth,
            took_ms: exchange.finished.since(exchange.begun).as_millis() as u64,
            digest: written.as_ref().map(|written| written.payload_digest),
            place: written.map(|written| written.place),
            truncated: exchange.truncated.is_some(),
            details: Some(details),
        })?)
    }

    /// A URL is settled without an answer of its server to it.
    pub(crate) fn note_failure(
        &mut self,
        request: &Request,
        outcome: FetchOutcome,
    ) -> Result<(), CrawlError> {
        Ok(self.ledger.append(&Row {
            url: request.url.as_str(),
            time: self.env.clock.unix(),
            outcome: &outcome.to_string(),
            depth: request.depth,
            took_ms: 0,
            digest: None,
            place: None,
            truncated: false,
            details: None,
        })?)
    }

    /// Whether the answer to a request for a page or a sitemap is kept. What comes of another type than the crawl keeps is counted.
    fn wants(&mut self, exchange: &Exchange) -> bool {
        if exchange.outcome.status() != Some(200) {
            return true;
        }
        let refusal = self.frontier.scope().refuses_content(exchange.field("content-type"));
        if let Some(refusal) = refusal {
            *self.totals.refused.entry(refusal.name().to_owned()).or_default() += 1;
        }
        refusal.is_none()
    }

    /// Takes links that were found: into the frontier, or to the partition that they belong to.
    fn submit(&mut self, harvest: Harvest, source: Option<&WebUrl>) -> Result<(), CrawlError> {
        for (reason, count) in harvest.untaken {
            *self.totals.refused.entry(reason.name().to_owned()).or_default() += count;
        }
        let (hub, own) = (self.inbox.hub.clone(), self.inbox.index);
        if hub.partitions() == 1 {
            return Ok(self.frontier.submit(&harvest.links, source)?);
        }
        let domain = source.map(|source| source.domain_fingerprint().0);
        let (ours, theirs): (Vec<Link>, Vec<Link>) =
            harvest.links.into_iter().partition(|link| hub.owner(&link.url) == own);
        for link in theirs {
            // What nobody wants need not travel.
            if self.frontier.refuses(&link).is_none() {
                self.outbox.put(hub.owner(&link.url), link, domain);
            }
        }
        Ok(self.frontier.submit(&ours, source)?)
    }
}
