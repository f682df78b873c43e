//! `mattock ctl`: what the console can do, on the command line, through the crawl's own socket.

use std::time::Duration;

use anyhow::bail;
use indicatif::{HumanBytes, HumanCount};
use mattock_console::{Client, ConsoleError};
use mattock_crawl::SavedCrawl;
use mattock_env::{Env, UnixTime};
use serde_json::{Value, json};

use crate::args::desk::{CtlArgs, CtlCommand};
use crate::exit::Ended;
use crate::output;
use crate::places;

/// How often it is looked whether what was asked for is there.
const LOOK: Duration = Duration::from_millis(100);
/// A checkpoint that takes longer is given up on.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn run(args: &CtlArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    let ctl = Ctl { client: Client::new(&args.dir, &env.clock), json: args.json, env: &env };
    ctl.carry_out(&args.command)?;
    Ok(Ended::Done)
}

struct Ctl<'a> {
    client: Client,
    json: bool,
    env: &'a Env,
}

impl Ctl<'_> {
    fn carry_out(&self, command: &CtlCommand) -> anyhow::Result<()> {
        match command {
            CtlCommand::Status => self.show(&self.client.get("/api/v1/snapshot")?, status),
            CtlCommand::Pause { reason } => {
                let body = reason.as_ref().map_or(json!({}), |reason| json!({ "reason": reason }));
                self.act("pause", &body)
            }
            CtlCommand::Resume => self.act("resume", &json!({})),
            CtlCommand::Speed { pages: None, mbit: None, unlimited: false, configured: false } => self
                .show(&self.client.get("/api/v1/speed")?, |speed| {
                    format!("{}\n", speed_text(&speed["in_force"]))
                }),
            CtlCommand::Speed { configured: true, .. } => self.act("speed", &json!({})),
            CtlCommand::Speed { pages, mbit, .. } => {
                self.act("speed", &json!({ "pages_per_s": pages, "mbit_per_s": mbit }))
            }
            CtlCommand::Checkpoint { wait } => self.checkpoint(*wait),
            CtlCommand::Block { rule } if rule.is_empty() => {
                self.show(&self.client.get("/api/v1/blocks")?, |blocks| lines(&blocks["rules"]))
            }
            CtlCommand::Block { rule } => self.act("blocks", &json!({ "rule": rule.join(" ") })),
            CtlCommand::Unblock { rule } => self.act("blocks/remove", &json!({ "rule": rule.join(" ") })),
            CtlCommand::Seed { urls } => self.act("seeds", &json!({ "urls": urls })),
            CtlCommand::Set { name: Some(name), value } => {
                self.act("fields", &json!({ "name": name, "value": value.as_deref().unwrap_or_default() }))
            }
            CtlCommand::Set { name: None, .. } => self.show(&self.client.get("/api/v1/fields")?, fields),
            CtlCommand::Log { level, number, follow } => self.log(level.name(), *number, *follow),
            CtlCommand::Stop { wait } => self.stop(*wait),
        }
    }

    /// Prints an answer, for programs or for people.
    fn show(&self, answer: &Value, words: impl Fn(&Value) -> String) -> anyhow::Result<()> {
        if self.json {
            return output::print_json(answer);
        }
        Ok(output::print(&words(answer))?)
    }

    /// Asks for a change, and says what came of it.
    fn act(&self, path: &str, body: &Value) -> anyhow::Result<()> {
        self.told(&self.client.post(&format!("/api/v1/{path}"), body)?)
    }

    fn told(&self, answer: &Value) -> anyhow::Result<()> {
        self.show(answer, |answer| format!("{}\n", answer["done"].as_str().unwrap_or("done")))
    }

    fn sleep(&self, time: Duration) {
        mattock_env::run(self.env.clock.sleep(time));
    }

    fn checkpoint(&self, wait: bool) -> anyhow::Result<()> {
        let answer = self.client.post("/api/v1/checkpoint", &json!({}))?;
        let number = answer["number"].as_u64().unwrap_or_default();
        if !wait {
            return self.told(&answer);
        }
        let begun = self.env.clock.now();
        while self.client.get("/api/v1/snapshot")?["checkpoint"]["number"].as_u64().unwrap_or_default()
            < number
        {
            if self.env.clock.now().since(begun) > CHECKPOINT_PATIENCE {
                bail!(
                    "checkpoint {number} is not there yet; `mattock ctl DIR status` says what the crawl is doing"
                );
            }
            self.sleep(LOOK);
        }
        self.told(&json!({ "done": format!("checkpoint {number} is made"), "number": number }))
    }

    fn stop(&self, wait: bool) -> anyhow::Result<()> {
        let before =
            self.client.get("/api/v1/snapshot")?["checkpoint"]["number"].as_u64().unwrap_or_default();
        let answer = self.client.post("/api/v1/stop", &json!({}))?;
        while wait && !matches!(self.client.get("/api/v1/snapshot"), Err(ConsoleError::NotRunning { .. })) {
            self.sleep(LOOK);
        }
        if !wait {
            return self.told(&answer);
        }
        // It may also have been killed, or have had no room for its last checkpoint.
        let saved = SavedCrawl::open(self.env, self.client.directory())?;
        if saved.end().is_none() || saved.number() < before {
            bail!("the run has ended, but not in good order: it is at checkpoint {}", saved.number());
        }
        self.told(&json!({ "done": "stopped; everything is saved" }))
    }

    fn log(&self, level: &str, number: u32, follow: bool) -> anyhow::Result<()> {
        let (mut since, mut limit) = (0, number);
        loop {
            let path = format!("/api/v1/events?since={since}&level={level}&limit={limit}");
            let answer = match self.client.get(&path) {
                // It was followed to its end.
                Err(ConsoleError::NotRunning { .. } | ConsoleError::Talk(_)) if since > 0 => return Ok(()),
                other => other?,
            };
            let events = answer["events"].as_array().map(Vec::as_slice).unwrap_or_default();
            if self.json && !follow {
                return output::print_json(&answer);
            }
            for event in events {
                match self.json {
                    true => output::print_json(event)?,
                    false => output::print(&format!("{}\n", event_line(event)))?,
                }
            }
            if !follow {
                return Ok(());
            }
            (since, limit) = (answer["last"].as_u64().unwrap_or(since), 5000);
            self.sleep(LOOK * 5);
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn lines(list: &Value) -> String {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(|line| format!("{}\n", output::line(line))).collect()
}

fn event_line(event: &Value) -> String {
    let time = UnixTime::from_micros(event["unix_micros"].as_i64().unwrap_or_default()).to_seconds_string();
    let fields = event["fields"].as_object().into_iter().flatten();
    let fields: String =
        fields.map(|(name, value)| format!(" {name}={}", value.as_str().unwrap_or_default())).collect();
    let (level, kind, text) = (text(event, "level"), text(event, "kind"), text(event, "text"));
    output::line(&format!("{time} {level:<5} {kind}: {text}{fields}")).into_owned()
}

fn fields(answer: &Value) -> String {
    let list = answer["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .map(|field| {
            let value = Some(text(field, "value")).filter(|value| !value.is_empty()).unwrap_or("-");
            format!("{:<28} {:<10} {}\n", text(field, "name"), value, text(field, "about"))
        })
        .collect()
}

fn speed_text(speed: &Value) -> String {
    let limit = &speed["limit"];
    let words = [
        limit["pages_per_s"].as_f64().map(|pages| format!("{pages} requests/s")),
        limit["bits_per_s"].as_f64().map(|bits| format!("{} Mbit/s", bits / 1e6)),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let limit = if words.is_empty() { "no limit".to_owned() } else { words.join(", ") };
    format!("{limit} (by {})", speed["source"].as_str().unwrap_or("nobody"))
}

fn status(snapshot: &Value) -> String {
    let (now, rates) = (&snapshot["now"], &snapshot["rates"]);
    let count = |value: &Value| HumanCount(value.as_u64().unwrap_or_default()).to_string();
    let bytes =
        |value: &Value| value.as_u64().map_or("unknown".to_owned(), |bytes| HumanBytes(bytes).to_string());
    let rate = |name: &str| rates[name].as_f64().unwrap_or_default();
    let checkpoint = &snapshot["checkpoint"];
    let mut rows = vec![
        ("phase", text(snapshot, "phase").to_owned()),
        ("pages", count(&now["pages"])),
        ("waiting", format!("{} of {} URLs seen", count(&now["queued"]), count(&now["seen"]))),
        (
            "speed",
            format!(
                "{:.1} pages/s, {:.1} requests/s, {:.1} Mbit/s",
                rate("pages_per_s_10"),
                rate("requests_per_s_10"),
                rate("bytes_per_s_10") * 8.0 / 1e6
            ),
        ),
        ("limit", speed_text(&snapshot["speed"])),
        ("under way", format!("{} of {}", count(&now["in_flight"]), count(&snapshot["connections"]))),
        (
            "memory",
            format!(
                "{} of {}",
                bytes(&snapshot["memory"]["resident_bytes"]),
                bytes(&snapshot["memory"]["limit_bytes"])
            ),
        ),
        ("disk", format!("{} free", bytes(&snapshot["disk"]["free_bytes"]))),
        (
            "checkpoint",
            match checkpoint["number"].as_u64() {
                Some(number @ 1..) => {
                    let time = UnixTime::from_micros(checkpoint["unix_micros"].as_i64().unwrap_or_default());
                    format!("{number}, made at {}", time.to_seconds_string())
                }
                _ => "none yet".to_owned(),
            },
        ),
    ];
    for pause in snapshot["paused"].as_array().into_iter().flatten() {
        rows.push(("paused", format!("by {}: {}", text(pause, "by"), text(pause, "reason"))));
    }
    for alert in snapshot["alerts"].as_array().into_iter().flatten() {
        rows.push(("alert", format!("{}: {}", text(alert, "kind"), text(alert, "text"))));
    }
    rows.into_iter().map(|(name, value)| format!("{name:<11} {}\n", output::line(&value))).collect()
}
