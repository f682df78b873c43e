//! A small repository in memory: pages, their archive, and an index with Common Crawl's columns and ours.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use mattock_env::{Files, OpenMode, Random, SimFiles, UnixTime};
use mattock_query::{Cancel, Language, Options, Query, Report, Session, Source};
use mattock_repository::{Digest, Page, WarcWriter, WriterOptions};

/// The first day of the crawl: 2000/10/01.
pub(crate) const START_MS: i64 = 970_358_400_000;
pub(crate) const DAY_MS: i64 = 86_400_000;

/// What a test says about one instance; the rest follows.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) url: String,
    pub(crate) time_ms: i64,
    pub(crate) status: i16,
    pub(crate) mime: Option<&'static str>,
    pub(crate) title: String,
    pub(crate) body: String,
    /// What it was found on.
    pub(crate) via: Option<&'static str>,
    /// When it was inserted, if the index says so.
    pub(crate) inserted_ms: Option<i64>,
    /// Further lines of its head.
    pub(crate) fields: &'static str,
}

impl Doc {
    pub(crate) fn page(url: &str, day: i64, title: &str) -> Doc {
        let body = format!(
            "<html><head><title>{title}</title></head><body><a href='/next'>next</a> {title} text</body></html>"
        );
        Doc {
            url: url.into(),
            time_ms: START_MS + day * DAY_MS,
            status: 200,
            mime: Some("text/html"),
            title: title.into(),
            body,
            via: None,
            inserted_ms: None,
            fields: "",
        }
    }

    pub(crate) fn instance(&self) -> String {
        let key = format!("{} {}", self.url, self.time_ms);
        format!("{:016x}", xxhash_rust::xxh3::xxh3_64(key.as_bytes()))
    }

    pub(crate) fn digest(&self) -> String {
        Digest::of(&[self.body.as_bytes()]).to_string().trim_start_matches("sha1:").to_string()
    }

    pub(crate) fn host(&self) -> &str {
        self.url.split('/').nth(2).unwrap()
    }
}

/// A document with its archive, offset and length, and whether the record is a revisit.
type Row = (Doc, String, u64, u64, bool);

pub(crate) struct World {
    pub(crate) files: Files,
    pub(crate) disk: SimFiles,
    pub(crate) docs: Vec<Doc>,
    rows: Vec<Row>,
}

pub(crate) fn dir() -> PathBuf {
    PathBuf::from("/repository")
}

pub(crate) fn schema() -> SchemaRef {
    let text = |name: &str, nullable: bool| Field::new(name, DataType::Utf8, nullable);
    let mut fields = vec![text("url_surtkey", false), text("url", false), text("url_host_name", false)];
    for name in ["url_host_tld", "url_host_registered_domain"] {
        fields.push(text(name, true));
    }
    fields.extend([
        text("url_protocol", false),
        Field::new("url_port", DataType::Int32, true),
        text("url_path", false),
    ]);
    fields.push(Field::new(
        "fetch_time",
        DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        false,
    ));
    fields.push(Field::new("fetch_status", DataType::Int16, false));
    fields.extend(["content_digest", "content_mime_type", "content_truncated"].map(|name| text(name, true)));
    fields.push(text("warc_filename", false));
    fields.extend(
        ["warc_record_offset", "warc_record_length"].map(|name| Field::new(name, DataType::Int32, false)),
    );
    fields.push(Field::new("took_ms", DataType::Int64, true));
    fields.push(Field::new("url_key", DataType::Int64, false));
    fields.push(Field::new("via_key", DataType::Int64, true));
    fields.extend([text("instance", false), text("record_type", false)]);
    Arc::new(Schema::new(fields))
}

impl World {
    /// Stores `docs`.
    pub(crate) fn new(docs: Vec<Doc>) -> World {
        let disk = SimFiles::new(Random::from_seed(1));
        let files = Files::simulated(disk.clone());
        let mut world = World { files, disk, docs: Vec::new(), rows: Vec::new() };
        world.add(docs);
        world
    }

    /// Stores more.
    pub(crate) fn add(&mut self, docs: Vec<Doc>) {
        let options =
            WriterOptions { file_bytes_max: 20_000, revisit_payloads: 40, ..WriterOptions::default() };
        let mut writer =
            WarcWriter::open(&self.files, &dir().join("archive"), options, Random::from_seed(2)).unwrap();
        for doc in docs {
            let mime = doc.mime.unwrap_or("application/octet-stream");
            let head = format!(
                "HTTP/1.1 {} OK\r\nContent-Type: {mime}\r\nServer: test/{}\r\nContent-Length: {}\r\n{}\r\n",
                doc.status,
                doc.host(),
                doc.body.len(),
                doc.fields
            );
            let written = writer
                .write_page(&Page {
                    url: &doc.url,
                    ip: None,
                    date: UnixTime::from_micros(doc.time_ms * 1_000),
                    request: b"",
                    response_head: head.as_bytes(),
                    body: doc.body.as_bytes(),
                    truncated: None,
                    security: None,
                    metadata: &[],
                })
                .unwrap();
            self.rows.push((
                doc.clone(),
                written.place.file.to_string(),
                written.place.offset,
                written.place.length,
                written.is_revisit,
            ));
            self.docs.push(doc);
        }
        writer.finish().unwrap();
    }

    /// Whether some row says when it was inserted: then there is a column for it.
    fn is_dated(&self) -> bool {
        self.docs.iter().any(|doc| doc.inserted_ms.is_some())
    }

    fn batch(&self, rows: &[Row]) -> RecordBatch {
        let text = |value: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<StringArray>())
        };
        let place = |value: &dyn Fn(&Row) -> u64| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(i32::try_from(value(row)).unwrap())).collect::<Int32Array>())
        };
        let times = rows.iter().map(|(doc, ..)| Some(doc.time_ms)).collect::<TimestampMillisecondArray>();
        let inserted = rows.iter().map(|(doc, ..)| doc.inserted_ms).collect::<TimestampMillisecondArray>();
        let mut columns: Vec<ArrayRef> = vec![
            text(&|(doc, ..)| Some(doc.host().split('.').rev().collect::<Vec<_>>().join(",") + ")/")),
            text(&|(doc, ..)| Some(doc.url.clone())),
            text(&|(doc, ..)| Some(doc.host().to_string())),
            text(&|(doc, ..)| doc.host().rsplit('.').next().map(str::to_string)),
            text(&|(doc, ..)| Some(doc.host().to_string())),
            text(&|(doc, ..)| doc.url.split(':').next().map(str::to_string)),
            Arc::new(rows.iter().map(|_| None::<i32>).collect::<Int32Array>()),
            text(&|(doc, ..)| Some(format!("/{}", doc.url.splitn(4, '/').nth(3).unwrap_or_default()))),
            Arc::new(times.with_timezone("UTC")),
            Arc::new(rows.iter().map(|(doc, ..)| Some(doc.status)).collect::<Int16Array>()),
            text(&|(doc, ..)| Some(doc.digest())),
            text(&|(doc, ..)| doc.mime.map(str::to_string)),
            text(&|_| None),
            text(&|(_, file, ..)| Some(file.clone())),
            place(&|(_, _, offset, ..)| *offset),
            place(&|(_, _, _, length, _)| *length),
            Arc::new(rows.iter().map(|(doc, ..)| Some(doc.time_ms % 1_000)).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|(doc, ..)| Some(key(&doc.url))).collect::<Int64Array>()),
            Arc::new(rows.iter().map(|(doc, ..)| doc.via.map(key)).collect::<Int64Array>()),
            text(&|(doc, ..)| Some(doc.instance())),
            text(&|(.., revisit)| Some(if *revisit { "revisit" } else { "response" }.to_string())),
        ];
        if self.is_dated() {
            columns.push(Arc::new(inserted.with_timezone("UTC")));
        }
        RecordBatch::try_new(self.schema(), columns).unwrap()
    }

    fn schema(&self) -> SchemaRef {
        let mut fields: Vec<Field> = schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        if self.is_dated() {
            let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
            fields.push(Field::new("insertion_time", time, true));
        }
        Arc::new(Schema::new(fields))
    }

    /// Two parts of several row groups, and a tail.
    pub(crate) fn source(&self) -> Source {
        let mut rows = self.rows.clone();
        rows.sort_by(|left, right| left.0.url.cmp(&right.0.url));
        let third = rows.len() / 3;
        let mut parts = Vec::new();
        for (number, rows) in [&rows[..third], &rows[third..2 * third]].into_iter().enumerate() {
            if !rows.is_empty() {
                let path = dir().join(format!("index/part-{number}.parquet"));
                write_parquet(&self.files, &path, &self.batch(rows));
                parts.push(path);
            }
        }
        let tail = if rows.is_empty() { Vec::new() } else { vec![self.batch(&rows[2 * third..])] };
        let mut source = Source::new(&dir(), self.schema(), parts, tail);
        source.undated = self.is_dated() && self.docs.iter().any(|doc| doc.inserted_ms.is_none());
        source.archive = Arc::new(|name| dir().join("archive").join(name));
        source
    }

    pub(crate) fn session(&self) -> Session {
        self.session_with(|_| {})
    }

    pub(crate) fn session_with(&self, change: impl FnOnce(&mut Options)) -> Session {
        let mut options = Options::new(Random::from_seed(5));
        change(&mut options);
        Session::with_source(&self.files, self.source(), options).unwrap()
    }

    /// Forgets all rows but those of revisits.
    pub(crate) fn forget_responses(&mut self) {
        self.rows.retain(|(.., revisit)| *revisit);
    }

    /// Lets two rows name each other's records.
    pub(crate) fn exchange_places(&mut self, one: usize, two: usize) {
        let place = |row: &Row| (row.1.clone(), row.2, row.3);
        let (first, second) = (place(&self.rows[one]), place(&self.rows[two]));
        (self.rows[one].1, self.rows[one].2, self.rows[one].3) = second;
        (self.rows[two].1, self.rows[two].2, self.rows[two].3) = first;
    }

    /// Takes the archive away.
    pub(crate) fn remove_archive(&self) {
        self.files.remove_dir_all(&dir().join("archive")).unwrap();
    }
}

/// What the index joins URLs by.
pub(crate) fn key(url: &str) -> i64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes()) as i64
}

fn write_parquet(files: &Files, path: &Path, batch: &RecordBatch) {
    files.create_dir_all(path.parent().unwrap()).unwrap();
    let group_rows = 7.max(batch.num_rows() / 100);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    files.open(path, OpenMode::CreateOrTruncate).unwrap().write_all_at(&bytes, 0).unwrap();
}

/// The rows of an answer as JSON, sorted: plans give them in any order.
pub(crate) fn run(query: Query) -> (Vec<String>, Report) {
    let (mut lines, report) = run_in_order(query);
    lines.sort();
    (lines, report)
}

pub(crate) fn run_in_order(query: Query) -> (Vec<String>, Report) {
    let mut out = Vec::new();
    let mut sink = mattock_query::sink::JsonSink::new(&mut out);
    let report = query.run(&mut sink, &mut |_| {}, &Cancel::new()).unwrap();
    let text = String::from_utf8(out).unwrap();
    (text.lines().map(str::to_string).collect(), report)
}

pub(crate) fn wib(session: &Session, text: &str) -> Vec<String> {
    run(session.plan(text, Language::Wib).unwrap_or_else(|error| panic!("{error}"))).0
}

pub(crate) fn sql(session: &Session, text: &str) -> Vec<String> {
    run(session.plan(text, Language::Sql).unwrap_or_else(|error| panic!("{error}"))).0
}

/// Pages on a few hosts over two months, some of them fetched twice, some changed.
pub(crate) fn pages(count: usize) -> Vec<Doc> {
    (0..count)
        .map(|number| {
            let host = ["a.example.org", "b.example.org", "c.example.com"][number % 3];
            let ending = ["html", "ram", "txt"][number / 3 % 3];
            let scheme = if number % 5 == 0 { "https" } else { "http" };
            let mut doc = Doc::page(
                &format!("{scheme}://{host}/page{number}.{ending}"),
                number as i64 % 60,
                &format!("Page {number}"),
            );
            if ending == "ram" {
                doc.mime = Some("audio/x-pn-realaudio");
            }
            doc
        })
        .collect()
}
