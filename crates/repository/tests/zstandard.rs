//! `.warc.zst` as the IIPC's draft has it, from this writer and from others.

use mattock_repository::{Compression, RepositoryError, WarcReader, repair_tail};
use zstd::zstd_safe::{self, CParameter};

use crate::common::*;

const DICTIONARY: &[u8] = include_bytes!("fixtures/dictionary");
/// Eight records, written by FastWARC 1.1.0: a frame for each, and one frame for all. Neither says its content size.
const FASTWARC: &[u8] = include_bytes!("fixtures/fastwarc.warc.zst");
const FASTWARC_ONE_FRAME: &[u8] = include_bytes!("fixtures/fastwarc-one-frame.warc.zst");

fn frame(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(3).unwrap();
    compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    compressor.compress(bytes).unwrap()
}

fn skippable(magic: u32, content: &[u8]) -> Vec<u8> {
    [&magic.to_le_bytes()[..], &(content.len() as u32).to_le_bytes(), content].concat()
}

fn dictionary_frame(content: &[u8]) -> Vec<u8> {
    skippable(0x184d_2a5d, content)
}

/// The records of a small archive, not compressed, and what reading it gives.
fn records() -> (Vec<Vec<u8>>, Vec<Found>) {
    let files = files();
    let (path, bytes) = small_archive(&files, Compression::Zstd(1));
    let found = read(&files, &path).0;
    let plain = found
        .iter()
        .map(|record| {
            let end = record.offset + record.length.unwrap();
            zstd::bulk::decompress(&bytes[record.offset as usize..end as usize], 1 << 20).unwrap()
        })
        .collect();
    (plain, found)
}

fn read_bytes(bytes: &[u8]) -> (Vec<Found>, Option<RepositoryError>) {
    let files = files();
    let path = directory().join("x.warc.zst");
    put(&files, &path, bytes);
    read(&files, &path)
}

fn assert_same(read: &(Vec<Found>, Option<RepositoryError>), expected: &[Found]) {
    assert!(read.1.is_none(), "{:?}", read.1);
    let contents = |found: &[Found]| -> Vec<_> {
        found.iter().map(|record| (record.fields.clone(), record.block.clone())).collect()
    };
    assert_eq!(contents(&read.0), contents(expected));
}

#[test]
fn each_record_is_a_frame_that_tells_its_size_and_checksum() {
    let files = files();
    let (path, bytes) = small_archive(&files, Compression::Zstd(1));
    assert_eq!(path.extension().unwrap(), "zst");
    let (found, error) = read(&files, &path);
    assert!(error.is_none());
    assert_eq!(found.len(), 9);
    let mut at = 0;
    for record in found {
        assert_eq!(record.offset, at as u64);
        let len = zstd_safe::find_frame_compressed_size(&bytes[at..]).unwrap();
        assert_eq!(record.length, Some(len as u64));
        let plain = zstd::bulk::decompress(&bytes[at..at + len], 1 << 20).unwrap();
        assert_eq!(zstd_safe::get_frame_content_size(&bytes[at..]).unwrap(), Some(plain.len() as u64));
        assert!(plain.starts_with(b"WARC/1.1\r\n") && plain.ends_with(b"\r\n\r\n"));
        assert_eq!(bytes[at + 4] & 4, 4, "the checksum's flag");
        assert_eq!(bytes[at + 4] & 3, 0, "no dictionary");
        at += len;
    }
    assert_eq!(at, bytes.len());
}

#[test]
fn files_of_another_writer_are_read() {
    let (each, error) = read_bytes(FASTWARC);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(each.len(), 8);
    assert!(each.iter().all(|record| record.length.is_some()));
    assert_eq!((each[0].get("WARC-Type"), each[0].offset), (Some("warcinfo"), 0));
    let shared = read_bytes(FASTWARC_ONE_FRAME);
    assert_same(&shared, &each);
    assert!(shared.0.iter().all(|record| record.offset == 0));
    assert!(shared.0.iter().all(|record| record.length.is_none()));
}

#[test]
fn a_record_may_be_several_frames_and_others_may_lie_between() {
    let (plain, found) = records();
    for frame_bytes in [1, 7, 100, 1000] {
        let mut bytes = Vec::new();
        let mut offsets = Vec::new();
        for (number, record) in plain.iter().enumerate() {
            bytes.extend(skippable(0x184d_2a50 + number as u32, &vec![7; number * 100]));
            offsets.push(bytes.len() as u64);
            for part in record.chunks(frame_bytes) {
                bytes.extend(frame(part));
                bytes.extend(frame(b""));
            }
        }
        let result = read_bytes(&bytes);
        assert_same(&result, &found);
        let read: Vec<_> = result.0.iter().map(|record| record.offset).collect();
        assert_eq!(read, offsets, "frames of {frame_bytes}");

        let files = files();
        let path = directory().join("x.warc.zst");
        put(&files, &path, &bytes);
        for (offset, record) in offsets.iter().zip(&found) {
            let mut reader = WarcReader::open_at(&files, &path, *offset).unwrap();
            assert_eq!(reader.next_record().unwrap().unwrap().block, record.block);
        }
    }
}

#[test]
fn a_file_of_split_records_cut_anywhere_keeps_its_whole_records() {
    let (plain, found) = records();
    let frames: Vec<Vec<u8>> =
        plain.iter().map(|record| record.chunks(150).flat_map(frame).collect()).collect();
    let bytes = frames.concat();
    let files = files();
    let path = directory().join("x.warc.zst");
    for len in 0..=bytes.len() {
        put(&files, &path, &bytes[..len]);
        let report = repair_tail(&files, &path).unwrap();
        let (records, error) = read(&files, &path);
        assert!(error.is_none(), "cut at {len}: {error:?}");
        assert_eq!(records.len() as u64, report.records, "cut at {len}");
        // The last frame of a record may hold nothing but line ends, which a record can do without.
        let mut end = 0;
        let whole = frames.iter().take_while(|frames| {
            end += frames.len();
            end <= len
        });
        let whole = whole.count();
        assert!((whole..=whole + 1).contains(&records.len()), "cut at {len}");
        assert_same(&(records.clone(), None), &found[..records.len()]);
    }
}

#[test]
fn a_dictionary_at_the_front_is_used_wherever_the_reading_begins() {
    let (plain, found) = records();
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, DICTIONARY).unwrap();
    compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    for dictionary in [DICTIONARY.to_vec(), frame(DICTIONARY)] {
        let mut bytes = dictionary_frame(&dictionary);
        let mut offsets = Vec::new();
        for record in &plain {
            offsets.push(bytes.len() as u64);
            bytes.extend(compressor.compress(record).unwrap());
        }
        assert!(zstd_safe::get_dict_id_from_frame(&bytes[offsets[0] as usize..]).is_some());
        let result = read_bytes(&bytes);
        assert_same(&result, &found);

        let files = files();
        let path = directory().join("x.warc.zst");
        put(&files, &path, &bytes);
        for (offset, record) in offsets.iter().zip(&found) {
            let mut reader = WarcReader::open_at(&files, &path, *offset).unwrap();
            assert_eq!(reader.next_record().unwrap().unwrap().block, record.block);
        }
        for len in 0..bytes.len() {
            put(&files, &path, &bytes[..len]);
            let report = repair_tail(&files, &path).unwrap();
            let end = offsets.iter().rev().find(|offset| **offset <= len as u64).copied();
            let expected = match end {
                Some(end) if end > offsets[0] => end,
                // Nothing is torn if all that is there is the dictionary.
                Some(end) if end == len as u64 => end,
                _ => 0,
            };
            assert_eq!(report.bytes_after, expected, "cut at {len}");
        }

        // Without it, the frames are whole but of no use.
        let error = read_bytes(&bytes[offsets[0] as usize..]).1.unwrap();
        assert!(matches!(error, RepositoryError::Unreadable { offset: 0, .. }), "{error}");
        assert!(error.to_string().contains("dictionary"), "{error}");
    }
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let record = b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let huge = [&record[..], &vec![b'\n'; 100_000]].concat();
    // The same block in a frame with a window of 128 MiB, then of 256.
    for (descriptor, fits) in [(17 << 3, true), (18 << 3, false)] {
        let mut bytes = b"\x28\xb5\x2f\xfd\0".to_vec();
        bytes.push(descriptor);
        bytes.extend(&((record.len() as u32) << 3 | 1).to_le_bytes()[..3]);
        bytes.extend(record);
        let (records, error) = read_bytes(&bytes);
        assert_eq!((records.len(), error.is_none()), (usize::from(fits), fits), "{error:?}");
        if let Some(error) = error {
            assert!(error.to_string().contains("128 MiB"), "{error}");
        }
    }
    for (dictionary, says) in [
        (vec![0; (8 << 20) + 1], "8 MiB"),
        (b"no dictionary".to_vec(), "unknown kind"),
        (frame(b"no dictionary"), "unknown kind"),
        (frame(&vec![0; (8 << 20) + 1]), "compressed data is invalid"),
        (b"\x37\xa4\x30\xec and no more".to_vec(), "compressed data is invalid"),
    ] {
        let bytes = [dictionary_frame(&dictionary), frame(&huge)].concat();
        let (records, error) = read_bytes(&bytes);
        let error = error.expect(says).to_string();
        assert!(records.is_empty() && error.contains(says), "{error}");
    }
    let (records, error) = read_bytes(&frame(&huge));
    assert_eq!((records.len(), error.is_none()), (1, true));
}
