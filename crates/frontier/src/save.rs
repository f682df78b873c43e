//! Saving the frontier while it works, and taking it up again.
//!
//! Repositories and queues make checkpoints of their own, in the background. [`Frontier::begin_save`] begins one of each at the same
//! moment and encodes what is only in RAM: counts, the bench with its hosts, what waits for another try, and the visits that
//! are under way, as not yet made. That is all the caller waits for. When [`Frontier::finished_save`] says so, all of it is durable, and the
//! file `STATE-N` names what belongs to checkpoint N. Whether N is the one that a restart goes back to is the caller's
//! decision, who has other things to make durable: until [`Frontier::committed`] the one before can be opened as well.
//!
//! Costs: one pass over the bench, about 100 ns for a URL on it; nothing grows with the crawl.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::{Env, Lane, Step, Time, copy_path};
use mattock_queue::Capture;
use mattock_weburl::WebUrl;

use crate::Request;
use crate::budget::Budget;
use crate::error::{FrontierError, Result};
use crate::frontier::{DeferredRequest, Frontier};
use crate::state::{self, Checkpoints, Saved, SavedHost};

/// A save that is being written.
pub(crate) struct Saving {
    number: u64,
    checkpoints: Checkpoints,
    queues: Option<Capture>,
    /// Parts that are not durable yet.
    seen: bool,
    robots: bool,
    content: bool,
    budget: bool,
    state: Arc<Mutex<Option<io::Result<()>>>>,
    state_written: bool,
}

/// What is known of saves.
pub(crate) struct Saves {
    lane: Lane,
    under_way: Option<Saving>,
    /// Durable states that are not needed any more once a later one is committed.
    durable: Vec<(u64, Checkpoints)>,
    /// Files of earlier ones that are to be removed.
    useless: Vec<PathBuf>,
}

impl Saves {
    pub(crate) fn new(env: &Env) -> Saves {
        let lane = env.workers.lane("frontier state", 1);
        Saves { lane, under_way: None, durable: Vec::new(), useless: Vec::new() }
    }
}

impl Frontier {
    /// The newest checkpoint that was written in `dir`, committed or not; 0 if there is none.
    pub fn newest(env: &Env, dir: &Path) -> Result<u64> {
        let io = |source| FrontierError::Io { path: dir.to_owned(), source };
        if env.files.entry(dir).map_err(io)?.is_none_or(|entry| !entry.is_dir) {
            return Ok(0);
        }
        let names = env.files.list(dir).map_err(io)?;
        Ok(names.iter().filter_map(|entry| state::number_of(&entry.name)).max().unwrap_or(0))
    }

    /// Refuses a directory that an earlier version of the program has written.
    pub fn refuse_old(env: &Env, dir: &Path) -> Result<()> {
        state::refuse_old(env, dir)
    }

    /// Makes everything durable as checkpoint `number`, and waits for it.
    pub fn save(&mut self, number: u64, now: Time) -> Result<()> {
        self.begin_save(number, now)?;
        loop {
            if let Some(outcome) = self.finished_save() {
                return outcome;
            }
            self.saves.lane.wait_all();
            self.content.digests().wait_for_checkpoint();
            self.seen.wait_for_checkpoint();
            self.robots.cache().wait_for_checkpoint();
            if let Some(saving) = &mut self.saves.under_way
                && let Some(queues) = saving.queues.take()
            {
                queues.wait()?;
            }
            self.budget.iter_mut().for_each(Budget::wait_for_save);
        }
    }

    /// Begins to make everything durable, as it is now, as checkpoint `number`.
    ///
    /// # Panics
    /// If another one is under way.
    pub fn begin_save(&mut self, number: u64, now: Time) -> Result<()> {
        assert!(self.saves.under_way.is_none(), "one save at a time");
        self.pass_on_new()?;
        let budgets = self.budget.as_mut().map(Budget::begin_save).transpose()?;
        let queues = self.queues.capture()?;
        let checkpoints = Checkpoints {
            content: self.content.digests().begin_checkpoint()?,
            seen: self.seen.begin_checkpoint()?,
            robots: self.robots.cache().begin_checkpoint()?,
            queues: queues.number(),
        };
        let novelty = self.content.encode();
        let saved = Saved { budgets, novelty, ..self.to_saved(checkpoints, now) };
        let mut bytes = saved.encode();
        let outcome = Arc::new(Mutex::new(None));
        let (files, path) = (self.env.files.clone(), self.dir.join(state::name(number)));
        let written = outcome.clone();
        self.saves.lane.submit(Box::new(move || {
            state::seal(&mut bytes);
            let parent = path.parent().unwrap_or(Path::new("."));
            let result = files.create_dir_all(parent).and_then(|()| files.write_twice(&path, &bytes));
            *written.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Step::Done
        }));
        self.saves.under_way = Some(Saving {
            number,
            checkpoints,
            queues: Some(queues),
            seen: true,
            robots: true,
            content: true,
            budget: self.budget.is_some(),
            state: outcome,
            state_written: false,
        });
        Ok(())
    }

    /// How the save ended that was begun last: once, and `None` while it is being written. After an error nothing of it counts.
    pub fn finished_save(&mut self) -> Option<Result<()>> {
        let mut saving = self.saves.under_way.take()?;
        match self.poll_save(&mut saving) {
            Ok(true) => {
                self.saves.durable.push((saving.number, saving.checkpoints));
                Some(Ok(()))
            }
            Ok(false) => {
                self.saves.under_way = Some(saving);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether all of it is durable.
    fn poll_save(&mut self, saving: &mut Saving) -> Result<bool> {
        self.saves.lane.poll();
        if saving.seen
            && let Some(outcome) = self.seen.finished_checkpoint()
        {
            saving.seen = outcome.map(|_| false)?;
        }
        if saving.robots
            && let Some(outcome) = self.robots.cache().finished_checkpoint()
        {
            saving.robots = outcome.map(|_| false)?;
        }
        if saving.content
            && let Some(outcome) = self.content.digests().finished_checkpoint()
        {
            saving.content = outcome.map(|_| false)?;
        }
        if saving.budget
            && let Some(outcome) = self.budget.as_mut().and_then(Budget::finished_save)
        {
            saving.budget = outcome.map(|()| false)?;
        }
        if let Some(outcome) = saving.queues.as_ref().and_then(Capture::poll) {
            outcome?;
            saving.queues = None;
        }
        if let Some(outcome) = saving.state.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let path = self.dir.join(state::name(saving.number));
            outcome.map_err(|source| FrontierError::Io { path, source })?;
            saving.state_written = true;
        }
        let busy = saving.seen || saving.robots || saving.content || saving.budget || saving.queues.is_some();
        Ok(!busy && saving.state_written)
    }

    /// A restart goes back to this checkpoint from now on: earlier ones need not be kept.
    pub fn committed(&mut self, number: u64) {
        let Some(at) = self.saves.durable.iter().position(|(durable, _)| *durable == number) else { return };
        let checkpoints = self.saves.durable[at].1;
        self.seen.keep_from(checkpoints.seen);
        self.robots.cache().keep_from(checkpoints.robots);
        self.content.digests().keep_from(checkpoints.content);
        self.queues.keep_from(checkpoints.queues);
        self.budget.iter_mut().for_each(Budget::committed);
        for (earlier, _) in self.saves.durable.drain(..at) {
            let path = self.dir.join(state::name(earlier));
            self.saves.useless.extend([copy_path(&path), path]);
        }
        // What cannot be removed now goes with the next checkpoint, or when the frontier is opened again.
        let files = &self.env.files;
        let stays =
            |path: &PathBuf| files.remove_file(path).is_err_and(|error| error.kind() != ErrorKind::NotFound);
        self.saves.useless.retain(stays);
    }

    /// What is in RAM here; what the stages know of themselves is to be added.
    fn to_saved(&self, checkpoints: Checkpoints, now: Time) -> Saved<&Request, &str> {
        let mut under_way: HashMap<u64, Vec<&Request>> = HashMap::new();
        for request in self.in_flight.values() {
            under_way.entry(request.url.host_fingerprint().0).or_default().push(request);
        }
        let hosts = self.bench.iter().map(|(_, host)| {
            let under_way = under_way.remove(&host.key).unwrap_or_default();
            SavedHost {
                name: &*host.name,
                overflow: host.overflow,
                wait: host.next_allowed.since(now),
                requests: host.requests().chain(under_way).collect(),
            }
        });
        let hosts = hosts.collect();
        debug_assert!(under_way.is_empty(), "a busy host is on the bench");
        Saved {
            checkpoints,
            accounts: self.accounts,
            number_next: self.number_next,
            budgets: None,
            novelty: Vec::new(),
            traps: self.admission.encode(),
            hosts,
            deferred: self
                .deferred
                .iter()
                .map(|Reverse((time, _, entry))| (time.since(now), &entry.0))
                .collect(),
        }
    }

    /// Takes up what was saved. Every host is left alone for a full delay, as nobody knows when it was visited last.
    pub(crate) fn restore(&mut self, number: u64, saved: Saved) -> Result<()> {
        let now = self.env.clock.now();
        self.saves.durable.push((number, saved.checkpoints));
        (self.accounts, self.number_next) = (saved.accounts, saved.number_next);
        for host in saved.hosts {
            let url = WebUrl::parse(&host.name).map_err(|_| FrontierError::Record)?;
            let slot = self.slot_of(&url)?;
            self.bench.hold(slot, now + host.wait.max(self.politeness.delay));
            self.bench.host_mut(slot).overflow = host.overflow;
            for request in host.requests {
                self.bench.push(slot, request, now);
            }
            self.bench.schedule(slot, now);
        }
        for (wait, request) in saved.deferred {
            self.deferred.push(Reverse((now + wait, request.number, DeferredRequest(request))));
        }
        Ok(())
    }

    /// Removes the states of other checkpoints than the one that was opened.
    pub(crate) fn remove_litter(&self, opened: u64) -> Result<()> {
        let io = |source| FrontierError::Io { path: self.dir.clone(), source };
        if self.env.files.entry(&self.dir).map_err(io)?.is_none() {
            return Ok(());
        }
        for entry in self.env.files.list(&self.dir).map_err(io)? {
            if state::number_of(&entry.name).is_some_and(|number| number != opened) {
                self.env.files.remove_file(&self.dir.join(&entry.name)).map_err(io)?;
            }
        }
        Ok(())
    }
}
