//! Off-the-shelf engines on the same stream, each behind a cargo feature, so that nobody builds them who does not compare.
//!
//! They get the same batches, sorted by key, the same memory for their caches, and no log or sync, which they would need to
//! be as safe. What is of interest is their speed when they have outgrown their memory, and getting there one batch after the
//! other would take hours: so they are loaded with the keys of the first part of the stream, sorted, as quickly as they can, and
//! measured from there on, for as long as the time given lasts. They are compared over the part of the stream that they have
//! seen.

use mattock_env::Env;

use super::report::{BenchError, BenchOptions, BenchProgress, ContenderReport};
#[cfg(any(feature = "rocksdb", feature = "redb", feature = "fjall"))]
use super::{BATCH, CHECKS_PER_KEY, Course, course::Watch};

/// Runs RocksDB, redb and fjall, in this order, those that were built in.
pub(super) fn run(
    env: &Env,
    options: &BenchOptions,
    progress: &mut dyn FnMut(BenchProgress),
) -> Result<[Option<ContenderReport>; 3], BenchError> {
    let _ = (env, options, &progress);
    #[cfg(feature = "rocksdb")]
    let rocksdb = Some(measure(env, options, "rocksdb", rocks::Rocks::open, progress)?);
    #[cfg(not(feature = "rocksdb"))]
    let rocksdb = None;
    #[cfg(feature = "redb")]
    let redb = Some(measure(env, options, "redb", red::Red::open, progress)?);
    #[cfg(not(feature = "redb"))]
    let redb = None;
    #[cfg(feature = "fjall")]
    let fjall = Some(measure(env, options, "fjall", fj::Fjall::open, progress)?);
    #[cfg(not(feature = "fjall"))]
    let fjall = None;
    Ok([rocksdb, redb, fjall])
}

/// A set of keys.
#[cfg(any(feature = "rocksdb", feature = "redb", feature = "fjall"))]
trait Engine: Sized {
    /// Takes many keys, sorted and all of them new, while it is empty.
    fn load(&mut self, sorted: &[u64]) -> Result<(), String>;

    /// Inserts keys that come sorted and without repeats; tells which of them are new.
    fn insert_all(&mut self, sorted: &[u64], new: &mut Vec<bool>) -> Result<(), String>;
}

#[cfg(any(feature = "rocksdb", feature = "redb", feature = "fjall"))]
fn measure<E: Engine>(
    env: &Env,
    options: &BenchOptions,
    name: &'static str,
    open: impl FnOnce(&std::path::Path, u64) -> Result<E, String>,
    progress: &mut dyn FnMut(BenchProgress),
) -> Result<ContenderReport, BenchError> {
    let failed = |message| BenchError::Engine { engine: name, message };
    let total = options.keys * CHECKS_PER_KEY;
    let dir = options.dir.join(name);
    let io = |source| BenchError::Io { path: dir.clone(), source };
    env.files.create_dir_all(&dir).map_err(io)?;
    let mut engine = open(&dir, options.memory_bytes).map_err(failed)?;
    let mut course = Course::new(env, options, name);
    let keys_before = (options.keys as f64 * options.engine_from) as u64;
    course.stream.skip_to(keys_before);
    engine.load(&course.stream.keys_so_far()).map_err(failed)?;
    let total = total - keys_before * CHECKS_PER_KEY;
    course.watch = Watch::new(&env.clock, name, total);
    course.watch.start();
    let (mut order, mut sorted, mut new) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_new = vec![false; BATCH];
    while course.watch.seconds() < options.engine_seconds && course.next(total) {
        let Course { links, queue, watch, .. } = &mut course;
        let count = links.keys.len();
        order.clear();
        order.extend((0..count).map(|index| (links.keys[index], index)));
        order.sort_unstable();
        // Of equal keys the first in order of arrival counts.
        order.dedup_by_key(|(key, _)| *key);
        sorted.clear();
        sorted.extend(order.iter().map(|(key, _)| *key));
        new.clear();
        engine.insert_all(&sorted, &mut new).map_err(failed)?;
        is_new.fill(false);
        for ((_, index), new) in order.iter().zip(&new) {
            is_new[*index] = *new;
        }
        for index in (0..count).filter(|index| is_new[*index]) {
            queue.push(links.text(index));
        }
        watch.count(count as u64, progress);
    }
    let report = course.finish(course.watch.checks.div_ceil(CHECKS_PER_KEY))?;
    Ok(ContenderReport { keys_before, ..report })
}

#[cfg(feature = "rocksdb")]
mod rocks {
    use rocksdb::{
        BlockBasedOptions, Cache, DB, IngestExternalFileOptions, Options, SstFileWriter, WriteBatch,
        WriteOptions,
    };

    pub(super) struct Rocks {
        db: DB,
        options: Options,
        dir: std::path::PathBuf,
    }

    impl Rocks {
        pub(super) fn open(dir: &std::path::Path, memory_bytes: u64) -> Result<Rocks, String> {
            let memory = memory_bytes as usize;
            let mut table = BlockBasedOptions::default();
            table.set_block_cache(&Cache::new_lru_cache(memory / 2));
            table.set_cache_index_and_filter_blocks(true);
            table.set_ribbon_filter(10.0);
            let mut options = Options::default();
            options.create_if_missing(true);
            options.set_block_based_table_factory(&table);
            options.set_write_buffer_size(memory / 8);
            options.set_max_write_buffer_number(3);
            options.set_use_direct_reads(true);
            options.set_use_direct_io_for_flush_and_compaction(true);
            options.increase_parallelism(2);
            let families = [("default", options.clone())];
            let db = DB::open_cf_with_opts(&options, dir, families).map_err(|error| error.to_string())?;
            Ok(Rocks { db, options, dir: dir.into() })
        }
    }

    impl super::Engine for Rocks {
        fn load(&mut self, sorted: &[u64]) -> Result<(), String> {
            let load = || {
                let mut ingest = IngestExternalFileOptions::default();
                ingest.set_move_files(true);
                // Files of the size that its own compaction would make.
                for (number, part) in sorted.chunks(4_000_000).enumerate() {
                    let path = self.dir.join(format!("load-{number}.sst"));
                    let mut writer = SstFileWriter::create(&self.options);
                    writer.open(&path)?;
                    for key in part {
                        writer.put(key.to_be_bytes(), [])?;
                    }
                    writer.finish()?;
                    self.db.ingest_external_file_opts(&ingest, vec![&path])?;
                }
                Ok(())
            };
            load().map_err(|error: rocksdb::Error| error.to_string())
        }

        fn insert_all(&mut self, sorted: &[u64], new: &mut Vec<bool>) -> Result<(), String> {
            let keys: Vec<[u8; 8]> = sorted.iter().map(|key| key.to_be_bytes()).collect();
            let family = self.db.cf_handle("default").ok_or("there is no default column family")?;
            let found = self.db.batched_multi_get_cf(family, &keys, true);
            let mut batch = WriteBatch::default();
            for (key, found) in keys.iter().zip(found) {
                let is_new = found.map_err(|error| error.to_string())?.is_none();
                if is_new {
                    batch.put(key, []);
                }
                new.push(is_new);
            }
            let mut options = WriteOptions::default();
            options.disable_wal(true);
            self.db.write_opt(batch, &options).map_err(|error| error.to_string())
        }
    }
}

#[cfg(feature = "redb")]
mod red {
    use redb::{Database, Durability, TableDefinition};

    const KEYS: TableDefinition<'_, u64, ()> = TableDefinition::new("keys");

    pub(super) struct Red {
        db: Database,
    }

    impl Red {
        pub(super) fn open(dir: &std::path::Path, memory_bytes: u64) -> Result<Red, String> {
            let mut builder = Database::builder();
            builder.set_cache_size(memory_bytes as usize * 3 / 4);
            let db = builder.create(dir.join("keys.redb")).map_err(|error| error.to_string())?;
            Ok(Red { db })
        }

        fn insert(&mut self, sorted: &[u64], new: &mut Vec<bool>) -> Result<(), redb::Error> {
            let mut transaction = self.db.begin_write()?;
            transaction.set_durability(Durability::None)?;
            {
                let mut table = transaction.open_table(KEYS)?;
                for key in sorted {
                    new.push(table.insert(key, ())?.is_none());
                }
            }
            transaction.commit()?;
            Ok(())
        }
    }

    impl super::Engine for Red {
        fn load(&mut self, sorted: &[u64]) -> Result<(), String> {
            let mut new = Vec::new();
            for part in sorted.chunks(1_000_000) {
                new.clear();
                self.insert(part, &mut new).map_err(|error| error.to_string())?;
            }
            Ok(())
        }

        fn insert_all(&mut self, sorted: &[u64], new: &mut Vec<bool>) -> Result<(), String> {
            self.insert(sorted, new).map_err(|error| error.to_string())
        }
    }
}

#[cfg(feature = "fjall")]
mod fj {
    use fjall::{Database, Keyspace, KeyspaceCreateOptions};

    pub(super) struct Fjall {
        keys: Keyspace,
        // Closed after its keyspace.
        _db: Database,
    }

    impl Fjall {
        pub(super) fn open(dir: &std::path::Path, memory_bytes: u64) -> Result<Fjall, String> {
            let open = || -> fjall::Result<Fjall> {
                let db = Database::builder(dir).cache_size(memory_bytes / 2).open()?;
                let keys = db.keyspace("keys", KeyspaceCreateOptions::default)?;
                Ok(Fjall { keys, _db: db })
            };
            open().map_err(|error| error.to_string())
        }
    }

    impl super::Engine for Fjall {
        fn load(&mut self, sorted: &[u64]) -> Result<(), String> {
            for key in sorted {
                self.keys.insert(key.to_be_bytes(), []).map_err(|error| error.to_string())?;
            }
            Ok(())
        }

        fn insert_all(&mut self, sorted: &[u64], new: &mut Vec<bool>) -> Result<(), String> {
            for key in sorted {
                let key = key.to_be_bytes();
                let known = self.keys.contains_key(key).map_err(|error| error.to_string())?;
                if !known {
                    self.keys.insert(key, []).map_err(|error| error.to_string())?;
                }
                new.push(!known);
            }
            Ok(())
        }
    }
}
