//! The file `STATUS`: what a running crawl is doing, for who looks on from outside.
//!
//! Written by the process that crawls, every [`EVERY`], by renaming a whole file over the one before; not synced, as nobody needs it after a
//! crash. Gone when a run has ended in good order; one that was killed leaves it behind, and its age shows that.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Files, OpenMode, UnixTime};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::directory::Directory;
use crate::steer::SpeedLimit;
use crate::{Config, Control, Progress, sealed};

const TITLE: &str = "mattock status";
const VERSION: u32 = 1;
const EVERY: Duration = Duration::from_secs(1);
/// Rates are those of the time in which it was written so often.
const WINDOW: usize = 5;
/// All are at least as long as this: one can be written over another on a disk that is full.
const BYTES_MIN: usize = 2048;
/// Older than this, its process is gone or stands still.
const FRESH: Duration = Duration::from_secs(20);

/// What a running crawl is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// When it said so: microseconds since 1970.
    pub unix_micros: i64,
    /// How long the run takes already.
    pub seconds: f64,
    /// Pages (status 200) in all runs.
    pub pages: u64,
    /// Pages a second, lately.
    pub pages_per_s: f64,
    /// Bytes received a second, lately.
    pub bytes_per_s: f64,
    /// Visits and look-ups under way.
    pub in_flight: u64,
    /// Look-ups of addresses among them.
    pub locating: u64,
    /// As many as there may be.
    pub connections: u64,
    /// URLs that wait.
    pub queued: u64,
    /// Hosts on the workbench.
    pub hosts: u64,
    /// CPU seconds a second, lately; all threads together. Unknown on virtual time.
    pub cpu: Option<f64>,
    /// Bytes free on the disk.
    pub free_bytes: Option<u64>,
    /// Why the crawl stands still, if somebody should do something about it.
    pub trouble: Option<String>,
    /// Why nothing begins, if the crawl pauses.
    pub paused: Option<String>,
    /// Requests a second, lately.
    pub requests_per_s: f64,
    /// How fast it may be.
    pub speed: SpeedLimit,
}

impl Status {
    /// Reads the file; `None` if there is none, or none that can be read.
    pub(crate) fn read(files: &Files, path: &Path) -> Option<Status> {
        let bytes = files.read(path).ok()?;
        let whole = [bytes.trim_ascii_end(), b"\n"].concat();
        sealed::decode(TITLE, VERSION, &whole).ok()
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = sealed::encode(TITLE, VERSION, self);
        bytes.resize(bytes.len().max(BYTES_MIN), b'\n');
        bytes
    }

    /// Whether the process that wrote it must still be at work.
    pub fn is_fresh(&self, now: UnixTime) -> bool {
        // A little in the future: clocks are set.
        let age = now.as_micros() - self.unix_micros;
        age.unsigned_abs() <= FRESH.as_micros() as u64
    }
}

/// Keeps the file true until it is dropped.
pub(crate) struct Reporter {
    files: Files,
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Reporter {
    pub(crate) fn begin(
        env: &Env,
        directory: &Directory,
        config: &Config,
        progress: &Arc<Progress>,
        control: &Control,
    ) -> Reporter {
        let (files, path) = (env.files.clone(), directory.status());
        let connections = config.connections as u64;
        let root = directory.root().to_owned();
        let task = report(env.clone(), root, path.clone(), connections, progress.clone(), control.clone());
        Reporter { files, path, task: tokio::task::spawn_local(task) }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.task.abort();
        let _ = self.files.remove_file(&self.path);
    }
}

/// Writes for ever.
async fn report(
    env: Env,
    root: PathBuf,
    path: PathBuf,
    connections: u64,
    progress: Arc<Progress>,
    control: Control,
) {
    let begun = env.clock.now();
    let cpu = || mattock_env::cpu_seconds().filter(|_| !env.is_simulated());
    let mut earlier = VecDeque::from([(begun, progress.read(), cpu())]);
    loop {
        let (now, reading, cpu_now) = (env.clock.now(), progress.read(), cpu());
        let (before_at, before, cpu_before) = earlier[0];
        let seconds = now.since(before_at).as_secs_f64().max(0.001);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let status = Status {
            unix_micros: env.clock.unix().as_micros(),
            seconds: now.since(begun).as_secs_f64(),
            pages: reading.pages,
            pages_per_s: rate(reading.pages, before.pages),
            bytes_per_s: rate(reading.bytes, before.bytes),
            in_flight: reading.in_flight,
            locating: reading.locating,
            connections,
            queued: reading.queued,
            hosts: reading.hosts,
            cpu: cpu_now.zip(cpu_before).map(|(now, before)| (now - before) / seconds),
            free_bytes: env.files.free_bytes(&root).ok(),
            trouble: progress.trouble(),
            paused: control.paused().pop().map(|paused| paused.reason),
            requests_per_s: rate(reading.requests, before.requests),
            speed: control.speed().limit,
        };
        // If it cannot be written, there are others to say why.
        let _ = write(&env.files, &path, &status.encode());
        earlier.push_back((now, reading, cpu_now));
        if earlier.len() > WINDOW {
            earlier.pop_front();
        }
        env.clock.sleep(EVERY).await;
    }
}

fn write(files: &Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let whole = files
        .open(&temporary, OpenMode::CreateOrTruncate)
        .and_then(|file| file.write_all_at(bytes, 0))
        .and_then(|()| files.rename(&temporary, path));
    // On a full disk there is still the place of the one before.
    whole.or_else(|_| {
        let _ = files.remove_file(&temporary);
        let file = files.open(path, OpenMode::Write)?;
        file.write_all_at(bytes, 0)?;
        file.set_len(bytes.len() as u64)
    })
}
