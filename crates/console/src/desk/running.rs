//! A crawl that runs in this process: read and steered through its control.

use std::collections::HashMap;
use std::time::Duration;

use mattock_crawl::steer::{HostQuery, HostRow, LIVE, Level, SpeedLimit};
use mattock_crawl::{Control, CrawlError};
use mattock_env::Env;
use serde_json::{Value, json};

use super::disk::Item;
use super::{Desk, Reading};
use crate::answer::{Answer, Problem};
use crate::input::Input;
use crate::words;

/// Hosts that are asked for to fill the columns of a list.
const HOSTS_MAX: usize = 10_000;
/// How long partitions may take to answer: one that reads a large batch is slow.
const PATIENCE: Duration = Duration::from_secs(5);
/// Events that are handed out if nobody says how many.
const EVENTS: u64 = 1000;

/// A running crawl.
#[derive(Clone)]
pub struct Running {
    control: Control,
}

impl Running {
    /// The crawl that this control belongs to.
    pub fn new(control: Control) -> Running {
        Running { control }
    }

    pub(super) fn reading(&self) -> Reading {
        let now = self.control.snapshot().map(|snapshot| snapshot.now).unwrap_or_default();
        Reading {
            pages: now.pages,
            bytes: now.bytes,
            errors: now.errors,
            queued: now.queued,
            in_flight: now.in_flight,
        }
    }

    pub(super) fn snapshot(&self) -> Value {
        match self.control.snapshot() {
            Ok(snapshot) => serde_json::to_value(snapshot).expect("maps have text for keys"),
            // It opens its files.
            Err(_) => json!({ "phase": "starting" }),
        }
    }

    /// What partitions know of their hosts. Must not be called on the console's own thread.
    fn ask(&self, env: &Env, search: &str) -> Vec<HostRow> {
        let query = HostQuery { search: search.to_owned(), limit: HOSTS_MAX, ..HostQuery::default() };
        let answer = mattock_env::run(env.clock.timeout(PATIENCE, self.control.hosts(query)));
        // Columns stay empty if nobody answers.
        answer.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Fills in what only the running crawl knows, and adds hosts that were not visited yet.
    pub(super) fn add_hosts(&self, env: &Env, items: &mut Vec<Item>, search: Option<&str>) {
        let places: HashMap<String, usize> =
            items.iter().enumerate().map(|(index, item)| (item.name.clone(), index)).collect();
        for row in self.ask(env, search.unwrap_or_default()) {
            let index = places.get(&row.host).copied().unwrap_or_else(|| {
                items.push(Item { name: row.host.clone(), ..Item::default() });
                items.len() - 1
            });
            let item = &mut items[index];
            item.queued = Some(row.queued + row.on_disk);
            item.next_s = Some(row.next_visit_s);
            item.budget = Some(u64::from(row.budget)).filter(|budget| *budget > 0);
        }
    }

    /// What is known of one host.
    pub(super) fn host(&self, env: &Env, name: &str) -> Option<HostRow> {
        self.ask(env, name).into_iter().find(|row| row.host == name)
    }
}

/// What the operator asked for is wrong, or cannot be done now.
fn refused(error: CrawlError) -> Problem {
    match error {
        CrawlError::NotRunning => {
            Problem::conflict("the crawl has no run under way now; try again in a moment")
        }
        CrawlError::Io { .. } => Problem::conflict(error.to_string()),
        other => Problem::invalid(other.to_string()),
    }
}

fn done(text: impl Into<String>) -> Result<Answer, Problem> {
    Ok(Answer::json(&json!({ "done": text.into() })))
}

/// What can be asked and done. All of it answers in `{done}` for people.
impl Desk {
    pub(crate) fn events(&self, input: &Input) -> Result<Answer, Problem> {
        let Some(running) = &self.running else {
            return Ok(Answer::json(&json!({ "events": [], "last": 0 })));
        };
        let least = match input.text("level") {
            Some("info") => Level::Info,
            Some("warn") => Level::Warn,
            Some("error") => Level::Error,
            _ => Level::Debug,
        };
        let search = input.text("q").unwrap_or_default().to_lowercase();
        let events = running.control.events();
        let last = events.last();
        let mut found: Vec<_> = events.since(input.count("since", 0));
        found.retain(|event| {
            let words = || {
                let mut words = [&event.kind, &event.text].into_iter().chain(event.fields.values());
                words.any(|word| word.to_lowercase().contains(&search))
            };
            event.level >= least && (search.is_empty() || words())
        });
        let limit = input.count("limit", EVENTS) as usize;
        let newest = found.split_off(found.len().saturating_sub(limit));
        Ok(Answer::json(&json!({ "events": newest, "last": last })))
    }

    pub(crate) fn outcomes(&self, _: &Input) -> Result<Answer, Problem> {
        let Some(running) = &self.running else { return self.saved_outcomes() };
        let mut examples = running.control.examples().map_err(refused)?;
        let outcomes = running.control.snapshot().map_err(refused)?.outcomes.into_iter();
        let items: Vec<Value> = outcomes
            .map(|(name, count)| {
                let examples = examples.remove(&name).unwrap_or_default();
                json!({ "about": words::outcome(&name), "name": name, "count": count, "examples": examples })
            })
            .collect();
        Ok(Answer::json(&json!({ "items": items })))
    }

    pub(crate) fn blocks(&self, _: &Input) -> Result<Answer, Problem> {
        let blocks = |running: &Running| running.control.blocks().map_err(refused);
        let rules = self.running.as_ref().map(blocks).transpose()?.unwrap_or_default();
        Ok(Answer::json(&json!({ "rules": rules })))
    }

    pub(crate) fn fields(&self, _: &Input) -> Result<Answer, Problem> {
        let fields: Vec<Value> = match (&self.running, self.config()) {
            (Some(running), _) => {
                let fields = running.control.fields().map_err(refused)?;
                fields
                    .iter()
                    .map(|field| json!({ "name": field.name, "about": field.what, "value": field.value }))
                    .collect()
            }
            (None, Some(config)) => LIVE
                .iter()
                .map(
                    |field| json!({ "name": field.name, "about": field.what, "value": (field.get)(&config) }),
                )
                .collect(),
            (None, None) => Vec::new(),
        };
        Ok(Answer::json(&json!({ "fields": fields })))
    }

    pub(crate) fn speed(&self, _: &Input) -> Result<Answer, Problem> {
        let snapshot =
            self.running.as_ref().map(|running| running.control.snapshot().map_err(refused)).transpose()?;
        let (speed, schedule) = snapshot.map(|snapshot| (snapshot.speed, snapshot.schedule)).unzip();
        Ok(Answer::json(&json!({ "in_force": speed, "schedule": schedule.unwrap_or_default() })))
    }

    pub(crate) fn pause(&self, input: &Input) -> Result<Answer, Problem> {
        self.steer()?.control.pause(input.text("reason").unwrap_or_default());
        done("paused: what is under way ends, and nothing new begins")
    }

    pub(crate) fn resume(&self, _: &Input) -> Result<Answer, Problem> {
        let running = self.steer()?;
        running.control.resume();
        match running.control.paused().first() {
            Some(other) => done(format!("resumed, but still paused: {}", other.reason)),
            None => done("resumed"),
        }
    }

    pub(crate) fn set_speed(&self, input: &Input) -> Result<Answer, Problem> {
        let control = &self.steer()?.control;
        let number = |name: &str| input.get(name).and_then(Value::as_f64);
        if input.get("pages_per_s").is_none() && input.get("mbit_per_s").is_none() {
            control.clear_speed();
            return done("the speed is as the configuration and the schedule say");
        }
        let limit = SpeedLimit {
            pages_per_s: number("pages_per_s"),
            bits_per_s: number("mbit_per_s").map(|mbit| mbit * 1e6),
        };
        control.set_speed(limit).map_err(refused)?;
        let words = [
            limit.pages_per_s.map(|pages| format!("{pages} requests/s")),
            limit.bits_per_s.map(|bits| format!("{} Mbit/s", bits / 1e6)),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        done(if words.is_empty() {
            "no speed limit".to_owned()
        } else {
            format!("limited to {}", words.join(" and "))
        })
    }

    pub(crate) fn checkpoint(&self, _: &Input) -> Result<Answer, Problem> {
        let number = self.steer()?.control.checkpoint_now().map_err(refused)?;
        Ok(Answer::json(&json!({ "done": format!("checkpoint {number} is being made"), "number": number })))
    }

    pub(crate) fn add_seeds(&self, input: &Input) -> Result<Answer, Problem> {
        let control = &self.steer()?.control;
        let new = control.add_seeds(input.urls("urls")?).map_err(refused)?;
        Ok(Answer::json(&json!({ "done": format!("{new} new seeds"), "new": new })))
    }

    pub(crate) fn block(&self, input: &Input) -> Result<Answer, Problem> {
        let rule = input.text("rule").unwrap_or_default();
        let new = self.steer()?.control.block(rule).map_err(refused)?;
        done(format!("{}: {rule}", if new { "blocked" } else { "was blocked already" }))
    }

    pub(crate) fn unblock(&self, input: &Input) -> Result<Answer, Problem> {
        let rule = input.text("rule").unwrap_or_default();
        match self.steer()?.control.unblock(rule).map_err(refused)? {
            true => done(format!("no longer blocked: {rule}")),
            false => Err(Problem::not_found(format!("the operator has not blocked {rule}"))),
        }
    }

    pub(crate) fn set_field(&self, input: &Input) -> Result<Answer, Problem> {
        let name = input.text("name").unwrap_or_default();
        let value = match input.get("value") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        self.steer()?.control.set_field(name, &value).map_err(refused)?;
        done(format!("{name} = {value}"))
    }

    pub(crate) fn stop(&self, _: &Input) -> Result<Answer, Problem> {
        self.steer()?.control.stop();
        done("stopping: what is under way ends, and everything is saved")
    }

    pub(crate) fn health(&self, _: &Input) -> Result<Answer, Problem> {
        let status = match self.running.as_ref().map(|running| running.control.snapshot()) {
            Some(Ok(snapshot)) => json!(snapshot.phase),
            Some(Err(_)) => json!("starting"),
            None => json!("stopped"),
        };
        Ok(Answer::json(&json!({ "status": status, "running": self.running.is_some() })))
    }
}
