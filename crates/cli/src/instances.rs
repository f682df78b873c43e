//! The instances of one URL, and their records.

use anyhow::Context;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use mattock_env::{Env, located};
use mattock_query::sink::MemorySink;
use mattock_query::{Cancel, Language, Session};
use mattock_repository::RecordFetcher;
use mattock_repository::http::BodyDecoder;
use mattock_weburl::WebUrl;
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
}

/// What is decoded of a body at most.
const BODY_BYTES_MAX: usize = 256 << 20;

const COLUMNS: &str = "instance, url, fetch_time, fetch_status, record_type, content_mime_type, content_digest, sketch, warc_filename, \
                       warc_record_offset, warc_record_length";

/// All instances of a URL, the oldest first.
pub(crate) fn instances(session: &Session, url: &WebUrl) -> anyhow::Result<Vec<Instance>> {
    // The key prunes; the URL decides.
    let condition =
        format!("url_surtkey = {} and url = {}", quoted(&url.archive_key()), quoted(url.as_str()));
    asked(
        session,
        &format!("select {COLUMNS} from documents where {condition} order by fetch_time, instance"),
    )
}

/// A response with this payload.
fn original(session: &Session, digest: &str) -> anyhow::Result<Option<Instance>> {
    let condition = format!("content_digest = {} and record_type = 'response'", quoted(digest));
    let query = format!("select {COLUMNS} from documents where {condition} order by fetch_time limit 1");
    Ok(asked(session, &query)?.pop())
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
    root: std::path::PathBuf,
    session: &'a Session,
    fetcher: RecordFetcher,
    decoder: BodyDecoder,
}

impl<'a> Records<'a> {
    pub(crate) fn new(env: &Env, root: &std::path::Path, session: &'a Session) -> Records<'a> {
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
        let record = self.fetcher.document(&path, instance.offset, instance.length, &instance.url)?;
        Ok(output::record_bytes(&record))
    }

    /// Head and body. The body of a revisit is that of the record that it stands for.
    pub(crate) fn response(&mut self, instance: &Instance) -> anyhow::Result<Response> {
        let body_of = match (instance.record_type.as_str(), &instance.digest) {
            ("revisit", Some(digest)) => Some(original(self.session, digest)?.with_context(|| {
                format!("the record that instance {} stands for is not in this repository", instance.instance)
            })?),
            _ => None,
        };
        let mut response = self.read(instance)?;
        if let Some(original) = body_of {
            response.body = self.read(&original)?.body;
        }
        Ok(response)
    }

    fn read(&mut self, instance: &Instance) -> anyhow::Result<Response> {
        let path = located(&self.root, &instance.file);
        let record = self.fetcher.document(&path, instance.offset, instance.length, &instance.url)?;
        let response = record.response().with_context(|| {
            format!("the record at {} of {} holds no HTTP answer", instance.offset, path.display())
        })?;
        let head = response.head.to_vec();
        Ok(Response { head, body: self.decoder.decode(&response).bytes.to_vec() })
    }
}
