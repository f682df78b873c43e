//! Why a URL is where it is: the crawl's state, its ledger and its rules put together.
//!
//! Everything is as of the last checkpoint, which is the newest moment that all parts agree on; the crawl may be running. The ledger is asked
//! first, as most URLs that anybody asks for are settled; then the [frontier](mattock_frontier::look) says where the URL waits. One that
//! was taken, waits nowhere and is not in the ledger was refused when its turn came, by robots.txt or the blocklist: the accounts of
//! every checkpoint leave no other way. One that was never taken is held against the rules for links.
//!
//! Costs: one pass over the partition's ledger (and one of each earlier division, if there were any), and one over what waits in it if the ledger does not know. Memory does not grow with the crawl.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use mattock_env::{Env, UnixTime};
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::look::{BudgetQueue, HostRules, HostState, Look, Wanted, Whereabouts};
use mattock_frontier::{BudgetPolicy, Link};
use mattock_repository::Row;
use mattock_robots::DisallowReason;
use mattock_weburl::WebUrl;
use serde::{Serialize, Serializer};

use crate::blocking::BlocklistFile;
use crate::steer::blocks::OperatorBlocks;
use crate::{Config, CrawlError, End, SavedCrawl};

/// Where a URL is, and as of when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The canonical URL.
    pub url: String,
    /// The partition that it belongs to.
    pub partition: usize,
    /// The checkpoint that says so; 0 if there is none yet.
    pub checkpoint: u64,
    /// When that was made.
    #[serde(serialize_with = "seconds")]
    pub time: UnixTime,
    /// Whether the crawl is running, so that it may be elsewhere by now.
    pub running: bool,
    /// Why the run ended, if the checkpoint is its last.
    pub end: Option<End>,
    /// Where it is.
    #[serde(flatten)]
    pub answer: Answer,
    /// What its host's robots.txt says about it, as far as that is known.
    pub robots: Option<RobotsVerdict>,
}

/// Where a URL is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Answer {
    /// No link to it was taken.
    NeverSeen {
        /// The rule by which a link to it would be refused.
        refusal: Option<&'static str>,
        /// Links that are more steps away from a seed are not taken; how far this one is nobody knows.
        max_depth: Option<u32>,
    },
    /// A link to it was found, and is on its way through `seen`.
    Arriving,
    /// It waits until it is known how many domains link to its own.
    Budgeting,
    /// It waits for the turn of its domain's budget.
    Budgeted {
        /// The queue that it waits in, counted from the crawl's beginning; none if it is over budget.
        queue: Option<u64>,
        /// The queue that is being read.
        reading: Option<u64>,
        /// URLs before it in that queue.
        ahead: u64,
        /// The budget of its domain when it was put there.
        budget: u32,
        /// How many domains link to its domain, if that matters.
        in_degree: Option<u64>,
        /// Whether these are enough to give the domain its budget at once.
        proven: Option<bool>,
    },
    /// It may be fetched as soon as there is room on the workbench.
    Ready {
        /// Its priority band; 0 is the most urgent.
        band: u8,
        /// URLs before it.
        ahead: u64,
    },
    /// It waits on disk behind its host, which has others before it.
    BehindHost {
        /// URLs of its host before it.
        ahead: u64,
        /// When its host may be visited next, if the crawl was not stopped.
        #[serde(serialize_with = "seconds")]
        not_before: UnixTime,
    },
    /// On the workbench.
    OnBench {
        /// URLs of its host before it; 0: it is next, or under way.
        ahead: u64,
        /// When its host may be visited next, if the crawl was not stopped.
        #[serde(serialize_with = "seconds")]
        not_before: UnixTime,
        /// Tries that have failed.
        attempt: u8,
        /// What is known of its host's robots.txt.
        rules: Known,
    },
    /// It has failed for a reason that may pass.
    Again {
        /// Tries that have failed.
        attempt: u8,
        /// When it is tried again.
        #[serde(serialize_with = "seconds")]
        next: UnixTime,
    },
    /// robots.txt forbids it, or could not be had, which forbids everything: see [`Why::robots`].
    Disallowed,
    /// Refused when its turn came.
    Refused {
        /// By which rule, if it still refuses it.
        refusal: Option<&'static str>,
    },
    /// Its server has answered.
    Fetched {
        /// Each answer that counts, the first one first.
        instances: Vec<Instance>,
    },
    /// It was given up without an answer.
    Failed {
        /// Each time.
        instances: Vec<Instance>,
    },
}

/// What is known of a host's robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// It must be fetched first.
    No,
    /// It was, and holds.
    Yes,
    /// It was, but must be fetched again.
    Outdated,
}

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// Status or name of the failure.
    pub outcome: String,
    /// When the visit began.
    #[serde(serialize_with = "seconds")]
    pub time: UnixTime,
    /// Links from a seed to here.
    pub depth: u32,
    /// How long the visit took.
    pub took_ms: u64,
    /// Whether the body is not whole.
    pub truncated: bool,
    /// SHA-1 of the body as WARC files have it, if it was stored.
    pub digest: Option<String>,
    /// The WARC file of the response record, if it was stored.
    pub file: Option<String>,
    /// Where in it.
    pub offset: Option<u64>,
    /// Bytes there.
    pub length: Option<u64>,
}

/// What a host's robots.txt says about a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RobotsVerdict {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// Why nothing of the host may be.
    pub closed: Option<&'static str>,
    /// The line that decides.
    pub line: Option<u32>,
    /// What stands there, in its normal spelling.
    pub rule: Option<String>,
    /// When the file was fetched, if that is certain.
    #[serde(serialize_with = "maybe_seconds")]
    pub fetched: Option<UnixTime>,
    /// Until when it holds.
    #[serde(serialize_with = "seconds")]
    pub valid_until: UnixTime,
}

pub(crate) fn seconds<S: Serializer>(time: &UnixTime, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&time.to_seconds_string())
}

fn maybe_seconds<S: Serializer>(time: &Option<UnixTime>, out: S) -> Result<S::Ok, S::Error> {
    time.map(UnixTime::to_seconds_string).serialize(out)
}

/// Says of each URL where it is in the crawl in `root`, in their order.
pub fn why(env: &Env, root: &Path, urls: &[WebUrl]) -> Result<Vec<Why>, CrawlError> {
    SavedCrawl::with(env, root, |saved| {
        let config = saved.config()?;
        let mut answers: Vec<Option<Why>> = vec![None; urls.len()];
        for partition in 0..saved.record().partitions.len().max(1) {
            let asked: Vec<usize> =
                (0..urls.len()).filter(|&index| saved.owner(&urls[index]) == partition).collect();
            if asked.is_empty() {
                continue;
            }
            let found = Partition::open(saved, &config, partition)?;
            let theirs: Vec<&WebUrl> = asked.iter().map(|&index| &urls[index]).collect();
            for (index, answer) in asked.into_iter().zip(found.answers(&theirs)?) {
                answers[index] = Some(answer);
            }
        }
        Ok(answers.into_iter().flatten().collect())
    })
}

/// The partition that is asked.
struct Partition<'a> {
    saved: &'a SavedCrawl,
    config: &'a Config,
    index: usize,
    look: Look,
    running: bool,
}

impl<'a> Partition<'a> {
    fn open(saved: &'a SavedCrawl, config: &'a Config, index: usize) -> Result<Partition<'a>, CrawlError> {
        let now = saved.env().clock.unix();
        let running = saved.status().is_some_and(|status| status.is_fresh(now));
        Ok(Partition { saved, config, index, look: saved.look(index)?, running })
    }

    fn answers(&self, urls: &[&WebUrl]) -> Result<Vec<Why>, CrawlError> {
        let rows = self.rows(urls)?;
        let open: Vec<&WebUrl> =
            urls.iter().copied().filter(|url| !rows.contains_key(url.as_str())).collect();
        let mut places = self.look.find_all(&open)?.into_iter();
        let mut wanted = None;
        let mut answers = Vec::with_capacity(urls.len());
        for url in urls {
            let rules = self.look.rules(url)?;
            let answer = match rows.get(url.as_str()) {
                Some(instances) => settled(instances.clone()),
                None => {
                    let place = places.next().unwrap_or(Whereabouts::Unseen);
                    self.answer(url, place, rules.as_ref(), &mut wanted)?
                }
            };
            answers.push(Why {
                url: url.as_str().to_owned(),
                partition: self.index,
                checkpoint: self.saved.number(),
                time: self.saved.time(),
                running: self.running,
                end: self.saved.end(),
                answer,
                robots: rules.map(|rules| self.verdict(url, &rules)),
            });
        }
        Ok(answers)
    }

    /// The rows of these URLs, by URL.
    fn rows(&self, urls: &[&WebUrl]) -> Result<HashMap<String, Vec<Instance>>, CrawlError> {
        let texts: std::collections::HashSet<&str> = urls.iter().map(|url| url.as_str()).collect();
        let mut found: HashMap<String, Vec<Instance>> = HashMap::new();
        for mut ledger in self.saved.earlier_ledgers(urls)?.into_iter().chain(self.saved.ledger(self.index)?)
        {
            let mut visit = |row: &Row<'_>| {
                if texts.contains(row.url) {
                    found.entry(row.url.to_owned()).or_default().push(Instance::of(row));
                }
            };
            while ledger.next_block(&mut visit)? {}
        }
        Ok(found)
    }

    /// Where a URL is that is not in the ledger.
    fn answer(
        &self,
        url: &WebUrl,
        place: Whereabouts,
        rules: Option<&HostRules>,
        wanted: &mut Option<Wanted>,
    ) -> Result<Answer, CrawlError> {
        let next = |host: &HostState| self.after(host.wait);
        Ok(match place {
            Whereabouts::Unseen => {
                let link = Link::page(url.clone(), 1);
                let acts = self.config.rules.refuses(&link).map(|untaken| untaken.name());
                let refused = self.look.refuses(&link, self.wanted(wanted)?).map(|refusal| refusal.name());
                Answer::NeverSeen { refusal: acts.or(refused), max_depth: self.config.max_depth }
            }
            Whereabouts::Arriving => Answer::Arriving,
            Whereabouts::Budgeting => Answer::Budgeting,
            Whereabouts::Budgeted { queue, ahead, budget } => self.budgeted(url, queue, ahead, budget)?,
            Whereabouts::Ready { band, ahead } => Answer::Ready { band, ahead },
            Whereabouts::Behind { ahead, host } => Answer::BehindHost { ahead, not_before: next(&host) },
            Whereabouts::Bench { ahead, attempt, host } => Answer::OnBench {
                ahead,
                attempt,
                not_before: next(&host),
                rules: match rules {
                    None => Known::No,
                    Some(rules) if rules.expires <= self.saved.time() => Known::Outdated,
                    Some(_) => Known::Yes,
                },
            },
            Whereabouts::Again { attempt, wait } => Answer::Again { attempt, next: self.after(wait) },
            Whereabouts::Settled if rules.is_some_and(|rules| !self.verdict(url, rules).allowed) => {
                Answer::Disallowed
            }
            Whereabouts::Settled => {
                let blocks = self.wanted(wanted)?.blocklist.snapshot();
                Answer::Refused { refusal: blocks.refuses(url).map(|refusal| refusal.name()) }
            }
        })
    }

    fn budgeted(
        &self,
        url: &WebUrl,
        queue: BudgetQueue,
        ahead: u64,
        budget: u32,
    ) -> Result<Answer, CrawlError> {
        let policy: &BudgetPolicy = &self.config.budget;
        let standing = self.look.standing(url, policy)?;
        let (queue, reading) = match queue {
            BudgetQueue::Number { number, reading } => (Some(number), Some(reading)),
            BudgetQueue::Over => (None, None),
        };
        Ok(Answer::Budgeted {
            queue,
            reading,
            ahead,
            budget,
            in_degree: standing.map(|standing| standing.in_degree.count),
            proven: standing.map(|standing| standing.is_proven),
        })
    }

    /// The moment that is so long after the checkpoint.
    fn after(&self, wait: Duration) -> UnixTime {
        let micros = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
        UnixTime::from_micros(self.saved.time().as_micros().saturating_add(micros))
    }

    /// The rules for links, with the blocklist as it is now.
    fn wanted<'b>(&self, known: &'b mut Option<Wanted>) -> Result<&'b Wanted, CrawlError> {
        if known.is_none() {
            let mut scope = self.config.scope();
            self.config.seeds.iter().for_each(|seed| scope.include(seed));
            let blocklist = Blocklist::default();
            if let Some(path) = &self.config.links.blocklist {
                BlocklistFile::open(&self.saved.env().files, path, &blocklist)?;
            }
            OperatorBlocks::open(&self.saved.env().files, &self.saved.blocks(), &blocklist)?;
            let config = self.config.clone();
            let application = Box::new(move || config.application());
            *known = Some(Wanted { scope, blocklist, traps: self.config.traps.clone(), application });
        }
        Ok(known.as_ref().expect("it was just filled"))
    }

    fn verdict(&self, url: &WebUrl, rules: &HostRules) -> RobotsVerdict {
        let verdict = rules.robots.verdict(url.path_and_query());
        RobotsVerdict {
            allowed: verdict.allowed,
            closed: rules.robots.disallow_reason().map(|reason| match reason {
                DisallowReason::Unreachable => "unreachable",
                DisallowReason::ServerError => "server-error",
                DisallowReason::RateLimited => "rate-limited",
                DisallowReason::RefusedRedirect => "refused-redirect",
                DisallowReason::Operator => "operator",
            }),
            line: verdict.rule.as_ref().map(|rule| rule.line),
            rule: verdict.rule.map(|rule| rule.text),
            fetched: rules.fetched(self.saved.time()),
            valid_until: rules.expires,
        }
    }
}

fn settled(instances: Vec<Instance>) -> Answer {
    // Statuses are numbers, and failures have names.
    match instances.iter().any(|instance| instance.outcome.parse::<u16>().is_ok()) {
        true => Answer::Fetched { instances },
        false => Answer::Failed { instances },
    }
}

impl Instance {
    fn of(row: &Row<'_>) -> Instance {
        Instance {
            outcome: row.outcome.to_owned(),
            time: row.time,
            depth: row.depth,
            took_ms: row.took_ms,
            truncated: row.truncated,
            digest: row.digest.as_ref().map(ToString::to_string),
            file: row.place.as_ref().map(|place| place.file.to_string()),
            offset: row.place.as_ref().map(|place| place.offset),
            length: row.place.as_ref().map(|place| place.length),
        }
    }
}
