//! The same with real threads and real files: many generations, small buffers, and a second life.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use mattock_drum::{Batch, Drum, DrumError, Options, Plan, View};
use mattock_env::{Env, OpenMode, Random};

fn sizes() -> Plan {
    Plan {
        buckets: 16,
        chunk_bytes: 4096,
        log_block_bytes: 16_384,
        log_blocks_in_ram: 2,
        cache_sets: 0,
        table_bytes: 0,
        generation_records_max: 40_000,
        generation_bytes_max: 1 << 20,
        bucket_bytes_max: 100_000,
        read_bytes: 8192,
        writes_max: 4,
    }
}

#[test]
fn threads_change_nothing() {
    let env = Env::real();
    let name = format!("mattock-drum-{:016x}", Random::from_entropy().next_u64());
    let dir = std::env::temp_dir().join(name);
    for cache_sets in [0, 70_000] {
        let options = Options { sizes: Some(Plan { cache_sets, ..sizes() }), ..Options::new(1 << 20) };
        let mut random = Random::from_seed(5);
        let mut seen = BTreeSet::new();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for life in 0..2 {
            let mut drum: Drum<()> =
                Drum::open(&env, &dir.join(cache_sets.to_string()), options.clone()).unwrap();
            for _ in 0..300 {
                let mut batch = Batch::new();
                for _ in 0..1000 {
                    let key = random.below(200_000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    batch.check_update(key, (), &key.to_le_bytes());
                    if seen.insert(key) {
                        expected.push(key);
                    }
                }
                drum.submit(&batch).unwrap();
                let take = |aux: &[u8]| u64::from_le_bytes(aux.try_into().unwrap());
                drum.deliver_ready(900, |outcome| found.push(take(outcome.aux))).unwrap();
            }
            if life == 0 {
                drum.checkpoint().unwrap();
                continue;
            }
            drum.flush().unwrap();
            drum.wait_for_merges().unwrap();
            drum.deliver(usize::MAX, |outcome| {
                found.push(u64::from_le_bytes(outcome.aux.try_into().unwrap()))
            })
            .unwrap();
            assert!(found == expected, "{} of {}", found.len(), expected.len());
            assert!(drum.stats().merges > 3);
        }
    }
    env.files.remove_dir_all(&dir).unwrap();
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

#[test]
fn others_can_look_while_it_works() {
    let env = Env::real();
    let dir = std::env::temp_dir().join(format!("mattock-drum-{:016x}", Random::from_entropy().next_u64()));
    let options = Options { sizes: Some(sizes()), checkpoints_kept: 1, ..Options::new(1 << 20) };
    let mut random = Random::from_seed(6);
    let keys: Vec<u64> =
        (0..200_000).map(|_| random.below(50_000).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looked = 0;
            while !done.load(Ordering::Relaxed) {
                let number = newest(&env, &dir);
                let outcome = View::<()>::open(&env, &dir, number).and_then(|view| {
                    let expected: BTreeSet<u64> = keys[..view.position() as usize].iter().copied().collect();
                    let mut expected = expected.into_iter();
                    view.scan(|key, ()| assert_eq!(expected.next(), Some(key)))?;
                    assert!(expected.next().is_none());
                    View::<()>::verify(&env, &dir, number)
                });
                match outcome {
                    Ok(problems) => assert_eq!(problems, []),
                    Err(DrumError::NoSuchCheckpoint { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                looked += 1;
            }
            looked
        });
        let ending = Ending(&done);
        let mut drum: Drum<()> = Drum::open(&env, &dir, options).unwrap();
        for batch in keys.chunks(2000) {
            drum.check_update_all(batch, &(), |index| &b"0123456789abcdef"[index % 16..]).unwrap();
            drum.deliver_ready(900, |_| {}).unwrap();
            drum.checkpoint().unwrap();
        }
        drop(ending);
        assert!(watcher.join().unwrap() > 0);
    });
    // A file that ends anywhere is too short, and that is all there is to say.
    let (number, mut found) = (newest(&env, &dir), 0);
    for file in env.files.list(&dir).unwrap().iter().filter(|file| !file.name.starts_with("MANIFEST")) {
        let whole = env.files.read(&dir.join(&file.name)).unwrap();
        if file.len < 5001 {
            continue;
        }
        env.files.open(&dir.join(&file.name), OpenMode::Write).unwrap().set_len(5000).unwrap();
        let problems = View::<()>::verify(&env, &dir, number).unwrap();
        assert!(
            problems.iter().all(|problem| problem.what.starts_with("the file is too short")),
            "{problems:?}"
        );
        found += problems.len();
        env.files.write_atomic(&dir.join(&file.name), &whole).unwrap();
    }
    assert!(found > 0);
    env.files.remove_dir_all(&dir).unwrap();
}
