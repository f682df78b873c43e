//! The same with real threads and real files: a producer, a consumer, checkpoints under way, and a second life.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use mattock_env::{Env, Random};
use mattock_queue::{Options, QueueError, Queues, Sizes, View};

#[test]
fn threads_change_nothing() {
    let env = Env::real();
    let name = format!("mattock-queue-{:016x}", Random::from_entropy().next_u64());
    let dir = std::env::temp_dir().join(name);
    let sizes = Sizes { block_bytes: 8192, segment_bytes: 200_000, unwritten_bytes_max: 100_000 };
    let options = Options { sizes: Some(sizes), ..Options::new(200_000) };
    let all = 100_000u64;
    let (mut popped, mut captured, mut captures) = (0, 0, 0);
    {
        let queues = Queues::open(&env, &dir, &options).unwrap();
        let queue = queues.queue("ready");
        std::thread::scope(|scope| {
            let producer = queue.clone();
            scope.spawn(move || (0..all).for_each(|number| producer.push(&record(number)).unwrap()));
            while popped < all / 2 {
                queue
                    .pop_with(1000, |found| {
                        assert_eq!(found, record(popped));
                        popped += 1;
                    })
                    .unwrap();
                if popped > captures * 5000 {
                    let capture = queues.capture().unwrap();
                    if captures % 2 == 0 {
                        capture.wait().unwrap();
                    }
                    captures += 1;
                }
            }
        });
        queues.checkpoint().unwrap();
        captured += popped;
        queue.pop_with(777, |_| {}).unwrap();
    }
    let queues = Queues::open(&env, &dir, &options).unwrap();
    let queue = queues.queue("ready");
    assert_eq!(queue.len(), all - captured);
    queue
        .pop_with(u64::MAX, |found| {
            assert_eq!(found, record(captured));
            captured += 1;
        })
        .unwrap();
    assert_eq!(captured, all);
    drop((queue, queues));
    env.files.remove_dir_all(&dir).unwrap();
}

fn record(number: u64) -> Vec<u8> {
    let mut record = number.to_le_bytes().to_vec();
    record.resize(8 + (number % 90) as usize, number as u8);
    record
}

/// Says that there is nothing more to watch, also to those who watch a test that has failed.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The newest checkpoint that the directory names.
fn newest(env: &Env, dir: &Path) -> u64 {
    let names = env.files.list(dir).unwrap_or_default().into_iter().map(|file| file.name);
    names.filter_map(|name| name.strip_prefix("MANIFEST-")?.parse().ok()).max().unwrap_or(0)
}

/// Records that wait are consecutive numbers; how many views there were.
fn watch(env: &Env, dir: &Path, done: &AtomicBool) -> u32 {
    let mut looked = 0;
    while !done.load(Ordering::Relaxed) {
        let number = newest(env, dir);
        let outcome = View::open(env, dir, number).and_then(|view| {
            let mut numbers = Vec::new();
            view.scan("ready", |found| {
                let number = u64::from_le_bytes(found[..8].try_into().unwrap());
                assert_eq!(found, record(number));
                numbers.push(number);
            })?;
            assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
            assert_eq!(numbers.len() as u64, view.len("ready"));
            View::verify(env, dir, number)
        });
        match outcome {
            Ok(problems) => assert_eq!(problems, []),
            Err(QueueError::NoSuchCheckpoint { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        looked += 1;
    }
    looked
}

#[test]
fn others_can_look_while_they_work() {
    let env = Env::real();
    let dir = std::env::temp_dir().join(format!("mattock-queue-{:016x}", Random::from_entropy().next_u64()));
    let sizes = Sizes { block_bytes: 8192, segment_bytes: 100_000, unwritten_bytes_max: 50_000 };
    let options = Options { sizes: Some(sizes), checkpoints_kept: 1, ..Options::new(100_000) };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&env, &dir, &done));
        let ending = Ending(&done);
        let queues = Queues::open(&env, &dir, &options).unwrap();
        let queue = queues.queue("ready");
        for number in 0..60_000 {
            queue.push(&record(number)).unwrap();
            if number % 1000 == 999 {
                queue.pop_with(900, |_| {}).unwrap();
                queues.checkpoint().unwrap();
            }
        }
        drop(ending);
        assert!(watcher.join().unwrap() > 0);
    });
    env.files.remove_dir_all(&dir).unwrap();
}
