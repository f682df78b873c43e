//! Verifying a saved frontier: every byte of a checkpoint is read, and its parts are held against each other.
//!
//! Nothing is written, and whoever works on the frontier is not disturbed. If he has moved on meanwhile, files are missing: the
//! caller sees whether the checkpoint still counts, and looks at the newer one if not.
//!
//! Costs: reads all files of the checkpoint once; memory as for one block of each.

use std::path::{Path, PathBuf};

use mattock_drum::{DrumError, FirstInstance, HostData, Problem, Sources, Value, View};
use mattock_env::Env;
use mattock_queue::QueueError;

use crate::accounts::Accounts;
use crate::error::{FrontierError, Result};
use crate::state::{self, Saved};
use crate::{Frontier, record, star};

/// What was found in the files of a checkpoint.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Files that are damaged, but are kept twice and can be [mended](Frontier::mend_twins).
    pub twins: Vec<PathBuf>,
    /// What became of the URLs, as the state says; `None` if it cannot be read.
    pub accounts: Option<Accounts>,
    /// URLs that wait; `None` if something is wrong.
    pub waiting: Option<u64>,
}

impl Frontier {
    /// Reads all of checkpoint `number` in `dir` and tells what is wrong with it. `done` hears of every directory that is through.
    pub fn verify(env: &Env, dir: &Path, number: u64, mut done: impl FnMut(&Path)) -> Verified {
        let mut verifier = Verifier { env, dir, problems: Vec::new() };
        let state = dir.join(state::name(number));
        let saved = match state::read(env, dir, number) {
            Ok(saved) => saved,
            Err(error) => {
                verifier.add(&state, error);
                None
            }
        };
        done(&state);
        let mut verified = Verified::default();
        if let Some(saved) = &saved {
            verified.accounts = Some(saved.accounts);
            verified.waiting = verifier.parts(&state, saved, &mut done);
        }
        verified.problems = verifier.problems;
        verified.twins = Frontier::damaged_twins(env, dir, number);
        verified
    }

    /// The states of other checkpoints than `number` in `dir`: what an interrupted run has left. The next one removes them.
    pub fn leftovers(env: &Env, dir: &Path, number: u64) -> Result<Vec<PathBuf>> {
        let io = |source| FrontierError::Io { path: dir.to_owned(), source };
        if env.files.entry(dir).map_err(io)?.is_none_or(|entry| !entry.is_dir) {
            return Ok(Vec::new());
        }
        let entries = env.files.list(dir).map_err(io)?.into_iter();
        let others = entries.filter(|entry| state::number_of(&entry.name).is_some_and(|of| of != number));
        Ok(others.map(|entry| dir.join(entry.name)).collect())
    }
}

struct Verifier<'a> {
    env: &'a Env,
    dir: &'a Path,
    problems: Vec<Problem>,
}

impl Verifier<'_> {
    /// Something that is wrong with a file, told without naming it again.
    fn add(&mut self, path: &Path, error: FrontierError) {
        let what = match error {
            FrontierError::State { problem, .. } => problem.to_string(),
            FrontierError::Io { source, .. } => source.to_string(),
            FrontierError::Drum(DrumError::NoSuchCheckpoint { number, .. })
            | FrontierError::Queue(QueueError::NoSuchCheckpoint { number, .. }) => {
                format!("checkpoint {number} is not there, and the state belongs to it")
            }
            other => other.to_string(),
        };
        self.problems.push(Problem { path: path.to_owned(), offset: 0, what });
    }

    fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), offset: 0, what: what.into() });
    }

    /// Verifies what a state belongs to; how many URLs wait, if nothing is wrong.
    fn parts(&mut self, state: &Path, saved: &Saved, done: &mut impl FnMut(&Path)) -> Option<u64> {
        let at = saved.checkpoints;
        self.repository::<()>("seen", at.seen, done);
        self.repository::<HostData>("robots", at.robots, done);
        self.repository::<FirstInstance>("content", at.content, done);
        let star = saved.budgets.as_ref().map(|(star, _)| star::checkpoint_and_waiting(star));
        let waiting_for_star = match star {
            None => 0,
            Some(Some((checkpoint, waiting))) => {
                self.repository::<Sources>("degrees", checkpoint, done);
                waiting
            }
            Some(None) => {
                self.note(state, "what it says of budgets cannot be read");
                0
            }
        };
        let dir = self.dir.join("queues");
        match mattock_queue::View::verify(self.env, &dir, at.queues) {
            Ok(problems) => self.problems.extend(problems),
            Err(error) => self.add(&dir, error.into()),
        }
        let in_queues = if self.problems.is_empty() { self.queues(state, &dir, saved) } else { None };
        done(&dir);
        let on_bench: usize = saved.hosts.iter().map(|host| host.requests.len()).sum();
        Some((on_bench + saved.deferred.len()) as u64 + waiting_for_star + in_queues?)
    }

    fn repository<V: Value>(&mut self, name: &str, number: u64, done: &mut impl FnMut(&Path)) {
        let dir = self.dir.join(name);
        match View::<V>::verify(self.env, &dir, number) {
            Ok(problems) => self.problems.extend(problems),
            Err(error) => self.add(&dir, error.into()),
        }
        done(&dir);
    }

    /// Whether every record can be read, and as many wait behind hosts as the hosts know of; how many records there are.
    fn queues(&mut self, state: &Path, dir: &Path, saved: &Saved) -> Option<u64> {
        let view = match mattock_queue::View::open(self.env, dir, saved.checkpoints.queues) {
            Ok(view) => view,
            Err(error) => {
                self.add(dir, error.into());
                return None;
            }
        };
        let (mut records, mut behind, mut unreadable) = (0, 0, 0u64);
        for name in view.names() {
            let length = view.len(name);
            records += length;
            behind += if name.starts_with("over-") { length } else { 0 };
            // There the domain stands before the record.
            let head = if name.ends_with("-over") { 8 } else { 0 };
            let visited = view.scan(name, |record| {
                let request = record.get(head..).and_then(record::decode);
                unreadable += u64::from(request.is_none());
            });
            if let Err(error) = visited {
                self.add(dir, error.into());
                return None;
            }
        }
        if unreadable > 0 {
            self.note(dir, format!("{unreadable} records are intact but are no requests"));
        }
        let known: u64 = saved.hosts.iter().map(|host| host.overflow).sum();
        if behind != known {
            self.note(state, format!("{behind} URLs wait on disk behind their hosts, which know of {known}"));
        }
        Some(records)
    }
}
