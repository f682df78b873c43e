//! Work in the background: a lane is one thread with a queue, or in simulation a queue without a thread.
//!
//! A structure that merges or writes behind its callers' backs asks [`Workers`] for one [`Lane`] per kind of work. Jobs of a
//! lane run one after the other in the order of their submission; lanes run beside each other.
//!
//! - **real**: a thread that starts with the first job and ends with the lane. [`Lane::submit`] waits while the queue is
//!   full: that is what slows a producer who outruns its disk.
//! - **simulated**: nothing runs by itself. Each call on the lane runs none, one or a few steps of what is queued, drawn
//!   from the seed, so that two runs interleave alike and many seeds interleave in many ways.
//!
//! A job is a function that is called until it says [`Step::Done`]: a long merge returns after each bucket, so that
//! dropping the lane need not wait for all of it. What a job finds out it tells through what it shares with its owner.
//!
//! Invariants: a ticket is completed only after every earlier one of its lane; once a lane is dropped, no job of it runs.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Random;

/// Whether a job wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more to do.
    Again,
    /// It is finished.
    Done,
}

/// Something to do in the background.
pub type Job = Box<dyn FnMut() -> Step + Send>;

/// Makes lanes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workers {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Real,
    Sim(Random),
}

impl Workers {
    /// Threads of this process.
    pub fn real() -> Workers {
        Workers { kind: Kind::Real }
    }

    /// No threads: the seed decides when something runs.
    pub fn simulated(random: Random) -> Workers {
        Workers { kind: Kind::Sim(random) }
    }

    /// A new lane whose queue holds `capacity` jobs.
    pub fn lane(&self, name: &str, capacity: usize) -> Lane {
        let random = match &self.kind {
            Kind::Real => None,
            Kind::Sim(random) => Some(random.fork(name)),
        };
        let state = State {
            queue: VecDeque::new(),
            submitted: 0,
            completed: 0,
            steps: 0,
            closed: false,
            paused: false,
            random,
        };
        Lane {
            shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }),
            name: name.to_owned(),
            capacity: capacity.max(1),
            thread: Mutex::new(None),
            real: matches!(self.kind, Kind::Real),
        }
    }
}

struct State {
    queue: VecDeque<Job>,
    submitted: u64,
    completed: u64,
    /// Steps that were run: waiting for this to change is waiting for progress.
    steps: u64,
    closed: bool,
    paused: bool,
    /// Only in simulation.
    random: Option<Random>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one step of the first job. The lock is not held meanwhile, so a job may use other lanes.
    fn step(&self) -> bool {
        let Some(mut job) = self.lock().queue.pop_front() else { return false };
        let step = job();
        let mut state = self.lock();
        state.steps += 1;
        match step {
            Step::Again if !state.closed => state.queue.push_front(job),
            _ => state.completed += 1,
        }
        drop(state);
        self.changed.notify_all();
        true
    }

    fn run(&self) {
        loop {
            let mut state = self.lock();
            while (state.queue.is_empty() || state.paused) && !state.closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                return;
            }
            drop(state);
            self.step();
        }
    }
}

/// One queue of work. Dropping it drops what was not begun and waits for the step that is running.
pub struct Lane {
    shared: Arc<Shared>,
    name: String,
    capacity: usize,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    real: bool,
}

impl Lane {
    /// Queues a job; waits while the queue is full. Returns its ticket.
    pub fn submit(&self, job: Job) -> u64 {
        let mut state = self.shared.lock();
        if self.real {
            while state.queue.len() >= self.capacity {
                state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.submitted += 1;
        let ticket = state.submitted;
        state.queue.push_back(job);
        drop(state);
        if self.real {
            self.start();
            self.shared.changed.notify_all();
        } else {
            while self.shared.lock().queue.len() > self.capacity {
                self.shared.step();
            }
            self.poll();
        }
        ticket
    }

    /// In simulation, perhaps runs a little; otherwise nothing. To be called now and then by the lane's owner.
    pub fn poll(&self) {
        let steps = match &mut self.shared.lock().random {
            Some(random) => random.below(3),
            None => return,
        };
        for _ in 0..steps {
            self.shared.step();
        }
    }

    /// Lets a thread rest after the step that it is in, or go on. Waiting for a job of a paused lane takes for ever. In
    /// simulation nothing runs by itself anyway.
    pub fn pause(&self, paused: bool) {
        self.shared.lock().paused = paused;
        self.shared.changed.notify_all();
    }

    /// The ticket of the last job that is done.
    pub fn completed(&self) -> u64 {
        self.shared.lock().completed
    }

    /// The ticket of the last job that was queued.
    pub fn submitted(&self) -> u64 {
        self.shared.lock().submitted
    }

    /// Jobs that wait or run.
    pub fn pending(&self) -> u64 {
        let state = self.shared.lock();
        state.submitted - state.completed
    }

    /// Waits until the job with this ticket is done.
    pub fn wait(&self, ticket: u64) {
        loop {
            let state = self.shared.lock();
            if state.completed >= ticket || ticket > state.submitted {
                return;
            }
            if self.real {
                drop(self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
            } else {
                drop(state);
                if !self.shared.step() {
                    // The job runs further up in this very call: it cannot wait for itself.
                    return;
                }
            }
        }
    }

    /// Waits until everything queued so far is done.
    pub fn wait_all(&self) {
        let ticket = self.shared.lock().submitted;
        self.wait(ticket);
    }

    /// Waits until some step has run, or for `longest`, or not at all if nothing is queued.
    pub fn wait_for_progress(&self, longest: Duration) {
        let state = self.shared.lock();
        if state.submitted == state.completed {
            return;
        }
        if self.real {
            let steps = state.steps;
            drop(self.shared.changed.wait_timeout_while(state, longest, |state| state.steps == steps));
        } else {
            drop(state);
            self.shared.step();
        }
    }

    fn start(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new().name(self.name.clone()).spawn(move || shared.run());
            *thread = Some(spawned.expect("the system has room for a thread per lane"));
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.shared.lock();
            state.closed = true;
            std::mem::take(&mut state.queue)
        };
        self.shared.changed.notify_all();
        drop(waiting);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A job that panicked has said so on stderr already.
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lane").field("name", &self.name).field("pending", &self.pending()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Done = Arc<Mutex<Vec<u32>>>;

    fn count_to(done: &Done, name: u32, steps: u32) -> Job {
        let done = Arc::clone(done);
        let mut left = steps;
        Box::new(move || {
            left -= 1;
            if left > 0 {
                return Step::Again;
            }
            done.lock().unwrap().push(name);
            Step::Done
        })
    }

    #[test]
    fn jobs_run_in_order_and_tickets_complete_with_them() {
        for workers in [Workers::real(), Workers::simulated(Random::from_seed(1))] {
            let lane = workers.lane("test", 3);
            let done = Done::default();
            let mut tickets = Vec::new();
            for name in 0..50 {
                tickets.push(lane.submit(count_to(&done, name, 1 + name % 4)));
            }
            lane.wait(tickets[20]);
            assert!(done.lock().unwrap().len() > 20);
            lane.wait_all();
            assert_eq!(*done.lock().unwrap(), (0..50).collect::<Vec<_>>());
            assert_eq!((lane.pending(), lane.completed()), (0, tickets[49]));
        }
    }

    #[test]
    fn a_seed_interleaves_alike_and_another_differently() {
        let trace = |seed| {
            let lane = Workers::simulated(Random::from_seed(seed)).lane("test", 4);
            let done = Done::default();
            let mut lengths = Vec::new();
            for name in 0..40 {
                lane.submit(count_to(&done, name, 3));
                lengths.push(done.lock().unwrap().len());
            }
            lengths
        };
        assert_eq!(trace(1), trace(1));
        assert_ne!(trace(1), trace(2));
    }

    #[test]
    fn a_paused_lane_rests_until_it_may_go_on() {
        let lane = Workers::real().lane("test", 3);
        let done = Done::default();
        lane.pause(true);
        let ticket = lane.submit(count_to(&done, 1, 2));
        lane.wait_for_progress(Duration::from_millis(1));
        assert_eq!(lane.completed(), 0);
        lane.pause(false);
        lane.wait(ticket);
        assert_eq!(*done.lock().unwrap(), [1]);
    }

    #[test]
    fn a_dropped_lane_runs_nothing_more() {
        for workers in [Workers::real(), Workers::simulated(Random::from_seed(1))] {
            let lane = workers.lane("test", 2);
            let steps = Arc::new(Mutex::new(0u64));
            let counted = Arc::clone(&steps);
            lane.submit(Box::new(move || {
                *counted.lock().unwrap() += 1;
                Step::Again
            }));
            lane.wait_for_progress(Duration::from_secs(10));
            drop(lane);
            let after = *steps.lock().unwrap();
            assert!(after > 0);
            std::thread::yield_now();
            assert_eq!(*steps.lock().unwrap(), after);
        }
    }
}
