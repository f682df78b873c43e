//! A naive model, random operations, and a simulated machine to run them on.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};
use mattock_queue::{Capture, Checkpoint, Options, Queue, QueueError, Queues, Sizes};

pub(crate) const DIR: &str = "/crawl/queues";
pub(crate) const NAMES: [&str; 3] = ["Q1", "QF", "ready"];

/// What the queues must do.
pub(crate) type Lists = Vec<VecDeque<Vec<u8>>>;

/// The model, and what it was at every checkpoint that was begun.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) lists: Lists,
    pub(crate) captured: BTreeMap<u64, Lists>,
    /// The newest checkpoint that was acknowledged.
    pub(crate) durable: u64,
}

impl Model {
    pub(crate) fn new() -> Model {
        let lists = vec![VecDeque::new(); NAMES.len()];
        Model { captured: BTreeMap::from([(0, lists.clone())]), lists, durable: 0 }
    }

    /// The process died, and this is what it found when it came back.
    pub(crate) fn go_back(&mut self, queues: &Queues) {
        let newest = queues.newest_checkpoint();
        assert!(newest >= self.durable, "{newest} is older than {}, which was acknowledged", self.durable);
        self.lists = self.captured.get(&newest).expect("no other checkpoint was begun").clone();
        self.durable = newest;
        self.captured.retain(|number, _| *number <= newest);
    }

    pub(crate) fn acknowledge(&mut self, checkpoint: &Checkpoint) {
        self.durable = self.durable.max(checkpoint.number);
    }
}

/// The queues under test, with captures on their way.
pub(crate) struct Life {
    pub(crate) queues: Queues,
    pub(crate) handles: Vec<Queue>,
    pub(crate) captures: Vec<Capture>,
}

impl Life {
    pub(crate) fn open(env: &Env, options: &Options) -> Result<Life, QueueError> {
        let queues = Queues::open(env, Path::new(DIR), options)?;
        let handles = NAMES.iter().map(|name| queues.queue(name)).collect();
        Ok(Life { queues, handles, captures: Vec::new() })
    }

    /// One random operation on both.
    pub(crate) fn step(&mut self, random: &mut Random, model: &mut Model) -> Result<(), QueueError> {
        self.collect(model)?;
        let id = random.below(NAMES.len() as u64) as usize;
        match random.below(10) {
            0 => {
                let number = self.queues.newest_checkpoint();
                assert!(number >= model.durable);
                let capture = self.queues.capture()?;
                model.captured.insert(capture.number(), model.lists.clone());
                if random.chance(0.4) {
                    model.acknowledge(&capture.wait()?);
                } else {
                    self.captures.push(capture);
                }
                Ok(())
            }
            1 | 2 => self.pop(random, model, id),
            3 => self.pass(random, model, id),
            4 => self.refuse(random, model, id),
            _ => {
                for _ in 0..[1, 10, 60][random.below(3) as usize] {
                    let record = draw(random);
                    self.handles[id].push(&record)?;
                    model.lists[id].push_back(record);
                }
                Ok(())
            }
        }?;
        for (handle, list) in self.handles.iter().zip(&model.lists) {
            assert_eq!(handle.len(), list.len() as u64);
            assert_eq!(handle.bytes(), list.iter().map(|record| record.len() as u64).sum::<u64>());
            assert_eq!(handle.is_empty(), list.is_empty());
        }
        Ok(())
    }

    fn collect(&mut self, model: &mut Model) -> Result<(), QueueError> {
        let mut outcome = Ok(());
        self.captures.retain(|capture| match capture.poll() {
            None => true,
            Some(Ok(checkpoint)) => {
                model.acknowledge(&checkpoint);
                false
            }
            Some(Err(error)) => {
                outcome = Err(error);
                false
            }
        });
        outcome
    }

    fn pop(&self, random: &mut Random, model: &mut Model, id: usize) -> Result<(), QueueError> {
        let limit = [0, 1, 7, 100, u64::MAX][random.below(5) as usize];
        let list = &mut model.lists[id];
        let before = list.len() as u64;
        let sink = |record: &[u8]| assert_eq!(list.pop_front().unwrap(), record);
        if random.chance(0.3) {
            assert!(self.handles[id].pop_ready_with(limit, sink)? <= limit.min(before));
        } else {
            assert_eq!(self.handles[id].pop_with(limit, sink)?, limit.min(before));
        }
        Ok(())
    }

    /// Everything that is there goes to other queues or back to the tail.
    fn pass(&self, random: &mut Random, model: &mut Model, id: usize) -> Result<(), QueueError> {
        let handle = &self.handles[id];
        let (all, lists) = (handle.len(), &mut model.lists);
        let popped = handle.try_pop_with(all, |record| {
            let to = random.below(NAMES.len() as u64) as usize;
            self.handles[to].push(record)?;
            let moved = lists[id].pop_front().unwrap();
            assert_eq!(moved, record);
            lists[to].push_back(moved);
            assert!(matches!(handle.pop_with(1, |_| {}), Err(QueueError::Popping { .. })));
            assert!(matches!(self.queues.capture(), Err(QueueError::Popping { .. })));
            Ok::<_, QueueError>(())
        })?;
        assert_eq!(popped, all);
        Ok(())
    }

    /// A sink that refuses keeps the record in the queue.
    fn refuse(&self, random: &mut Random, model: &mut Model, id: usize) -> Result<(), QueueError> {
        struct Refused(Option<QueueError>);
        impl From<QueueError> for Refused {
            fn from(error: QueueError) -> Refused {
                Refused(Some(error))
            }
        }
        let (list, mut left) = (&mut model.lists[id], random.below(20));
        let outcome = self.handles[id].try_pop_with(u64::MAX, |record| {
            if left == 0 {
                return Err(Refused(None));
            }
            left -= 1;
            assert_eq!(list.pop_front().unwrap(), record);
            Ok(())
        });
        match outcome {
            Err(Refused(Some(error))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes everything out and compares it.
    pub(crate) fn compare(&self, lists: &Lists) -> Result<(), QueueError> {
        for (handle, list) in self.handles.iter().zip(lists) {
            let mut expected = list.iter();
            handle.pop_with(u64::MAX, |record| assert_eq!(expected.next().unwrap(), record))?;
            assert!(expected.next().is_none() && handle.is_empty() && handle.bytes() == 0);
        }
        Ok(())
    }
}

/// Mostly short, sometimes empty, sometimes nearly a block.
fn draw(random: &mut Random) -> Vec<u8> {
    let len = match random.below(20) {
        0 => 0,
        1 => 1000 + random.below(900),
        _ => random.below(150),
    };
    let first = random.next_u64();
    (0..len).map(|at| (first >> (at % 8 * 8)) as u8 ^ at as u8).collect()
}

/// Sizes so small that everything happens within a few hundred operations.
pub(crate) fn options(random: &mut Random) -> Options {
    let memory_bytes = [4000, 20_000, 60_000, 1 << 20][random.below(4) as usize];
    let sizes = Sizes {
        block_bytes: 2048 << random.below(3),
        segment_bytes: 12_000 + random.below(60_000),
        unwritten_bytes_max: memory_bytes / 2,
    };
    let checkpoints_kept = 1 + random.below(2) as usize;
    Options { memory_bytes, checkpoints_kept, sizes: Some(sizes) }
}

pub(crate) fn simulate<T>(simulation: &mut Simulation, run: impl FnOnce(Env) -> T) -> T {
    simulation.run(|env| async move { run(env) })
}
