//! The same with real threads and real files: many generations, small buffers, and a second life.

use std::collections::BTreeSet;

use mattock_drum::{Batch, Drum, Options, Plan};
use mattock_env::{Env, Random};

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
