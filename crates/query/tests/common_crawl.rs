//! The queries that Common Crawl has published for its table (`src/sql/examples/cc-index` of cc-index-table), read where they lie: each is
//! answered as it was published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use datafusion::arrow::datatypes::DataType;
use mattock_env::{Files, Random, SimFiles};
use mattock_query::{GivenTable, Language, Options, Session, Source};

use crate::world::{START_MS, dir, run};

/// The rows that each query gives at least, of the rows made here: none of one page in a million.
const QUERIES: [(&str, usize); 28] = [
    ("average-warc-record-length-by-mime-type", 2),
    ("compare-mime-type-http-vs-detected", 2),
    ("correlation-language-charset", 1),
    ("count-by-partition", 3),
    ("count-by-tld-page-host-domain", 4),
    ("count-domains-alexa-top-1m", 2),
    ("count-domains-of-tld", 1),
    ("count-fetch-status", 1),
    ("count-hostname-elements", 3),
    ("count-idna", 1),
    ("count-language-tld", 1),
    ("count-robotstxt-url-paths", 1),
    ("count-url-path-elements", 2),
    ("discovery-of-non-english-sites", 1),
    ("get-home-pages-languages", 1),
    ("get-language-translations-url-path", 1),
    ("get-records-for-language", 1),
    ("get-records-home-pages", 1),
    ("get-records-of-domain", 1),
    ("get-records-of-mime-type", 1),
    ("get-records-robotstxt", 1),
    ("host_length_distrib", 2),
    ("loglikelihood-language-tld", 1),
    ("random-sample-extract", 0),
    ("random-sample-urls", 1),
    ("similar-domains", 1),
    ("site-discovery-by-language", 1),
    ("site-discovery-hungarian", 1),
];

/// The table that three of them join with, which Common Crawl's readers make of a list of their own.
const RANKS: &str = "alexa_top_1m";

/// The files with queries below a directory, by name.
fn queries(files: &Files, directory: &Path, found: &mut BTreeMap<String, String>) {
    for entry in files.list(directory).unwrap_or_default() {
        let path = directory.join(&entry.name);
        if entry.is_dir {
            queries(files, &path, found);
        } else if let Some(name) =
            entry.name.strip_suffix(".sql").filter(|name| !name.contains("create-table"))
        {
            found.insert(name.to_owned(), String::from_utf8(files.read(&path).unwrap()).unwrap());
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn published() -> BTreeMap<String, String> {
    let base = std::env::var_os("MATTOCK_CC_INDEX").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/specs/cc-index"),
        PathBuf::from,
    );
    let mut found = BTreeMap::new();
    queries(&Files::real(), &base, &mut found);
    if found.is_empty() {
        eprintln!("skipped: no queries in {}; name their directory in MATTOCK_CC_INDEX", base.display());
    }
    found
}

/// One row of Common Crawl's table.
struct Row {
    host: String,
    domain: &'static str,
    path: String,
    language: &'static str,
    subset: &'static str,
}

/// Rows in which each query finds something.
fn rows() -> Vec<Row> {
    let domains =
        ["commoncrawl.org", "wikipedia.fr", "exemple.no", "vatican.va", "xn--bcher-kva.fr", "sant.cat"];
    let languages = ["eng", "isl", "hun", "cat", "ita", "deu,eng", "tha"];
    (0..21_000)
        .map(|number| {
            let domain = domains[number % domains.len()];
            let subset =
                ["warc", "warc", "warc", "warc", "warc", "crawldiagnostics", "robotstxt"][number / 6 % 7];
            let path = match (subset, number % 11) {
                ("robotstxt", _) => "/robots.txt".to_owned(),
                (_, 0) => "/".to_owned(),
                (_, kind) => format!("/{}/caf%C3%A9/page{number}", ["en", "it"][kind % 2]),
            };
            // The frequencies that tell languages of domains, and a host in one language.
            let language = match domain {
                "commoncrawl.org" => "eng",
                "sant.cat" => "cat",
                _ => languages[number / 42 % languages.len()],
            };
            let host = if domain == "sant.cat" { domain.to_owned() } else { format!("www.{domain}") };
            Row { host, domain, path, language, subset }
        })
        .collect()
}

/// The rows as a table with all columns of the index.
fn table(rows: &[Row], crawl: &str) -> RecordBatch {
    let schema = mattock_index::schema();
    let text = |value: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(value).collect::<StringArray>())
    };
    let columns = schema.fields().iter().map(|field| match (field.name().as_str(), field.data_type()) {
        ("url", _) => text(&|row| Some(format!("https://{}{}", row.host, row.path))),
        ("url_host_name", _) => text(&|row| Some(row.host.clone())),
        ("url_host_registered_domain", _) => text(&|row| Some(row.domain.to_owned())),
        ("url_host_2nd_last_part", _) => text(&|row| row.domain.split('.').next().map(str::to_owned)),
        ("url_host_tld" | "url_host_registry_suffix", _) => {
            text(&|row| row.domain.rsplit('.').next().map(str::to_owned))
        }
        ("url_path", _) => text(&|row| Some(row.path.clone())),
        ("content_languages", _) => {
            text(&|row| Some(row.language.to_owned()).filter(|_| row.subset == "warc"))
        }
        ("content_mime_type" | "content_mime_detected", _) => text(&|row| {
            Some(if row.path.len() % 2 == 0 { "application/pdf" } else { "text/html" }.to_owned())
        }),
        ("content_charset", _) => {
            text(&|row| Some(if row.language == "eng" { "UTF-8" } else { "ISO-8859-1" }.to_owned()))
        }
        ("crawl", _) => text(&|_| Some(crawl.to_owned())),
        ("subset", _) => text(&|row| Some(row.subset.to_owned())),
        ("instance", _) => {
            let key = |(number, row): (usize, &Row)| {
                let key = xxhash_rust::xxh3::xxh3_64(format!("{number} {}", row.path).as_bytes());
                Some(format!("{key:016x}"))
            };
            Arc::new(rows.iter().enumerate().map(key).collect::<StringArray>())
        }
        ("fetch_status", _) => {
            let status = |row: &Row| Some(if row.subset == "crawldiagnostics" { 404 } else { 200 });
            Arc::new(rows.iter().map(status).collect::<Int16Array>())
        }
        (_, DataType::Utf8) if field.is_nullable() => text(&|_| None),
        (_, DataType::Utf8) => text(&|_| Some(String::new())),
        (_, DataType::Int16) => Arc::new(rows.iter().map(|_| Some(0)).collect::<Int16Array>()),
        (_, DataType::Int32) => Arc::new(rows.iter().map(|_| Some(100)).collect::<Int32Array>()),
        (_, DataType::Int64) => Arc::new(rows.iter().map(|_| Some(0)).collect::<Int64Array>()),
        _ => {
            let times = (0..rows.len() as i64).map(|number| Some(START_MS + number));
            Arc::new(times.collect::<TimestampMillisecondArray>().with_timezone("UTC"))
        }
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).unwrap()
}

/// A repository of these rows, with the list of ranks if it was named.
fn session(rows: &[Row], crawl: &str, with_ranks: bool) -> Session {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    files.create_dir_all(&dir()).unwrap();
    let path = dir().join("top.csv");
    let ranks =
        "rank,site,domain\n1,wikipedia.fr,wikipedia.fr\n2,vatican.va,vatican.va\n3,example.org,example.org\n";
    files.write_atomic(&path, ranks.as_bytes()).unwrap();
    let mut source = Source::new(&dir(), mattock_index::schema(), Vec::new(), vec![table(rows, crawl)]);
    source.languages = true;
    let mut options = Options::new(Random::from_seed(5));
    if with_ranks {
        options.tables = vec![GivenTable { name: RANKS.to_owned(), columns: Vec::new(), path }];
    }
    Session::with_source(&files, source, options).unwrap()
}

/// The crawl that a query is about: the last one, if it is about several.
fn crawl_of(query: &str) -> &str {
    let named = query.match_indices("'CC-MAIN-").map(|(at, _)| &query[at + 1..at + "'CC-MAIN-2018-05".len()]);
    named.last().unwrap_or("CC-MAIN-2018-05")
}

#[test]
fn the_queries_that_common_crawl_has_published_are_answered_as_they_are() {
    let rows = rows();
    let mut wrong = Vec::new();
    for (name, query) in published() {
        let Some((_, expected)) = QUERIES.iter().find(|(known, _)| *known == name) else {
            panic!("{name} is new: say here what it gives");
        };
        let crawl = crawl_of(&query);
        match session(&rows, crawl, true).plan(&query, Language::Sql) {
            Ok(planned) => {
                let (lines, _) = run(planned);
                if lines.len() < *expected {
                    wrong.push(format!("{name}: {} rows", lines.len()));
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        // The list of ranks is not Common Crawl's, nor ours: without it, it is said how a file becomes a table.
        let alone =
            session(&rows, crawl, false).plan(&query, Language::Sql).err().map(|error| error.to_string());
        let hint = format!("--table {RANKS}=FILE reads one from a CSV or Parquet file");
        match alone {
            Some(error) if query.contains(RANKS) && error.contains(&hint) => {}
            None if !query.contains(RANKS) => {}
            other => wrong.push(format!("{name} without the list of ranks: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
