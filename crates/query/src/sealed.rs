//! Files of values by URL: how one is told from what is damaged or of another version.
//!
//! Parquet has a checksum for nothing. The metadata at the end of such a file has the version, and the length and the CRC-32 of all that stands before
//! that end: who opens one reads it once to compare, which costs as much as the query that follows. It also has the CRC-32 of that end itself, made
//! with zeros in place of its own digits; files of earlier versions have none.

use std::io::{self, Write};
use std::path::Path;

use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use mattock_codec::{BlockSummer, BlockSums};
use mattock_env::{File, Files, OpenMode};

use crate::explain::metadata;

/// The version of the files: whoever writes one puts it into the metadata of the file.
pub const VALUES_VERSION: &str = "2";

const VERSION_KEY: &str = "mattock.version";
const SUM_KEY: &str = "mattock.sum";
const END_KEY: &str = "mattock.end";

/// What stands in place of the digits until these are known.
const NO_DIGITS: &str = "00000000";

/// The end of a file is read at once, and is never this long.
const END_BYTES_MAX: u64 = 64 << 20;

/// What is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Something to write to, with the sum of what was written.
#[derive(Debug)]
pub struct Summed<W> {
    sink: W,
    hasher: crc32fast::Hasher,
    blocks: BlockSummer,
    bytes: u64,
}

impl<W> Summed<W> {
    /// Nothing was written yet.
    pub fn new(sink: W) -> Summed<W> {
        Summed { sink, hasher: crc32fast::Hasher::new(), blocks: BlockSummer::default(), bytes: 0 }
    }

    /// The checksum of what was written.
    pub(crate) fn sum(&self) -> u32 {
        self.hasher.clone().finalize()
    }

    /// The checksums of the blocks of what was written.
    pub(crate) fn blocks(&self) -> BlockSums {
        self.blocks.clone().finish()
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.blocks.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Puts version and sum into a file whose values are all written; where they end.
pub fn seal_values<W: Write + Send>(writer: &mut ArrowWriter<Summed<W>>, version: &str) -> io::Result<u64> {
    writer.flush().map_err(io::Error::other)?;
    writer.sync()?;
    let summed = writer.inner();
    let (values_end, sum) = (summed.bytes, format!("{} {:08x}", summed.bytes, summed.sum()));
    writer.append_key_value_metadata(KeyValue::new(VERSION_KEY.into(), version.to_owned()));
    writer.append_key_value_metadata(KeyValue::new(SUM_KEY.into(), sum));
    writer.append_key_value_metadata(KeyValue::new(END_KEY.into(), NO_DIGITS.to_owned()));
    Ok(values_end)
}

/// Puts the checksum of its end into a file that was [sealed](seal_values), whose values end there, and that is written to its last byte.
pub fn seal_end(file: &File, values_end: u64) -> io::Result<()> {
    let end = end_of(file, values_end)?;
    let Some(at) = digits_in(&end).filter(|at| at + NO_DIGITS.len() <= end.len()) else { return Ok(()) };
    file.write_all_at(format!("{:08x}", crc32fast::hash(&end)).as_bytes(), values_end + at as u64)
}

/// What follows the values in a file.
fn end_of(file: &File, values_end: u64) -> io::Result<Vec<u8>> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged: it is not as long as it says");
    let bytes =
        file.len()?.checked_sub(values_end).filter(|bytes| *bytes <= END_BYTES_MAX).ok_or_else(wrong)?;
    let mut end = vec![0; bytes as usize];
    file.read_exact_at(&mut end, values_end)?;
    Ok(end)
}

/// Where the digits of its checksum stand in the end of a file, if it has them: behind their name, a byte for the kind of what follows, and one for
/// its length.
fn digits_in(end: &[u8]) -> Option<usize> {
    let name = end.windows(END_KEY.len()).rposition(|bytes| bytes == END_KEY.as_bytes())?;
    Some(name + END_KEY.len() + 2)
}

/// Whether the end of a file is as it was written, if it has a checksum.
fn check_end(file: &File, values_end: u64) -> io::Result<()> {
    let wrong =
        || io::Error::new(io::ErrorKind::InvalidData, "it is damaged: the checksum of its end is wrong");
    let mut end = end_of(file, values_end)?;
    let Some(at) = digits_in(&end) else { return Ok(()) };
    let digits = end.get_mut(at..at + NO_DIGITS.len()).ok_or_else(wrong)?;
    let found = digits.to_vec();
    digits.copy_from_slice(NO_DIGITS.as_bytes());
    // Nobody has put it there.
    let is_open = found == NO_DIGITS.as_bytes();
    match is_open || found == format!("{:08x}", crc32fast::hash(&end)).into_bytes() {
        true => Ok(()),
        false => Err(wrong()),
    }
}

/// Whether a file of values is one that is known here, and as it was written.
pub fn check_values(files: &Files, path: &Path) -> io::Result<()> {
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let metadata = metadata(files, path)?;
    let pairs = metadata.file_metadata().key_value_metadata();
    let value = |key: &str| pairs.into_iter().flatten().find(|pair| pair.key == key)?.value.as_deref();
    match value(VERSION_KEY) {
        Some(VALUES_VERSION) => {}
        version => {
            let version = version.unwrap_or("");
            return Err(wrong(format!("it has version {version:?}, which this program does not know")));
        }
    }
    let sum = value(SUM_KEY).and_then(|sum| sum.split_once(' '));
    let sum = sum.and_then(|(bytes, sum)| Some((bytes.parse().ok()?, u32::from_str_radix(sum, 16).ok()?)));
    let Some((bytes, sum)) = sum else { return Err(wrong("it is damaged: it has no checksum".into())) };
    check_end(&files.open(path, OpenMode::Read)?, bytes)?;
    match sum_of(files, path, bytes)? == sum {
        true => Ok(()),
        false => Err(wrong("it is damaged: its checksum is wrong".into())),
    }
}

/// The checksum of the first so many bytes of a file.
pub(crate) fn sum_of(files: &Files, path: &Path, bytes: u64) -> io::Result<u32> {
    let file = files.open(path, OpenMode::Read)?;
    let (mut hasher, mut chunk, mut at) = (crc32fast::Hasher::new(), vec![0; CHUNK_BYTES], 0);
    while at < bytes {
        let size = usize::try_from(bytes - at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        file.read_exact_at(&mut chunk[..size], at)?;
        hasher.update(&chunk[..size]);
        at += size as u64;
    }
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use mattock_env::{Random, SimFiles};

    use super::*;

    #[test]
    fn a_changed_bit_anywhere_is_seen() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let path = Path::new("/v/in_degree.parquet");
        let numbers = |from: i64| Arc::new(Int64Array::from_iter_values(from..from + 50)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("url_key", numbers(0)), ("value", numbers(7))]).unwrap();
        let mut writer = ArrowWriter::try_new(Summed::new(Vec::new()), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let values_end = seal_values(&mut writer, VALUES_VERSION).unwrap();
        let written = writer.into_inner().unwrap().into_inner();
        files.create_dir_all(Path::new("/v")).unwrap();
        files.write_atomic(path, &written).unwrap();
        assert!(check_values(&files, path).is_ok(), "as earlier versions wrote it");
        seal_end(&files.open(path, OpenMode::Write).unwrap(), values_end).unwrap();
        check_values(&files, path).unwrap();
        let sound = files.read(path).unwrap();
        let name = sound.windows(END_KEY.len()).rposition(|bytes| bytes == END_KEY.as_bytes()).unwrap();
        for at in (0..sound.len()).filter(|at| !(name..name + END_KEY.len()).contains(at)) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            files.write_atomic(path, &damaged).unwrap();
            assert!(check_values(&files, path).is_err(), "byte {at} of {}", sound.len());
        }
    }
}
