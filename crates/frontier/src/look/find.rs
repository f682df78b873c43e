//! One pass over everything that waits.

use std::collections::{BTreeMap, HashMap};

use mattock_weburl::WebUrl;

use super::{BudgetQueue, HostState, Look, Whereabouts};
use crate::beast::DOMAIN_BYTES;
use crate::error::{FrontierError, Result};
use crate::state::SavedHost;
use crate::{BANDS, bands, budget, overflow, record, star};

/// URLs that are looked for, by their text, and what was found.
struct Search<'a> {
    urls: HashMap<&'a str, Vec<usize>>,
    found: Vec<Option<Whereabouts>>,
}

impl<'a> Search<'a> {
    fn new(urls: &[&'a WebUrl]) -> Search<'a> {
        let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, url) in urls.iter().enumerate() {
            by_text.entry(url.as_str()).or_default().push(index);
        }
        Search { urls: by_text, found: vec![None; urls.len()] }
    }

    fn wants(&self, url: &str) -> bool {
        self.urls.contains_key(url)
    }

    /// Something was found; the first word counts.
    fn put(&mut self, url: &str, place: impl Fn() -> Whereabouts) {
        for &index in self.urls.get(url).into_iter().flatten() {
            self.found[index].get_or_insert_with(&place);
        }
    }

    fn is_over(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }
}

/// Scheme, name and port at the beginning of a canonical URL.
fn host_of(url: &str) -> &str {
    let name = url.find("://").map_or(0, |at| at + 3);
    &url[..url[name..].find('/').map_or(url.len(), |at| name + at)]
}

impl HostState {
    fn of(host: &SavedHost) -> HostState {
        HostState { wait: host.wait, on_bench: host.requests.len() as u64, behind: host.overflow }
    }
}

impl Look {
    /// Where these URLs are, in their order: for as many as there are, one pass over everything that waits.
    pub fn find_all(&self, urls: &[&WebUrl]) -> Result<Vec<Whereabouts>> {
        let mut search = Search::new(urls);
        for (index, url) in urls.iter().enumerate() {
            if self.seen.look_up(url.fingerprint().0)?.is_none() {
                search.found[index] = Some(Whereabouts::Unseen);
            }
        }
        for step in [
            Look::find_on_bench,
            Look::find_behind_bench,
            Look::find_ready,
            Look::find_budgeted,
            Look::find_budgeting,
        ] {
            if search.is_over() {
                break;
            }
            step(self, urls, &mut search)?;
        }
        if !search.is_over() {
            self.find_arriving(urls, &mut search)?;
        }
        let settled = |place: Option<Whereabouts>| place.unwrap_or(Whereabouts::Settled);
        Ok(search.found.into_iter().map(settled).collect())
    }

    /// Whatever was in RAM.
    fn find_on_bench(&self, _: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let Some(saved) = &self.saved else { return Ok(()) };
        for host in &saved.hosts {
            if !host.requests.iter().any(|request| search.wants(request.url.as_str())) {
                continue;
            }
            let mut orders: Vec<(u8, u64)> =
                host.requests.iter().map(|request| (request.band, request.number)).collect();
            orders.sort_unstable();
            for request in &host.requests {
                let ahead = orders.partition_point(|order| *order < (request.band, request.number)) as u64;
                search.put(request.url.as_str(), || Whereabouts::Bench {
                    ahead,
                    attempt: request.attempt,
                    host: HostState::of(host),
                });
            }
        }
        for (wait, request) in &saved.deferred {
            let place = Whereabouts::Again { attempt: request.attempt, wait: *wait };
            search.put(request.url.as_str(), || place.clone());
        }
        Ok(())
    }

    fn find_behind_bench(&self, urls: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let Some(saved) = &self.saved else { return Ok(()) };
        let behind: HashMap<&str, &SavedHost> = saved
            .hosts
            .iter()
            .filter(|host| host.overflow > 0)
            .map(|host| (host.name.as_str(), host))
            .collect();
        let mut queues: [BTreeMap<String, ()>; 2] = Default::default();
        let missing = search.found.iter().zip(urls).filter(|(place, _)| place.is_none());
        for (_, url) in missing.filter(|(_, url)| behind.contains_key(url.host())) {
            for (names, name) in queues.iter_mut().zip(overflow::names(url.host_fingerprint().0)) {
                names.insert(name, ());
            }
        }
        // Those of a host in the queue that it shares come before those in its own.
        let mut ahead: HashMap<&str, u64> = HashMap::new();
        for name in queues.iter().flat_map(|names| names.keys()) {
            self.queues.scan(name, |record| {
                let Some(url) = record::url(record) else { return };
                let Some((&name, host)) = behind.get_key_value(host_of(url)) else { return };
                let ahead = ahead.entry(name).or_insert(host.requests.len() as u64);
                let place = Whereabouts::Behind { ahead: *ahead, host: HostState::of(host) };
                search.put(url, || place.clone());
                *ahead += 1;
            })?;
        }
        Ok(())
    }

    fn find_ready(&self, _: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let mut ahead = 0;
        for band in 0..BANDS {
            self.queues.scan(&bands::name(band), |record| {
                if let Some(url) = record::url(record) {
                    search.put(url, || Whereabouts::Ready { band, ahead });
                }
                ahead += 1;
            })?;
        }
        Ok(())
    }

    fn find_budgeted(&self, _: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let Some(places) = self.places else { return Ok(()) };
        let prefix = format!("{}-", budget::PREFIX);
        for name in self.queues.names().filter(|name| name.starts_with(&prefix)) {
            let slot = name[prefix.len()..].parse::<u64>().ok();
            let queue = slot.map_or(BudgetQueue::Over, |slot| BudgetQueue::Number {
                number: places.number(slot),
                reading: places.current,
            });
            let mut ahead = 0;
            self.queues.scan(name, |record| {
                let head = if queue == BudgetQueue::Over { DOMAIN_BYTES } else { 0 };
                let record = record.get(head..).unwrap_or_default();
                if let Some(url) = record::url(record)
                    && search.wants(url)
                {
                    let budget = record::decode(record).map_or(0, |request| request.budget);
                    search.put(url, || Whereabouts::Budgeted { queue, ahead, budget });
                }
                ahead += 1;
            })?;
        }
        Ok(())
    }

    fn find_budgeting(&self, _: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let Some(standings) = &self.standings else { return Ok(()) };
        standings.degrees.undelivered(|answer| {
            if let Some(url) = answer.aux.get(star::HEADER_BYTES..).and_then(record::url) {
                search.put(url, || Whereabouts::Budgeting);
            }
        })?;
        Ok(())
    }

    /// A link in `seen` that is not known to be the first to its URL may be to one that is settled.
    fn find_arriving(&self, urls: &[&WebUrl], search: &mut Search<'_>) -> Result<()> {
        let mut perhaps: Vec<usize> = Vec::new();
        self.seen.undelivered(|link| {
            let Some(url) = record::url(link.aux) else { return };
            match link.unique {
                Some(true) => search.put(url, || Whereabouts::Arriving),
                _ => perhaps.extend(search.urls.get(url).into_iter().flatten()),
            }
        })?;
        for index in perhaps {
            if search.found[index].is_none()
                && self.seen.merged(urls[index].fingerprint().0).map_err(FrontierError::from)?.is_none()
            {
                search.found[index] = Some(Whereabouts::Arriving);
            }
        }
        Ok(())
    }
}
