//! What every contender gets: the stream, a queue for new URLs, and a clock that runs while it has its turn.

use std::sync::Arc;

use mattock_env::{Block, Clock, Env, Time};

use super::report::{BenchError, BenchOptions, BenchProgress, ContenderReport};
use super::stream::{CHECKS_PER_KEY, Links, Stream};
use super::{BATCH, QUEUE_BYTES, SLICES};
use crate::disk::{DataFile, Disk};
use crate::writer::Writer;

const QUEUE_BLOCK: usize = 256 << 10;

/// New URLs on their way to the next stage: written behind the producer, as the repository's own files are.
pub(super) struct Queue {
    file: Arc<DataFile>,
    writer: Writer,
    block: Block,
    fill: usize,
    offset: u64,
    pub(super) urls: u64,
    pub(super) bytes: u64,
}

impl Queue {
    pub(super) fn new(env: &Env, options: &BenchOptions, name: &str) -> Queue {
        let disk = Disk::new(env.files.clone(), &options.dir);
        let writer = Writer::new(&env.workers, 4);
        let file = DataFile::create(&disk, name.to_owned(), 0);
        Queue { file, block: writer.block(QUEUE_BLOCK), writer, fill: 0, offset: 0, urls: 0, bytes: 0 }
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        if self.fill + text.len() > QUEUE_BLOCK {
            let block = std::mem::replace(&mut self.block, self.writer.block(QUEUE_BLOCK));
            self.writer.write(&self.file, self.offset, block, QUEUE_BLOCK, |_, _, _| {});
            self.offset = (self.offset + QUEUE_BLOCK as u64) % QUEUE_BYTES;
            self.bytes += QUEUE_BLOCK as u64;
            self.fill = 0;
        }
        self.block[self.fill..self.fill + text.len()].copy_from_slice(text);
        self.fill += text.len();
        self.urls += 1;
    }

    pub(super) fn finish(&mut self) -> Result<(), BenchError> {
        self.bytes += self.fill as u64;
        Ok(self.writer.settle()?)
    }
}

/// Takes the time of one contender, while it has its turn.
pub(super) struct Watch {
    clock: Clock,
    pub(super) name: &'static str,
    /// Of turns that are over.
    seconds: f64,
    cpu_seconds: f64,
    /// When this turn began: time and processor seconds.
    turn: Option<(Time, f64)>,
    slice: (u64, f64),
    pub(super) checks: u64,
    total: u64,
    over_time: Vec<f64>,
    /// Checks and seconds at the end of each slice.
    pub(super) ends: Vec<(u64, f64)>,
}

impl Watch {
    pub(super) fn new(clock: &Clock, name: &'static str, total: u64) -> Watch {
        Watch {
            clock: clock.clone(),
            name,
            seconds: 0.0,
            cpu_seconds: 0.0,
            turn: None,
            slice: (0, 0.0),
            checks: 0,
            total,
            over_time: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub(super) fn start(&mut self) {
        self.turn = Some((self.clock.now(), mattock_env::cpu_seconds().unwrap_or(0.0)));
    }

    pub(super) fn stop(&mut self) {
        if let Some((start, cpu_start)) = self.turn.take() {
            self.seconds += self.clock.now().since(start).as_secs_f64();
            self.cpu_seconds += mattock_env::cpu_seconds().unwrap_or(0.0) - cpu_start;
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds + self.turn.map_or(0.0, |(start, _)| self.clock.now().since(start).as_secs_f64())
    }

    pub(super) fn count(&mut self, checks: u64, progress: &mut dyn FnMut(BenchProgress)) {
        self.checks += checks;
        if self.checks >= self.total * (self.over_time.len() as u64 + 1) / SLICES {
            let seconds = self.seconds();
            let speed = (self.checks - self.slice.0) as f64 / (seconds - self.slice.1).max(1e-9);
            self.over_time.push(speed);
            self.ends.push((self.checks, seconds));
            self.slice = (self.checks, seconds);
            let checks_per_second = self.checks as f64 / seconds.max(1e-9);
            let (checks, total) = (self.checks, self.total);
            progress(BenchProgress { contender: self.name, checks, total, checks_per_second });
        }
    }

    pub(super) fn report(&self, unique: u64) -> ContenderReport {
        ContenderReport {
            name: self.name,
            keys_before: 0,
            checks: self.checks,
            unique,
            seconds: self.seconds,
            cpu_seconds: self.cpu_seconds,
            checks_per_second: self.checks as f64 / self.seconds.max(1e-9),
            checks_per_second_over_time: self.over_time.clone(),
        }
    }
}

/// The stream, the queue and the clock of one contender.
pub(super) struct Course {
    pub(super) stream: Stream,
    pub(super) links: Links,
    pub(super) queue: Queue,
    pub(super) watch: Watch,
}

impl Course {
    pub(super) fn new(env: &Env, options: &BenchOptions, name: &'static str) -> Course {
        Course {
            stream: Stream::new(options.stream, options.seed),
            links: Links::default(),
            queue: Queue::new(env, options, &format!("queue-{name}")),
            watch: Watch::new(&env.clock, name, options.keys * CHECKS_PER_KEY),
        }
    }

    /// Makes the next batch, unless `until` checks are done.
    pub(super) fn next(&mut self, until: u64) -> bool {
        let count = until.saturating_sub(self.watch.checks).min(BATCH as u64) as usize;
        if count > 0 {
            self.stream.fill(count, &mut self.links);
        }
        count > 0
    }

    pub(super) fn finish(&mut self, expected: u64) -> Result<ContenderReport, BenchError> {
        self.queue.finish()?;
        self.watch.stop();
        let (contender, found) = (self.watch.name, self.queue.urls);
        if found != expected {
            return Err(BenchError::Wrong { contender, found, expected });
        }
        Ok(self.watch.report(found))
    }
}
