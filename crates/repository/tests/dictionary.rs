//! Zstandard files with a dictionary.

use std::sync::Arc;

use mattock_env::{Files, Random};
use mattock_repository::{
    Compression, Dictionary, RecordFetcher, RepositoryError, WriterOptions, repair_tail, train_dictionary,
};
use zstd::zstd_safe;

use crate::common::*;

/// Pages that have much in common, and each its own words.
fn body(number: u64) -> Vec<u8> {
    let mut random = Random::from_seed(number);
    let mut body = b"<!DOCTYPE html><html><head><title>A page of the site</title>\
        <link rel=\"stylesheet\" href=\"/style/main.css\"><script src=\"/script/menu.js\"></script></head><body>\
        <ul class=\"menu\"><li><a href=\"/\">Home</a></li><li><a href=\"/about\">About</a></li></ul>"
        .to_vec();
    for _ in 0..40 + random.below(80) {
        let word = random.below(500);
        body.extend_from_slice(
            format!("<p class=\"text\">word{word} and {:x}</p>", random.below(256)).as_bytes(),
        );
    }
    body.extend_from_slice(b"<div class=\"footer\">All of it is made up.</div></body></html>");
    body
}

fn options_with(dictionary: Dictionary) -> WriterOptions {
    WriterOptions { compression: Compression::Zstd(1), dictionary, file_bytes_max: 1 << 20, ..options() }
}

fn dictionary() -> Arc<[u8]> {
    let pages: Vec<Vec<u8>> = (10_000..10_400).map(body).collect();
    let samples: Vec<&[u8]> = pages.iter().map(Vec::as_slice).collect();
    Arc::from(train_dictionary(&samples, 16 << 10).unwrap())
}

/// Writes pages and says where they are.
fn write(files: &Files, options: WriterOptions, numbers: std::ops::Range<u64>) -> Vec<(String, u64, u64)> {
    let mut writer = writer(files, options);
    let mut places = Vec::new();
    for number in numbers {
        let url = format!("http://example.org/{number}");
        let place = writer.write_page(&page(&url, &body(number), &[])).unwrap().place;
        places.push((place.file.to_string(), place.offset, place.length));
    }
    writer.finish().unwrap();
    places
}

fn has_dictionary(files: &Files, name: &str) -> bool {
    files.read(&directory().join(name)).unwrap().starts_with(&0x184d_2a5d_u32.to_le_bytes())
}

#[test]
fn a_given_dictionary_is_at_the_front_and_every_frame_names_it() {
    let files = files();
    let dictionary = dictionary();
    let places = write(&files, options_with(Dictionary::Given(dictionary.clone())), 0..50);
    let path = archive(&files).remove(0);
    let bytes = files.read(&path).unwrap();
    assert_eq!(bytes[8..8 + dictionary.len()], dictionary[..]);
    let (found, error) = read(&files, &path);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found.len(), 101);
    let id = zstd_safe::get_dict_id(&dictionary);
    assert!(id.is_some());
    for record in &found {
        let frame = &bytes[record.offset as usize..];
        assert_eq!(zstd_safe::get_dict_id_from_frame(frame), id);
        assert!(zstd_safe::get_frame_content_size(frame).unwrap().is_some());
        assert_eq!(frame[4] & 4, 4, "the checksum's flag");
    }
    let mut fetcher = RecordFetcher::new(&files);
    for (number, (name, offset, length)) in places.iter().enumerate().rev() {
        let record = fetcher.fetch(&directory().join(name), *offset, *length).unwrap();
        assert_eq!(record.response().unwrap().body, body(number as u64));
    }
    // It is for less that it is there.
    let plain = crate::common::files();
    write(&plain, options_with(Dictionary::None), 0..50);
    let without = plain.read(&archive(&plain)[0]).unwrap().len();
    assert!(bytes.len() - dictionary.len() < without, "{} and {without}", bytes.len());
    // A torn tail is cut as in any other file.
    put(&files, &path, &bytes[..bytes.len() - 5]);
    assert_eq!(repair_tail(&files, &path).unwrap().records, 100);
}

#[test]
fn a_dictionary_is_learnt_from_the_first_pages_and_kept() {
    let files = files();
    let options = || options_with(Dictionary::Trained);
    let places = write(&files, options(), 0..1500);
    let names: Vec<String> =
        archive(&files).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 2, "{names:?}");
    let have: Vec<bool> = names.iter().map(|name| has_dictionary(&files, name)).collect();
    // None while nothing is known, the same one from then on.
    let first = have.iter().position(|has| *has).expect("a dictionary was learnt");
    assert!(first > 0 && have[first..].iter().all(|has| *has), "{have:?}");
    // Another run goes on with it at once.
    let more = write(&files, options(), 1500..1510);
    assert!(has_dictionary(&files, &more[0].0));
    let front = |name: &str| files.read(&directory().join(name)).unwrap()[..50_000].to_vec();
    assert_eq!(front(&names[first]), front(&more[0].0));
    let mut fetcher = RecordFetcher::new(&files);
    for (number, (name, offset, length)) in places.iter().chain(&more).enumerate() {
        let record = fetcher.fetch(&directory().join(name), *offset, *length).unwrap();
        assert_eq!(record.response().unwrap().body, body(number as u64));
    }
}

#[test]
fn large_records_have_it_too() {
    let files = files();
    let mut writer = writer(&files, options_with(Dictionary::Given(dictionary())));
    let large = body(1).repeat(900);
    assert!(large.len() > 1 << 20);
    writer.write_page(&page("http://example.org/", &large, &[])).unwrap();
    writer.finish().unwrap();
    let (found, error) = read(&files, &archive(&files)[0]);
    assert!(error.is_none(), "{error:?}");
    assert!(found[2].block.ends_with(&large));
}

#[test]
fn what_is_no_dictionary_is_refused() {
    for options in [
        options_with(Dictionary::Given(Arc::from(*b"no dictionary"))),
        WriterOptions { compression: Compression::Gzip(1), ..options_with(Dictionary::Trained) },
    ] {
        let result =
            mattock_repository::WarcWriter::open(&files(), directory(), options, Random::from_seed(7));
        assert!(matches!(result.err(), Some(RepositoryError::Option { .. })));
    }
    assert!(train_dictionary(&[b"one"], 1000).is_err());
}
