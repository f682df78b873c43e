//! Ledgers grow, parts follow; every committed row is there once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use mattock_env::sim::Simulation;
use mattock_env::{Env, UnixTime};
use mattock_index::{
    IndexError, IndexOptions, LedgerSource, Manifest, Outcomes, Snapshot, TAIL_ROWS_MAX, Updated, rebuild,
    recover, update,
};
use mattock_repository::{Details, Digest, Ledger, Place, Row, Unsynced};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const ROOT: &str = "/repository";

fn options() -> IndexOptions {
    IndexOptions { crawl: "test".into(), archive: "warc".into() }
}

struct Grown {
    env: Env,
    ledger: Ledger,
    source: LedgerSource,
    next: u64,
    marks: i64,
    /// What rows say of languages.
    languages: Option<&'static str>,
}

impl Grown {
    fn new(env: &Env) -> Grown {
        env.files.create_dir_all(Path::new(ROOT)).unwrap();
        let path = PathBuf::from(ROOT).join("ledger-0");
        let ledger = Ledger::open(&env.files, &path, 0).unwrap();
        let source = LedgerSource { name: "ledger-0".into(), path, bytes: 0 };
        Grown { env: env.clone(), ledger, source, next: 0, marks: 0, languages: None }
    }

    /// So many rows more, of which every fifth has no document. Committed, or not yet.
    fn grow(&mut self, count: u64, committed: bool) {
        for number in self.next..self.next + count {
            let url = format!("http://host-{}.example.com/{number}", number % 13);
            let stored = number % 5 != 4;
            let row = Row {
                url: &url,
                time: UnixTime::from_micros(1_700_000_000_000_000 + number as i64),
                outcome: if stored { "200" } else { "connect-timeout" },
                depth: 1,
                took_ms: 3,
                digest: stored.then(|| Digest::of(&[url.as_bytes()])),
                place: stored.then(|| Place {
                    file: Arc::from("a.warc.gz"),
                    offset: number * 10,
                    length: 10,
                }),
                truncated: false,
                details: stored.then(|| Details {
                    mime: "text/html",
                    languages: self.languages,
                    ..Details::default()
                }),
            };
            self.ledger.append(&row).unwrap();
        }
        self.next += count;
        self.marks += 1;
        let time = UnixTime::from_micros(1_800_000_000_000_000 + self.marks * 1_000_000);
        let bytes = self.ledger.mark(&mut Unsynced::new(&self.env.files), time).unwrap();
        if committed {
            self.source.bytes = bytes;
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::open(&self.env.files, Path::new(ROOT), std::slice::from_ref(&self.source), &options())
            .unwrap()
    }

    fn update(&self, at_least: usize) -> mattock_index::Updated {
        let sources = std::slice::from_ref(&self.source);
        update(&self.env.files, Path::new(ROOT), sources, &options(), at_least, |_| {}).unwrap()
    }

    /// How many rows were inserted in which second, all parts and the tail together.
    fn inserted(&self) -> BTreeMap<i64, usize> {
        let snapshot = self.snapshot();
        let mut batches = snapshot.tail().to_vec();
        for part in snapshot.parts() {
            let bytes = bytes::Bytes::from(self.env.files.read(part).unwrap());
            batches.extend(
                ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().map(Result::unwrap),
            );
        }
        let mut found = BTreeMap::new();
        for batch in batches {
            let column = batch.column_by_name("insertion_time").unwrap();
            for time in column.as_primitive::<TimestampMillisecondType>() {
                *found.entry(time.unwrap() / 1000 - 1_800_000_000).or_default() += 1;
            }
        }
        found
    }

    /// How often every URL is there; parts are in order.
    fn urls(&self) -> BTreeMap<String, usize> {
        let snapshot = self.snapshot();
        let mut found = BTreeMap::new();
        for part in snapshot.parts() {
            let bytes = self.env.files.read(part).unwrap();
            let reader =
                ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().build().unwrap();
            let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
            let keys: Vec<String> = batches.iter().flat_map(|batch| texts(batch, "url_surtkey")).collect();
            assert!(keys.is_sorted(), "a part is in order");
            batches
                .iter()
                .flat_map(|batch| texts(batch, "url"))
                .for_each(|url| *found.entry(url).or_default() += 1);
        }
        for url in snapshot.tail().iter().flat_map(|batch| texts(batch, "url")) {
            *found.entry(url).or_default() += 1;
        }
        assert_eq!(found.values().sum::<usize>() as u64, snapshot.rows());
        found
    }
}

fn texts(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap().as_string::<i32>();
    column.iter().map(|text| text.unwrap().to_owned()).collect()
}

fn stored(count: u64) -> usize {
    (0..count).filter(|number| number % 5 != 4).count()
}

fn run(test: impl FnOnce(&Env)) {
    Simulation::new(1).run(|env| {
        test(&env);
        async {}
    });
}

#[test]
fn every_committed_row_is_there_once_however_parts_are_made() {
    run(|env| {
        let mut grown = Grown::new(env);
        assert!(grown.urls().is_empty());
        let mut total = 0;
        for (count, at_least) in [(30, 1000), (2000, 1), (700, 1), (10, 1000), (40_000, 1), (0, 1)] {
            grown.grow(count, true);
            total += count;
            let before = grown.urls();
            let updated = grown.update(at_least);
            assert!(!updated.rebuilt && updated.damaged == 0);
            let after = grown.urls();
            assert_eq!(before, after);
            assert_eq!(after.len(), stored(total));
            assert!(after.values().all(|count| *count == 1));
        }
        assert!(grown.snapshot().tail().is_empty() && grown.snapshot().parts().len() == 3);
    });
}

#[test]
fn an_index_has_languages_once_they_were_looked_for_everywhere() {
    run(|env| {
        let mut grown = Grown::new(env);
        assert!(grown.snapshot().has_languages(), "there is none to look at");
        for (languages, at_least) in [(Some("deu,eng"), 1), (Some(""), 1), (Some(""), 1000)] {
            grown.languages = languages;
            grown.grow(20, true);
            grown.update(at_least);
            assert!(grown.snapshot().has_languages());
        }
        let snapshot = grown.snapshot();
        let bytes = bytes::Bytes::from(env.files.read(&snapshot.parts()[0]).unwrap());
        let batch = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().next();
        assert_eq!(texts(&batch.unwrap().unwrap(), "content_languages"), vec!["deu,eng"; stored(20)]);
        assert!(snapshot.tail()[0].column_by_name("content_languages").unwrap().is_null(0));
        grown.languages = None;
        grown.grow(1, true);
        assert!(!grown.snapshot().has_languages());
        grown.update(1);
        assert!(!grown.snapshot().has_languages());
    });
}

#[test]
fn what_does_not_fit_into_memory_is_not_asked_before_it_is_in_parts() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(TAIL_ROWS_MAX as u64 * 5 / 4 + 20_000, true);
        let sources = std::slice::from_ref(&grown.source);
        let refused = Snapshot::open(&env.files, Path::new(ROOT), sources, &options());
        assert!(matches!(refused, Err(IndexError::Unindexed { .. })));
    });
}

#[test]
fn parts_are_made_anew_while_the_old_ones_count() {
    run(|env| {
        let mut grown = Grown::new(env);
        for count in [300, 200] {
            grown.grow(count, true);
            grown.update(1);
        }
        let (before, old) = (grown.urls(), grown.snapshot());
        let sources = std::slice::from_ref(&grown.source);
        let mut seen = 0;
        let rebuilt = rebuild(&env.files, Path::new(ROOT), sources, &options(), |_| {
            seen += 1;
            assert_eq!((grown.snapshot().parts(), grown.urls() == before), (old.parts(), true));
        });
        assert_eq!((rebuilt.unwrap().rows, seen > 0), (stored(500) as u64, true));
        assert_eq!((grown.urls(), grown.snapshot().parts().len()), (before, 1));
        assert!(old.parts().iter().all(|part| env.files.entry(part).unwrap().is_none()));
    });
}

#[test]
fn outcomes_are_those_of_all_rows_that_are_committed() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(10_000, true);
        grown.grow(50, false);
        let mut outcomes = Outcomes::open(&env.files, &grown.source).unwrap();
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let mut urls = Vec::new();
        while let Some(batch) = outcomes.next_batch().unwrap() {
            assert!(batch.num_rows() > 0);
            texts(&batch, "outcome").into_iter().for_each(|text| *found.entry(text).or_default() += 1);
            urls.extend(texts(&batch, "url"));
        }
        assert_eq!(found, BTreeMap::from([("200".to_owned(), 8000), ("connect-timeout".to_owned(), 2000)]));
        assert_eq!(urls[9999], "http://host-2.example.com/9999");
    });
}

#[test]
fn rows_keep_the_time_of_their_checkpoint_in_the_tail_and_in_parts() {
    run(|env| {
        let mut grown = Grown::new(env);
        let mut expected = BTreeMap::new();
        for (mark, (count, at_least)) in (1..).zip([(30, 1000), (2000, 1), (700, 5000), (10, 1)]) {
            grown.grow(count, true);
            let before: usize = expected.values().sum();
            expected.insert(mark, stored(grown.next) - before);
            assert_eq!(grown.inserted(), expected);
            let updated = grown.update(at_least);
            assert_eq!(updated.parts > 0, at_least == 1);
            assert_eq!(grown.inserted(), expected);
        }
        assert!(!grown.snapshot().has_undated());
        let committed = grown.source.bytes;
        grown.grow(500, true);
        grown.update(1);
        // What a crash took away comes again, and later.
        grown.ledger = Ledger::open(&env.files, &grown.source.path, committed).unwrap();
        (grown.source.bytes, grown.next) = (committed, grown.next - 500);
        assert_eq!(grown.inserted(), expected);
        grown.grow(500, true);
        expected.insert(6, 400);
        assert_eq!(grown.inserted(), expected);
        assert!(grown.update(1).rebuilt);
        assert_eq!(grown.inserted(), expected);
    });
}

#[test]
fn a_list_of_version_3_is_read_and_goes_on() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(100, true);
        grown.update(1);
        // What earlier programs wrote.
        let path = Manifest::directory(Path::new(ROOT)).join("INDEX");
        let text = String::from_utf8(env.files.read(&path).unwrap()).unwrap();
        let (_, json) = text.split_once('\n').unwrap();
        let mut list: serde_json::Value = serde_json::from_str(json).unwrap();
        list["parts"][0].as_object_mut().unwrap().remove("inserted_ms").unwrap();
        let json = serde_json::to_string_pretty(&list).unwrap();
        let text = format!("MATTOCK-INDEX 3 {:08x}\n{json}\n", crc32fast::hash(json.as_bytes()));
        env.files.write_atomic(&path, text.as_bytes()).unwrap();
        assert!(grown.snapshot().has_undated());
        assert_eq!(grown.urls().len(), stored(100));
        grown.grow(200, true);
        let updated = grown.update(1);
        assert!(!updated.rebuilt && updated.parts == 1);
        assert_eq!((grown.urls().len(), grown.snapshot().parts().len()), (stored(300), 2));
        assert!(grown.snapshot().has_undated());
        assert!(env.files.read(&path).unwrap().starts_with(b"MATTOCK-INDEX 4 "));
    });
}

/// Its state was removed, or archive and index were put elsewhere without it.
#[test]
fn an_index_outlives_the_ledgers_that_it_was_made_of() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(100, true);
        grown.update(1);
        let (files, root) = (&env.files, Path::new(ROOT));
        let rows = || Snapshot::open(files, root, &[], &options()).unwrap().rows();
        assert_eq!(rows(), stored(100) as u64);
        let updated = update(files, root, &[], &options(), 1, |_| {}).unwrap();
        assert_eq!(updated, Updated::default());
        let refused = rebuild(files, root, &[], &options(), |_| {}).unwrap_err();
        assert!(matches!(refused, IndexError::NoLedgers { .. }), "{refused}");
        assert_eq!(rows(), stored(100) as u64);
        assert_eq!(grown.urls().len(), stored(100), "and the crawl goes on, if it is there again");
    });
}

#[test]
fn what_is_not_committed_is_not_seen() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(100, true);
        grown.grow(100, false);
        assert_eq!(grown.urls().len(), stored(100));
        grown.update(1);
        assert_eq!(grown.urls().len(), stored(100));
    });
}

#[test]
fn a_ledger_that_was_cut_back_and_grew_otherwise_is_indexed_anew() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(100, true);
        let committed = grown.source.bytes;
        grown.grow(1000, true);
        grown.update(1);
        grown.ledger = Ledger::open(&env.files, &grown.source.path, committed).unwrap();
        grown.source.bytes = committed;
        assert_eq!(grown.urls().len(), stored(100), "seen at once");
        grown.next = 5000;
        grown.grow(2000, true);
        assert_eq!(grown.urls().len(), stored(100) + stored(2000));
        assert!(grown.update(1).rebuilt);
        assert_eq!(grown.urls().len(), stored(100) + stored(2000));
        assert_eq!(grown.snapshot().parts().len(), 1);
        let names = env.files.list(&Manifest::directory(Path::new(ROOT))).unwrap();
        assert_eq!(
            names.iter().filter(|entry| entry.name.ends_with(".parquet")).count(),
            1,
            "nothing is left"
        );
    });
}

#[test]
fn a_damaged_list_of_parts_is_named_and_so_is_one_of_another_version() {
    run(|env| {
        let mut grown = Grown::new(env);
        grown.grow(100, true);
        grown.update(1);
        let path = Manifest::directory(Path::new(ROOT)).join("INDEX");
        let whole = env.files.read(&path).unwrap();
        let open = || Snapshot::open(&env.files, Path::new(ROOT), &[], &options());
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            env.files.write_atomic(&path, &bytes).unwrap();
            let error = open().unwrap_err();
            assert!(
                matches!(error, IndexError::Damaged { .. } | IndexError::Version { .. }),
                "{at}: {error}"
            );
        }
        let newer = String::from_utf8(whole).unwrap().replacen("INDEX 4", "INDEX 9", 1);
        env.files.write_atomic(&path, newer.as_bytes()).unwrap();
        assert!(open().unwrap_err().to_string().contains("version 9"));
    });
}

#[test]
fn a_crawl_whose_list_is_lost_is_indexed_anew() {
    run(|env| {
        let mut grown = Grown::new(env);
        for count in [300, 200] {
            grown.grow(count, true);
            grown.update(1);
        }
        let before = grown.urls();
        let (files, root) = (&env.files, Path::new(ROOT));
        files.remove_file(&Manifest::directory(root).join("INDEX")).unwrap();
        let recovered = recover(files, root).unwrap().unwrap();
        assert_eq!((recovered.parts, recovered.rows, recovered.lost), (2, stored(500) as u64, 0));
        // Whether its ledgers are there or not.
        assert_eq!(Snapshot::open(files, root, &[], &options()).unwrap().rows(), stored(500) as u64);
        assert_eq!(grown.urls(), before);
        assert_eq!((grown.update(1).rows, grown.urls()), (stored(500) as u64, before));
    });
}
