//! Rows of the answer become instances.
//!
//! | status | instance |
//! |---|---|
//! | 200 | a page, with the links, terms and sketch of its document |
//! | 3xx with a target | a redirect: a page with one link |
//! | 304, or none | nothing: what was there before still is |
//! | any other | no page, or no longer one |

use std::io;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use mattock_features::FeaturesError;
use mattock_features::segment::{Instance, SegmentSorter, State};
use mattock_query::sink::Sink;
use mattock_weburl::{Base, WebUrl};

/// Columns of the index that are asked for.
pub(super) const PLAIN: [&str; 4] = ["url", "fetch_time", "fetch_status", "fetch_redirect"];
/// Columns that are computed from documents.
pub(super) const COMPUTED: [&str; 3] = ["links", "term_counts", "shingles"];

/// Takes rows of [`PLAIN`], and of [`COMPUTED`] if these are there.
pub(super) struct Rows {
    sorter: SegmentSorter,
    /// Why the last batch was not taken.
    pub(super) failed: Option<FeaturesError>,
}

impl Rows {
    pub(super) fn new(sorter: SegmentSorter) -> Rows {
        Rows { sorter, failed: None }
    }

    pub(super) fn into_sorter(self) -> SegmentSorter {
        self.sorter
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<(), FeaturesError> {
        let times = batch.column(1).as_primitive::<TimestampMillisecondType>();
        let statuses = batch.column(2).as_primitive::<Int16Type>();
        for row in 0..batch.num_rows() {
            // The index has no others.
            let Some(url) = text(batch.column(0), row).and_then(|url| WebUrl::parse(url).ok()) else {
                continue;
            };
            let time_ms = times.value(row);
            let target;
            let instance = match statuses.value(row) {
                0 | 304 => continue,
                200 => page(batch, row, time_ms),
                300..400 => {
                    let redirect = text(batch.column(3), row).unwrap_or_default();
                    target = Base::new(&url).join(redirect).ok().filter(|_| !redirect.is_empty());
                    match &target {
                        Some(target) => Instance {
                            time_ms,
                            state: State::Redirect,
                            links: vec![target.as_str()],
                            ..Instance::default()
                        },
                        None => Instance { time_ms, state: State::Gone, ..Instance::default() },
                    }
                }
                _ => Instance { time_ms, state: State::Gone, ..Instance::default() },
            };
            self.sorter.push(&url, &instance)?;
        }
        Ok(())
    }
}

/// A page; what has no document that could be read has no content.
fn page(batch: &RecordBatch, row: usize, time_ms: i64) -> Instance<'_> {
    let mut instance = Instance { time_ms, ..Instance::default() };
    for (name, column) in COMPUTED.iter().zip(batch.columns().iter().skip(PLAIN.len())) {
        let Some(list) = column.as_list_opt::<i32>().filter(|list| list.is_valid(row)) else { continue };
        let places = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
        let texts = || places.clone().filter_map(|place| text(list.values(), place));
        match *name {
            "links" => instance.links = texts().collect(),
            "term_counts" => instance.terms = texts().filter_map(counted).collect(),
            _ => {
                if let Some(numbers) = list.values().as_primitive_opt::<Int64Type>() {
                    instance.sketch = places.map(|place| numbers.value(place).cast_unsigned()).collect();
                }
            }
        }
    }
    instance
}

/// A term and how often it is there, from `term:count`.
fn counted(text: &str) -> Option<(&str, u32)> {
    let (term, count) = text.rsplit_once(':')?;
    Some((term, count.parse().ok()?))
}

/// A text of a column, in whichever form the engine has it.
pub(super) fn text(column: &dyn Array, row: usize) -> Option<&str> {
    let text = match column.as_string_opt::<i32>() {
        Some(texts) => texts.value(row),
        None => column.as_string_view_opt()?.value(row),
    };
    column.is_valid(row).then_some(text)
}

impl Sink for Rows {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.take(batch).map_err(|error| {
            let told = io::Error::other(error.to_string());
            self.failed = Some(error);
            told
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
