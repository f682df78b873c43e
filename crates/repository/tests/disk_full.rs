//! The disk fills up, fails, and loses power, at every operation.

use std::io;

use mattock_env::{Fault, Files, Random, SimFiles};
use mattock_repository::{
    Compression, Place, RepositoryError, WarcReader, WarcWriter, WriterOptions, repair_tail,
};

use crate::common::*;

fn disk(seed: u64) -> (SimFiles, Files) {
    let disk = SimFiles::new(Random::from_seed(seed));
    (disk.clone(), Files::simulated(disk))
}

/// Small enough for many writes and several files.
fn small(compression: Compression) -> WriterOptions {
    WriterOptions { compression, buffer_bytes: 1500, file_bytes_max: 6000, ..options() }
}

/// Pages of which the writer said that they were written, and what is known to survive.
#[derive(Default)]
struct Ledger {
    written: Vec<(String, Place)>,
    /// How many of them a sync has covered.
    synced: usize,
    errors: usize,
}

impl Ledger {
    fn note(&mut self, result: Result<(), RepositoryError>) -> bool {
        match result {
            Ok(()) => true,
            Err(error) => {
                self.errors += 1;
                match error {
                    RepositoryError::Io { .. } => {}
                    RepositoryError::Abandoned { path, offset, .. } => {
                        let file = path.file_name().unwrap().to_str().unwrap();
                        let lost = |place: &Place| &*place.file == file && place.offset >= offset;
                        assert!(
                            !self.written[..self.synced].iter().any(|(_, place)| lost(place)),
                            "synced pages are never lost"
                        );
                        self.written.retain(|(_, place)| !lost(place));
                    }
                    other => panic!("{other}"),
                }
                false
            }
        }
    }
}

/// Thirty pages, synced after every seventh; goes on after errors, as a crawl would once there is space.
fn run(files: &Files, compression: Compression) -> Ledger {
    let mut ledger = Ledger::default();
    let opened = WarcWriter::open(files, directory(), small(compression), Random::from_seed(7));
    let Ok(mut writer) = opened else {
        ledger.errors += 1;
        return ledger;
    };
    for number in 0..30 {
        let url = format!("http://example.org/{number}");
        let body = vec![number as u8; number * 7];
        match writer.write_page(&page(&url, &body, &[])) {
            Ok(written) => ledger.written.push((url, written.place)),
            Err(error) => drop(ledger.note(Err(error))),
        }
        if number % 7 == 6 && ledger.note(writer.sync()) {
            ledger.synced = ledger.written.len();
        }
    }
    // Twice, for the case that there was no space the first time.
    if ledger.note(writer.finish()) || ledger.note(writer.finish()) {
        ledger.synced = ledger.written.len();
    }
    ledger
}

fn assert_found(files: &Files, pages: &[(String, Place)], context: &str) {
    for (url, place) in pages {
        let path = directory().join(&*place.file);
        let mut reader = WarcReader::open_at(files, &path, place.offset).unwrap();
        let record = reader.next_record().unwrap_or_else(|error| panic!("{context}: {error}")).unwrap();
        assert_eq!(
            (record.target_uri(), record.length),
            (Some(url.as_str()), Some(place.length)),
            "{context}"
        );
    }
}

#[test]
fn a_full_disk_leaves_whole_records_and_the_writer_goes_on_when_there_is_space() {
    COMPRESSIONS.into_iter().for_each(fill_the_disk);
}

fn fill_the_disk(compression: Compression) {
    let (disk, files) = disk(1);
    let mut writer = writer(&files, WriterOptions { compression, buffer_bytes: 1500, ..options() });
    disk.set_capacity(Some(10_000));
    let mut written = Vec::new();
    let mut refused = 0;
    for number in 0..100 {
        let url = format!("http://example.org/{number}");
        match writer.write_page(&page(&url, &[b'x'; 100], &[])) {
            Ok(done) => written.push((url, done.place)),
            Err(RepositoryError::Io { source, .. }) => {
                assert_eq!(source.kind(), io::ErrorKind::StorageFull);
                refused += 1;
                let report = repair_tail(&files, &archive(&files)[0]).unwrap();
                assert!(!report.was_torn(), "the writer cleans up behind itself");
            }
            Err(other) => panic!("{other}"),
        }
        if number == 80 {
            assert!(refused > 10);
            disk.set_capacity(None);
            refused = 0;
        }
    }
    assert_eq!(refused, 0, "no page is refused once there is space");
    writer.finish().unwrap();
    assert_eq!(archive(&files).len(), 1);
    assert_found(&files, &written, "after the disk was full");
    let (records, error) = read(&files, &archive(&files)[0]);
    assert!(error.is_none());
    assert_eq!(records.len(), 1 + 2 * written.len(), "refused pages leave nothing behind");
}

#[test]
fn any_one_failing_operation_costs_only_what_its_error_names() {
    COMPRESSIONS.into_iter().for_each(fail_each_operation);
}

fn fail_each_operation(compression: Compression) {
    let (counter, files) = disk(1);
    assert_eq!(run(&files, compression).errors, 0);
    let operations = counter.operations();
    assert!(operations > 30, "{operations}");
    for fault in [Fault::NoSpace, Fault::Io] {
        for operation in 0..operations {
            let context = format!("{fault:?} at operation {operation}");
            let (disk, files) = disk(operation);
            disk.fail_at(operation, fault);
            let ledger = run(&files, compression);
            assert_eq!(ledger.errors, 1, "{context}");
            assert_found(&files, &ledger.written, &context);
            if files.entry(directory()).unwrap().is_none() {
                continue;
            }
            for path in archive(&files) {
                assert!(read(&files, &path).1.is_none(), "{context}");
            }
            assert_eq!(ledger.synced, ledger.written.len(), "{context}");
        }
    }
}

#[test]
fn a_file_that_can_be_neither_written_nor_cut_is_left_for_another() {
    COMPRESSIONS.into_iter().for_each(fail_two_operations);
}

fn fail_two_operations(compression: Compression) {
    let (counter, files) = disk(1);
    run(&files, compression);
    let mut abandoned = 0;
    for operation in 0..counter.operations() {
        let (disk, files) = disk(operation);
        // The operation behind a failed write is the one that undoes it.
        disk.fail_at(operation, Fault::Io);
        disk.fail_at(operation + 1, Fault::Io);
        let ledger = run(&files, compression);
        let context = format!("operations {operation} and the next");
        assert_found(&files, &ledger.written, &context);
        if files.entry(directory()).unwrap().is_none() {
            continue;
        }
        for path in archive(&files) {
            let (before, error) = read(&files, &path);
            if error.is_some() {
                abandoned += 1;
                repair_tail(&files, &path).unwrap();
                assert_eq!(read(&files, &path).0, before);
                assert_found(&files, &ledger.written, &context);
            }
        }
    }
    assert!(abandoned > 0, "no file was torn: this test has lost its subject");
}

#[test]
fn what_was_synced_survives_a_power_failure_at_any_operation() {
    COMPRESSIONS.into_iter().for_each(stop_at_each_operation);
}

fn stop_at_each_operation(compression: Compression) {
    let (counter, files) = disk(1);
    run(&files, compression);
    let mut repaired = 0;
    for operation in 0..counter.operations() {
        for seed in 0..8 {
            let (disk, files) = disk(seed);
            disk.fail_at(operation, Fault::Stop);
            let ledger = run(&files, compression);
            disk.crash();
            let synced = &ledger.written[..ledger.synced];
            let context = format!("stop at operation {operation}, seed {seed}");
            assert_found(&files, synced, &context);
            if files.entry(directory()).unwrap().is_none() {
                continue;
            }
            for path in archive(&files) {
                match repair_tail(&files, &path) {
                    Ok(report) => {
                        repaired += usize::from(report.was_torn());
                        assert!(read(&files, &path).1.is_none(), "{context}");
                    }
                    // Writes reach the disk in any order: a whole record may follow a hole.
                    Err(
                        RepositoryError::NotATornTail { .. }
                        | RepositoryError::Damaged { .. }
                        | RepositoryError::NotWarc { .. },
                    ) => {}
                    Err(other) => panic!("{context}: {other}"),
                }
            }
            assert_found(&files, synced, &context);
            // The next run writes beside what is there.
            let next = run(&files, compression);
            assert_eq!((next.errors, next.synced), (0, 30), "{context}");
            assert_found(&files, synced, &context);
        }
    }
    assert!(repaired > 0, "no tail was torn: this test has lost its subject");
}
