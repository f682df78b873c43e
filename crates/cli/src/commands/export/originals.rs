//! The records that revisits stand for: a file that is exported stands by itself, so a revisit whose original does not come along becomes a response.
//!
//! Found in passes over the index, of which the last two are made only if there are revisits. In memory are the payloads that the export has
//! revisits of.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::Export;
use crate::output;
use crate::visiting::{Visiting, output_error, place};

const COLUMNS: &str =
    "url, fetch_time, record_type, content_digest, warc_filename, warc_record_offset, warc_record_length";

/// See the module.
#[derive(Default)]
pub(super) struct Originals {
    /// What there is to export.
    pub(super) rows: u64,
    /// And what it takes in the archives.
    pub(super) bytes: u64,
    /// Responses in the export with payloads that revisits have: digest, URL, second.
    inside: BTreeSet<(String, String, i64)>,
    /// A response with the payload, in the export or not: where it is, and its URL.
    places: BTreeMap<String, (String, u64, u64, String)>,
}

impl Originals {
    pub(super) fn find(export: &Export<'_>) -> anyhow::Result<Originals> {
        let mut found = Originals::default();
        let mut wanted = BTreeSet::new();
        export.rows(COLUMNS, &[], &mut |batch, row| {
            found.rows += 1;
            found.bytes += place(batch, row).2;
            if is(batch, row, "revisit") {
                wanted.extend(digest(batch, row));
            }
            Ok(())
        })?;
        if wanted.is_empty() {
            return Ok(found);
        }
        let wanted_of = |batch: &RecordBatch, row: usize| {
            digest(batch, row).filter(|digest| is(batch, row, "response") && wanted.contains(digest))
        };
        export.rows(COLUMNS, &[], &mut |batch, row| {
            if let Some(digest) = wanted_of(batch, row) {
                let url = output::text(&batch["url"], row).unwrap_or_default();
                found.inside.insert((digest, url, seconds(batch, row)));
            }
            Ok(())
        })?;
        let mut visit = |batch: &RecordBatch, row: usize| {
            if let Some(digest) = wanted_of(batch, row) {
                found.places.entry(digest).or_insert_with(|| {
                    let (file, offset, length) = place(batch, row);
                    (file, offset, length, output::text(&batch["url"], row).unwrap_or_default())
                });
            }
            Ok(())
        };
        let query = export.session.plan_selection(COLUMNS, Some("record_type = \"response\""), &[])?;
        output_error(query.run(&mut Visiting(&mut visit), &mut |_| {}, export.cancel))?;
        Ok(found)
    }

    /// Whether the response that a revisit refers to, by URL and second, comes along. One that names none means any with its payload.
    pub(super) fn has(&self, digest: &str, url: &str, seconds: Option<i64>) -> bool {
        let from = (digest.to_owned(), String::new(), i64::MIN);
        let mut same = self.inside.range(from..).take_while(|(inside, ..)| inside == digest);
        match seconds {
            Some(seconds) => same.any(|(_, inside, at)| inside == url && *at == seconds),
            None => same.next().is_some(),
        }
    }

    /// Where a response with this payload is, and its URL.
    pub(super) fn place(&self, digest: &str) -> Option<&(String, u64, u64, String)> {
        self.places.get(digest)
    }
}

fn is(batch: &RecordBatch, row: usize, kind: &str) -> bool {
    output::text(&batch["record_type"], row).as_deref() == Some(kind)
}

/// The column `content_digest`.
pub(super) fn digest(batch: &RecordBatch, row: usize) -> Option<String> {
    output::text(&batch["content_digest"], row)
}

fn seconds(batch: &RecordBatch, row: usize) -> i64 {
    output::time(batch, row).unwrap_or_default().div_euclid(1000)
}
