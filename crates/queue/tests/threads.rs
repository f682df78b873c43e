//! The same with real threads and real files: a producer, a consumer, checkpoints under way, and a second life.

use mattock_env::{Env, Random};
use mattock_queue::{Options, Queues, Sizes};

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
