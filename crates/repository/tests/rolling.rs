//! Files begin, end and follow each other.

use mattock_env::Random;
use mattock_repository::{Compression, Page, RepositoryError, WarcWriter, WriterOptions};

use crate::common::*;

fn names(files: &mattock_env::Files) -> Vec<String> {
    files.list(directory()).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_full_file_is_followed_by_another_that_sorts_behind_it() {
    let files = files();
    let mut writer = writer(&files, WriterOptions { file_bytes_max: 2000, ..options() });
    let mut places = Vec::new();
    for number in 0..20 {
        let url = format!("http://example.org/{number}");
        // Pages finish in another order than they began.
        let page =
            Page { date: date(if number % 2 == 0 { number * 60 } else { 0 }), ..page(&url, b"body", &[]) };
        places.push((url.clone(), writer.write_page(&page).unwrap().place));
    }
    writer.finish().unwrap();
    let names = names(&files);
    assert!(names.len() > 3, "{names:?}");
    assert!(
        names.iter().enumerate().all(|(serial, name)| name.ends_with(&format!("-{serial:05}.warc.gz"))),
        "{names:?}"
    );
    assert_eq!(names[0], "test-20260102120000-00000.warc.gz");

    let mut found = Vec::new();
    for (index, path) in archive(&files).iter().enumerate() {
        let (records, error) = read(&files, path);
        assert!(error.is_none());
        assert_eq!(records[0].get("WARC-Type"), Some("warcinfo"));
        assert_eq!(records[0].get("WARC-Filename"), Some(names[index].as_str()));
        assert_eq!(records[0].block, b"software: mattock\r\nrobots: obey\r\n");
        let last = records.last().unwrap();
        assert_eq!(last.get("WARC-Type"), Some("response"), "no page is split over two files");
        let length = last.offset + last.length.unwrap();
        assert!(index + 1 == names.len() || (2000..3000).contains(&length), "{length}");
        for record in &records[1..] {
            if record.get("WARC-Type") == Some("response") {
                assert_eq!(record.get("WARC-Warcinfo-ID"), records[0].get("WARC-Record-ID"));
                found.push((
                    record.get("WARC-Target-URI").unwrap().to_owned(),
                    names[index].clone(),
                    record.offset,
                    record.length,
                ));
            }
        }
    }
    let told: Vec<_> = places
        .into_iter()
        .map(|(url, place)| (url, place.file.to_string(), place.offset, Some(place.length)))
        .collect();
    assert_eq!(found, told);
}

#[test]
fn another_run_goes_on_with_the_numbers_and_touches_no_old_file() {
    let files = files();
    let mut first = writer(&files, options());
    first.write_page(&page("http://example.org/", b"", &[])).unwrap();
    first.finish().unwrap();
    put(&files, &directory().join("test-20990101000000-00041.warc.gz"), b"");
    put(&files, &directory().join("other-20990101000000-00099.warc.gz"), b"");
    let before = files.read(&archive(&files)[1]).unwrap();

    let mut second = writer(&files, options());
    let place = second.write_page(&page("http://example.org/", b"", &[])).unwrap().place;
    second.finish().unwrap();
    assert_eq!(&*place.file, "test-20990101000000-00042.warc.gz");
    assert_eq!(files.read(&archive(&files)[1]).unwrap(), before);

    let mut third = writer(&files, WriterOptions { compression: Compression::Zstd(1), ..options() });
    let place = third.write_page(&page("http://example.org/", b"", &[])).unwrap().place;
    assert_eq!(&*place.file, "test-20990101000000-00043.warc.zst");
    third.finish().unwrap();
    let mut fourth = writer(&files, options());
    let place = fourth.write_page(&page("http://example.org/", b"", &[])).unwrap().place;
    assert_eq!(&*place.file, "test-20990101000000-00044.warc.gz");
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    let files = files();
    let mut writer = writer(&files, options());
    let path = directory().join("test-20260102120000-00000.warc.gz");
    put(&files, &path, b"somebody else's");
    let place = writer.write_page(&page("http://example.org/", b"", &[])).unwrap().place;
    assert_eq!(&*place.file, "test-20260102120000-00001.warc.gz");
    assert_eq!(files.read(&path).unwrap(), b"somebody else's");
}

#[test]
fn a_writer_without_pages_leaves_no_file_and_can_finish_twice() {
    let files = files();
    let mut writer = writer(&files, options());
    writer.sync().unwrap();
    writer.finish().unwrap();
    assert!(names(&files).is_empty());
    writer.write_page(&page("http://example.org/", b"", &[])).unwrap();
    writer.finish().unwrap();
    writer.finish().unwrap();
    assert_eq!(names(&files).len(), 1);
}

#[test]
fn bad_options_are_refused_with_the_rule() {
    let files = files();
    for bad in [
        WriterOptions { prefix: "../up".into(), ..options() },
        WriterOptions { prefix: "".into(), ..options() },
        WriterOptions { prefix: ".hidden".into(), ..options() },
        WriterOptions { compression: Compression::Gzip(0), ..options() },
        WriterOptions { compression: Compression::Gzip(13), ..options() },
        WriterOptions { compression: Compression::Zstd(0), ..options() },
        WriterOptions { compression: Compression::Zstd(20), ..options() },
    ] {
        let error = WarcWriter::open(&files, directory(), bad, Random::from_seed(1)).err().unwrap();
        assert!(
            matches!(error, RepositoryError::Option { .. }) && error.to_string().contains("use "),
            "{error}"
        );
    }
}
