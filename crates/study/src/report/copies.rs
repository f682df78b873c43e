//! How much of it is there more than once: the same bytes, and nearly the same text.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use mattock_env::{Files, Random};
use mattock_features::Features;
use mattock_query::{Options, Session, Source, check_values};
use serde::Serialize;

use super::ReportOptions;
use super::ask::Desk;
use super::error::{ReportError, Result};

/// The column of near-duplicates, in the directory of a generation of features.
const CLUSTERS: &str = "columns/cluster.parquet";

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Pages, each payload of a URL once.
    pub pages: u64,
    /// Different payloads among them.
    pub payloads: u64,
    /// Pages whose payload another URL has, too, without one for each payload.
    pub copies: u64,
    /// How many URLs have the payload that most have.
    pub urls_most: u64,
    /// Pages that are nearly alike; nothing if that was never computed.
    pub near: Option<Clusters>,
}

/// Clusters of two or more pages that are nearly alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Clusters {
    /// Pages that belong to one.
    pub pages: u64,
    /// Clusters.
    pub clusters: u64,
    /// Pages beyond the first of each.
    pub copies: u64,
    /// Pages of the largest.
    pub pages_most: u64,
    /// Pages with text, which were compared.
    pub texts: u64,
}

pub(crate) fn gather(desk: &mut Desk<'_>) -> Result<Copies> {
    desk.begin("copies")?;
    let sql = "select count(*) as payloads, sum(urls) as pages, max(urls) as most from (select content_digest, count(*) as urls from \
               (select content_digest, url_key from documents where fetch_status = 200 and content_digest is not null \
               group by content_digest, url_key) group by content_digest)";
    let copies = desk.one(sql, |row| {
        let (pages, payloads) = (row.count("pages")?, row.count("payloads")?);
        let urls_most = row.count("most")?;
        Ok(Copies { pages, payloads, copies: pages - payloads, urls_most, near: None })
    })?;
    desk.define_query(
        sql,
        &[
            ("copies.payloads", "Different payloads of pages, by their digests."),
            ("copies.copies", "Pages whose bytes another URL has, too, not counting the first of each: pages less payloads."),
            ("copies.urls_most", "How many URLs have the payload that most have."),
        ],
    );
    Ok(copies)
}

/// The clusters that were kept with a generation; `None` if none were.
pub(crate) fn clusters(
    desk: &mut Desk<'_>,
    files: &Files,
    features: &Features,
    options: &ReportOptions,
) -> Result<Option<Clusters>> {
    let (generation, texts) = (features.dir(), features.counts().texts);
    let path = generation.join(CLUSTERS);
    let entry = files.entry(&path).map_err(|source| ReportError::Io { path: path.clone(), source })?;
    if entry.is_none() {
        return Ok(None);
    }
    check_values(files, &path).map_err(|source| ReportError::Io { path: path.clone(), source })?;
    desk.begin("near-duplicates")?;
    // A column is a table of its own: the same engine counts it, in the same memory.
    let schema = Arc::new(Schema::new(vec![
        Field::new("url_key", DataType::Int64, false),
        Field::new("value", DataType::Int64, true),
    ]));
    let source = Source::new(generation, schema, vec![path], Vec::new());
    let mut asked = Options::new(Random::from_seed(0));
    asked.memory_bytes = options.memory_bytes;
    asked.threads = options.threads;
    let session = Session::with_source(files, source, asked)?;
    let sql = "select count(*) as clusters, sum(pages) as pages, max(pages) as most from \
               (select value, count(*) as pages from documents where value is not null group by value) where pages > 1";
    let mut column = Desk {
        session: &session,
        cancel: desk.cancel,
        progress: &mut |_| {},
        shown: desk.shown,
        features: desk.features,
        dates: None,
        definitions: Vec::new(),
    };
    let clusters = column.one(sql, |row| {
        let (pages, clusters) = (row.count("pages")?, row.count("clusters")?);
        Ok(Clusters { pages, clusters, copies: pages - clusters, pages_most: row.count("most")?, texts })
    })?;
    let command = desk.features_command("duplicates");
    desk.define(
        &command,
        &[
            ("copies.near.clusters", "Clusters of pages whose text is nearly the same, by their sketches."),
            (
                "copies.near.copies",
                "Pages in clusters, not counting the first of each; the share is of pages with text.",
            ),
        ],
    );
    Ok(Some(clusters))
}
