//! Cuts the sorted rows into stretches and hands each to whichever partition asks next, so that none waits while another has a
//! slow document. A stretch lies together in an archive: it is read from front to back.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::{Array as _, Int32Array, RecordBatch};
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt as _;

use super::tally::Tally;

/// The most rows of a stretch, and the least if there are few rows for many partitions.
const ROWS: std::ops::RangeInclusive<u64> = 8..=256;
/// A stretch ends when its documents take so much in the archive.
const BYTES_MAX: u64 = 4 << 20;

/// See the module. Filled by the sort, emptied by the partitions, one at a time.
pub(super) struct Chunks {
    input: SendableRecordBatchStream,
    batch: Option<RecordBatch>,
    next: usize,
    partitions: u64,
    tally: Arc<Tally>,
}

impl Chunks {
    /// Stretches of `input` for `partitions`.
    pub(super) fn new(input: SendableRecordBatchStream, partitions: usize, tally: Arc<Tally>) -> Chunks {
        Chunks { input, batch: None, next: 0, partitions: partitions as u64, tally }
    }

    /// The next stretch; `None` if there are no more.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = &self.batch
                && self.next < batch.num_rows()
            {
                let length = self.length(batch);
                let stretch = batch.slice(self.next, length);
                self.next += length;
                return Ok(Some(stretch));
            }
            match self.input.next().await {
                Some(batch) => {
                    // The sort gives its first row after it has taken its last.
                    self.tally.total_known.store(true, Ordering::Relaxed);
                    (self.batch, self.next) = (Some(batch?), 0);
                }
                None => return Ok(None),
            }
        }
    }

    fn length(&self, batch: &RecordBatch) -> usize {
        let total = Tally::get(&self.tally.rows_total);
        let rows = (total / (self.partitions * 4)).clamp(*ROWS.start(), *ROWS.end()) as usize;
        let rows = rows.min(batch.num_rows() - self.next);
        let lengths = batch
            .column_by_name("warc_record_length")
            .and_then(|column| column.as_any().downcast_ref::<Int32Array>());
        let Some(lengths) = lengths else { return rows };
        let mut bytes = 0;
        for row in 0..rows {
            let at = self.next + row;
            bytes += if lengths.is_null(at) { 0 } else { u64::from(lengths.value(at).unsigned_abs()) };
            if bytes >= BYTES_MAX {
                return row + 1;
            }
        }
        rows
    }
}
