//! A column of your own, compiled in: how many images the pages of a crawl have no text for.
//!
//! `cargo run --release -p mattock-cli --example own_column -- DIR` asks the crawl in `DIR` for the ten pages with most of them.
//! What is computed is the type below; the rest opens the repository and asks, in SQL, with the column beside all others.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use mattock_analyze::{AnalyzeError, Analyzer, Document, Kind, Value};
use mattock_crawl::SavedCrawl;
use mattock_env::Env;
use mattock_index::{IndexOptions, LedgerSource, Snapshot};
use mattock_query::sink::JsonSink;
use mattock_query::{Cancel, Language, Options, Session};

struct SilentImages;

impl Analyzer for SilentImages {
    fn name(&self) -> &str {
        "silent_images"
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn kind(&self) -> Kind {
        Kind::Integer
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        if !document.content_type().is_some_and(|kind| kind.starts_with("text/html")) {
            return Ok(Value::Null);
        }
        let page = String::from_utf8_lossy(document.body).to_ascii_lowercase();
        let images = page.split("<img").skip(1).map(|rest| rest.split('>').next().unwrap_or(rest));
        Ok(Value::Integer(images.filter(|image| !image.contains("alt=")).count() as i64))
    }
}

#[expect(clippy::disallowed_methods, reason = "rows go to programs here")]
fn main() -> anyhow::Result<()> {
    let dir = std::env::args().nth(1).context("say which crawl: own_column DIR")?;
    let (env, dir) = (Env::real(), Path::new(&dir));
    let saved = SavedCrawl::open(&env, dir)?;
    let ledgers = saved.ledgers().into_iter();
    let ledgers: Vec<LedgerSource> = ledgers
        .map(|ledger| LedgerSource { name: ledger.name, path: ledger.path, bytes: ledger.bytes })
        .collect();
    let naming = IndexOptions { crawl: "crawl".to_owned(), archive: "warc".to_owned() };
    let snapshot = Snapshot::open(&env.files, dir, &ledgers, &naming)?;

    let mut options = Options::new(env.random.fork("query"));
    options.analyzers.push(Arc::new(SilentImages));
    let session = Session::open(&env.files, snapshot, options)?;
    let query = "select url, silent_images from documents where silent_images > 0 order by silent_images desc limit 10";
    let mut sink = JsonSink::new(std::io::stdout());
    session.plan(query, Language::Sql)?.run(&mut sink, &mut |_| {}, &Cancel::new())?;
    Ok(())
}
