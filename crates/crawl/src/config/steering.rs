//! `[speed]`, `[[schedule]]`, `[watch]` and `[log]`: what operators care for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checked::{duration, factor, size, wrong};
use super::{ConfigError, RawLog, RawSpeed, RawWatch};
use crate::steer::log::{LogFormat, LogOptions};
use crate::steer::{Days, Level, Schedule, ScheduleEntry, SpeedLimit, WatchOptions, Zone};

const DISK_FREE_BYTES_MIN: u64 = 1 << 30;
const STALL: Duration = Duration::from_secs(600);
const DNS_FAILURES: f64 = 0.5;
const ERRORS_FACTOR: f64 = 3.0;
/// Beside what the frontier has: connections, pages that are being read, the program itself.
const MEMORY_BESIDE_BYTES: u64 = 512 << 20;
const LOG_FILE_BYTES: u64 = 16 << 20;
const LOG_FILES: usize = 8;

/// An entry of the schedule, in a file's words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSchedule {
    /// From when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// On which days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<Vec<String>>,
    /// In which time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Requests a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages_per_s: Option<f64>,
    /// Megabits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mbit_per_s: Option<f64>,
    /// Whether nothing is fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<bool>,
}

fn limit(
    keys: (&'static str, &'static str),
    pages_per_s: Option<f64>,
    mbit_per_s: Option<f64>,
) -> Result<SpeedLimit, ConfigError> {
    let limit = SpeedLimit { pages_per_s, bits_per_s: mbit_per_s.map(|mbit| mbit * 1e6) };
    match limit.problem() {
        None => Ok(limit),
        Some(problem) => {
            let pages = SpeedLimit { bits_per_s: None, ..limit };
            Err(wrong(if pages.problem().is_some() { keys.0 } else { keys.1 })(problem.to_owned()))
        }
    }
}

pub(super) fn speed(raw: &RawSpeed) -> Result<SpeedLimit, ConfigError> {
    limit(("speed.pages_per_s", "speed.mbit_per_s"), raw.pages_per_s, raw.mbit_per_s)
}

pub(super) fn schedule(raw: &[RawSchedule]) -> Result<Schedule, ConfigError> {
    Ok(Schedule { entries: raw.iter().map(entry).collect::<Result<_, _>>()? })
}

fn entry(raw: &RawSchedule) -> Result<ScheduleEntry, ConfigError> {
    let time = |key: &'static str, text: &Option<String>| match text {
        Some(text) => crate::steer::parse_time(text).map_err(wrong(key)),
        None => Err(wrong(key)("every entry needs it; write it like 08:00".to_owned())),
    };
    let limit = limit(("schedule.pages_per_s", "schedule.mbit_per_s"), raw.pages_per_s, raw.mbit_per_s)?;
    let pause = raw.pause.unwrap_or(false);
    if !pause && limit == SpeedLimit::NONE {
        let message = "the entry says nothing; give it pages_per_s, mbit_per_s or pause = true";
        return Err(wrong("schedule.pages_per_s")(message.to_owned()));
    }
    Ok(ScheduleEntry {
        from_min: time("schedule.from", &raw.from)?,
        to_min: time("schedule.to", &raw.to)?,
        days: raw.days.as_deref().map_or(Ok(Days::ALL), Days::parse).map_err(wrong("schedule.days"))?,
        zone: raw
            .timezone
            .as_deref()
            .map_or(Ok(Zone::Local), Zone::parse)
            .map_err(wrong("schedule.timezone"))?,
        limit,
        pause,
    })
}

pub(super) fn watch(raw: &RawWatch, memory_bytes: u64) -> Result<WatchOptions, ConfigError> {
    let stall = duration("watch.stall", &raw.stall, STALL)?;
    if stall < Duration::from_secs(10) {
        return Err(wrong("watch.stall")("it must be at least 10s".into()));
    }
    let memory = memory_bytes + memory_bytes / 4 + MEMORY_BESIDE_BYTES;
    Ok(WatchOptions {
        disk_free_bytes_min: size("watch.disk_free_min", &raw.disk_free_min, DISK_FREE_BYTES_MIN)?,
        stall,
        dns_failures: factor("watch.dns_failures", raw.dns_failures, DNS_FAILURES, 0.0..=1.0)?,
        errors_factor: factor("watch.errors_factor", raw.errors_factor, ERRORS_FACTOR, 1.0..=1000.0)?,
        memory_bytes_max: size("watch.memory_max", &raw.memory_max, memory)?,
        on_alert: raw.on_alert.clone().filter(|command| !command.trim().is_empty()),
    })
}

pub(super) fn log(raw: &RawLog) -> Result<LogOptions, ConfigError> {
    let level = match raw.level.as_deref() {
        None | Some("info") => Level::Info,
        Some("debug") => Level::Debug,
        Some("warn") => Level::Warn,
        Some("error") => Level::Error,
        Some(other) => {
            let message = format!("{other:?} is no level; use debug, info, warn or error");
            return Err(wrong("log.level")(message));
        }
    };
    let format = match raw.format.as_deref() {
        None | Some("json") => LogFormat::Json,
        Some("text") => LogFormat::Text,
        Some(other) => return Err(wrong("log.format")(format!("{other:?} is no format; use json or text"))),
    };
    let file_bytes_max = size("log.file_size", &raw.file_size, LOG_FILE_BYTES)?;
    if file_bytes_max < 4096 {
        return Err(wrong("log.file_size")("it must be at least 4KiB".into()));
    }
    Ok(LogOptions { level, format, file_bytes_max, files_max: raw.files.unwrap_or(LOG_FILES) })
}

#[cfg(test)]
mod tests {
    use super::super::RawConfig;

    #[test]
    fn wrong_values_are_named() {
        for (text, key, hint) in [
            ("[speed]\npages_per_s = 0", "speed.pages_per_s", "above 0"),
            ("[speed]\nmbit_per_s = -1.5", "speed.mbit_per_s", "above 0"),
            ("[[schedule]]\nfrom = '8'\nto = '18:00'\npause = true", "schedule.from", "08:00"),
            ("[[schedule]]\nfrom = '08:00'\npause = true", "schedule.to", "08:00"),
            ("[[schedule]]\nfrom = '08:00'\nto = '18:00'", "schedule.pages_per_s", "pause = true"),
            (
                "[[schedule]]\nfrom = '08:00'\nto = '18:00'\npause = true\ndays = ['x']",
                "schedule.days",
                "mon, tue",
            ),
            (
                "[[schedule]]\nfrom = '08:00'\nto = '18:00'\npause = true\ntimezone = 'CET'",
                "schedule.timezone",
                "+01:00",
            ),
            ("[watch]\nstall = '1s'", "watch.stall", "10s"),
            ("[watch]\ndns_failures = 2", "watch.dns_failures", "between 0 and 1"),
            ("[log]\nlevel = 'loud'", "log.level", "warn"),
            ("[log]\nformat = 'xml'", "log.format", "json"),
            ("[log]\nfile_size = '1B'", "log.file_size", "4KiB"),
        ] {
            let error = RawConfig::parse(text, "ours.toml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("ours.toml: {key}: ")) && error.contains(hint), "{error}");
        }
        let slip = RawConfig::parse("[[schedule]]\nform = '08:00'", "ours.toml").unwrap_err().to_string();
        assert_eq!(slip, "ours.toml: unknown key `schedule.form`; did you mean `schedule.from`?");
    }

    #[test]
    fn a_schedule_is_kept_as_it_is_written() {
        let text = "[speed]\npages_per_s = 100\n[[schedule]]\nfrom = '08:00'\nto = '18:00'\ndays = ['mon']\n\
                    mbit_per_s = 2.5\n[[schedule]]\nfrom = '22:00'\nto = '06:00'\ntimezone = 'UTC'\npause = true\n";
        let raw = RawConfig::parse(text, "file").unwrap();
        assert_eq!(RawConfig::parse(&raw.to_toml(), "again").unwrap(), raw);
        let config = raw.check().unwrap();
        assert_eq!(config.speed.pages_per_s, Some(100.0));
        let entries = &config.schedule.entries;
        assert_eq!((entries[0].limit.bits_per_s, entries[0].pause), (Some(2.5e6), false));
        assert_eq!((entries[1].from_min, entries[1].to_min, entries[1].pause), (1320, 360, true));
        // Another schedule takes the place of the whole.
        let other =
            RawConfig::parse("[[schedule]]\nfrom = '1:00'\nto = '2:00'\npause = true", "other").unwrap();
        assert_eq!(other.or(raw).check().unwrap().schedule.entries.len(), 1);
    }
}
