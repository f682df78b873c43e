//! Settings that can be changed while the crawl runs.
//!
//! One table: name, meaning, how it is read and how it is set. A change is checked like the file itself, written to `crawl.toml`, and in
//! force within a second. What is not in the table needs a restart, or must not be within reach of whoever can open the console:
//! a command to run, for one.

use serde::Serialize;

use crate::units::{format_duration, format_size};
use crate::{Config, RawConfig};

/// A setting that can be changed while the crawl runs.
pub struct LiveField {
    /// Section and key.
    pub name: &'static str,
    /// What it means.
    pub what: &'static str,
    /// Its value in force; empty if there is none.
    pub get: fn(&Config) -> String,
    /// Sets it in the words of the configuration; nothing at all is the default.
    pub set: fn(&mut RawConfig, &str) -> Result<(), String>,
}

/// A setting with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Section and key.
    pub name: &'static str,
    /// What it means.
    pub what: &'static str,
    /// Its value in force; empty if there is none.
    pub value: String,
}

fn text(value: &str) -> Result<Option<String>, String> {
    Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
}

fn number<T: std::str::FromStr>(value: &str) -> Result<Option<T>, String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| format!("{value:?} is not a number that fits here"))
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

macro_rules! live {
    ($($name:literal, $what:literal, $get:expr, $section:ident.$key:ident = $parse:ident;)*) => {
        /// All settings that can be changed while the crawl runs.
        pub const LIVE: &[LiveField] = &[$(LiveField {
            name: $name,
            what: $what,
            get: $get,
            set: |raw, value| {
                raw.$section.$key = $parse(value)?;
                Ok(())
            },
        },)*];
    };
}

live! {
    "crawl.max_pages", "Stop after so many pages.",
        |config| shown(config.max_pages), crawl.max_pages = number;
    "politeness.delay", "Time between the end of a response and the next request to the same host.",
        |config| format_duration(config.politeness.delay), politeness.delay = text;
    "politeness.server_delay", "The same for all hosts of one server.",
        |config| format_duration(config.politeness.server_delay), politeness.server_delay = text;
    "politeness.domain_delay", "The same for all hosts of one domain.",
        |config| format_duration(config.politeness.domain_delay), politeness.domain_delay = text;
    "politeness.crawl_delay_max", "A Crawl-delay in robots.txt is obeyed up to this.",
        |config| format_duration(config.politeness.crawl_delay_max), politeness.crawl_delay_max = text;
    "politeness.retries", "How often a URL that failed for a passing reason is tried again, at most.",
        |config| config.politeness.retries_max.to_string(), politeness.retries = number;
    "speed.pages_per_s", "Requests a second, if neither the schedule nor the operator says otherwise.",
        |config| shown(config.speed.pages_per_s), speed.pages_per_s = number;
    "speed.mbit_per_s", "Megabits received a second, likewise.",
        |config| shown(config.speed.bits_per_s.map(|bits| bits / 1e6)), speed.mbit_per_s = number;
    "checkpoint.every", "The whole state is saved at the latest after this time.",
        |config| format_duration(config.checkpoint.every), checkpoint.every = text;
    "checkpoint.pages", "And after so many pages.",
        |config| config.checkpoint.pages.to_string(), checkpoint.pages = number;
    "checkpoint.disk_reserve", "With less free space on the disk than this the crawl pauses.",
        |config| format_size(config.checkpoint.disk_reserve_bytes), checkpoint.disk_reserve = text;
    "watch.disk_free_min", "With less free space than this there is an alert.",
        |config| format_size(config.watch.disk_free_bytes_min), watch.disk_free_min = text;
    "watch.stall", "There is an alert if nothing has come in for so long.",
        |config| format_duration(config.watch.stall), watch.stall = text;
    "watch.dns_failures", "And if more than this share of look-ups of names fails.",
        |config| config.watch.dns_failures.to_string(), watch.dns_failures = number;
    "watch.errors_factor", "And if so many times more requests fail than before.",
        |config| config.watch.errors_factor.to_string(), watch.errors_factor = number;
    "watch.memory_max", "And if the process has more memory than this.",
        |config| format_size(config.watch.memory_bytes_max), watch.memory_max = text;
}

/// All of them with their values.
pub(crate) fn fields(config: &Config) -> Vec<Field> {
    LIVE.iter()
        .map(|field| Field { name: field.name, what: field.what, value: (field.get)(config) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_shows_a_value_that_can_be_set_again() {
        let full = "[crawl]\nmax_pages = 7\n[politeness]\ndelay = '1500ms'\n[speed]\npages_per_s = 2.5\nmbit_per_s = 10\n";
        let raw = RawConfig::parse(full, "test").unwrap();
        let config = raw.check().unwrap();
        for field in LIVE {
            let value = (field.get)(&config);
            assert!(!value.is_empty(), "{}", field.name);
            let mut changed = raw.clone();
            (field.set)(&mut changed, &value).unwrap();
            assert_eq!((field.get)(&changed.check().unwrap()), value, "{}", field.name);
            (field.set)(&mut changed, " ").unwrap();
            changed.check().unwrap();
        }
        assert!(
            LIVE.iter().all(|field| !field.name.contains("on_alert")),
            "that would be a shell for everybody"
        );
    }

    /// The example calls exactly these live.
    #[test]
    fn the_example_says_which_ones_there_are() {
        let (mut section, mut live, mut named) = ("", false, Vec::new());
        for line in crate::config::EXAMPLE.lines() {
            let bare = line.trim_start_matches("# ");
            if let Some(name) = bare.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
                section = name;
            } else if let Some((key, _)) = bare.split_once(" = ").filter(|(key, _)| !key.contains(' ')) {
                if live {
                    named.push(format!("{section}.{key}"));
                }
            } else {
                live = line.ends_with(" (live)");
            }
        }
        let mut known: Vec<&str> = LIVE.iter().map(|field| field.name).collect();
        named.sort();
        known.sort_unstable();
        assert_eq!(named, known);
    }

    #[test]
    fn what_is_set_is_checked() {
        let set = |name: &str, value: &str| {
            let mut raw = RawConfig::default();
            let field = LIVE.iter().find(|field| field.name == name).unwrap();
            (field.set)(&mut raw, value)?;
            raw.check().map(|config| (field.get)(&config)).map_err(|error| error.to_string())
        };
        assert_eq!(set("politeness.delay", "500ms"), Ok("500ms".into()));
        assert_eq!(set("crawl.max_pages", ""), Ok(String::new()));
        assert!(set("crawl.max_pages", "many").unwrap_err().contains("number"));
        assert!(set("politeness.delay", "5").unwrap_err().contains("500ms"));
        assert!(set("speed.pages_per_s", "0").unwrap_err().contains("above 0"));
        assert!(set("checkpoint.every", "1ms").unwrap_err().contains("100ms"));
    }
}
