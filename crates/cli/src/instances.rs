//! The instances of one URL, and their records.

use std::path::{Path, PathBuf};

use anyhow::Context;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use mattock_env::{Env, UnixTime, located};
use mattock_index::Asked;
use mattock_query::sink::MemorySink;
use mattock_query::{Cancel, Language, Session};
use mattock_repository::http::BodyDecoder;
use mattock_repository::{RecordFetcher, RecordType, RepositoryError, StoredRecord};
use serde::Serialize;

use crate::output;

/// One stored answer to one URL.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Instance {
    /// Its name for ever.
    pub(crate) instance: String,
    /// As its record has it.
    #[serde(skip)]
    pub(crate) url: String,
    #[serde(skip)]
    pub(crate) time_ms: i64,
    pub(crate) status: u16,
    pub(crate) record_type: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) digest: Option<String>,
    #[serde(skip)]
    pub(crate) sketch: Option<u64>,
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Instance {
    /// When it was fetched, as people read it.
    pub(crate) fn time(&self) -> String {
        crate::times::text(self.time_ms)
    }

    /// Its record in the archive at `path`, and no other.
    fn record<'f>(
        &self,
        fetcher: &'f mut RecordFetcher,
        path: &Path,
    ) -> Result<StoredRecord<'f>, RepositoryError> {
        let time = UnixTime::from_micros(self.time_ms.saturating_mul(1000));
        fetcher.document(path, self.offset, self.length, &self.url, Some(time))
    }
}

/// What is decoded of a body at most.
const BODY_BYTES_MAX: usize = 256 << 20;

const COLUMNS: &str = "instance, url, fetch_time, fetch_status, record_type, content_mime_type, content_digest, sketch, warc_filename, \
                       warc_record_offset, warc_record_length";

/// All instances of a URL, the oldest first, however it is written in the archives.
pub(crate) fn instances(session: &Session, asked: &Asked) -> anyhow::Result<Vec<Instance>> {
    asked_of(session, asked, "true")
}

/// Those of them that fulfil a condition.
fn asked_of(session: &Session, url: &Asked, condition: &str) -> anyhow::Result<Vec<Instance>> {
    // The keys find them, and some of other URLs.
    let keys = url.keys().iter().map(|key| quoted(key)).collect::<Vec<_>>().join(", ");
    let query = format!(
        "select {COLUMNS} from documents where url_surtkey in ({keys}) and {condition} order by fetch_time, instance"
    );
    let mut found = asked(session, &query)?;
    url.keep(&mut found, |instance| &instance.url);
    Ok(found)
}

/// A response with this payload.
fn with_payload(session: &Session, digest: &str) -> anyhow::Result<Option<Instance>> {
    let condition = format!("content_digest = {} and record_type = 'response'", quoted(digest));
    let query = format!("select {COLUMNS} from documents where {condition} order by fetch_time limit 1");
    Ok(asked(session, &query)?.pop())
}

/// The response that a visit brought.
fn of_visit(session: &Session, url: &str, time: UnixTime) -> anyhow::Result<Option<Instance>> {
    let Ok(url) = Asked::parse(url) else { return Ok(None) };
    let found = asked_of(session, &url, "record_type = 'response'")?;
    // Not every writer knows more than the second.
    Ok(found.into_iter().find(|instance| instance.time_ms.div_euclid(1000) == time.as_seconds()))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn asked(session: &Session, query: &str) -> anyhow::Result<Vec<Instance>> {
    let mut sink = MemorySink::default();
    session.plan(query, Language::Sql)?.run(&mut sink, &mut |_| {}, &Cancel::new())?;
    sink.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| instance(batch, row))).collect()
}

fn instance(batch: &RecordBatch, row: usize) -> anyhow::Result<Instance> {
    let column = |name: &str| batch.column_by_name(name).with_context(|| format!("no column {name}"));
    let text = |name: &str| -> anyhow::Result<Option<String>> { Ok(output::text(column(name)?, row)) };
    let number = |name: &str| -> anyhow::Result<u64> {
        Ok(column(name)?.as_primitive::<Int32Type>().value(row) as u64)
    };
    let sketch = column("sketch")?.as_primitive::<Int64Type>();
    Ok(Instance {
        instance: text("instance")?.unwrap_or_default(),
        url: text("url")?.unwrap_or_default(),
        time_ms: column("fetch_time")?.as_primitive::<TimestampMillisecondType>().value(row),
        status: column("fetch_status")?.as_primitive::<Int16Type>().value(row) as u16,
        record_type: text("record_type")?.unwrap_or_default(),
        mime_type: text("content_mime_type")?,
        digest: text("content_digest")?,
        sketch: sketch.is_valid(row).then(|| sketch.value(row) as u64),
        file: text("warc_filename")?.unwrap_or_default(),
        offset: number("warc_record_offset")?,
        length: number("warc_record_length")?,
    })
}

/// An answer with its codings undone.
pub(crate) struct Response {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// Reads records of instances.
pub(crate) struct Records<'a> {
    root: PathBuf,
    session: &'a Session,
    fetcher: RecordFetcher,
    decoder: BodyDecoder,
}

impl<'a> Records<'a> {
    pub(crate) fn new(env: &Env, root: &Path, session: &'a Session) -> Records<'a> {
        Records {
            root: root.to_path_buf(),
            session,
            fetcher: RecordFetcher::new(&env.files),
            decoder: BodyDecoder::new(BODY_BYTES_MAX),
        }
    }

    /// The record as it is in the archive, without its compression.
    pub(crate) fn record(&mut self, instance: &Instance) -> anyhow::Result<Vec<u8>> {
        let path = located(&self.root, &instance.file);
        let record = instance.record(&mut self.fetcher, &path)?;
        Ok(output::record_bytes(&record))
    }

    /// Head and body. The body of a revisit is that of the record that it stands for.
    pub(crate) fn response(&mut self, instance: &Instance) -> anyhow::Result<Response> {
        let path = located(&self.root, &instance.file);
        let record = instance.record(&mut self.fetcher, &path)?;
        if record.kind() != Some(RecordType::Revisit) {
            return answer(&record, &mut self.decoder, &path);
        }
        let head = record.response().map(|response| (response.status, response.head.to_vec()));
        let visit = record.refers_to().map(|(url, time)| (url.to_owned(), time));
        let mut original = match &instance.digest {
            Some(digest) => with_payload(self.session, digest)?,
            None => None,
        };
        if let (None, Some((url, time))) = (&original, visit) {
            original = of_visit(self.session, &url, time)?;
        }
        let original = original.with_context(|| {
            format!("the record that instance {} stands for is not in this repository", instance.instance)
        })?;
        let path = located(&self.root, &original.file);
        let record = original.record(&mut self.fetcher, &path)?;
        let whole = answer(&record, &mut self.decoder, &path)?;
        Ok(match head {
            // That nothing has changed says nothing else.
            None | Some((NOT_MODIFIED, _)) => whole,
            Some((_, head)) => Response { head, body: whole.body },
        })
    }
}

/// The status of an answer that brings nothing, since nothing has changed.
const NOT_MODIFIED: u16 = 304;

fn answer(record: &StoredRecord<'_>, decoder: &mut BodyDecoder, path: &Path) -> anyhow::Result<Response> {
    let response = record.response().with_context(|| {
        format!("the record at {} of {} holds no HTTP answer", record.offset, path.display())
    })?;
    Ok(Response { head: response.head.to_vec(), body: decoder.decode(&response).bytes.to_vec() })
}
