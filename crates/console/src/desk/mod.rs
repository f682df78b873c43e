//! What pages and programs can ask and do: of a crawl that runs in this process, or of one that does not.
//!
//! Numbers of a running crawl come from its gauges; everything about single URLs and hosts is read from its directory as of the last
//! checkpoint, the same way for both.

mod disk;
mod running;
mod stored;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mattock_env::{Env, Time};
use serde_json::{Value, json};

use crate::answer::Problem;
use crate::census::Census;
pub use running::Running;

/// How often the directory of a crawl that does not run is looked at.
const OVERVIEW_EVERY: Duration = Duration::from_secs(10);

/// Everything that a console shows and does.
pub struct Desk {
    pub(crate) env: Env,
    pub(crate) root: PathBuf,
    pub(crate) running: Option<Running>,
    census: Mutex<Option<Arc<Census>>>,
    /// The overview of a crawl that does not run, and when it was read: it changes only if another process runs it.
    overview: Mutex<Option<(Time, Value)>>,
    /// What limits the crawl, and until when that is not looked at again.
    stalls: Mutex<Option<(Time, Value)>>,
}

/// The numbers whose change is watched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
    pub(crate) queued: u64,
    pub(crate) in_flight: u64,
}

impl Desk {
    /// The desk of a crawl that runs in this process.
    pub fn running(env: &Env, root: &Path, running: Running) -> Desk {
        Desk { running: Some(running), ..Desk::stopped(env, root) }
    }

    /// The desk of a crawl that does not: everything can be read, and nothing be done.
    pub fn stopped(env: &Env, root: &Path) -> Desk {
        Desk {
            env: env.clone(),
            root: root.to_path_buf(),
            running: None,
            census: Mutex::default(),
            overview: Mutex::default(),
            stalls: Mutex::default(),
        }
    }

    /// The crawl that is steered.
    pub(crate) fn steer(&self) -> Result<&Running, Problem> {
        self.running.as_ref().ok_or_else(|| {
            Problem::conflict("the crawl is not running; `mattock crawl --out DIR` goes on with it")
        })
    }

    /// The name that people know the crawl by.
    fn name(&self) -> String {
        let whole = std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone());
        whole.file_name().unwrap_or(self.root.as_os_str()).to_string_lossy().into_owned()
    }

    fn overview(&self) -> Value {
        let mut kept = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.env.clock.now();
        match &*kept {
            Some((read, overview)) if now.since(*read) < OVERVIEW_EVERY => overview.clone(),
            _ => {
                let overview = self.saved_snapshot();
                *kept = Some((now, overview.clone()));
                overview
            }
        }
    }

    /// The numbers whose change is watched.
    pub(crate) fn reading(&self) -> Reading {
        self.running.as_ref().map(Running::reading).unwrap_or_default()
    }

    /// How the crawl is, for the overview: cheap if it runs.
    pub(crate) fn snapshot(&self) -> Value {
        let mut snapshot = match &self.running {
            Some(running) => running.snapshot(),
            None => self.overview(),
        };
        if let Value::Object(fields) = &mut snapshot {
            fields.insert("name".into(), json!(self.name()));
            fields.insert("directory".into(), json!(self.root.display().to_string()));
            fields.insert("running".into(), json!(self.running.is_some()));
            fields.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        }
        snapshot
    }
}
