//! Memory and disk stay within their bounds.

use std::path::Path;

use mattock_env::Random;
use mattock_env::sim::Simulation;
use mattock_queue::{Options, Queues, Sizes};

use crate::world::{DIR, simulate};

const BLOCK: usize = 4096;

fn options(block_bytes: usize, blocks: usize) -> Options {
    let sizes = Sizes {
        block_bytes,
        segment_bytes: 40 * block_bytes as u64,
        unwritten_bytes_max: blocks * block_bytes / 2,
    };
    Options { memory_bytes: blocks * block_bytes, checkpoints_kept: 1, sizes: Some(sizes) }
}

#[test]
fn a_pass_over_a_long_queue_needs_little_memory_and_order_holds() {
    let mut simulation = Simulation::new(3);
    simulate(&mut simulation, |env| {
        let queues = Queues::open(&env, Path::new(DIR), &options(BLOCK, 20)).unwrap();
        let (over, ready) = (queues.queue("QF"), queues.queue("ready"));
        for number in 0..20_000u64 {
            over.push(&url(number)).unwrap();
        }
        let mut random = Random::from_seed(1);
        let mut waiting: Vec<u64> = (0..20_000).collect();
        for _pass in 0..4 {
            let (mut back, mut passed, mut at) = (Vec::new(), Vec::new(), 0);
            let count = over.try_pop_with(over.len(), |record| {
                assert_eq!(record, url(waiting[at]));
                let chosen = random.chance(0.3);
                if chosen { &mut passed } else { &mut back }.push(waiting[at]);
                at += 1;
                let stats = queues.stats();
                // The head block and the next one may come on top.
                assert!(stats.ram_bytes <= 22 * BLOCK as u64, "{}", stats.ram_bytes);
                if chosen { ready.push(record) } else { over.push(record) }
            });
            assert_eq!((count.unwrap(), at), (waiting.len() as u64, waiting.len()));
            waiting = back;
            let mut passed = passed.into_iter();
            ready.pop_with(u64::MAX, |record| assert_eq!(record, url(passed.next().unwrap()))).unwrap();
            assert!(passed.next().is_none());
        }
        assert_eq!(over.len(), waiting.len() as u64);
    });
}

#[test]
fn disk_holds_the_text_and_little_more_and_gives_it_back() {
    let mut simulation = Simulation::new(4);
    let files = simulation.files().clone();
    simulate(&mut simulation, |env| {
        let queues = Queues::open(&env, Path::new(DIR), &options(BLOCK, 8)).unwrap();
        let queue = queues.queue("QF");
        for number in 0..30_000u64 {
            queue.push(&url(number)).unwrap();
        }
        queues.checkpoint().unwrap();
        let stored: u64 = files.snapshot().values().map(|bytes| bytes.len() as u64).sum();
        // One byte of length per record, a header and some padding per block of 100 records; the last block only half a page.
        let overhead = (stored as f64 - queue.bytes() as f64) / 30_000.0;
        assert!(overhead < 42.0, "{overhead}");
        queue.pop_with(u64::MAX, |_| {}).unwrap();
        queues.checkpoint().unwrap();
        drop((queues, queue));
        let names: Vec<_> = files.snapshot().into_keys().collect();
        assert_eq!(names, ["MANIFEST-000002", "MANIFEST-000002.copy"].map(|name| Path::new(DIR).join(name)));
    });
}

#[test]
fn many_queues_share_one_memory() {
    let mut simulation = Simulation::new(5);
    simulate(&mut simulation, |env| {
        let queues = Queues::open(&env, Path::new(DIR), &options(16_384, 50)).unwrap();
        let all: Vec<_> = (0..100).map(|number| queues.queue(&format!("Q{number}"))).collect();
        let mut random = Random::from_seed(5);
        let mut next = vec![(0u64, 0u64); all.len()];
        for _ in 0..60_000 {
            let id = random.below(100).min(random.below(100)) as usize;
            all[id].push(&url(next[id].1)).unwrap();
            next[id].1 += 1;
            if random.chance(0.3) {
                let id = random.below(100) as usize;
                let (from, _) = &mut next[id];
                all[id]
                    .pop_with(2, |record| {
                        assert_eq!(record, url(*from));
                        *from += 1;
                    })
                    .unwrap();
            }
            // One block that is read, and one that is begun.
            assert!(queues.stats().ram_bytes <= 52 * 16_384, "{}", queues.stats().ram_bytes);
        }
        for (queue, (from, to)) in all.iter().zip(next) {
            assert_eq!(queue.len(), to - from);
        }
    });
}

fn url(number: u64) -> Vec<u8> {
    format!("http://www.example.org/page/{number:09}").into_bytes()
}
