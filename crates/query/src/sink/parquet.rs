//! A Parquet file, compressed with zstd. Row groups are ended by what they hold, so that memory stays bounded however large texts are.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

use super::Sink;

/// A row group is ended when it holds so much.
const GROUP_BYTES_MAX: usize = 64 << 20;

/// See the module.
pub struct ParquetSink<W: Write + Send> {
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
}

impl<W: Write + Send> ParquetSink<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> ParquetSink<W> {
        ParquetSink { out: Some(out), writer: None }
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Err(io::Error::other("begun twice")) };
        let level = ZstdLevel::try_new(3).map_err(io::Error::other)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        self.writer =
            Some(ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(io::Error::other)?);
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let Some(writer) = &mut self.writer else { return Err(io::Error::other("not begun")) };
        writer.write(batch).map_err(io::Error::other)?;
        if writer.in_progress_size() >= GROUP_BYTES_MAX {
            writer.flush().map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.writer.take() {
            Some(writer) => {
                let mut out = writer.into_inner().map_err(io::Error::other)?;
                out.flush()
            }
            None => Ok(()),
        }
    }
}
