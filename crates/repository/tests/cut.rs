//! A crash may end a file at any byte.

use mattock_repository::{Compression, RepositoryError, repair_tail};

use crate::common::*;

fn cut_everywhere(bytes: &[u8]) {
    let files = files();
    let path = directory().join("cut.warc.gz");
    put(&files, &path, bytes);
    let (whole, error) = read(&files, &path);
    assert!(error.is_none());
    assert_eq!(whole.len(), 9);
    let end = |index: usize| whole[index].offset + whole[index].length.unwrap();
    assert_eq!(end(8), bytes.len() as u64);

    for len in 0..=bytes.len() {
        put(&files, &path, &bytes[..len]);
        let expected = (0..whole.len()).take_while(|index| end(*index) <= len as u64).count();
        let expected_end = if expected == 0 { 0 } else { end(expected - 1) };
        let torn = len as u64 > expected_end;

        let (records, error) = read(&files, &path);
        assert_eq!(records, whole[..expected], "cut at {len}");
        match error {
            Some(RepositoryError::Torn { offset, .. }) => {
                assert_eq!((offset, torn), (expected_end, true), "cut at {len}")
            }
            None => assert!(!torn, "cut at {len}"),
            Some(other) => panic!("cut at {len}: {other}"),
        }

        let report = repair_tail(&files, &path).unwrap();
        assert_eq!((report.records, report.bytes_before), (expected as u64, len as u64));
        assert_eq!((report.bytes_after, report.was_torn()), (expected_end, torn));
        assert_eq!(files.read(&path).unwrap(), bytes[..expected_end as usize]);
        let again = repair_tail(&files, &path).unwrap();
        assert!(!again.was_torn());
    }
}

#[test]
fn a_compressed_file_cut_at_any_byte_keeps_exactly_its_whole_records() {
    for compression in COMPRESSIONS {
        let (_, bytes) = small_archive(&files(), compression);
        cut_everywhere(&bytes);
    }
}

#[test]
fn a_plain_file_cut_at_any_byte_keeps_exactly_its_whole_records() {
    let files = files();
    let (path, _) = small_archive(&files, Compression::default());
    cut_everywhere(&decompressed(&files, &path));
}

#[test]
fn a_tail_of_zeros_is_cut_off() {
    for compression in COMPRESSIONS {
        let files = files();
        let (path, bytes) = small_archive(&files, compression);
        for zeros in [1, 5, 5000] {
            let mut longer = bytes.clone();
            longer.resize(bytes.len() + zeros, 0);
            put(&files, &path, &longer);
            assert_eq!(repair_tail(&files, &path).unwrap().bytes_after, bytes.len() as u64);
            assert_eq!(files.read(&path).unwrap(), bytes);
        }
        put(&files, &path, &[0; 300]);
        assert_eq!(repair_tail(&files, &path).unwrap().bytes_after, 0);
    }
}
