//! The columns: Common Crawl's, in its order, with its types, then ours.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// So many of the first columns are Common Crawl's.
pub const COMMON_CRAWL_COLUMNS: usize = 32;

/// The column that says when a row was inserted.
pub(crate) const INSERTION_TIME: &str = "insertion_time";

/// Name, type, and whether it may be null.
const COLUMNS: [(&str, Kind, bool); 42] = [
    ("url_surtkey", Kind::Text, false),
    ("url", Kind::Text, false),
    ("url_host_name", Kind::Text, false),
    ("url_host_tld", Kind::Text, true),
    ("url_host_2nd_last_part", Kind::Text, true),
    ("url_host_3rd_last_part", Kind::Text, true),
    ("url_host_4th_last_part", Kind::Text, true),
    ("url_host_5th_last_part", Kind::Text, true),
    ("url_host_registry_suffix", Kind::Text, true),
    ("url_host_registered_domain", Kind::Text, true),
    ("url_host_private_suffix", Kind::Text, true),
    ("url_host_private_domain", Kind::Text, true),
    ("url_host_name_reversed", Kind::Text, true),
    ("url_protocol", Kind::Text, false),
    ("url_port", Kind::Int, true),
    ("url_path", Kind::Text, false),
    ("url_query", Kind::Text, true),
    ("fetch_time", Kind::Time, false),
    ("fetch_status", Kind::Short, false),
    ("fetch_redirect", Kind::Text, true),
    ("content_digest", Kind::Text, true),
    ("content_mime_type", Kind::Text, true),
    ("content_mime_detected", Kind::Text, true),
    ("content_charset", Kind::Text, true),
    ("content_languages", Kind::Text, true),
    ("content_truncated", Kind::Text, true),
    ("warc_filename", Kind::Text, false),
    ("warc_record_offset", Kind::Int, false),
    ("warc_record_length", Kind::Int, false),
    ("warc_segment", Kind::Text, false),
    ("crawl", Kind::Text, false),
    ("subset", Kind::Text, false),
    // Ours.
    ("depth", Kind::Int, true),
    ("outcome", Kind::Text, true),
    ("domain_in_degree", Kind::Long, true),
    ("took_ms", Kind::Long, true),
    ("url_key", Kind::Long, false),
    ("via_key", Kind::Long, true),
    ("sketch", Kind::Long, true),
    ("record_type", Kind::Text, false),
    ("instance", Kind::Text, false),
    (INSERTION_TIME, Kind::Time, true),
];

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Short,
    Int,
    Long,
    Time,
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let field = |(name, kind, nullable): &(&str, Kind, bool)| {
        let kind = match kind {
            Kind::Text => DataType::Utf8,
            Kind::Short => DataType::Int16,
            Kind::Int => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        };
        Field::new(*name, kind, *nullable)
    };
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
});

/// The schema of every part and of the table `documents`.
///
/// Ours are: `depth`, links from a seed; `outcome`, the status as the crawl's reports name it; `domain_in_degree`, how many domains
/// linked to this one when the page came; `took_ms`; `url_key`, the fingerprint of the text in `url`, and `via_key`, that of the URL that
/// the link was found on: where the two are equal, a row is that of the page with the link; `sketch`, the simhash of the text;
/// `record_type`, `response` or `revisit`; `instance`, 16 hexadecimal digits that name URL and time; `insertion_time`, when the row was
/// committed to the repository: by a checkpoint of the crawl, or by an import. What is committed later has a later one. Parts of earlier
/// versions do not have it: there it is the end of the visit, `fetch_time` and `took_ms`.
///
/// Keys and sketches are the 64 bits of unsigned numbers in signed ones: Hive, Spark and Athena know no others, and what is only compared
/// for equality has no use for a sign.
pub fn schema() -> SchemaRef {
    SCHEMA.clone()
}
