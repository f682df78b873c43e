//! What limits a crawl: its last checkpoint, and what it says of itself while it runs, put into one sentence.
//!
//! The checkpoint tells what waits and for what; [`Status`] how busy the machine is. One limit is named, the first in the order below that
//! holds: somebody must do something, the machine is full, there is nothing to do, what there is must wait.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_env::{Env, UnixTime};
use mattock_frontier::BudgetPolicy;
use mattock_frontier::look::Survey;
use serde::Serialize;

use crate::status::Status;
use crate::why::seconds;
use crate::{Config, CrawlError, End, SavedCrawl};

/// What keeps a crawl from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// It is not running, and has made no checkpoint.
    NotBegun,
    /// It was stopped.
    Stopped,
    /// It was killed, or its machine was.
    Died,
    /// Its page limit is reached.
    MaxPages,
    /// The disk, or whatever else the crawl complains of.
    Trouble,
    /// Somebody, or the schedule, has it pause.
    Paused,
    /// Its speed limit is reached.
    Speed,
    /// The processor.
    Cpu,
    /// Name servers.
    Names,
    /// Connections: as many servers as may be are being waited for.
    Connections,
    /// Nothing waits.
    NothingLeft,
    /// What waits is over its domains' budgets.
    Budget,
    /// What waits has failed, and is tried again later.
    Retries,
    /// Few hosts have nearly everything, and each must be left alone between two visits.
    FewHosts,
    /// Hosts and servers must be left alone between two visits.
    Politeness,
    /// Nothing that shows.
    None,
}

/// What limits a crawl, and the numbers that show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stalls {
    /// What limits it.
    pub limit: Limit,
    /// The same in a sentence.
    pub sentence: String,
    /// What would change that.
    pub advice: Vec<String>,
    /// Whether it is running.
    pub running: bool,
    /// The checkpoint that the numbers of what waits are of; 0 if there is none.
    pub checkpoint: u64,
    /// When that was made.
    #[serde(serialize_with = "seconds")]
    pub time: UnixTime,
    /// What the running crawl said last.
    pub live: Option<Status>,
    /// URLs that wait, by what they wait for.
    pub waiting: BTreeMap<&'static str, u64>,
    /// Hosts on the workbench that have URLs, and those of them that had to be left alone.
    pub hosts: u64,
    /// Those of them that had to be left alone.
    pub hosts_waiting: u64,
    /// The hosts with the most URLs, and how many.
    pub largest: Vec<(String, u64)>,
    /// Pages (status 200) at the checkpoint.
    pub pages: u64,
    /// Why URLs were not fetched, with their counts.
    pub refused: BTreeMap<String, u64>,
}

/// Says what limits the crawl in `root`.
pub fn stalls(env: &Env, root: &Path) -> Result<Stalls, CrawlError> {
    SavedCrawl::with(env, root, |saved| {
        let config = saved.config()?;
        let mut survey = Survey::default();
        for partition in 0..saved.record().partitions.len() {
            survey.add(saved.look(partition)?.survey()?);
        }
        let live = saved.status().filter(|status| status.is_fresh(env.clock.unix()));
        let state = State { saved, config: &config, survey: &survey, live: live.as_ref(), root };
        let (limit, sentence, advice) = state.judge();
        let totals = saved.totals();
        Ok(Stalls {
            limit,
            sentence,
            advice,
            running: live.is_some(),
            checkpoint: saved.number(),
            time: saved.time(),
            waiting: waiting(&survey),
            hosts: survey.hosts,
            hosts_waiting: survey.hosts_waiting,
            largest: survey.largest.iter().map(|host| (host.name.clone(), host.urls)).collect(),
            pages: totals.pages,
            refused: totals.refused,
            live,
        })
    })
}

fn waiting(survey: &Survey) -> BTreeMap<&'static str, u64> {
    let all = [
        ("arriving", survey.arriving),
        ("budget", survey.budgeted),
        ("over-budget", survey.over_budget),
        ("room", survey.ready.iter().sum()),
        ("host", survey.on_bench),
        ("behind-host", survey.behind),
        ("another-try", survey.deferred),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Everything that is known.
struct State<'a> {
    saved: &'a SavedCrawl,
    config: &'a Config,
    survey: &'a Survey,
    live: Option<&'a Status>,
    root: &'a Path,
}

type Judgement = (Limit, String, Vec<String>);

fn judged(limit: Limit, sentence: String, advice: &[&str]) -> Option<Judgement> {
    Some((limit, sentence, advice.iter().map(|text| (*text).to_owned()).collect()))
}

/// Whether a part is so much of the whole, in hundredths.
fn is_most(part: u64, whole: u64, hundredths: u64) -> bool {
    whole > 0 && part.saturating_mul(100) >= whole.saturating_mul(hundredths)
}

impl State<'_> {
    fn judge(&self) -> Judgement {
        let of_work = || {
            self.nothing_left()
                .or_else(|| self.budget())
                .or_else(|| self.retries())
                .or_else(|| self.politeness())
        };
        let found = match self.live {
            Some(live) => self
                .trouble(live)
                .or_else(|| self.steering(live))
                .or_else(|| self.machine(live))
                .or_else(of_work),
            None => self.not_running(),
        };
        found.unwrap_or_else(|| {
            let sentence =
                "Nothing that shows limits it: there are hosts that may be visited now.".to_owned();
            (Limit::None, sentence, Vec::new())
        })
    }

    fn go_on(&self) -> String {
        format!("mattock crawl --out {}", self.root.display())
    }

    fn not_running(&self) -> Option<Judgement> {
        let (queued, pages) = (self.survey.queued(), self.config.max_pages.unwrap_or_default());
        let go_on = self.go_on();
        let with = |limit, sentence: String, advice: String| judged(limit, sentence, &[&advice]);
        match self.saved.end() {
            Some(End::Complete) if queued > 0 => with(
                Limit::Budget,
                format!("It is complete but for {queued} URLs of domains that have no budget."),
                format!("another budget lets them through: {go_on} --budget equal"),
            ),
            Some(End::Complete) => judged(
                Limit::NothingLeft,
                "It is complete: nothing is left to fetch.".into(),
                &["more seeds, a wider --scope or a larger --max-depth would give it more"],
            ),
            Some(End::MaxPages) => with(
                Limit::MaxPages,
                format!("Its limit of {pages} pages is reached; {queued} URLs wait."),
                format!("a higher limit: {go_on} --max-pages {}", pages.saturating_mul(2)),
            ),
            Some(End::Stopped) => with(
                Limit::Stopped,
                format!("It was stopped; {queued} URLs wait."),
                format!("to go on: {go_on}"),
            ),
            None if self.saved.number() == 0 => with(
                Limit::NotBegun,
                "It is not running, and has made no checkpoint yet.".into(),
                format!("to begin: {go_on}"),
            ),
            None => with(
                Limit::Died,
                format!("It is not running, and did not end in good order; {queued} URLs wait."),
                format!("to go on from its last checkpoint: {go_on}"),
            ),
        }
    }

    fn trouble(&self, live: &Status) -> Option<Judgement> {
        let trouble = live.trouble.as_ref()?;
        judged(
            Limit::Trouble,
            format!("It waits for somebody: {trouble}."),
            &["it goes on by itself when that is over"],
        )
    }

    /// Whether it may not be any faster.
    fn steering(&self, live: &Status) -> Option<Judgement> {
        if let Some(reason) = &live.paused {
            return judged(
                Limit::Paused,
                format!("It pauses: {reason}."),
                &["it goes on when whoever paused it resumes it, or the schedule says so"],
            );
        }
        let is_reached = |limit: Option<f64>, rate: f64| limit.filter(|limit| rate >= 0.9 * limit);
        let pages = is_reached(live.speed.pages_per_s, live.requests_per_s);
        let bits = is_reached(live.speed.bits_per_s, live.bytes_per_s * 8.0);
        let limit = pages
            .map(|limit| format!("{limit} requests/s"))
            .or(bits.map(|limit| format!("{} Mbit/s", limit / 1e6)))?;
        judged(
            Limit::Speed,
            format!("Its speed limit of {limit} is reached."),
            &["a higher limit, by [speed] or [[schedule]] in its configuration, or by hand"],
        )
    }

    /// Whether the machine is full.
    fn machine(&self, live: &Status) -> Option<Judgement> {
        let partitions = self.config.partitions as f64;
        if let Some(cpu) = live.cpu.filter(|cpu| *cpu >= 0.85 * partitions) {
            return judged(
                Limit::Cpu,
                format!("The processor: {cpu:.1} of the {partitions} cores that it uses are busy."),
                &["more cores, and as many partitions: stop the crawl and go on with `--partitions N`"],
            );
        }
        if live.in_flight >= 8 && is_most(live.locating, live.in_flight, 50) {
            return judged(
                Limit::Names,
                format!("Name servers: {} of {} errands look up addresses.", live.locating, live.in_flight),
                &["faster name servers: --dns"],
            );
        }
        if is_most(live.in_flight, live.connections, 90) {
            return judged(
                Limit::Connections,
                format!(
                    "Connections: {} of {} are in use, and servers are slow to answer.",
                    live.in_flight, live.connections
                ),
                &[
                    "more of them: --connections",
                    "less patience with slow servers: [fetch] in the configuration",
                ],
            );
        }
        None
    }

    fn nothing_left(&self) -> Option<Judgement> {
        let live = self.live?;
        (live.queued == 0).then_some(())?;
        let sentence = match live.in_flight {
            0 => "Nothing is left: the crawl is about to end.".to_owned(),
            visits => {
                format!("Nothing waits: only {visits} visits are under way, and more may come of them.")
            }
        };
        judged(Limit::NothingLeft, sentence, &["more seeds, a wider --scope or a larger --max-depth"])
    }

    fn budget(&self) -> Option<Judgement> {
        let survey = self.survey;
        let held = survey.over_budget + survey.budgeted;
        (self.config.budget != BudgetPolicy::Unlimited && is_most(held, survey.queued(), 80)).then_some(())?;
        // Who has enough to do all the same is held up by something else.
        (survey.hosts_waiting == survey.hosts).then_some(())?;
        judged(
            Limit::Budget,
            format!(
                "Budgets: {held} of {} URLs wait for their domains' turn, and the {} hosts whose turn it is must be left alone.",
                survey.queued(),
                survey.hosts
            ),
            &["a larger crawl.budget_pages, or another --budget"],
        )
    }

    fn retries(&self) -> Option<Judgement> {
        let survey = self.survey;
        is_most(survey.deferred, survey.queued(), 80).then_some(())?;
        judged(
            Limit::Retries,
            format!(
                "Failures: {} of {} URLs that wait have failed, and are tried again later.",
                survey.deferred,
                survey.queued()
            ),
            &["fewer tries: --retries"],
        )
    }

    /// Work waits and the machine does not: so it waits for its hosts.
    fn politeness(&self) -> Option<Judgement> {
        let survey = self.survey;
        let politeness = &self.config.politeness;
        let (delay, server_delay) = (politeness.delay.as_secs_f64(), politeness.server_delay.as_secs_f64());
        (survey.hosts > 0 && delay > 0.0).then_some(())?;
        let of_bench = survey.on_bench + survey.behind;
        let mut urls = 0;
        let few = survey.largest.iter().take(3).position(|host| {
            urls += host.urls;
            is_most(urls, of_bench, 50)
        });
        let left_alone = format!(
            "every host is left alone for {delay} s between two visits, every server for {server_delay} s"
        );
        let advice = [
            "a smaller --delay, where the hosts are yours or allow it",
            "more hosts: more seeds, a wider --scope",
        ];
        if let Some(few) = few {
            let names: Vec<&str> = survey.largest[..=few].iter().map(|host| host.name.as_str()).collect();
            return judged(
                Limit::FewHosts,
                format!(
                    "Politeness to few hosts: {urls} of {of_bench} URLs on the workbench are of {}, and {left_alone}.",
                    names.join(", ")
                ),
                &advice,
            );
        }
        judged(
            Limit::Politeness,
            format!("Politeness: {} hosts have URLs, and {left_alone}.", survey.hosts),
            &advice,
        )
    }
}
