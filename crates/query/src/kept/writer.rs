//! Writes the files of kept values: each row with its key, its place, and what its value takes.
//!
//! Pages are small, so that one value can be read without many others, and a file ends when it is large, so that whoever reads has not to
//! know the pages of all values at once. A file gets its name when it is whole. Memory: one row group.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, BooleanArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use mattock_env::{FileWriter, Files, OpenMode};

use super::Place;
use crate::metadata::add_sizes;
use crate::sealed::Summed;
use crate::sink::Sink;

/// A page ends when it has so much, which is looked at after so many values.
const PAGE_BYTES_MAX: usize = 64 << 10;
const PAGE_STEP_ROWS: usize = 16;
/// A row group ends when it takes so much memory.
const GROUP_BYTES_MAX: usize = 16 << 20;
/// A file ends when it has so much.
const PART_BYTES_MAX: usize = 1 << 30;

/// See the module. Takes rows of key, value and failure; those whose failure is `unreadable` are left out.
pub(crate) struct KeptWriter {
    pub(crate) files: Files,
    pub(crate) directory: PathBuf,
    pub(crate) schema: SchemaRef,
    pub(crate) unreadable: &'static str,
    /// The number of the next file.
    pub(crate) number: u32,
    part: Option<Part>,
    /// Values that were written.
    pub(crate) rows: u64,
    /// Files that are whole.
    pub(crate) written: Vec<PathBuf>,
}

struct Part {
    unfinished: PathBuf,
    writer: ArrowWriter<Summed<FileWriter>>,
    rows: u64,
}

impl KeptWriter {
    /// Writes files from `number` on.
    pub(crate) fn new(
        files: &Files,
        directory: PathBuf,
        schema: SchemaRef,
        unreadable: &'static str,
        number: u32,
    ) -> KeptWriter {
        let files = files.clone();
        KeptWriter { files, directory, schema, unreadable, number, part: None, rows: 0, written: Vec::new() }
    }

    /// What the file at hand is called until it is whole.
    fn unfinished(&self) -> PathBuf {
        self.directory.join(format!("part-{:05}.parquet.tmp", self.number))
    }

    fn begin_part(&self) -> io::Result<Part> {
        let unfinished = self.unfinished();
        let file = self.files.open(&unfinished, OpenMode::CreateOrTruncate)?;
        let level = ZstdLevel::try_new(3).map_err(io::Error::other)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_data_page_size_limit(PAGE_BYTES_MAX)
            .set_write_batch_size(PAGE_STEP_ROWS)
            // A dictionary would have to be read for each single value, and nothing is looked for by value.
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let writer =
            ArrowWriter::try_new(Summed::new(FileWriter::new(file)), self.schema.clone(), Some(properties));
        Ok(Part { unfinished, writer: writer.map_err(io::Error::other)?, rows: 0 })
    }

    fn finish_part(&mut self, part: Part) -> io::Result<()> {
        let summed = part.writer.into_inner().map_err(io::Error::other)?;
        let path = self.directory.join(super::part_name(self.number, summed.sum()));
        let blocks = summed.blocks().to_text();
        let file = summed.into_inner().into_file();
        file.sync()?;
        drop(file);
        // Before the file has its name: who finds it finds these too.
        self.files.write_atomic(&path.with_extension(super::SUMS), blocks.as_bytes())?;
        self.files.rename(&part.unfinished, &path)?;
        self.files.sync_dir(&self.directory)?;
        self.written.push(path);
        self.number += 1;
        Ok(())
    }
}

impl Sink for KeptWriter {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let errors = batch.column(2).as_string_view();
        let readable: BooleanArray =
            errors.iter().map(|error| Some(error != Some(self.unreadable))).collect();
        let batch = filter_record_batch(batch, &readable).map_err(io::Error::other)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        // Taken out: what could not be written in part is never given its name.
        let mut part = match self.part.take() {
            Some(part) => part,
            None => self.begin_part()?,
        };
        let [key, value, error] = [0, 1, 2].map(|at| batch.column(at).clone());
        let rows = part.rows..part.rows + batch.num_rows() as u64;
        let places: Int64Array = rows.clone().map(|row| Place::new(self.number, row).0).collect();
        let columns: Vec<ArrayRef> = vec![key, Arc::new(places), Arc::new(value_bytes(&value)), value, error];
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        part.writer.write(&batch).map_err(io::Error::other)?;
        if part.writer.memory_size() >= GROUP_BYTES_MAX {
            part.writer.flush().map_err(io::Error::other)?;
        }
        part.rows = rows.end;
        self.rows += batch.num_rows() as u64;
        if part.writer.bytes_written() >= PART_BYTES_MAX {
            self.finish_part(part)?;
        } else {
            self.part = Some(part);
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.part.take() {
            Some(part) => self.finish_part(part),
            None => Ok(()),
        }
    }

    /// What was computed is kept, but for a file that could not be written.
    fn fail(&mut self) -> io::Result<()> {
        self.finish()?;
        let unfinished = self.unfinished();
        match self.files.entry(&unfinished)? {
            Some(_) => self.files.remove_file(&unfinished),
            None => Ok(()),
        }
    }
}

/// About what each value takes in memory.
fn value_bytes(values: &ArrayRef) -> Int64Array {
    let mut sizes = vec![0; values.len()];
    add_sizes(values, &mut sizes);
    sizes.into_iter().map(|size| i64::try_from(size).unwrap_or(i64::MAX)).collect()
}
