//! What is read from the crawl's directory, as of its last checkpoint.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mattock_crawl::{Config, CrawlError, SavedCrawl};
use mattock_frontier::look::HostRules;
use mattock_weburl::WebUrl;
use serde::Serialize;
use serde_json::{Value, json};

use super::Desk;
use crate::answer::{Answer, Problem};
use crate::archive::StoredPage;
use crate::census::{Census, Portrait, Sitter, Tally, domain_of_host, meant};
use crate::input::Input;
use crate::words;

/// Domains whose standing is looked up when a list is sorted by it: those with the most pages.
const STANDINGS_MAX: usize = 1000;
/// What limits the crawl is found out again after this, and so many times what it took.
const STALLS_FRESH: Duration = Duration::from_millis(500);
const STALLS_SELDOM: u32 = 20;
/// Tries if the crawl makes a checkpoint meanwhile.
const TRIES: usize = 3;

/// A row of a list.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Item {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) tally: Tally,
    /// URLs that wait.
    pub(super) queued: Option<u64>,
    /// Seconds until the next visit.
    pub(super) next_s: Option<f64>,
    pub(super) budget: Option<u64>,
    pub(super) in_degree: Option<u64>,
}

pub(super) fn failed(error: impl Into<CrawlError>) -> Problem {
    // Nothing is wrong with the request, and the operator must know what is: it is told as a state of things.
    Problem::conflict(format!("the crawl's directory cannot be read: {}", error.into()))
}

impl Desk {
    pub(super) fn saved(&self) -> Result<SavedCrawl, Problem> {
        SavedCrawl::open(&self.env, &self.root).map_err(failed)
    }

    /// Reads the directory, and again if a checkpoint came in between.
    fn reading_saved<T>(&self, work: impl Fn(&SavedCrawl) -> Result<T, CrawlError>) -> Result<T, Problem> {
        let mut tries = 1;
        loop {
            match work(&self.saved()?) {
                Err(_) if tries < TRIES => tries += 1,
                other => return other.map_err(failed),
            }
        }
    }

    /// Everybody at the last checkpoint; counted when that is a new one.
    fn census(&self) -> Result<Arc<Census>, Problem> {
        // Held while it is counted: others want the same.
        let mut kept = self.census.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = self.saved()?;
        match &*kept {
            Some(census) if census.checkpoint == saved.number() => Ok(census.clone()),
            _ => {
                let census = Arc::new(Census::take(&saved).map_err(CrawlError::from).map_err(failed)?);
                *kept = Some(census.clone());
                Ok(census)
            }
        }
    }

    pub(crate) fn hosts(&self, input: &Input) -> Result<Answer, Problem> {
        let census = self.census()?;
        let mut items = filtered(&census.hosts, input.text("q"));
        if let Some(running) = &self.running {
            running.add_hosts(&self.env, &mut items, input.text("q"));
        }
        sort(&mut items, input.text("sort").unwrap_or("pages"));
        Ok(page_of(&items, &census, input))
    }

    pub(crate) fn domains(&self, input: &Input) -> Result<Answer, Problem> {
        let census = self.census()?;
        let mut items = filtered(&census.domains, input.text("q"));
        let by = input.text("sort").unwrap_or("pages");
        let (offset, limit) = window(input);
        let by_standing = ["budget", "in-degree"].contains(&by);
        sort(&mut items, if by_standing { "pages" } else { by });
        let looked_up = if by_standing { 0..STANDINGS_MAX } else { offset..offset.saturating_add(limit) };
        let looked_up = looked_up.start.min(items.len())..looked_up.end.min(items.len());
        self.add_standings(&mut items[looked_up])?;
        if by_standing {
            sort(&mut items, by);
        }
        Ok(page_of(&items, &census, input))
    }

    fn add_standings(&self, items: &mut [Item]) -> Result<(), Problem> {
        let urls: Vec<Option<WebUrl>> = items.iter().map(|item| meant(&item.name)).collect();
        let standings = self.reading_saved(|saved| {
            let config = saved.config()?;
            let mut looks = BTreeMap::new();
            let mut found = Vec::new();
            for url in &urls {
                let Some(url) = url else {
                    found.push(None);
                    continue;
                };
                let partition = saved.owner(url);
                if let std::collections::btree_map::Entry::Vacant(place) = looks.entry(partition) {
                    place.insert(saved.look(partition)?);
                }
                found.push(looks[&partition].standing(url, &config.budget)?);
            }
            Ok(found)
        })?;
        for (item, standing) in items.iter_mut().zip(standings) {
            item.budget = standing.map(|standing| u64::from(standing.budget));
            item.in_degree = standing.map(|standing| standing.in_degree.count);
        }
        Ok(())
    }

    pub(crate) fn host(&self, input: &Input) -> Result<Answer, Problem> {
        let text = input.text("host").unwrap_or_default();
        let url = meant(text)
            .ok_or_else(|| Problem::not_found("that is no host; write it like http://example.com"))?;
        self.portrait(&url, Sitter::Host(url.host()))
    }

    pub(crate) fn domain(&self, input: &Input) -> Result<Answer, Problem> {
        let text = input.text("domain").unwrap_or_default();
        let nothing = || Problem::not_found("that is no domain; write it like example.com");
        let url = meant(text).filter(|url| domain_of_host(url.host()) == url.domain()).ok_or_else(nothing)?;
        self.portrait(&url, Sitter::Domain(url.domain()))
    }

    fn portrait(&self, url: &WebUrl, sitter: Sitter<'_>) -> Result<Answer, Problem> {
        let (number, portrait, rules, standing, address) = self.reading_saved(|saved| {
            let portrait = Portrait::paint(saved, sitter)?;
            let look = saved.look(saved.owner(url))?;
            let rules = look.rules(url)?;
            let standing = look.standing(url, &saved.config()?.budget)?;
            let address = portrait.last_place.as_ref().and_then(|(file, offset, url)| {
                let path = saved.warc().join(file);
                let record = StoredPage::read(&self.env.files, &path, *offset, url, None).ok()?;
                let ip = record.archive.into_iter().find(|field| field.name == "WARC-IP-Address")?;
                Some(ip.value)
            });
            Ok((saved.number(), portrait, rules, standing, address))
        })?;
        let (kind, name) = match sitter {
            Sitter::Host(name) => ("host", name),
            Sitter::Domain(name) => ("domain", name),
        };
        let live = match (&self.running, sitter) {
            (Some(running), Sitter::Host(name)) => running.host(&self.env, name),
            _ => None,
        };
        let mut answer = serde_json::to_value(&portrait).expect("maps have text for keys");
        let fields = answer.as_object_mut().expect("a struct is an object");
        let known = live.as_ref().and_then(|item| item.address.clone());
        let mut more = vec![
            ("name", json!(name)),
            ("kind", json!(kind)),
            ("domain", json!(url.domain())),
            ("checkpoint", json!(number)),
            ("addresses", json!(known.or(address).into_iter().collect::<Vec<_>>())),
            ("queued", json!(live.as_ref().map(|item| item.queued + item.on_disk))),
            ("next_s", json!(live.as_ref().map(|item| item.next_visit_s))),
            ("budget", json!(standing.map(|standing| standing.budget))),
            ("in_degree", json!(standing.map(|standing| standing.in_degree.count))),
        ];
        if let (Sitter::Host(_), Some(rules)) = (sitter, &rules) {
            more.push(("robots", robots(rules)));
        }
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Ok(Answer::json(&answer))
    }

    /// What limits the crawl. The longer it takes to find out, the more seldom that is done, once for all who ask.
    pub(crate) fn stalls(&self, _: &Input) -> Result<Answer, Problem> {
        let mut kept = self.stalls.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = self.env.clock.now();
        if let Some((until, value)) = &*kept
            && begun < *until
        {
            return Ok(Answer::json(value));
        }
        let value = json!(mattock_crawl::stalls(&self.env, &self.root).map_err(failed)?);
        let now = self.env.clock.now();
        let answer = Answer::json(&value);
        *kept = Some((now + now.since(begun) * STALLS_SELDOM + STALLS_FRESH, value));
        Ok(answer)
    }

    /// The configuration as the crawl was last run with it.
    pub(crate) fn config(&self) -> Option<Config> {
        self.saved().ok()?.config().ok()
    }

    /// The overview of a crawl that does not run.
    pub(super) fn saved_snapshot(&self) -> Value {
        let Ok(saved) = self.saved() else { return json!({ "phase": "unreadable" }) };
        let (mut seen, mut queued, mut fetched, mut failed, mut refused) = (0, 0, 0, 0, 0);
        for counts in saved.partitions() {
            seen += counts.accounts.seen;
            fetched += counts.accounts.fetched;
            failed += counts.accounts.failed;
            refused += counts.accounts.refused;
            queued += counts.queued;
        }
        let stalls = mattock_crawl::stalls(&self.env, &self.root).ok();
        json!({
            "phase": "stopped",
            "unix_micros": self.env.clock.unix().as_micros(),
            "partitions": saved.partitions().len(),
            "now": {
                "pages": stalls.as_ref().map(|stalls| stalls.pages),
                "seen": seen, "queued": queued, "fetched": fetched, "given_up": failed, "refused": refused,
            },
            "paused": [],
            "alerts": [],
            "checkpoint": { "number": saved.number(), "unix_micros": saved.time().as_micros() },
            "disk": { "free_bytes": self.env.files.free_bytes(&self.root).ok() },
            "end": saved.end(),
        })
    }

    /// What became of all URLs, with examples: from the ledgers.
    pub(crate) fn saved_outcomes(&self) -> Result<Answer, Problem> {
        const EXAMPLES: usize = 20;
        let mut outcomes: BTreeMap<String, (u64, Vec<Value>)> = BTreeMap::new();
        let saved = self.saved()?;
        let rows = saved.rows(|row| {
            let (count, examples) = outcomes.entry(row.outcome.to_owned()).or_default();
            *count += 1;
            let bad = !matches!(row.outcome.parse::<u16>(), Ok(0..400));
            if bad && examples.len() < EXAMPLES {
                let detail = format!("took {} ms", row.took_ms);
                examples
                    .push(json!({ "url": row.url, "unix_micros": row.time.as_micros(), "detail": detail }));
            }
        });
        rows.map_err(CrawlError::from).map_err(failed)?;
        let items: Vec<Value> = outcomes
            .into_iter()
            .map(|(name, (count, examples))| {
                json!({ "about": words::outcome(&name), "name": name, "count": count, "examples": examples })
            })
            .collect();
        Ok(Answer::json(&json!({ "items": items })))
    }
}

fn robots(rules: &HostRules) -> Value {
    let list: Vec<Value> =
        rules.robots.rules().map(|rule| json!({ "line": rule.line, "text": rule.text })).collect();
    json!({
        "rules": list,
        "crawl_delay_s": rules.robots.crawl_delay().map(|delay| delay.as_secs_f64()),
        "closed": rules.robots.disallow_reason().map(|reason| format!("{reason:?}").to_ascii_lowercase()),
        "truncated": rules.robots.truncated(),
        "valid_until": rules.expires.as_micros() as f64 / 1e6,
    })
}

fn filtered(all: &BTreeMap<String, Tally>, search: Option<&str>) -> Vec<Item> {
    let search = search.unwrap_or_default().to_ascii_lowercase();
    let wanted = all.iter().filter(|(name, _)| name.contains(&search));
    wanted.map(|(name, tally)| Item { name: name.clone(), tally: tally.clone(), ..Item::default() }).collect()
}

/// Sorts by a column, the largest first; what is equal stays in the order of names.
fn sort(items: &mut [Item], by: &str) {
    use std::cmp::Reverse;
    match by {
        "errors" => items.sort_by_key(|item| Reverse(item.tally.errors)),
        "bytes" => items.sort_by_key(|item| Reverse(item.tally.bytes)),
        "last" => items.sort_by(|a, b| b.tally.last_unix.total_cmp(&a.tally.last_unix)),
        "queued" => items.sort_by_key(|item| Reverse(item.queued)),
        "next" => items.sort_by(|a, b| {
            let key = |item: &Item| item.next_s.unwrap_or(f64::INFINITY);
            key(a).total_cmp(&key(b))
        }),
        "budget" => items.sort_by_key(|item| Reverse(item.budget)),
        "in-degree" => items.sort_by_key(|item| Reverse(item.in_degree)),
        "name" => items.sort_by(|a, b| a.name.cmp(&b.name)),
        _ => items.sort_by_key(|item| Reverse(item.tally.pages)),
    }
}

fn window(input: &Input) -> (usize, usize) {
    (input.count("offset", 0) as usize, input.count("limit", 100) as usize)
}

fn page_of(items: &[Item], census: &Census, input: &Input) -> Answer {
    let (offset, limit) = window(input);
    let shown: Vec<&Item> = items.iter().skip(offset).take(limit).collect();
    Answer::json(&json!({
        "items": shown,
        "total": items.len(),
        "checkpoint": census.checkpoint,
        "uncounted": census.uncounted,
    }))
}
