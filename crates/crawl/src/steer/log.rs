//! Logs: what the program says through `tracing`, into files that are kept short and into the ring of [`Events`].
//!
//! `logs/mattock.jsonl` in the crawl's directory has one JSON object per line (`logs/mattock.log` one plain line); when it has grown
//! to its size it becomes `.1`, what was `.1` becomes `.2`, and the oldest goes. Nothing per URL is logged above `debug`, so there is no
//! need to buffer: a line is written when it is said. A disk that is full loses lines, and nothing else.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mattock_env::{Clock, Env, File, Files, OpenMode, UnixTime};
use mattock_printable::{Layout, json_on_terminal, terminal};
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::{Metadata, Subscriber};

use super::{Event, Events, Level};

/// The target of what steering says: it is in the ring already.
pub(crate) const STEER: &str = "mattock_crawl::steer";

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object per line.
    #[default]
    Json,
    /// For people.
    Text,
}

/// What is logged, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Nothing below this.
    pub level: Level,
    /// How lines are written.
    pub format: LogFormat,
    /// A file is not longer than this.
    pub file_bytes_max: u64,
    /// So many are kept; with 0 nothing is written to files at all.
    pub files_max: usize,
}

impl LogOptions {
    fn file_name(&self) -> &'static str {
        match self.format {
            LogFormat::Json => "mattock.jsonl",
            LogFormat::Text => "mattock.log",
        }
    }
}

/// Files that follow each other.
struct Rotated {
    files: Files,
    path: PathBuf,
    options: LogOptions,
    open: Option<(File, u64)>,
}

impl Rotated {
    /// The name of the file that was current so many files ago.
    fn older(&self, age: usize) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{age}"));
        PathBuf::from(name)
    }

    fn file(&mut self) -> io::Result<&mut (File, u64)> {
        if self.open.is_none() {
            let file = match self.files.entry(&self.path)? {
                Some(_) => self.files.open(&self.path, OpenMode::Write)?,
                None => self.files.open(&self.path, OpenMode::CreateNew)?,
            };
            let length = file.len()?;
            self.open = Some((file, length));
        }
        self.open.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.open = None;
        for age in (1..self.options.files_max).rev() {
            let from = if age == 1 { self.path.clone() } else { self.older(age - 1) };
            if self.files.entry(&from)?.is_some() {
                self.files.rename(&from, &self.older(age))?;
            }
        }
        if self.options.files_max == 1 {
            self.files.open(&self.path, OpenMode::CreateOrTruncate)?;
        }
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let full = self.options.file_bytes_max;
        let length = self.file()?.1;
        if length > 0 && length + line.len() as u64 > full {
            self.rotate()?;
        }
        let (file, length) = self.file()?;
        file.write_all_at(line, *length)?;
        *length += line.len() as u64;
        Ok(())
    }
}

/// Takes what is said through `tracing`. To be [installed](Logger::install) once per process.
pub struct Logger {
    clock: Clock,
    level: Level,
    format: LogFormat,
    rotated: Option<Mutex<Rotated>>,
    events: Events,
}

impl Logger {
    /// Logs into a directory, which is made if need be, and into the ring.
    pub fn new(env: &Env, directory: &Path, options: LogOptions, events: &Events) -> io::Result<Logger> {
        let rotated = if options.files_max > 0 {
            env.files.create_dir_all(directory)?;
            let path = directory.join(options.file_name());
            Some(Mutex::new(Rotated { files: env.files.clone(), path, options, open: None }))
        } else {
            None
        };
        let (level, format) = (options.level, options.format);
        Ok(Logger { clock: env.clock.clone(), level, format, rotated, events: events.clone() })
    }

    /// Has the whole process log here; whether nobody else was first.
    pub fn install(self) -> bool {
        tracing::subscriber::set_global_default(self).is_ok()
    }

    fn line(&self, event: &Event) -> String {
        let time = UnixTime::from_micros(event.unix_micros);
        match self.format {
            LogFormat::Json => {
                let mut object = serde_json::Map::new();
                let mut put = |name: &str, value: &str| object.insert(name.to_owned(), value.into());
                put("time", &time.to_string());
                put("level", event.level.name());
                put("kind", &event.kind);
                put("text", &event.text);
                for (name, value) in &event.fields {
                    // Names of ours are not to be taken by those of an event.
                    object.entry(name.clone()).or_insert_with(|| value.as_str().into());
                }
                let line = serde_json::Value::Object(object).to_string();
                json_on_terminal(&line).into_owned() + "\n"
            }
            LogFormat::Text => {
                let mut line = format!("{time} {:5} {}: {}", event.level.name(), event.kind, event.text);
                for (name, value) in &event.fields {
                    line.push_str(&format!(" {name}={value:?}"));
                }
                // An event is one line, and does nothing to the terminal that it is read on.
                terminal(&line, Layout::Line).into_owned() + "\n"
            }
        }
    }

    fn log(&self, level: Level, target: &str, text: String, fields: BTreeMap<String, String>) {
        let unix_micros = self.clock.unix().as_micros();
        let mut kind = target.strip_prefix("mattock_").unwrap_or(target).to_owned();
        let mut fields = fields;
        if target == STEER {
            kind = fields.remove("kind").unwrap_or(kind);
        } else {
            self.events.add(unix_micros, level, &kind, text.clone(), fields.clone());
        }
        let Some(rotated) = &self.rotated else { return };
        let line = self.line(&Event { seq: 0, unix_micros, level, kind, text, fields });
        // If it cannot be written there is nobody to tell.
        let _ = rotated.lock().unwrap_or_else(PoisonError::into_inner).write(line.as_bytes());
    }
}

fn level_of(level: tracing::Level) -> Level {
    match level {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warn,
        tracing::Level::INFO => Level::Info,
        _ => Level::Debug,
    }
}

/// Collects what an event says.
#[derive(Default)]
struct Said {
    text: String,
    fields: BTreeMap<String, String>,
}

impl Said {
    fn put(&mut self, field: &Field, value: String) {
        if field.name() == "message" {
            self.text = value;
        } else {
            self.fields.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}

/// Spans mean nothing here: an event says all there is to say.
impl Subscriber for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if !metadata.is_event() {
            return false;
        }
        let level = level_of(*metadata.level());
        let ours = metadata.target().starts_with("mattock");
        *metadata.level() <= tracing::Level::DEBUG && level >= self.level && (ours || level >= Level::Warn)
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(match self.level {
            Level::Debug => tracing::Level::DEBUG.into(),
            Level::Info => tracing::Level::INFO.into(),
            Level::Warn => tracing::Level::WARN.into(),
            Level::Error => tracing::Level::ERROR.into(),
        })
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut said = Said::default();
        event.record(&mut said);
        self.log(level_of(*event.metadata().level()), event.metadata().target(), said.text, said.fields);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;

    fn options(format: LogFormat) -> LogOptions {
        LogOptions { level: Level::Info, format, file_bytes_max: 1000, files_max: 3 }
    }

    #[test]
    fn files_follow_each_other_and_the_oldest_goes() {
        Simulation::new(1).run(|env| async move {
            let (dir, events) = (Path::new("/logs"), Events::default());
            for run in 0..2 {
                let logger = Logger::new(&env, dir, options(LogFormat::Json), &events).unwrap();
                tracing::subscriber::with_default(logger, || {
                    for number in 0..40 {
                        tracing::info!(
                            number,
                            run,
                            url = "http://a.com/\u{1b}[31m\u{9b}\u{2028}",
                            "something came"
                        );
                    }
                    tracing::debug!("nobody wants to know");
                });
            }
            let names: Vec<String> =
                env.files.list(dir).unwrap().into_iter().map(|entry| entry.name).collect();
            assert_eq!(names, ["mattock.jsonl", "mattock.jsonl.1", "mattock.jsonl.2"]);
            let mut numbers = Vec::new();
            for name in names.iter().rev() {
                let bytes = env.files.read(&dir.join(name)).unwrap();
                assert!(bytes.len() <= 1000 && !bytes.contains(&0x1b) && bytes.is_ascii(), "{name}");
                for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    let value: serde_json::Value = serde_json::from_slice(line).unwrap();
                    assert_eq!((&value["text"], &value["level"]), (&"something came".into(), &"info".into()));
                    assert_eq!(value["url"], "http://a.com/\u{1b}[31m\u{9b}\u{2028}");
                    numbers.push(value["number"].as_str().unwrap().parse::<u64>().unwrap());
                }
            }
            let count = numbers.len() as u64;
            assert_eq!(numbers, (40 - count..40).collect::<Vec<_>>(), "the last ones, in order");
            assert_eq!(events.last(), 80);
            assert_eq!(events.since(0)[0].kind, "crawl::steer::log::tests");
        });
    }

    #[test]
    fn text_has_no_control_characters() {
        Simulation::new(1).run(|env| async move {
            let logger = Logger::new(&env, Path::new("/logs"), options(LogFormat::Text), &Events::default());
            tracing::subscriber::with_default(logger.unwrap(), || {
                tracing::warn!(a = "x\ny", "red \u{1b}[31m\n")
            });
            let text = String::from_utf8(env.files.read(Path::new("/logs/mattock.log")).unwrap()).unwrap();
            let line =
                "2007-06-09T00:00:00Z warn  crawl::steer::log::tests: red \\u{1b}[31m\\n a=\"x\\ny\"\n";
            assert_eq!(text, line);
        });
    }
}
