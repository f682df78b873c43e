//! What became of every URL that a crawl is done with, as rows: failures, too, and answers that were not kept.
//!
//! Read straight from the ledgers, block by block, by whoever asks for the table `outcomes`. Nothing is stored for it, so it is as new as the
//! checkpoint and costs nothing to keep; a scan reads all ledgers, some 200 bytes a URL.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{
    BooleanBuilder, Int16Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use mattock_env::{Files, UnixTime};
use mattock_repository::{LedgerReader, Row};
use mattock_weburl::WebUrl;

use crate::error::IndexError;
use crate::host_parts::HostParts;
use crate::snapshot::LedgerSource;

/// Rows of a batch, about: a block of a ledger is never divided.
const BATCH_ROWS: usize = 4096;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let time = || DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let field = |(name, kind, nullable): (&str, DataType, bool)| Field::new(name, kind, nullable);
    let fields = [
        ("url", DataType::Utf8, false),
        ("url_host_name", DataType::Utf8, true),
        ("url_host_tld", DataType::Utf8, true),
        ("url_host_registered_domain", DataType::Utf8, true),
        ("fetch_time", time(), false),
        ("outcome", DataType::Utf8, false),
        ("fetch_status", DataType::Int16, true),
        ("depth", DataType::Int32, false),
        ("took_ms", DataType::Int64, false),
        ("stored", DataType::Boolean, false),
        ("insertion_time", time(), false),
    ];
    Arc::new(Schema::new(fields.map(field).to_vec()))
});

/// The columns of the table: those that `documents` has as well mean the same there. `outcome` is a status or the name of a failure,
/// `fetch_status` is null without an answer, and `stored` says whether there is a row in `documents`.
pub fn outcomes_schema() -> SchemaRef {
    SCHEMA.clone()
}

/// The rows of one ledger.
pub struct Outcomes {
    reader: LedgerReader,
    columns: Columns,
    damaged: u64,
}

#[derive(Default)]
struct Columns {
    texts: [StringBuilder; 5],
    time: TimestampMillisecondBuilder,
    status: Int16Builder,
    depth: Int32Builder,
    took_ms: Int64Builder,
    stored: BooleanBuilder,
    inserted: TimestampMillisecondBuilder,
    /// Of the row before: the next one often has the same.
    host: HostParts,
    count: usize,
}

impl Outcomes {
    /// Begins to read what is committed of a ledger.
    pub fn open(files: &Files, ledger: &LedgerSource) -> Result<Outcomes, IndexError> {
        let reader = LedgerReader::open(files, &ledger.path, ledger.bytes)?;
        Ok(Outcomes { reader, columns: Columns::default(), damaged: 0 })
    }

    /// Blocks so far that cannot be read.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The next rows; `None` at the end. Those in damaged blocks are left out, and the blocks [counted](Outcomes::damaged).
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, IndexError> {
        while self.columns.count < BATCH_ROWS {
            let columns = &mut self.columns;
            match self.reader.next_inserted(|row, inserted| columns.push(row, inserted)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.is_loss() => self.damaged += 1,
                Err(error) => return Err(error.into()),
            }
        }
        (self.columns.count > 0).then(|| self.columns.finish()).transpose()
    }
}

impl Columns {
    fn push(&mut self, row: &Row<'_>, inserted: UnixTime) {
        let url = WebUrl::parse(row.url).ok();
        if let Some(url) = &url
            && self.host.name() != url.host_name()
        {
            self.host = HostParts::of(url.host_name());
        }
        let host = url.is_some().then_some(&self.host);
        let texts = [
            Some(row.url),
            host.map(HostParts::name),
            host.and_then(|host| host.label(0)),
            host.and_then(HostParts::registered_domain),
            Some(row.outcome),
        ];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.append_option(text);
        }
        let milliseconds = |time: UnixTime| time.as_micros().div_euclid(1000);
        self.time.append_value(milliseconds(row.time));
        self.status.append_option(row.outcome.parse().ok());
        self.depth.append_value(i32::try_from(row.depth).unwrap_or(i32::MAX));
        self.took_ms.append_value(i64::try_from(row.took_ms).unwrap_or(i64::MAX));
        self.stored.append_value(row.place.is_some());
        self.inserted.append_value(milliseconds(inserted));
        self.count += 1;
    }

    fn finish(&mut self) -> Result<RecordBatch, IndexError> {
        self.count = 0;
        let [url, host, tld, domain, outcome] =
            self.texts.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let columns: Vec<ArrayRef> = vec![
            url,
            host,
            tld,
            domain,
            Arc::new(self.time.finish().with_timezone("UTC")),
            outcome,
            Arc::new(self.status.finish()),
            Arc::new(self.depth.finish()),
            Arc::new(self.took_ms.finish()),
            Arc::new(self.stored.finish()),
            Arc::new(self.inserted.finish().with_timezone("UTC")),
        ];
        Ok(RecordBatch::try_new(outcomes_schema(), columns)?)
    }
}
