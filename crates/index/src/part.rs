//! Writes a part: rows that are in order already, as one Parquet file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use mattock_codec::{BlockSummer, BlockSums};
use mattock_env::{FileWriter, Files, OpenMode};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::error::IndexError;
use crate::schema::schema;

/// As many rows are in a row group: two threads of a reader find work in a part, and a lookup reads little.
const GROUP_ROWS: usize = 65_536;

/// Writes Parquet files of the index' schema.
pub struct PartWriter {
    path: PathBuf,
    /// Its file goes with it unless it was finished.
    unfinished: Unfinished,
    writer: ArrowWriter<Summed>,
}

/// Sums up what passes on its way into a file.
struct Summed {
    out: FileWriter,
    sum: crc32fast::Hasher,
    blocks: BlockSummer,
}

/// A file that is whole.
#[derive(Debug)]
pub struct WrittenPart {
    /// Its length.
    pub bytes: u64,
    /// The checksum of all of it.
    pub sum: u32,
    /// The checksums of its blocks.
    pub blocks: BlockSums,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.sum.update(bytes);
        self.blocks.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file that is removed if nobody gives it its name.
struct Unfinished {
    files: Files,
    path: PathBuf,
    finished: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.finished {
            // There is another error to tell of.
            let _ = self.files.remove_file(&self.path);
        }
    }
}

impl PartWriter {
    /// Begins a file at `path`; until it is [finished](PartWriter::finish) it has another name.
    pub fn create(files: &Files, path: &Path) -> Result<PartWriter, IndexError> {
        let unfinished = path.with_extension("unfinished");
        let file = files.open(&unfinished, OpenMode::CreateOrTruncate);
        let file = file.map_err(IndexError::io("create", &unfinished))?;
        let (sum, blocks) = (crc32fast::Hasher::new(), BlockSummer::default());
        let out = Summed { out: FileWriter::new(file), sum, blocks };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).expect("it has a level 1")))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_created_by(concat!("mattock ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(out, schema(), Some(properties))
            .map_err(|source| IndexError::Parquet { path: path.to_path_buf(), source })?;
        let unfinished = Unfinished { files: files.clone(), path: unfinished, finished: false };
        Ok(PartWriter { path: path.to_path_buf(), unfinished, writer })
    }

    /// Adds rows; they are in order already.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), IndexError> {
        self.writer.write(rows).map_err(|source| IndexError::Parquet { path: self.path.clone(), source })
    }

    /// Ends the file, and gives it its name once it is on the disk.
    pub fn finish(self) -> Result<WrittenPart, IndexError> {
        let PartWriter { path, mut unfinished, writer } = self;
        let written = writer.into_inner();
        let written = written.map_err(|source| IndexError::Parquet { path: path.clone(), source })?;
        let (file, sum, blocks) = (written.out.into_file(), written.sum.finalize(), written.blocks.finish());
        file.sync().map_err(IndexError::io("sync", &unfinished.path))?;
        let bytes = file.len().map_err(IndexError::io("measure", &unfinished.path))?;
        unfinished.files.rename(&unfinished.path, &path).map_err(IndexError::io("rename to", &path))?;
        unfinished.finished = true;
        if let Some(parent) = path.parent() {
            unfinished.files.sync_dir(parent).map_err(IndexError::io("sync", parent))?;
        }
        Ok(WrittenPart { bytes, sum, blocks })
    }
}
