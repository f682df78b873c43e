//! Pages that bring a payload for the second time.

use mattock_env::{Fault, Files, Random, SimFiles};
use mattock_repository::{Compression, Digest, Page, Truncated, WarcWriter, WriterOptions};

use crate::common::*;

#[test]
fn an_identical_payload_becomes_a_revisit_that_names_the_original() {
    for compression in COMPRESSIONS {
        let files = files();
        let mut writer = writer(&files, WriterOptions { compression, revisit_payloads: 100, ..options() });
        let first = writer.write_page(&page("http://example.org/a", b"the same", &[])).unwrap();
        let later = Page { date: date(60), ..page("http://example.org/b", b"the same", &[]) };
        let second = writer.write_page(&later).unwrap();
        let other = writer.write_page(&page("http://example.org/c", b"another", &[])).unwrap();
        assert_eq!([first.is_revisit, second.is_revisit, other.is_revisit], [false, true, false]);
        assert_eq!(first.payload_digest, second.payload_digest);
        writer.finish().unwrap();
        let (found, error) = read(&files, &archive(&files)[0]);
        assert!(error.is_none(), "{error:?}");
        let revisit = found.iter().find(|record| record.get("WARC-Type") == Some("revisit")).unwrap();
        assert_eq!(revisit.offset, second.place.offset);
        for (name, value) in [
            ("WARC-Target-URI", "http://example.org/b".to_owned()),
            ("WARC-Date", "2026-01-02T12:01:00Z".to_owned()),
            ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest".to_owned()),
            ("WARC-Refers-To", first.record_id.to_string()),
            ("WARC-Refers-To-Target-URI", "http://example.org/a".to_owned()),
            ("WARC-Refers-To-Date", "2026-01-02T12:00:00Z".to_owned()),
            ("WARC-Payload-Digest", first.payload_digest.to_string()),
            ("WARC-Block-Digest", Digest::of(&[&revisit.block]).to_string()),
        ] {
            let read = revisit.get(name).unwrap().replace(".000000Z", "Z");
            assert_eq!(read, value, "{name}");
        }
        assert_eq!(revisit.block, page("", b"", &[]).response_head);
    }
}

#[test]
fn what_is_cut_off_or_empty_is_no_payload() {
    let files = files();
    let mut writer = writer(&files, WriterOptions { revisit_payloads: 100, ..options() });
    let cut = Page { truncated: Some(Truncated::Length), ..page("http://example.org/", b"cut", &[]) };
    for page in [cut, page("http://example.org/", b"cut", &[]), cut, page("http://example.org/", b"", &[])] {
        assert!(!writer.write_page(&page).unwrap().is_revisit);
    }
    assert!(!writer.write_page(&page("http://example.org/", b"", &[])).unwrap().is_revisit);
    assert!(writer.write_page(&page("http://example.org/", b"cut", &[])).unwrap().is_revisit);
}

#[test]
fn what_no_index_lists_is_neither_repeated_nor_a_repetition() {
    let files = files();
    let mut writer = writer(&files, WriterOptions { revisit_payloads: 100, ..options() });
    let page = page("http://example.org/", b"the same", &[]);
    assert!(!writer.write_unlisted(&page).unwrap().is_revisit);
    assert!(!writer.write_page(&page).unwrap().is_revisit);
    assert!(!writer.write_unlisted(&page).unwrap().is_revisit);
    assert!(writer.write_page(&page).unwrap().is_revisit);
}

#[test]
fn without_the_option_every_page_is_whole() {
    let files = files();
    let mut writer = writer(&files, WriterOptions { compression: Compression::default(), ..options() });
    for _ in 0..3 {
        assert!(!writer.write_page(&page("http://example.org/", b"the same", &[])).unwrap().is_revisit);
    }
}

/// Whichever operation of the disk fails: what a revisit refers to is in the archive.
#[test]
fn no_revisit_refers_to_what_was_lost() {
    let mut revisits = 0;
    let mut failures = 0;
    for operation in 0..80 {
        let disk = SimFiles::new(Random::from_seed(operation));
        let files = Files::simulated(disk.clone());
        disk.fail_at(operation, Fault::Io);
        disk.fail_at(operation + 1, Fault::Io);
        let options = WriterOptions { revisit_payloads: 100, buffer_bytes: 1500, ..options() };
        let Ok(mut writer) = WarcWriter::open(&files, directory(), options, Random::from_seed(7)) else {
            continue;
        };
        for number in 0..30 {
            let url = format!("http://example.org/{number}");
            let body = format!("payload {}", number % 4).repeat(20);
            failures += usize::from(writer.write_page(&page(&url, body.as_bytes(), &[])).is_err());
            if number % 5 == 4 {
                failures += usize::from(writer.sync().is_err());
            }
        }
        // Twice, for the case that it failed the first time.
        if writer.finish().is_err() {
            writer.finish().unwrap();
        }
        let mut originals = Vec::new();
        for path in archive(&files) {
            for record in read(&files, &path).0 {
                let id = record.get("WARC-Record-ID").unwrap().to_owned();
                match record.get("WARC-Refers-To") {
                    Some(original) => {
                        revisits += 1;
                        assert!(originals.iter().any(|known| known == original), "operation {operation}");
                    }
                    None => originals.push(id),
                }
            }
        }
    }
    assert!(revisits > 100 && failures > 10, "{revisits} revisits, {failures} failures");
}
