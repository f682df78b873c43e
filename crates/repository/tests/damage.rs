//! Bytes that are not what was written: reported, never hidden, never a panic, and nothing whole is deleted.

use std::io::Write as _;

use mattock_repository::{Compression, RepositoryError, WarcReader, WriterOptions, repair_tail};
use proptest::prelude::*;

use crate::common::*;

#[test]
fn every_flipped_bit_is_noticed() {
    let files = files();
    let (path, bytes) = small_archive(&files, Compression::default());
    let (whole, _) = read(&files, &path);
    let whole_blocks: Vec<_> =
        whole.iter().map(|record| (record.offset, &record.block, &record.fields)).collect();
    let mut harmless = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        put(&files, &path, &flipped);
        let (records, error) = read(&files, &path);
        let index = whole.iter().rposition(|record| record.offset <= bit as u64 / 8).unwrap();
        let read: Vec<_> =
            records.iter().map(|record| (record.offset, &record.block, &record.fields)).collect();
        // Time and system in a gzip header change nothing, nor does a repetition taken from another equal place.
        if error.is_none() {
            assert_eq!(read, whole_blocks, "bit {bit}");
            harmless += 1;
            continue;
        }
        assert_eq!(read, whole_blocks[..index], "bit {bit}");
        match error.unwrap() {
            RepositoryError::Damaged { offset, .. } | RepositoryError::Torn { offset, .. } => {
                assert_eq!(offset, whole[index].offset, "bit {bit}");
            }
            other => panic!("bit {bit}: {other}"),
        }
        // What is whole behind the damage is never cut off.
        if index + 1 < whole.len() {
            repair_tail(&files, &path).unwrap_err();
            assert_eq!(files.read(&path).unwrap(), flipped, "bit {bit}");
        }
    }
    // Six bytes and a flag in each gzip header, and little else.
    assert!((9 * 49..9 * 60).contains(&harmless), "{harmless}");
}

/// Of a file that was written here, whatever its first bytes are now.
#[test]
fn a_flipped_bit_costs_one_record() {
    for compression in COMPRESSIONS {
        let files = files();
        let (path, bytes) = small_archive(&files, compression);
        let whole = read(&files, &path).0;
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            put(&files, &path, &flipped);
            let mut reader = WarcReader::open(&files, &path).unwrap();
            let mut found = Vec::new();
            loop {
                match reader.next_record() {
                    Ok(Some(record)) => found.push((record.offset, record.block.to_vec())),
                    Ok(None) => break,
                    Err(_) => {
                        reader.skip_damage().unwrap();
                    }
                }
            }
            let index = whole.iter().rposition(|record| record.offset <= bit as u64 / 8).unwrap();
            let others =
                |(at, record): (usize, &Found)| (at != index).then(|| (record.offset, record.block.clone()));
            let expected: Vec<_> = whole.iter().enumerate().filter_map(others).collect();
            found.retain(|(offset, _)| *offset != whole[index].offset);
            assert!(found == expected, "bit {bit}");
        }
    }
}

#[test]
fn every_flipped_bit_of_a_frame_is_noticed() {
    let files = files();
    let (path, bytes) = small_archive(&files, Compression::Zstd(1));
    let whole = read(&files, &path).0;
    let contents = |found: &[Found]| -> Vec<_> {
        found.iter().map(|record| (record.offset, record.block.clone(), record.fields.clone())).collect()
    };
    let mut harmless = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        put(&files, &path, &flipped);
        let (records, error) = read(&files, &path);
        let index = whole.iter().rposition(|record| record.offset <= bit as u64 / 8).unwrap();
        let Some(error) = error else {
            assert_eq!(contents(&records), contents(&whole), "bit {bit}");
            harmless += 1;
            continue;
        };
        // The flag for the checksum is in no checksum: the record is right, and behind it lies what the flag hid.
        assert!((index..=index + 1).contains(&records.len()), "bit {bit}: {error}");
        assert_eq!(contents(&records), contents(&whole[..records.len()]), "bit {bit}");
        match error {
            // At the front it may as well be another kind of file.
            RepositoryError::NotWarc { offset: 0, .. } if index == 0 => {}
            RepositoryError::Damaged { offset, .. }
            | RepositoryError::Torn { offset, .. }
            | RepositoryError::Unreadable { offset, .. } => {
                assert_eq!(offset == whole[index].offset, records.len() == index, "bit {bit}");
            }
            other => panic!("bit {bit}: {other}"),
        }
        // What is whole behind the damage is never cut off.
        if index + 1 < whole.len() {
            repair_tail(&files, &path).unwrap_err();
            assert_eq!(files.read(&path).unwrap(), flipped, "bit {bit}");
        }
    }
    // A bit without a meaning in each frame's header, and little else.
    assert!((9..9 * 20).contains(&harmless), "{harmless}");
}

#[test]
fn a_repair_leaves_alone_what_is_not_a_torn_warc() {
    let files = files();
    let (warc, bytes) = small_archive(&files, Compression::default());
    let plain = decompressed(&files, &warc);
    let path = directory().join("other");
    let gzip = |data: &[u8]| {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
        let mut out = vec![0; compressor.gzip_compress_bound(data.len())];
        let len = compressor.gzip_compress(data, &mut out).unwrap();
        out.truncate(len);
        out
    };
    let text = gzip(b"not a WARC at all");
    let one_member = gzip(&plain);
    let frame_of_text = zstd::bulk::compress(b"not a WARC at all", 1).unwrap();
    let one_frame = zstd::bulk::compress(&plain, 1).unwrap();
    // Of a torn frame only whole blocks are known, of 128 KiB each.
    let large_frame = zstd::bulk::compress(&plain.repeat(100), 1).unwrap();
    let mut damaged_length = plain.clone();
    let at = damaged_length.windows(16).rposition(|part| part == b"Content-Length: ").unwrap();
    let second = damaged_length[..at].windows(16).rposition(|part| part == b"Content-Length: ").unwrap();
    damaged_length[second + 16] = b'9';
    for (what, contents) in [
        ("text", &b"Dear diary"[..]),
        ("gzip of text", &text),
        ("torn gzip of text", &text[..text.len() - 3]),
        ("all records in one torn member", &one_member[..one_member.len() - 3]),
        ("a frame of text", &frame_of_text),
        ("a torn frame of text", &frame_of_text[..frame_of_text.len() - 1]),
        ("all records in one torn frame", &large_frame[..large_frame.len() - 1]),
        ("a wrong length before the last record", &damaged_length),
        (
            "a torn record behind one that lacks line ends",
            b"WARC/1.1\r\nContent-Length: 3\r\n\r\nabc\nWARC/1.1\r\nCont",
        ),
        ("a hole before the last records", &[&bytes[..1], &[0; 40], &bytes[41..]].concat()),
    ] {
        put(&files, &path, contents);
        repair_tail(&files, &path).expect_err(what);
        assert_eq!(files.read(&path).unwrap(), contents, "{what}");
    }
    // Not torn, so there is nothing to do, and the records are all found.
    for contents in [&one_member, &one_frame] {
        put(&files, &path, contents);
        assert_eq!(repair_tail(&files, &path).unwrap().records, 9);
        let (records, error) = read(&files, &path);
        assert!(error.is_none());
        assert!(records.iter().all(|record| record.length.is_none()));
    }
}

#[test]
fn a_record_above_the_limit_is_reported_and_passed_over() {
    COMPRESSIONS.into_iter().for_each(pass_over_a_large_record);
}

fn pass_over_a_large_record(compression: Compression) {
    let files = files();
    let mut writer = writer(&files, WriterOptions { compression, ..options() });
    let large: Vec<u8> =
        (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for body in [&b"small"[..], &large, b"small too"] {
        writer.write_page(&page("http://example.org/", body, &[])).unwrap();
    }
    writer.finish().unwrap();
    let compressed = archive(&files).remove(0);
    let plain = directory().join("plain.warc");
    put(&files, &plain, &decompressed(&files, &compressed));
    for path in [&compressed, &plain] {
        let mut reader = WarcReader::open(&files, path).unwrap().record_bytes_max(1_000_000);
        let (mut seen, mut too_large) = (0, 0);
        loop {
            match reader.next_record() {
                Ok(Some(record)) => {
                    assert!(record.length.is_some());
                    seen += 1;
                }
                Ok(None) => break,
                Err(RepositoryError::TooLarge { bytes, limit, .. }) => {
                    assert!(bytes > 3_000_000 && limit == 1_000_000);
                    too_large += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!((seen, too_large), (6, 1));
        assert_eq!(repair_tail(&files, path).unwrap().records, 7);
    }
    // Torn inside the large record: that is the error, not its size.
    let bytes = files.read(&compressed).unwrap();
    put(&files, &plain, &bytes[..bytes.len() / 2]);
    let mut reader = WarcReader::open(&files, &plain).unwrap().record_bytes_max(1_000_000);
    let error = std::iter::from_fn(|| reader.next_record().map(|record| record.map(drop)).transpose())
        .find_map(Result::err);
    assert!(matches!(error, Some(RepositoryError::Torn { .. })), "{error:?}");
}

#[test]
fn a_length_that_lies_costs_no_memory() {
    let files = files();
    let path = directory().join("lie.warc");
    put(&files, &path, b"WARC/1.1\r\nContent-Length: 250000000\r\n\r\nshort");
    assert!(matches!(read(&files, &path).1, Some(RepositoryError::Torn { offset: 0, .. })));
    put(&files, &path, b"WARC/1.1\r\nContent-Length: 18446744073709551615\r\n\r\nshort");
    assert!(matches!(read(&files, &path).1, Some(RepositoryError::Torn { offset: 0, .. })));
    for length in ["99999999999999999999", "-1", "+5", "0x5", ""] {
        let mut text = Vec::new();
        write!(text, "WARC/1.1\r\nContent-Length: {length}\r\n\r\nshort").unwrap();
        put(&files, &path, &text);
        let error = read(&files, &path).1.unwrap();
        assert!(matches!(error, RepositoryError::NotWarc { offset: 0, .. }), "{error}");
    }
}

const PARTS: [&[u8]; 20] = [
    b"WARC/1.1\r\n",
    b"Content-Length: 3",
    b"Content-Length: 70000",
    b"\r\n",
    b"\n",
    b"\r\n\r\n",
    b"abc",
    b" folded",
    // Of ARC files, and of what comes before their time.
    b"http://a/ 192.0.2.1 20020103040507 text/html 3\n",
    b"filedesc://a 0.0.0.0 20020103040507 text/plain 0\n",
    b"warc/0.9 ",
    b":",
    b"\x1f\x8b\x08",
    // A frame's first bytes, alone, with a block of three bytes, with one of zeros; and skippable frames.
    b"\x28\xb5\x2f\xfd",
    b"\x28\xb5\x2f\xfd\x20\x03\x19\0\0abc",
    b"\x28\xb5\x2f\xfd\x20\xff\xfb\x07\0\0",
    b"\x5d\x2a\x4d\x18\x04\0\0\0\x37\xa4\x30\xec",
    b"\x50\x2a\x4d\x18\x03\0\0\0",
    b"\0\0\0\0\0\0\0",
    &[7; 300],
];

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..40)
    ) {
        let files = files();
        let path = directory().join("any");
        let bytes = parts.concat();
        put(&files, &path, &bytes);
        read(&files, &path);
        let mut reader = WarcReader::open(&files, &path).unwrap().go_on_behind_damage();
        let mut calls = 0;
        while !matches!(reader.next_record(), Ok(None)) {
            calls += 1;
            prop_assert!(calls <= 2 * bytes.len(), "the reader does not come to an end");
        }
        let before = bytes.len() as u64;
        if let Ok(report) = repair_tail(&files, &path) {
            prop_assert_eq!(report.bytes_before, before);
            let (records, error) = read(&files, &path);
            prop_assert!(error.is_none(), "{:?}", error);
            prop_assert_eq!(records.len() as u64, report.records);
        }
    }
}
