//! Archives of others: what is taken of them, what is refused and why, and that pages of theirs are found as a crawl's own are.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::Output;

use mattock_env::{Files, OpenMode};
use serde_json::Value;

use crate::process::Scratch;

/// A record with these further fields.
fn record(kind: &str, url: &str, date: &str, fields: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{fields}\
         WARC-Record-ID: <urn:test:{kind}>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

fn page(url: &str, date: &str, title: &str) -> String {
    response(url, date, "", title)
}

fn response(url: &str, date: &str, fields: &str, title: &str) -> String {
    let text =
        format!("<title>{title}</title><p>All that the page {title} has to say about mattocks and spades.");
    record(
        "response",
        url,
        date,
        fields,
        &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"),
    )
}

fn gzip(data: &str) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut out = vec![0; compressor.gzip_compress_bound(data.len())];
    let length = compressor.gzip_compress(data.as_bytes(), &mut out).unwrap();
    out.truncate(length);
    out
}

fn write(scratch: &Scratch, name: &str, bytes: &[u8]) {
    Files::real().write_atomic(&scratch.path().join(name), bytes).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs to a good end.
fn done(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch.mattock(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    printed(&output)
}

/// Runs to a bad end, and gives what was said.
fn failed(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch.mattock(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
    said(&output)
}

fn rows(scratch: &Scratch, repository: &str, sql: &str) -> Vec<Value> {
    let out = done(scratch, &["query", repository, "--sql", sql, "--format", "jsonl", "--quiet"]);
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn titles(scratch: &Scratch, repository: &str) -> Vec<String> {
    let rows = rows(scratch, repository, "select url, title from documents order by url");
    rows.iter().map(|row| format!("{} {}", row["url"].as_str().unwrap(), row["title"])).collect()
}

const DAY: &str = "2026-01-02T03:04:05Z";

#[test]
fn records_that_share_a_member_are_refused_and_a_copy_takes_them_apart() {
    let scratch = Scratch::new("imported_shared");
    let pages = ["a", "b", "c"].map(|name| page(&format!("http://a-sim.com/{name}"), DAY, name));
    write(&scratch, "one.warc.gz", &gzip(&pages.concat()));
    let said = failed(&scratch, &["import", "one", "one.warc.gz"]);
    assert!(said.contains("0 instances") && said.contains("shares a gzip member"), "{said}");
    assert!(said.contains("--copy"), "{said}");
    done(&scratch, &["import", "copied", "one.warc.gz", "--copy"]);
    let expected = [r#"http://a-sim.com/a "a""#, r#"http://a-sim.com/b "b""#, r#"http://a-sim.com/c "c""#];
    assert_eq!(titles(&scratch, "copied"), expected);
    assert!(scratch.is_there("copied/imported/one-00001.warc.gz"));
    let again = done(&scratch, &["import", "copied", "one.warc.gz", "--copy", "--json"]);
    assert!(again.contains(r#""known":1"#), "{again}");
    // Another file of that name.
    write(&scratch, "one.warc.gz", &gzip(&pages[..2].concat()));
    let refused = scratch.mattock(&["import", "copied", "one.warc.gz", "--copy"]);
    assert!(self::said(&refused).contains("is another file"), "{refused:?}");
}

#[test]
fn copies_stay_when_the_crawl_goes_on_whatever_their_names() {
    let scratch = Scratch::new("imported_beside");
    // Nothing at this address may be connected to.
    let crawl = ["crawl", "--out", "site", "--retries", "0", "--quiet", "http://127.0.0.1:9/"];
    scratch.mattock(&crawl);
    let name = "mattock-p0-20260102030405-00000.warc";
    scratch.write(name, &page("http://a-sim.com/a", DAY, "a"));
    done(&scratch, &["import", "site", name, "--copy"]);
    scratch.mattock(&crawl);
    assert_eq!(titles(&scratch, "site"), [r#"http://a-sim.com/a "a""#]);
}

#[test]
fn an_index_tells_files_of_the_same_name_apart() {
    let scratch = Scratch::new("imported_namesakes");
    for name in ["one", "two"] {
        Files::real().create_dir_all(&scratch.path().join(name)).unwrap();
        scratch.write(&format!("{name}/x.warc"), &page(&format!("http://a-sim.com/{name}"), DAY, name));
    }
    scratch.write("y.warc", &page("http://a-sim.com/y", DAY, "y"));
    done(&scratch, &["import", "site", "one/x.warc", "two/x.warc", "y.warc"]);
    done(&scratch, &["export", "site", "--format", "cdxj", "--output", "site.cdxj"]);
    let index = crate::process::read(&scratch.path().join("site.cdxj"));
    for name in ["/one/x.warc\"", "/two/x.warc\"", "\"filename\":\"y.warc\""] {
        assert_eq!(index.matches(name).count(), 1, "{index}");
    }
}

#[test]
fn a_lost_part_is_told_and_its_archives_are_imported_again() {
    let scratch = Scratch::new("imported_lost");
    scratch.write("pages.warc", &page("http://a-sim.com/a", DAY, "a"));
    done(&scratch, &["import", "site", "pages.warc"]);
    Files::real().remove_file(&scratch.path().join("site/index/part-000001.parquet")).unwrap();
    let said = failed(&scratch, &["query", "site", "select name"]);
    assert!(said.contains("part-000001.parquet is missing") && said.contains("--rebuild"), "{said}");
    done(&scratch, &["index", "site", "--rebuild"]);
    assert_eq!(titles(&scratch, "site"), [r#"http://a-sim.com/a "a""#]);
    Files::real().remove_file(&scratch.path().join("site/index/INDEX")).unwrap();
    let lost = scratch.mattock(&["query", "site", "select name"]);
    assert!(!lost.status.success() && scratch.is_there("site/index/part-000002.parquet"), "{lost:?}");
}

#[test]
fn a_damaged_part_is_not_published() {
    let scratch = Scratch::new("imported_damaged_part");
    scratch.write("pages.warc", &page("http://a-sim.com/a", DAY, "a"));
    done(&scratch, &["import", "site", "--copy", "pages.warc"]);
    let part = scratch.path().join("site/index/part-000001.parquet");
    let mut bytes = Files::real().read(&part).unwrap();
    bytes[10] ^= 1;
    Files::real().write_atomic(&part, &bytes).unwrap();
    let url = format!("file://{}/bucket", scratch.path().display());
    let said = failed(&scratch, &["publish", "site", &url]);
    assert!(said.contains("part-000001.parquet is damaged") && said.contains("--rebuild"), "{said}");
    assert!(!scratch.is_there("bucket/imported/pages.warc"), "nothing is sent before");
    done(&scratch, &["index", "site", "--rebuild"]);
    done(&scratch, &["publish", "site", &url]);
}

#[test]
fn a_file_that_was_replaced_gives_no_document_for_another() {
    let scratch = Scratch::new("imported_replaced");
    let pages = ["a", "b"].map(|name| page(&format!("http://a-sim.com/{name}"), DAY, name));
    scratch.write("pages.warc", &pages.concat());
    done(&scratch, &["import", "site", "pages.warc"]);
    scratch.write("pages.warc", &[pages[1].clone(), pages[0].clone()].concat());
    assert_eq!(titles(&scratch, "site"), ["http://a-sim.com/a null", "http://a-sim.com/b null"]);
    let said = failed(&scratch, &["get", "site", "http://a-sim.com/a"]);
    assert!(said.contains("another record") && said.contains("response of http://a-sim.com/b"), "{said}");
}

#[test]
fn what_lies_beyond_the_numbers_of_the_index_costs_itself() {
    let scratch = Scratch::new("imported_large");
    let hole: u64 = (2 << 30) + 1000;
    let first = page("http://a-sim.com/first", DAY, "first");
    let huge = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a-sim.com/huge\r\nWARC-Date: {DAY}\r\n\
         WARC-Record-ID: <urn:test:huge>\r\nContent-Type: application/http\r\nContent-Length: {hole}\r\n\r\n"
    );
    let last = format!("\r\n\r\n{}", page("http://a-sim.com/last", DAY, "last"));
    let begin = first + &huge;
    // The hole takes no room on the disk.
    let file = Files::real().open(&scratch.path().join("large.warc"), OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(begin.as_bytes(), 0).unwrap();
    file.write_all_at(last.as_bytes(), begin.len() as u64 + hole).unwrap();
    let imported = scratch.mattock(&["import", "site", "large.warc"]);
    assert!(imported.status.success() && said(&imported).contains("beyond 2 GiB"), "{imported:?}");
    let offset = begin.len() as u64 + hole + 4;
    assert!(said(&imported).contains(&format!("at {offset}:")), "{imported:?}");
    assert_eq!(titles(&scratch, "site"), [r#"http://a-sim.com/first "first""#]);
    let copied = scratch.mattock(&["import", "copied", "large.warc", "--copy"]);
    assert!(copied.status.success() && said(&copied).contains("the limit is"), "{copied:?}");
    let expected = [r#"http://a-sim.com/first "first""#, r#"http://a-sim.com/last "last""#];
    assert_eq!(titles(&scratch, "copied"), expected);
}

const REFERS: &str =
    "WARC-Refers-To-Target-URI: http://a-sim.com/p\r\nWARC-Refers-To-Date: 2026-01-01T00:00:00Z\r\n";

/// A page, a visit with the same SHA-256, one that the server said nothing new of, and another page.
fn visits() -> String {
    let digest = "WARC-Payload-Digest: sha256:0123\r\n";
    let same =
        format!("{digest}WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n");
    let (url, head) = ("http://a-sim.com/p", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    [
        response(url, "2026-01-01T00:00:00.250Z", digest, "one"),
        record("revisit", url, "2026-01-02T00:00:00Z", &same, head),
        record("revisit", url, "2026-01-03T00:00:00Z", REFERS, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        response(url, "2026-01-04T00:00:00Z", digest, "one"),
        response(url, "2026-01-05T00:00:00Z", "WARC-Payload-Digest: sha256:4567\r\n", "two"),
    ]
    .concat()
}

#[test]
fn what_a_repository_has_itself_does_not_depend_on_files_elsewhere() {
    let scratch = Scratch::new("imported_own");
    let digest = "WARC-Payload-Digest: sha256:0123\r\n";
    scratch.write("elsewhere.warc", &response("http://a-sim.com/x", "2025-01-01T00:00:00Z", digest, "one"));
    scratch.write("own.warc", &visits());
    done(&scratch, &["import", "site", "elsewhere.warc"]);
    done(&scratch, &["import", "site", "own.warc", "--copy"]);
    Files::real().remove_file(&scratch.path().join("elsewhere.warc")).unwrap();
    let readable = "select count(*) as n from documents where title is not null";
    assert_eq!(rows(&scratch, "site", readable)[0]["n"], 5);
}

#[test]
fn revisits_of_other_crawlers_lead_to_what_they_repeat() {
    let scratch = Scratch::new("imported_revisits");
    scratch.write("visits.warc", &visits());
    done(&scratch, &["import", "site", "visits.warc"]);
    let found =
        rows(&scratch, "site", "select title, changed, content_digest from documents order by fetch_time");
    let expected = [
        ("one", Value::Null),
        ("one", false.into()),
        ("one", false.into()),
        ("one", false.into()),
        ("two", true.into()),
    ];
    for (row, (title, changed)) in found.iter().zip(&expected) {
        assert_eq!((row["title"].as_str(), &row["changed"]), (Some(*title), changed), "{found:?}");
    }
    assert_eq!((found.len(), found[0]["content_digest"].as_str()), (5, Some("sha256:0123")));
    for at in ["2026-01-02T12:00:00Z", "2026-01-03T12:00:00Z"] {
        assert!(done(&scratch, &["get", "site", "http://a-sim.com/p", "--at", at]).contains("<title>one"));
    }
    let history = done(&scratch, &["history", "site", "http://a-sim.com/p", "--diff", "--json"]);
    let steps: Vec<Value> = history.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (step, (_, changed)) in steps.iter().zip(&expected) {
        assert_eq!(&step["changed"], changed, "{history}");
    }
    assert!(steps[3]["diff"].as_array().unwrap().is_empty(), "{history}");
    assert!(!steps[4]["diff"].as_array().unwrap().is_empty(), "{history}");
    assert_eq!(
        (&steps[3]["sketch_distance"], steps[4]["sketch_distance"].is_u64()),
        (&0.into(), true),
        "{history}"
    );
}

#[test]
fn a_revisit_of_what_is_not_there_says_so() {
    let scratch = Scratch::new("imported_missing");
    let url = "http://a-sim.com/p";
    let archive = [
        page(url, "2025-01-01T00:00:00Z", "older"),
        record("revisit", url, "2026-01-03T00:00:00Z", REFERS, "HTTP/1.1 304 Not Modified\r\n\r\n"),
    ];
    scratch.write("visits.warc", &archive.concat());
    done(&scratch, &["import", "site", "visits.warc"]);
    let said = failed(&scratch, &["get", "site", url]);
    assert!(said.contains("is not in this repository"), "{said}");
    assert!(failed(&scratch, &["history", "site", url, "--diff"]).contains("is not in this repository"));
    let found = rows(&scratch, "site", "select title, changed from documents order by fetch_time");
    assert_eq!((&found[1]["title"], &found[1]["changed"]), (&Value::Null, &false.into()), "{found:?}");
    let history = done(&scratch, &["history", "site", url]);
    assert!(history.contains("unchanged"), "{history}");
}

#[test]
fn urls_are_found_however_archives_write_them() {
    let scratch = Scratch::new("imported_written");
    let urls = ["http://bare-sim.com", "http://Port-SIM.com:80/x/../y", "http://blank-sim.com/a b"];
    let archive: String = urls.iter().map(|url| page(url, DAY, "here")).collect();
    scratch.write("pages.warc", &archive);
    done(&scratch, &["import", "site", "pages.warc"]);
    for url in urls.into_iter().chain([
        "http://port-sim.com/y",
        "http://blank-sim.com/a%20b",
        "http://bare-sim.com/",
    ]) {
        assert!(done(&scratch, &["get", "site", url]).contains("<title>here"), "{url}");
        assert!(done(&scratch, &["history", "site", url]).contains("first"), "{url}");
    }
    // The same key, and another page.
    assert_eq!(scratch.mattock(&["get", "site", "http://port-sim.com/Y"]).status.code(), Some(2));
}

#[test]
fn a_session_that_replay_keys_keep_is_a_history_of_its_own() {
    let scratch = Scratch::new("imported_sessions");
    let short = "PHPSESSID=0123456789abcdef0123456789";
    let urls = [
        format!("http://a-sim.com/x?{short}"),
        format!("http://a-sim.com/x?{short}&zenid=1"),
        "http://a-sim.com/x;jsessionid=1F".to_owned(),
        "http://a-sim.com/x".to_owned(),
    ];
    let pages = [&urls[0], &urls[1], &urls[2], &urls[3]].map(|url| page(url, DAY, url));
    scratch.write("pages.warc", &pages.concat());
    done(&scratch, &["import", "site", "pages.warc"]);
    let keys = rows(&scratch, "site", "select url_surtkey as key from documents order by url_surtkey");
    let expected = [
        "com,a-sim)/x".to_owned(),
        "com,a-sim)/x;jsessionid=1f".to_owned(),
        format!("com,a-sim)/x?{}", short.to_lowercase()),
        format!("com,a-sim)/x?{}&zenid=1", short.to_lowercase()),
    ];
    let keys: Vec<&str> = keys.iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(keys, expected);
    for url in &urls {
        assert!(done(&scratch, &["get", "site", url]).contains(&format!("<title>{url}<")), "{url}");
        let history = done(&scratch, &["history", "site", url]);
        assert_eq!(history.lines().count(), 1, "{url}: {history}");
    }
    // Another session, of which nothing is there.
    let other = done(&scratch, &["get", "site", "http://A-sim.com/x?PHPSESSID=1#top"]);
    assert!(other.contains(&format!("<title>{}<", urls[3])), "{other}");
}

#[test]
fn long_urls_are_imported() {
    let scratch = Scratch::new("imported_long");
    let long = format!("http://a-sim.com/{}", "long/".repeat(4000));
    let longest = format!("http://a-sim.com/{}", "x".repeat(70_000));
    scratch.write("pages.warc", &[page(&long, DAY, "long"), page(&longest, DAY, "longest")].concat());
    let said = said(&scratch.mattock(&["import", "site", "pages.warc"]));
    assert!(said.contains("1 instances") && said.contains("its URL has more than 65535 bytes"), "{said}");
    assert!(done(&scratch, &["get", "site", &long]).contains("<title>long<"));
    done(&scratch, &["export", "site", "--format", "cdxj", "--output", "site.cdxj"]);
    let index = crate::process::read(&scratch.path().join("site.cdxj"));
    assert!(index.starts_with(&format!("com,a-sim)/{}", "long/".repeat(4000).trim_end_matches('/'))));
    done(&scratch, &["export", "site", "--format", "wacz", "--output", "site.wacz"]);
    done(&scratch, &["check", "site"]);
}

#[test]
fn a_last_record_without_line_ends_is_whole_everywhere() {
    let scratch = Scratch::new("imported_open_end");
    let pages = [page("http://a-sim.com/a", DAY, "a"), page("http://a-sim.com/b", DAY, "b")].concat();
    scratch.write("pages.warc", pages.trim_end());
    done(&scratch, &["import", "site", "pages.warc"]);
    done(&scratch, &["check", "site"]);
    assert!(done(&scratch, &["get", "site", "http://a-sim.com/b"]).contains("<title>b<"));
    assert_eq!(rows(&scratch, "site", "select url from documents where length(body) > 0").len(), 2);
    done(&scratch, &["export", "site", "--format", "warc", "--output", "again.warc.gz"]);
    done(&scratch, &["import", "again", "again.warc.gz"]);
    assert_eq!(titles(&scratch, "again"), titles(&scratch, "site"));
}

#[test]
fn damage_is_told_first_and_is_an_exit_code_if_that_is_asked_for() {
    let scratch = Scratch::new("imported_strict");
    let lookups: String = (0..30)
        .map(|number| record("response", &format!("dns:{number}.com"), DAY, "", "1 IN A 192.0.2.1"))
        .collect();
    let good = page("http://a-sim.com/a", DAY, "a");
    scratch.write("lookups.warc", &[lookups.clone(), good.clone()].concat());
    let said = said(&scratch.mattock(&["import", "good", "lookups.warc", "--strict"]));
    assert!(said.contains("left out: ") && said.contains("and 29 more: names that were looked up"), "{said}");
    // Cut in the middle of the last page.
    let cut = [lookups, good.clone(), good[..good.len() - 30].to_owned()].concat();
    scratch.write("cut.warc", &cut);
    let told = done(&scratch, &["import", "site", "cut.warc", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["untaken"], &told["untaken_by_kind"]["damage"]), (&31.into(), &1.into()), "{told}");
    assert_eq!(
        (told["left_out"].as_array().unwrap().len(), &told["left_out"][0]["kind"]),
        (31, &"damage".into())
    );
    let said = failed(&scratch, &["import", "strict", "cut.warc", "--strict"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("1 instances") && lines[1].starts_with("warning: "), "{said}");
    assert_eq!(titles(&scratch, "strict"), [r#"http://a-sim.com/a "a""#]);
}

#[test]
fn a_wacz_is_imported_as_the_archives_in_it() {
    let scratch = Scratch::new("imported_wacz");
    let pages = ["a", "b"].map(|name| page(&format!("http://a-sim.com/{name}"), DAY, name));
    scratch.write("pages.warc", &pages.concat());
    done(&scratch, &["import", "site", "pages.warc"]);
    done(&scratch, &["export", "site", "--format", "wacz", "--output", "site.wacz"]);
    for (repository, arguments) in [("placed", vec![]), ("copied", vec!["--copy"])] {
        done(&scratch, &[vec!["import", repository, "site.wacz", "--strict"], arguments].concat());
        assert_eq!(titles(&scratch, repository), titles(&scratch, "site"));
        assert!(done(&scratch, &["get", repository, "http://a-sim.com/b"]).contains("<title>b<"));
        done(&scratch, &["check", repository]);
        let again = format!("{repository}.wacz");
        done(&scratch, &["export", repository, "--format", "wacz", "--output", &again]);
        done(&scratch, &["import", &format!("{repository}-again"), &again]);
        assert_eq!(titles(&scratch, &format!("{repository}-again")), titles(&scratch, "site"));
        let target = format!("file://{}", scratch.path().join(format!("{repository}-bucket")).display());
        done(&scratch, &["publish", repository, &target, "--with-imported"]);
        assert_eq!(titles(&scratch, &target), titles(&scratch, "site"));
    }
}

#[test]
fn a_file_that_nothing_is_taken_of_is_an_error() {
    let scratch = Scratch::new("imported_nothing");
    scratch.write("nonsense.warc.gz", &"this is no archive\n".repeat(50));
    scratch.write("empty.warc", "");
    let kinds = ["resource", "conversion", "continuation", "strange"];
    let others: String =
        kinds.iter().map(|kind| record(kind, "http://a-sim.com/r", DAY, "", "text")).collect();
    scratch.write("others.warc", &others);
    for (file, why) in [
        ("nonsense.warc.gz", "does not begin with a WARC version"),
        ("empty.warc", "it is empty"),
        ("others.warc", "it is a resource"),
        ("others.warc", "it is a conversion"),
        ("others.warc", "it is a further segment"),
        ("others.warc", "of a type that is not known"),
        ("others.warc", "no document was taken of it, of 4 record(s)"),
    ] {
        let said = failed(&scratch, &["import", "site", file]);
        assert!(said.contains(why), "{file}: {said}");
    }
    let asked = scratch.mattock(&["query", "site", "select name"]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(
        said(&asked).contains("neither a crawl (crawl.toml) nor documents of imported archives"),
        "{asked:?}"
    );
    // One that something is taken of is enough.
    scratch.write("page.warc", &page("http://a-sim.com/", "2008-10-294T05:21:46-0700", "page"));
    done(&scratch, &["import", "site", "empty.warc", "page.warc"]);
    let found = rows(&scratch, "site", "select fetch_time from documents");
    assert!(found[0]["fetch_time"].as_str().unwrap().starts_with("2008-10-20T12:21:46"), "{found:?}");
}
