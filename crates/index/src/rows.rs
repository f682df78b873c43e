//! Instances become rows: columns that grow, and batches of them.

use std::sync::Arc;

use arrow_array::builder::{
    Int16Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use mattock_repository::{Details, Digest};
use mattock_weburl::{Fingerprint, WebUrl};
use xxhash_rust::xxh3::xxh3_64;

use crate::asked::key_of;
use crate::error::IndexError;
use crate::host_parts::HostParts;
use crate::schema::{INSERTION_TIME, schema};

/// One instance of a document, as ledgers and foreign archives tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance<'a> {
    /// Its URL.
    pub url: &'a str,
    /// When it was asked for, in µs since 1970.
    pub time_us: i64,
    /// HTTP status.
    pub status: u16,
    /// Of the payload.
    pub digest: Option<Digest>,
    /// If that is of another algorithm than SHA-1: with the algorithm's name, in one spelling; else empty.
    pub other_digest: &'a str,
    /// The archive file as the index names it: relative to the repository, or absolute.
    pub file: &'a str,
    /// Where its record begins.
    pub offset: u64,
    /// How long that is there.
    pub length: u64,
    /// The crawl's name.
    pub crawl: &'a str,
    /// Type, charset, redirect and the like.
    pub details: Details<'a>,
    /// Links from a seed.
    pub depth: Option<u32>,
    /// How long the visit took.
    pub took_ms: Option<u64>,
    /// When it was inserted into the repository, in ms since 1970; not known before an import commits it.
    pub inserted_ms: Option<i64>,
}

/// No place is larger than this: Common Crawl's columns have no larger numbers.
pub const PLACES_MAX: u64 = i32::MAX as u64;

impl Instance<'_> {
    /// Offset and length as the schema has them.
    pub(crate) fn place(&self) -> Result<(i32, i32), IndexError> {
        match (i32::try_from(self.offset), i32::try_from(self.length)) {
            (Ok(offset), Ok(length)) => Ok((offset, length)),
            _ => Err(IndexError::TooFar { file: self.file.to_owned(), offset: self.offset }),
        }
    }
}

/// Collects rows.
#[derive(Default)]
pub struct Rows {
    texts: [StringBuilder; TEXTS],
    port: Int32Builder,
    time: TimestampMillisecondBuilder,
    status: Int16Builder,
    offset: Int32Builder,
    length: Int32Builder,
    depth: Int32Builder,
    in_degree: Int64Builder,
    took_ms: Int64Builder,
    url_key: Int64Builder,
    via_key: Int64Builder,
    sketch: Int64Builder,
    inserted: TimestampMillisecondBuilder,
    /// Of the row before: the next one often has the same.
    host: HostParts,
    scratch: Vec<u8>,
    count: usize,
    bytes: usize,
}

/// Columns of text, in the schema's order.
const TEXTS: usize = 30;

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// About how much memory they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row. One whose URL is none of the Web's is left out: `false`.
    pub fn push(&mut self, instance: &Instance<'_>) -> Result<bool, IndexError> {
        let Ok(url) = WebUrl::parse_archived(instance.url) else { return Ok(false) };
        self.push_keyed(instance, &url, &key_of(instance.url, &url))?;
        Ok(true)
    }

    /// The same for a URL and its SURT key.
    pub(crate) fn push_keyed(
        &mut self,
        instance: &Instance<'_>,
        url: &WebUrl,
        surt: &str,
    ) -> Result<(), IndexError> {
        let (offset, length) = instance.place()?;
        if self.host.name() != url.host_name() {
            self.host = HostParts::of(url.host_name());
        }
        let host = &self.host;
        let (path, query) = match url.path_and_query().split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (url.path_and_query(), None),
        };
        let port = Some(url.port()).filter(|port| *port != url.scheme().default_port());
        let Details { mime, detected, charset, languages, redirect, via, truncated, .. } = instance.details;
        let mut digest_room = [0; 32];
        let digest = instance.digest.map(|digest| {
            data_encoding::BASE32.encode_mut(&digest.0, &mut digest_room);
            std::str::from_utf8(&digest_room).expect("it is ASCII")
        });
        let digest = digest.or(Some(instance.other_digest).filter(|text| !text.is_empty()));
        let milliseconds = instance.time_us.div_euclid(1000);
        let name = instance_name(instance.url, milliseconds, &mut self.scratch);
        let subset = if instance.status == 200 { "warc" } else { "crawldiagnostics" };
        let status = status_text(instance.status);
        let known = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let texts: [Option<&str>; TEXTS] = [
            Some(surt),
            // As it is in the archive: who looks for a record finds it by this.
            Some(instance.url),
            Some(host.name()),
            host.label(0),
            host.label(1),
            host.label(2),
            host.label(3),
            host.label(4),
            host.registry_suffix(),
            host.registered_domain(),
            host.private_suffix(),
            host.private_domain(),
            host.reversed(),
            Some(url.scheme().as_str()),
            Some(path),
            query,
            known(redirect),
            digest,
            known(mime),
            known(detected),
            known(charset),
            languages.and_then(known),
            truncated.map(|truncated| truncated.as_str()),
            Some(instance.file),
            Some(segment(instance.file)),
            Some(instance.crawl),
            Some(subset),
            Some(&status),
            Some(if instance.details.revisit { "revisit" } else { "response" }),
            Some(&name),
        ];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.append_option(text);
            self.bytes += 5 + text.map_or(0, str::len);
        }
        self.port.append_option(port.map(i32::from));
        self.time.append_value(milliseconds);
        self.status.append_value(i16::try_from(instance.status).unwrap_or(i16::MAX));
        self.offset.append_value(offset);
        self.length.append_value(length);
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.depth.append_option(instance.depth.map(|depth| i32::try_from(depth).unwrap_or(i32::MAX)));
        self.in_degree.append_option(instance.details.domain_in_degree.map(number));
        self.took_ms.append_option(instance.took_ms.map(number));
        // All 64 bits: keys and sketches are compared by bits, whatever the sign. The key is that of the text as it is, since the crawl
        // has made it canonical by its own rules.
        self.url_key.append_value(Fingerprint::of(instance.url).0 as i64);
        self.via_key.append_option(via.map(|via| via as i64));
        self.sketch.append_option(instance.details.sketch.map(|sketch| sketch as i64));
        self.inserted.append_option(instance.inserted_ms);
        self.bytes += 84;
        self.count += 1;
        Ok(())
    }

    /// The rows so far as one batch, and begins anew.
    pub fn finish(&mut self) -> Result<RecordBatch, IndexError> {
        let mut texts = self.texts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut others: Vec<(&str, ArrayRef)> = vec![
            ("url_port", Arc::new(self.port.finish())),
            ("fetch_time", Arc::new(self.time.finish().with_timezone("UTC"))),
            ("fetch_status", Arc::new(self.status.finish())),
            ("warc_record_offset", Arc::new(self.offset.finish())),
            ("warc_record_length", Arc::new(self.length.finish())),
            ("depth", Arc::new(self.depth.finish())),
            ("domain_in_degree", Arc::new(self.in_degree.finish())),
            ("took_ms", Arc::new(self.took_ms.finish())),
            ("url_key", Arc::new(self.url_key.finish())),
            ("via_key", Arc::new(self.via_key.finish())),
            ("sketch", Arc::new(self.sketch.finish())),
            (INSERTION_TIME, Arc::new(self.inserted.finish().with_timezone("UTC"))),
        ];
        let schema = schema();
        let columns = schema.fields().iter().map(|field| {
            match others.iter().position(|(name, _)| name == field.name()) {
                Some(at) => others.swap_remove(at).1,
                None => texts.next().expect("every other column is a text"),
            }
        });
        let columns = columns.collect();
        (self.count, self.bytes) = (0, 0);
        Ok(RecordBatch::try_new(schema, columns)?)
    }
}

/// What names an instance for ever, and what samples are drawn by. `scratch` is for its key.
fn instance_name(url: &str, milliseconds: i64, scratch: &mut Vec<u8>) -> String {
    scratch.clear();
    scratch.extend_from_slice(url.as_bytes());
    scratch.push(0);
    scratch.extend_from_slice(&milliseconds.to_le_bytes());
    format!("{:016x}", xxh3_64(scratch))
}

fn status_text(status: u16) -> String {
    status.to_string()
}

/// The part of a crawl that a file belongs to: the date in its name, or its name.
fn segment(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_date = |text: &&str| text.len() >= 14 && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split(['-', '.', '_']).find(is_date).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int16Type, Int64Type};

    #[test]
    fn a_batch_has_the_schema_and_the_values_in_their_places() {
        let mut rows = Rows::default();
        let details = Details {
            mime: "text/html",
            redirect: "http://b.com/",
            via: Some(Fingerprint::of("http://www.a.co.uk/").0),
            sketch: Some(u64::MAX),
            ..Details::default()
        };
        let instance = Instance {
            url: "http://www.a.co.uk/x?y",
            time_us: 1_700_000_000_123_456,
            status: 301,
            file: "warc/m-20260102030405-00001.warc.gz",
            offset: 7,
            length: 8,
            crawl: "c",
            details,
            ..Instance::default()
        };
        assert!(rows.push(&instance).unwrap());
        assert!(!rows.push(&Instance { url: "mailto:a@b.c", ..instance.clone() }).unwrap());
        assert!(matches!(
            rows.push(&Instance { offset: 1 << 31, ..instance }),
            Err(IndexError::TooFar { .. })
        ));
        assert_eq!(rows.len(), 1);
        let batch = rows.finish().unwrap();
        assert!(rows.is_empty());
        let text = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
        for (name, value) in [
            ("url_surtkey", "uk,co,a)/x?y"),
            ("url_host_registered_domain", "a.co.uk"),
            ("url_query", "y"),
            ("fetch_redirect", "http://b.com/"),
            ("content_mime_type", "text/html"),
            ("warc_filename", "warc/m-20260102030405-00001.warc.gz"),
            ("warc_segment", "20260102030405"),
            ("subset", "crawldiagnostics"),
            ("outcome", "301"),
            ("record_type", "response"),
        ] {
            assert_eq!(text(name), value, "{name}");
        }
        assert_eq!(batch.column_by_name("fetch_status").unwrap().as_primitive::<Int16Type>().value(0), 301);
        assert!(batch.column_by_name("content_charset").unwrap().is_null(0));
        let number = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(0);
        assert_eq!(number("url_key") as u64, Fingerprint::of("http://www.a.co.uk/x?y").0);
        assert_eq!(number("via_key") as u64, Fingerprint::of("http://www.a.co.uk/").0);
        assert_eq!(text("instance").len(), 16);
    }
}
