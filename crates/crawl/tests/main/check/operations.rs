//! Operations that wait for their merge, of what is known of hosts, contents and domains: nothing else brings them back. What a damaged
//! chunk of them costs is told, and is what was in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mattock_codec::checksum;
use mattock_crawl::check::CheckReport;
use mattock_drum::{Batch, Deliver, Drum, FirstInstance, HostData, Options, Plan, Sources, Value, View};
use mattock_env::{Env, Random, copy_path};

use super::damage::Damage;
use super::salvage::repaired;
use super::{Disk, ROOT, crawl_for, settings, stopped, world_of};

const CHUNK_BYTES: usize = 4096;
/// Before what a chunk has collected.
const HEADER_BYTES: usize = 24;
/// Those of each repository.
const OPERATIONS: u64 = 1500;

fn options() -> Options {
    let sizes = Plan {
        buckets: 16,
        chunk_bytes: CHUNK_BYTES,
        log_block_bytes: 64 << 10,
        log_blocks_in_ram: 4,
        cache_sets: 0,
        table_bytes: 0,
        generation_records_max: 1 << 20,
        generation_bytes_max: 1 << 30,
        bucket_bytes_max: 1 << 30,
        read_bytes: 64 << 10,
        writes_max: 3,
    };
    Options { deliver: Deliver::All, sizes: Some(sizes), ..Options::new(8 << 20) }
}

/// Values that a crawl keeps in one of its repositories.
trait Kept: Value {
    const NAME: &'static str;
    /// Bytes of one that is made here.
    const BYTES: usize;

    fn make(key: u64) -> Self;
}

impl Kept for HostData {
    const NAME: &'static str = "robots";
    const BYTES: usize = 29;

    fn make(_: u64) -> HostData {
        HostData { expires_s: i64::MAX, addresses: Vec::new(), rules: vec![0; 20] }
    }
}

impl Kept for FirstInstance {
    const NAME: &'static str = "content";
    const BYTES: usize = 16;

    fn make(key: u64) -> FirstInstance {
        FirstInstance { digest_rest: key, instance: key }
    }
}

impl Kept for Sources {
    const NAME: &'static str = "degrees";
    const BYTES: usize = 11;

    fn make(key: u64) -> Sources {
        Sources::one(key | 1 << 63)
    }
}

/// A key of one of few buckets, so that some fill chunks.
fn key(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 6 | [0, 9, 31][number as usize % 3] << 59
}

/// The number of the newest checkpoint of a repository.
fn newest(env: &Env, dir: &Path) -> u64 {
    let names = env.files.list(dir).unwrap().into_iter();
    names.filter_map(|file| file.name.strip_prefix("MANIFEST-")?.parse().ok()).max().unwrap()
}

/// Puts operations into a repository, as if they had been there when its newest checkpoint was made; the file that has them.
fn put_operations<V: Kept>(env: &Env, dir: &Path) -> PathBuf {
    let number = newest(env, dir);
    let mut drum: Drum<V> = Drum::open(env, dir, options()).unwrap();
    let mut batch = Batch::new();
    (1..=OPERATIONS).for_each(|number| batch.update(key(number), V::make(key(number))));
    drum.submit(&batch).unwrap();
    let made = drum.checkpoint().unwrap();
    drop(drum);
    assert_eq!(made.number, number + 1);
    let keys = made.files.iter().rfind(|(name, _)| name.starts_with("keys-")).unwrap().0.clone();
    for (name, _) in &made.files {
        let renamed = name.replace(&format!("-{:06}", made.number), &format!("-{number:06}"));
        let of_checkpoint = name.starts_with("tail-") || name.starts_with("MANIFEST-");
        if !of_checkpoint {
            continue;
        }
        let mut bytes = env.files.read(&dir.join(name)).unwrap();
        if name.starts_with("MANIFEST-") {
            assert_eq!(u64::from(bytes[8]), made.number);
            bytes[8] = number as u8;
            let content = bytes.len() - 4;
            let sum = checksum(0, number, &[&bytes[..content]]);
            bytes[content..].copy_from_slice(&sum.to_le_bytes());
        }
        for path in [dir.join(name), copy_path(&dir.join(name))] {
            env.files.remove_file(&path).unwrap();
        }
        env.files.write_twice(&dir.join(&renamed), &bytes).unwrap();
    }
    dir.join(keys)
}

/// A crawl in whose first partition many operations wait for their merge, and the files that have them.
pub(super) fn with_operations(disk: &Disk) -> (Disk, Vec<PathBuf>) {
    let mut simulation = world_of(disk);
    let files = simulation.run(|env| async move {
        let frontier = Path::new(ROOT).join("state/frontier/0");
        vec![
            put_operations::<HostData>(&env, &frontier.join(HostData::NAME)),
            put_operations::<FirstInstance>(&env, &frontier.join(FirstInstance::NAME)),
            put_operations::<Sources>(&env, &frontier.join(Sources::NAME)),
        ]
    });
    let mut disk = simulation.files().snapshot();
    disk.retain(|path, _| path.starts_with(ROOT));
    for file in &files {
        assert!(disk[file].len() >= 4 * CHUNK_BYTES, "{}: {}", file.display(), disk[file].len());
    }
    (disk, files)
}

/// The keys that the frontiers have of those that were put there.
fn keys<V: Kept>(env: &Env, frontiers: &Path) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    for partition in 0..2 {
        let dir = frontiers.join(partition.to_string()).join(V::NAME);
        let view: View<V> = View::open(env, &dir, newest(env, &dir)).unwrap();
        view.scan(|key, _| {
            all.insert(key);
        })
        .unwrap();
    }
    (1..=OPERATIONS).map(key).filter(|key| all.contains(key)).collect()
}

/// How many changes a repair says that it lost.
fn told(report: &CheckReport, name: &str) -> usize {
    let what =
        report.repaired.iter().find(|finding| finding.what.contains("made anew")).unwrap().what.as_str();
    assert!(what.contains("no URL that waited is lost"), "{what}");
    let says = |part: &&str| part.ends_with(&format!(" of the last changes to {name} are lost"));
    let part = what.split("; ").find(says);
    assert_eq!(what.split("; ").count(), 1 + usize::from(part.is_some()), "{what}");
    part.map_or(0, |part| part.split(' ').next().unwrap().parse().unwrap())
}

/// Damages one chunk after the other, and some ends.
fn assert_a_chunk_costs_its_own<V: Kept>(disk: &Disk, files: &[PathBuf]) {
    let path = files.iter().find(|path| path.display().to_string().contains(V::NAME)).unwrap();
    let mut random = Random::from_seed(V::BYTES as u64);
    let chunks = disk[path].len() / CHUNK_BYTES;
    // A number, a key, a length and a value; one is torn apart at either end.
    let in_chunk = (CHUNK_BYTES - HEADER_BYTES) / (1 + 8 + 1 + V::BYTES) + 2;
    let mut lost_at_all = 0;
    for round in 0..chunks + 3 {
        let (damage, lost_chunks) = if round < chunks {
            let byte = round * CHUNK_BYTES + random.below(CHUNK_BYTES as u64) as usize;
            (Damage::Flip { byte, bit: random.below(8) as u8 }, 1)
        } else {
            let bytes = random.below(disk[path].len() as u64) as usize;
            (Damage::Cut { bytes }, chunks - bytes / CHUNK_BYTES)
        };
        let mut damaged = disk.clone();
        damage.apply(damaged.get_mut(path).unwrap());
        let mut simulation = world_of(&damaged);
        let report = repaired(&mut simulation);
        assert!(report.whole, "{path:?} {damage:?}: {report:#?}");
        let left =
            simulation.run(|env| async move { keys::<V>(&env, &Path::new(ROOT).join("state/frontier-1")) });
        let missing = OPERATIONS as usize - left.len();
        assert_eq!(missing, told(&report, V::NAME), "{path:?} {damage:?}: {report:#?}");
        assert!(missing <= lost_chunks * in_chunk, "{path:?} {damage:?}: {missing}");
        lost_at_all += missing;
        if round == 0 {
            crawl_for(&mut simulation, 9, &settings("gzip"));
        }
    }
    assert!(lost_at_all > chunks * in_chunk / 2, "{lost_at_all}");
}

#[test]
fn a_damaged_chunk_of_operations_costs_what_was_in_it() {
    let (disk, files) = with_operations(&stopped("gzip"));
    let whole = world_of(&disk).run(|env| async move {
        let frontiers = Path::new(ROOT).join("state/frontier");
        let counts = [keys::<HostData>(&env, &frontiers), keys::<FirstInstance>(&env, &frontiers)];
        counts.map(|keys| keys.len() as u64) == [OPERATIONS; 2]
            && keys::<Sources>(&env, &frontiers).len() as u64 == OPERATIONS
    });
    assert!(whole);
    assert_a_chunk_costs_its_own::<HostData>(&disk, &files);
    assert_a_chunk_costs_its_own::<FirstInstance>(&disk, &files);
    assert_a_chunk_costs_its_own::<Sources>(&disk, &files);
}
