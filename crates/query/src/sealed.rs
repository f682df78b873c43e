//! Files of values by URL: how one is told from what is damaged or of another version.
//!
//! Parquet has a checksum for nothing. The metadata at the end of such a file has the version, and the length and the CRC-32 of all that stands before
//! that end: who opens one reads it once to compare, which costs as much as the query that follows.

use std::io::{self, Write};
use std::path::Path;

use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use mattock_env::{Files, OpenMode};

use crate::explain::metadata;

/// The version of the files: whoever writes one puts it into the metadata of the file.
pub const VALUES_VERSION: &str = "2";

const VERSION_KEY: &str = "mattock.version";
const SUM_KEY: &str = "mattock.sum";

/// What is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Something to write to, with the sum of what was written.
#[derive(Debug)]
pub struct Summed<W> {
    sink: W,
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl<W> Summed<W> {
    /// Nothing was written yet.
    pub fn new(sink: W) -> Summed<W> {
        Summed { sink, hasher: crc32fast::Hasher::new(), bytes: 0 }
    }

    /// The checksum of what was written.
    pub(crate) fn sum(&self) -> u32 {
        self.hasher.clone().finalize()
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
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Puts version and sum into a file whose values are all written.
pub fn seal_values<W: Write + Send>(writer: &mut ArrowWriter<Summed<W>>, version: &str) -> io::Result<()> {
    writer.flush().map_err(io::Error::other)?;
    writer.sync()?;
    let summed = writer.inner();
    let sum = format!("{} {:08x}", summed.bytes, summed.sum());
    writer.append_key_value_metadata(KeyValue::new(VERSION_KEY.into(), version.to_owned()));
    writer.append_key_value_metadata(KeyValue::new(SUM_KEY.into(), sum));
    Ok(())
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
