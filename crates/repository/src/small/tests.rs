use std::io::Read as _;

use mattock_env::Random;
use proptest::prelude::*;

use super::*;
use crate::compression::{Compression, Compressor};

const FORMS: [Form; 2] = [Form::Gzip, Form::Zstandard];

/// What libraries make of it: two of them for gzip.
fn unpacked(form: Form, packed: &[u8]) -> Vec<u8> {
    match form {
        Form::Gzip => {
            let mut out = vec![0; SMALL_BYTES];
            let len = libdeflater::Decompressor::new().gzip_decompress(packed, &mut out).unwrap();
            out.truncate(len);
            let mut other = Vec::new();
            flate2::read::GzDecoder::new(packed).read_to_end(&mut other).unwrap();
            assert_eq!(out, other);
            out
        }
        Form::Zstandard => zstd::bulk::decompress(packed, SMALL_BYTES).unwrap(),
    }
}

/// Packs it if it can be, and looks whether it comes back.
fn there_and_back(record: &[u8]) -> [bool; 2] {
    FORMS.map(|form| {
        let mut small = Small::new(form);
        let Some(packed) = small.pack(record) else { return false };
        assert!(packed.len() < record.len());
        assert_eq!(unpacked(form, packed), record);
        true
    })
}

/// Letters in which nothing is repeated, as far as there are so many.
fn unlike(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::from_seed(seed);
    (0..len).map(|_| b"abcdefghijklmnopqrstuvwxyz0123456789"[random.below(36) as usize]).collect()
}

#[test]
fn records_of_a_crawl_come_back_and_are_hardly_longer_than_by_the_library() {
    for (form, compression) in [(Form::Gzip, Compression::Gzip(1)), (Form::Zstandard, Compression::Zstd(1))] {
        let mut library = Compressor::new(compression, None).unwrap().without_small();
        let (mut small, mut ours, mut theirs) = (Small::new(form), 0, 0);
        let mut out = vec![0; 4096];
        for record in samples::records() {
            let packed = small.pack(&record).expect("all its letters have codes");
            assert_eq!(unpacked(form, packed), record);
            ours += packed.len();
            theirs += library.compress(&record, &mut out);
        }
        assert!(ours * 100 <= theirs * 105, "{form:?}: {ours} bytes, {theirs} by the library");
    }
}

#[test]
fn repetitions_of_every_length_and_distance_come_back() {
    let mut packed = 0;
    for length in LEAST..=700 {
        let mut record = unlike(length, 1);
        record.extend_from_slice(b"<between>");
        record.extend_from_within(..length.min(SMALL_BYTES - 10 - length));
        packed += there_and_back(&record).iter().filter(|packed| **packed).count();
    }
    assert!(packed > 1000, "{packed} of them became shorter");
    packed = 0;
    for distance in 1..900 {
        let mut record = unlike(distance, 2);
        let end = record.len() + 60;
        while record.len() < end {
            record.push(record[record.len() - distance]);
        }
        packed += there_and_back(&record).iter().filter(|packed| **packed).count();
    }
    assert!(packed > 1000, "{packed} of them became shorter");
}

#[test]
fn what_has_no_code_or_would_grow_is_left_to_the_library() {
    let text = "a text that says it again, that says it again, that says it again and again, as often as it takes to become shorter"
            .repeat(3);
    assert_eq!(there_and_back(text.as_bytes()), [true; 2]);
    assert_eq!(there_and_back(text.replace('k', "é").as_bytes()), [false; 2]);
    assert_eq!(there_and_back(text.replace('k', "\0").as_bytes()), [false; 2]);
    assert_eq!(there_and_back(b""), [false; 2]);
    assert_eq!(there_and_back(b"short"), [false; 2]);
    assert_eq!(there_and_back(text.repeat(3).as_bytes()), [false; 2], "not small");
    assert_eq!(there_and_back(&text.repeat(3).as_bytes()[..SMALL_BYTES - 1]), [true; 2]);
    // More repetitions than one byte counts.
    let mut random = Random::from_seed(3);
    let many: Vec<u8> =
        (0..250).flat_map(|_| *[b"abcd", b"efgh", b"ijkl"][random.below(3) as usize]).collect();
    assert_eq!(there_and_back(&many), [true, false]);
}

/// Letters whose groups of four share a few places, each of them taken more than once: what is said again is not noticed before its end.
fn crowded(len: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const PLACES: usize = 40;
    fn extend(record: &mut Vec<u8>, len: usize, random: &mut Random) -> bool {
        let first = random.below(64) as usize;
        record.len() == len
            || (0..64).any(|number| {
                record.push(LETTERS[(first + number) % 64]);
                let fits = record.last_chunk().is_none_or(|four| slot(*four) < PLACES);
                let found = fits && extend(record, len, random);
                if !found {
                    record.pop();
                }
                found
            })
    }
    let taken_once = |record: &[u8]| {
        let mut counts = [0; PLACES];
        record.array_windows().for_each(|four| counts[slot(*four)] += 1);
        counts.contains(&1)
    };
    let mut random = Random::from_seed(4);
    loop {
        let mut record = Vec::new();
        if extend(&mut record, len, &mut random) && !taken_once(&record) {
            return record;
        }
    }
}

#[test]
fn a_long_repetition_that_is_noticed_at_its_end_comes_back() {
    for len in [MOST - LEAST, MOST - 1, MOST, MOST + 7, MOST + 140] {
        let mut record = crowded(len);
        record.extend_from_slice(b"=Q!");
        record.extend_from_within(..);
        let mut matches = Matches::new();
        matches.find(&record);
        let longest = matches.sequences.iter().map(|sequence| usize::from(sequence.length)).max();
        assert!(longest >= Some(MOST - LEAST), "{longest:?}: it was noticed before");
        assert_eq!(there_and_back(&record), [true; 2]);
    }
}

#[test]
fn codes_are_complete_and_no_word_is_too_long() {
    // As uneven as counts can be.
    let counts: Vec<u32> =
        (0..40).scan((1, 1), |(a, b), _| Some(std::mem::replace(a, std::mem::replace(b, *a + *b)))).collect();
    for limit in [7, 11, 15] {
        let lengths = code::lengths(&counts, limit);
        assert!(lengths.iter().all(|length| (1..=limit).contains(length)), "{lengths:?}");
        let taken: u32 = lengths.iter().map(|length| 1 << (limit - length)).sum();
        assert_eq!(taken, 1 << limit, "{lengths:?}");
    }
    assert_eq!(code::lengths(&[0, 5, 0, 1, 2], 15), [0, 1, 0, 2, 2]);
}

proptest! {
    #[test]
    fn whatever_is_packed_comes_back(
        pieces in prop::collection::vec(("[ -~\r\n\t]{0,40}", 0_usize..4), 0..40),
        odd in prop::option::weighted(0.2, any::<(u8, prop::sample::Index)>()),
    ) {
        let mut record: Vec<u8> = pieces.iter().flat_map(|(text, times)| text.repeat(*times).into_bytes()).collect();
        record.truncate(SMALL_BYTES - 1);
        if let Some((byte, place)) = odd.filter(|_| !record.is_empty()) {
            let place = place.index(record.len());
            record[place] = byte;
        }
        there_and_back(&record);
    }
}
