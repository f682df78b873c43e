//! Records read by their places.

use std::path::PathBuf;

use mattock_env::{Files, Random, UnixTime};
use mattock_repository::{Compression, RecordFetcher, RepositoryError, WriterOptions};
use proptest::prelude::*;

use crate::common::*;

/// Pages of different sizes in several files, with the places of their responses.
fn pages(files: &Files, compression: Compression, count: u64) -> Vec<(PathBuf, u64, u64, Vec<u8>)> {
    let mut writer = writer(files, WriterOptions { compression, file_bytes_max: 100_000, ..options() });
    let mut random = Random::from_seed(3);
    let mut pages = Vec::new();
    for number in 0..count {
        let body: Vec<u8> = (0..random.below(9000)).map(|_| (random.below(8) * number) as u8).collect();
        let url = format!("http://example.org/{number}");
        let place = writer.write_page(&page(&url, &body, &[])).unwrap().place;
        pages.push((directory().join(&*place.file), place.offset, place.length, body));
    }
    writer.finish().unwrap();
    pages
}

#[test]
fn a_place_gives_its_record_in_any_order() {
    for compression in COMPRESSIONS {
        let files = files();
        let pages = pages(&files, compression, 150);
        let mut fetcher = RecordFetcher::new(&files);
        let mut random = Random::from_seed(9);
        for round in 0..600_usize {
            // In order, then at random, with and without a length, and with one that is wrong.
            let at = if round < 150 { round } else { random.below(150) as usize };
            let (path, offset, length, body) = &pages[at];
            let said = match round % 5 {
                3 => 0,
                4 => *length / 2,
                _ => *length,
            };
            let record = fetcher.fetch(path, *offset, said).unwrap();
            assert_eq!((record.offset, record.length), (*offset, Some(*length)));
            assert_eq!(record.target_uri().unwrap(), format!("http://example.org/{at}"));
            assert_eq!(record.response().unwrap().body, body);
        }
    }
}

#[test]
fn single_places_cost_their_own_bytes_and_neighbours_one_reading() {
    for compression in COMPRESSIONS {
        let files = files();
        let pages = pages(&files, compression, 400);
        let total: u64 = archive(&files).iter().map(|path| files.read(path).unwrap().len() as u64).sum();
        let mut fetcher = RecordFetcher::new(&files);
        for (path, offset, length, _) in &pages {
            fetcher.fetch(path, *offset, *length).unwrap();
        }
        let all = fetcher.bytes_read();
        assert!(all <= total + total / 10, "{all} of {total}");
        let mut fetcher = RecordFetcher::new(&files);
        let mut wanted = 0;
        for (path, offset, length, _) in pages.iter().step_by(50) {
            fetcher.fetch(path, *offset, *length).unwrap();
            wanted += length;
        }
        assert_eq!(fetcher.bytes_read(), wanted);
    }
}

#[test]
fn a_place_is_good_for_its_own_document_only() {
    let files = files();
    let pages = pages(&files, Compression::default(), 3);
    let (path, offset, length, body) = &pages[1];
    let mut fetcher = RecordFetcher::new(&files);
    let record = fetcher.document(path, *offset, *length, "http://example.org/1", None).unwrap();
    assert_eq!(record.response().unwrap().body, body);
    let error = fetcher.document(path, *offset, *length, "http://example.org/2", None).unwrap_err();
    assert!(matches!(error, RepositoryError::AnotherRecord { .. }) && error.is_loss(), "{error}");
    assert!(error.to_string().contains("response of http://example.org/1"), "{error}");
    // The file's own description.
    let error = fetcher.document(path, 0, 0, "http://example.org/0", None).unwrap_err();
    assert!(error.to_string().contains("warcinfo of no URL"), "{error}");
    let url = "http://example.org/2";
    let record = fetcher.document(&pages[2].0, pages[2].1, pages[2].2, url, None).unwrap();
    assert_eq!(record.response().unwrap().body, pages[2].3);
    // Another capture of the same URL lies there by now.
    let date = record.date().unwrap();
    let within = UnixTime::from_micros(date.as_micros() / 1_000_000 * 1_000_000 + 999_999);
    assert!(fetcher.document(&pages[2].0, pages[2].1, pages[2].2, url, Some(within)).is_ok());
    let later = UnixTime::from_micros(date.as_micros() + 1_000_000);
    let error = fetcher.document(&pages[2].0, pages[2].1, pages[2].2, url, Some(later)).unwrap_err();
    assert!(error.to_string().contains(&format!("that of {url} at {later}")), "{error}");
}

#[test]
fn a_place_that_cannot_be_read_costs_nothing_but_itself() {
    for compression in COMPRESSIONS {
        let files = files();
        let pages = pages(&files, compression, 40);
        let (path, offset, length, _) = &pages[20];
        let mut bytes = files.read(path).unwrap();
        bytes[(offset + length / 2) as usize] ^= 0x55;
        put(&files, path, &bytes);
        let mut fetcher = RecordFetcher::new(&files);
        for (at, (path, offset, length, body)) in pages.iter().enumerate() {
            match fetcher.fetch(path, *offset, *length) {
                Ok(record) => assert_eq!(record.response().unwrap().body, body),
                Err(error) => {
                    assert_eq!(at, 20, "{error}");
                    assert!(
                        matches!(error, RepositoryError::Damaged { offset: place, .. } if place == *offset)
                    );
                }
            }
        }
        // A place inside a record, one behind the end, a file that is not there.
        assert!(fetcher.fetch(path, *offset + 3, *length).is_err());
        assert!(matches!(fetcher.fetch(path, 1 << 40, 100), Err(RepositoryError::Torn { .. })));
        assert!(fetcher.fetch(&directory().join("missing.warc.gz"), 0, 100).is_err());
        let (path, offset, length, body) = &pages[39];
        assert_eq!(fetcher.fetch(path, *offset, *length).unwrap().response().unwrap().body, body);
    }
}

#[test]
fn the_first_bytes_of_a_record_say_nothing_of_others() {
    for compression in COMPRESSIONS {
        let files = files();
        let pages = pages(&files, compression, 4);
        let (path, offset, length, _) = &pages[2];
        let mut bytes = files.read(path).unwrap();
        for damaged in [0, *offset] {
            bytes[damaged as usize] = b'?';
            put(&files, path, &bytes);
            let mut fetcher = RecordFetcher::new(&files);
            // The damaged one is what the file is opened at.
            assert_eq!(fetcher.fetch(path, *offset, *length).is_err(), damaged == *offset);
            for (path, offset, length, body) in
                pages.iter().filter(|page| page.1 != damaged && page.1 != *offset)
            {
                assert_eq!(fetcher.fetch(path, *offset, *length).unwrap().response().unwrap().body, body);
            }
        }
    }
}

#[test]
fn a_plain_file_is_read_by_place_too() {
    let files = files();
    let (packed, _) = small_archive(&files, Compression::default());
    let plain = directory().join("plain.warc");
    put(&files, &plain, &decompressed(&files, &packed));
    let found = read(&files, &plain).0;
    let mut fetcher = RecordFetcher::new(&files);
    for record in found.iter().rev() {
        let fetched = fetcher.fetch(&plain, record.offset, record.length.unwrap()).unwrap();
        assert_eq!(fetched.block, record.block);
    }
    let bytes: u64 = found.iter().filter_map(|record| record.length).sum();
    assert_eq!(fetcher.bytes_read(), bytes);
}

proptest! {
    /// Against a reading from front to back, with more files than are kept open.
    #[test]
    fn whatever_was_read_before_a_place_gives_the_same(order in prop::collection::vec((0..20_usize, 0..9_usize), 1..60)) {
        let files = files();
        let (path, bytes) = small_archive(&files, Compression::default());
        let whole = read(&files, &path).0;
        let copies: Vec<_> = (0..20).map(|number| directory().join(format!("copy-{number}.warc.gz"))).collect();
        copies.iter().for_each(|copy| put(&files, copy, &bytes));
        let mut fetcher = RecordFetcher::new(&files);
        for (copy, record) in order {
            let expected = &whole[record];
            let fetched = fetcher.fetch(&copies[copy], expected.offset, expected.length.unwrap()).unwrap();
            prop_assert_eq!(fetched.block, &expected.block[..]);
        }
    }
}
