//! A chunk: what one stream of a generation has collected, as it stands in the file that all streams share.
//!
//! ```text
//! bucket u32, sequence u32, first u32, number u32, records u32, checksum u32, payload to the end of the chunk
//! ```
//!
//! Records are torn apart by the ends of chunks. So that a chunk which is lost takes no other with it, each has a [`Mark`]: which of its
//! stream it is, where in it the first record begins, and what came before that one. The checksum covers file, place, header and payload.
//!
//! In the [first form](Form::First) a header was `bucket u32, payload bytes u32, checksum u32, 0 u32`, and whatever was behind a lost chunk
//! could not be read any more. Files of that form are read, and not written.

use mattock_codec::{Reader, checksum};

use crate::disk::DataFile;
use crate::error::{DrumError, Result};

/// Bytes before the payload of a chunk that is written today.
pub(crate) const HEADER_BYTES: usize = 24;
const SUM_AT: usize = 20;
const FIRST_HEADER_BYTES: usize = 16;

/// How the chunks of a file, and the tails of its streams, are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Without marks.
    First,
    /// With marks.
    #[default]
    Marked,
}

impl Form {
    pub(crate) fn number(self) -> u64 {
        match self {
            Form::First => 1,
            Form::Marked => 2,
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Form> {
        [Form::First, Form::Marked].into_iter().find(|form| form.number() == number)
    }

    /// Bytes before the payload.
    pub(crate) fn header_bytes(self) -> usize {
        match self {
            Form::First => FIRST_HEADER_BYTES,
            Form::Marked => HEADER_BYTES,
        }
    }
}

/// Where reading can begin in a chunk, without those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Chunks of its stream before it.
    pub(crate) sequence: u32,
    /// Bytes of the payload before the first record that begins in it; all of them if none does.
    pub(crate) first: u32,
    /// The number from which that record's is a difference.
    pub(crate) number: u32,
    /// Records of the stream before that one.
    pub(crate) records: u32,
}

/// Writes all of a header but the checksum.
pub(crate) fn put_header(block: &mut [u8], bucket: usize, mark: Mark) {
    let fields = [bucket as u32, mark.sequence, mark.first, mark.number, mark.records];
    for (place, field) in block[..SUM_AT].chunks_exact_mut(4).zip(fields) {
        place.copy_from_slice(&field.to_le_bytes());
    }
}

/// Says in a header where the first record begins.
pub(crate) fn set_first(block: &mut [u8], first: usize) {
    block[8..12].copy_from_slice(&(first as u32).to_le_bytes());
}

/// What a header says, whether or not it is right.
pub(crate) fn header(block: &[u8]) -> (usize, Mark) {
    let mut reader = Reader::new(block);
    let mut next = || reader.u32().unwrap_or(u32::MAX);
    let bucket = next() as usize;
    (bucket, Mark { sequence: next(), first: next(), number: next(), records: next() })
}

/// The last step before a chunk is written.
pub(crate) fn seal(block: &mut [u8], file: u64, offset: u64) {
    let sum = checksum(file, offset, &[&block[..SUM_AT], &block[HEADER_BYTES..]]);
    block[SUM_AT..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// Whether a chunk is as it was written, and at its place.
pub(crate) fn is_whole(block: &[u8], form: Form, file: &DataFile, offset: u64) -> bool {
    let (covered, sum) = match form {
        Form::First => (8, &block[8..12]),
        Form::Marked => (SUM_AT, &block[SUM_AT..HEADER_BYTES]),
    };
    let parts = [&block[..covered], &block[form.header_bytes()..]];
    checksum(file.number(), offset, &parts).to_le_bytes() == *sum
}

/// The payload of a chunk that must be of this bucket.
pub(crate) fn open<'a>(
    block: &'a [u8],
    form: Form,
    file: &DataFile,
    offset: u64,
    bucket: usize,
) -> Result<&'a [u8]> {
    if !is_whole(block, form, file, offset) || header(block).0 != bucket {
        return Err(DrumError::corrupt(file.path(), offset, "a chunk fails its checksum"));
    }
    Ok(&block[form.header_bytes()..])
}

/// Checks a chunk of any of so many streams. Bytes that the checksum does not cover, and where in it they are.
pub(crate) fn verify<'a>(
    block: &'a [u8],
    form: Form,
    file: &DataFile,
    offset: u64,
    streams: usize,
) -> Result<(u64, &'a [u8])> {
    let bucket = header(block).0;
    open(block, form, file, offset, bucket)?;
    if bucket >= streams {
        return Err(DrumError::corrupt(file.path(), offset, "a chunk of no bucket"));
    }
    Ok(match form {
        Form::First => (12, &block[12..FIRST_HEADER_BYTES]),
        Form::Marked => (0, &[]),
    })
}

/// Whether a chunk of the first form is whole, or only its header is damaged, which is put right: its bucket is one of so many, and only
/// full chunks are written.
pub(crate) fn mend_first(block: &mut [u8], file: &DataFile, offset: u64, buckets: usize) -> bool {
    if is_whole(block, Form::First, file, offset) {
        return header(block).0 < buckets;
    }
    let bytes = (block.len() - FIRST_HEADER_BYTES) as u32;
    (0..buckets as u32).any(|bucket| {
        block[..4].copy_from_slice(&bucket.to_le_bytes());
        block[4..8].copy_from_slice(&bytes.to_le_bytes());
        is_whole(block, Form::First, file, offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use mattock_env::{Files, Random, SimFiles};
    use std::path::Path;

    #[test]
    fn a_damaged_header_of_the_first_form_is_put_right_and_a_damaged_chunk_is_not_believed() {
        let disk = Disk::new(Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/drum"));
        let file = DataFile::create(&disk, "keys-1".into(), 1);
        let mut whole: Vec<u8> = (0..4096u32).map(|byte| (byte * 7) as u8).collect();
        whole[..4].copy_from_slice(&5u32.to_le_bytes());
        whole[4..8].copy_from_slice(&4080u32.to_le_bytes());
        let sum = checksum(1, 8192, &[&whole[..8], &whole[16..]]);
        whole[8..12].copy_from_slice(&sum.to_le_bytes());
        for byte in (0..12).chain([16, 700, 4095]) {
            for bit in 0..8 {
                let mut block = whole.clone();
                block[byte] ^= 1 << bit;
                let is_mended = mend_first(&mut block, &file, 8192, 8);
                // A checksum that is wrong vouches for nothing.
                assert_eq!(is_mended, byte < 8, "byte {byte}");
                assert!(!is_mended || block == whole);
            }
        }
        assert!(mend_first(&mut whole.clone(), &file, 8192, 8));
        assert!(!mend_first(&mut whole.clone(), &file, 4096, 8), "at another place");
        assert!(!mend_first(&mut whole, &file, 8192, 4), "of no bucket");
    }

    #[test]
    fn every_bit_of_a_marked_chunk_counts() {
        let disk = Disk::new(Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/drum"));
        let file = DataFile::create(&disk, "keys-1".into(), 1);
        let mut whole = vec![3; 4096];
        let mark = Mark { sequence: 7, first: 11, number: 1 << 29, records: 99 };
        put_header(&mut whole, 5, Mark { first: 0, ..mark });
        set_first(&mut whole, 11);
        seal(&mut whole, 1, 8192);
        assert_eq!(header(&whole), (5, mark));
        assert_eq!(open(&whole, Form::Marked, &file, 8192, 5).unwrap(), &whole[24..]);
        assert!(verify(&whole, Form::Marked, &file, 8192, 6).unwrap().1.is_empty());
        assert!(open(&whole, Form::Marked, &file, 8192, 4).is_err(), "of another bucket");
        assert!(verify(&whole, Form::Marked, &file, 8192, 5).is_err(), "of no bucket");
        assert!(open(&whole, Form::Marked, &file, 4096, 5).is_err(), "at another place");
        for byte in (0..HEADER_BYTES).chain([24, 700, 4095]) {
            for bit in 0..8 {
                let mut block = whole.clone();
                block[byte] ^= 1 << bit;
                assert!(!is_whole(&block, Form::Marked, &file, 8192), "byte {byte}");
            }
        }
    }
}
