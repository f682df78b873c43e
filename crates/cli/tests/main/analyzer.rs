//! Analyzers that are loaded, as users meet them.

use std::process::Output;

use mattock_env::Files;

use crate::process::Scratch;

/// How many bytes a body has; says so of none that has an odd number of them.
const EVEN_BYTES: &str = r#"(module
    (import "mattock" "body" (func $body (param i32 i32) (result i32)))
    (import "mattock" "give_integer" (func $give_integer (param i64)))
    (import "mattock" "fail" (func $fail (param i32 i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "odd")
    (func (export "analyze_integer") (local $n i32)
        (local.set $n (call $body (i32.const 0) (i32.const 0)))
        (if (i32.and (local.get $n) (i32.const 1)) (then (call $fail (i32.const 0) (i32.const 3))))
        (call $give_integer (i64.extend_i32_s (local.get $n)))))"#;

/// The URL, once more.
const ADDRESS: &str = r#"(module
    (import "mattock" "url" (func $url (param i32 i32) (result i32)))
    (import "mattock" "give_text" (func $give_text (param i32 i32)))
    (memory (export "memory") 1)
    (func (export "analyze_text") (call $give_text (i32.const 0) (call $url (i32.const 0) (i32.const 1000)))))"#;

fn write_module(scratch: &Scratch, name: &str, text: &str) {
    let bytes = wat::parse_str(text).expect("the module is right");
    Files::real().write_atomic(&scratch.path().join(name), &bytes).expect("a file can be written");
}

/// A repository `pages` of two documents with the same payload and one with another.
fn repository(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let mut archive = String::new();
    for (page, body) in [("a", "even"), ("b", "odd"), ("c", "even")] {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        archive += &format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{page}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:{page}>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        );
    }
    scratch.write("pages.warc", &archive);
    let imported = scratch.mattock(&["import", "pages", "pages.warc"]);
    assert!(imported.status.success(), "{imported:?}");
    write_module(&scratch, "even_bytes.wasm", EVEN_BYTES);
    write_module(&scratch, "address.wasm", ADDRESS);
    scratch
}

/// The lines of the answer, sorted.
fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_query_loads_what_flags_name() {
    let scratch = repository("analyzer_flags");
    let both = ["--analyzer", "even_bytes.wasm", "--analyzer", "address.wasm"];
    let answer = scratch.mattock(&[&["query", "pages", "select address, even_bytes"], &both[..]].concat());
    let expected = [
        r#"{"address":"http://example.org/a","even_bytes":4}"#,
        r#"{"address":"http://example.org/b","even_bytes":null}"#,
        r#"{"address":"http://example.org/c","even_bytes":4}"#,
    ];
    assert_eq!(lines(&answer), expected);
    let told = stderr(&answer);
    assert!(told.contains("`even_bytes` failed for 1 document(s)"), "{told}");
    assert!(told.contains("http://example.org/b: odd"), "{told}");
    let sql = "select count(*) as n from documents where even_bytes = 4";
    let answer = scratch.mattock(&[&["query", "pages", "--sql", sql], &both[..]].concat());
    assert_eq!(lines(&answer), [r#"{"n":2}"#]);
    let exported =
        ["export", "pages", "--format", "cdxj", "--output", "some.cdxj", "--where", "even_bytes = 4"];
    let exported = scratch.mattock(&[&exported, &both[..]].concat());
    assert!(stderr(&exported).starts_with("2 instances"), "{exported:?}");
}

#[test]
fn a_repository_has_its_own_and_keeps_them() {
    let scratch = repository("analyzer_own");
    Files::real().create_dir_all(&scratch.path().join("pages/analyzers")).unwrap();
    write_module(&scratch, "pages/analyzers/even_bytes.wasm", EVEN_BYTES);
    write_module(&scratch, "pages/analyzers/address.wasm", ADDRESS);
    scratch.write("pages/analyzers/broken.wasm", "no module");
    let query = ["query", "pages", "select even_bytes where address = \"http://example.org/c\""];
    assert_eq!(lines(&scratch.mattock(&query)), [r#"{"even_bytes":4}"#]);
    let broken = scratch.mattock(&["query", "pages", "select broken"]);
    assert!(broken.status.code() == Some(2) && stderr(&broken).contains("broken.wasm"), "{broken:?}");
    // One payload is looked at once, but the URL is another each time.
    for (column, values) in [("even_bytes", "2 values"), ("address", "3 values")] {
        let kept = scratch.mattock(&["materialize", "pages", column]);
        assert!(stderr(&kept).starts_with(values), "{kept:?}");
    }
    let query = scratch.mattock(&["query", "pages", "select address, even_bytes"]);
    assert_eq!(lines(&query)[0], r#"{"address":"http://example.org/a","even_bytes":4}"#);
    assert!(stderr(&query).contains("no archive was opened"), "{query:?}");
    assert!(stderr(&query).contains("`even_bytes` failed for 1 document(s)"), "{query:?}");
    let list = scratch.mattock(&["analyzer", "list", "pages"]);
    let listed = String::from_utf8_lossy(&list.stdout);
    assert!(listed.contains("\neven_bytes     Integer      version wasm2_"), "{listed}");
    assert!(list.status.code() == Some(1) && stderr(&list).contains("broken.wasm"), "{list:?}");
}

#[test]
fn a_configuration_names_some() {
    let scratch = repository("analyzer_config");
    Files::real().create_dir_all(&scratch.path().join("mine")).unwrap();
    write_module(&scratch, "mine/even_bytes.wasm", EVEN_BYTES);
    scratch.write(
        "mine/ours.toml",
        "[analyzers]\nmodules = [\"even_bytes.wasm\", \"gone.wasm\"]\nfuel = 1000\n",
    );
    let query = ["query", "pages", "select even_bytes where name = \"http://example.org/c\""];
    let configured = ["--config", "mine/ours.toml"];
    assert_eq!(lines(&scratch.mattock(&[&query[..], &configured].concat())), [r#"{"even_bytes":4}"#]);
    let starved = scratch.mattock(&[&query[..], &configured, &["--analyzer-fuel", "3"]].concat());
    assert!(stderr(&starved).contains("used up its fuel of 3 steps"), "{starved:?}");
    let gone = scratch.mattock(&[&["query", "pages", "select gone"], &configured[..]].concat());
    assert!(stderr(&gone).contains("mine/gone.wasm: "), "{gone:?}");
    let missing = scratch.mattock(&[&query[..], &["--config", "none.toml"]].concat());
    assert!(missing.status.code() == Some(2) && stderr(&missing).contains("none.toml"), "{missing:?}");
    // A crawl keeps where they are, for whoever asks it from wherever; nothing at this address may be connected to.
    let crawl = ["crawl", "--out", "site", "--retries", "0", "http://127.0.0.1:9/"];
    let crawled = scratch.mattock(&[&crawl[..], &configured].concat());
    assert!(stderr(&crawled).contains("not one page came in"), "{crawled:?}");
    assert!(scratch.mattock(&["import", "site", "pages.warc"]).status.success());
    let query = ["query", "site", "select even_bytes where name = \"http://example.org/c\""];
    assert_eq!(lines(&scratch.mattock(&query)), [r#"{"even_bytes":4}"#]);
    let list = scratch.mattock(&["analyzer", "list", "site"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("\neven_bytes     Integer"), "{list:?}");
}

#[test]
fn what_cannot_be_loaded_is_refused_with_a_reason() {
    let scratch = repository("analyzer_refused");
    write_module(&scratch, "title.wasm", ADDRESS);
    write_module(&scratch, "insertiondate.wasm", ADDRESS);
    write_module(&scratch, "http_server.wasm", ADDRESS);
    write_module(&scratch, "Words.wasm", ADDRESS);
    write_module(&scratch, "clock.wasm", &ADDRESS.replace("\"url\"", "\"clock\""));
    Files::real().create_dir_all(&scratch.path().join("other")).unwrap();
    write_module(&scratch, "other/address.wasm", ADDRESS);
    for (files, reason) in [
        (&["title.wasm"][..], "title.wasm: there is a column `title` already: rename the file"),
        (&["insertiondate.wasm"], "there is a column `insertiondate` already"),
        (&["http_server.wasm"], "there is a column `http_server` already"),
        (&["Words.wasm"], "`Words` cannot be a column's name"),
        (&["clock.wasm"], "clock.wasm: the module imports `mattock.clock`, which there is not"),
        (&["address.wasm", "other/address.wasm"], "there are two analyzers `address`"),
    ] {
        let mut arguments = vec!["query", "pages", "select name"];
        arguments.extend(files.iter().flat_map(|file| ["--analyzer", file]));
        let refused = scratch.mattock(&arguments);
        let told = stderr(&refused);
        assert!(told.contains(reason) && refused.status.code() == Some(2), "{told}");
    }
    let missing = scratch.mattock(&["query", "pages", "select name", "--analyzer", "none.wasm"]);
    assert!(stderr(&missing).starts_with("error: none.wasm: "), "{missing:?}");
}

#[test]
fn limits_are_what_flags_say() {
    let scratch = repository("analyzer_limits");
    let query = ["query", "pages", "select address", "--analyzer", "address.wasm"];
    let starved = scratch.mattock(&[&query[..], &["--analyzer-fuel", "3"]].concat());
    assert_eq!(lines(&starved), [r#"{"address":null}"#; 3]);
    assert!(stderr(&starved).contains("used up its fuel of 3 steps"), "{starved:?}");
    let small = scratch.mattock(&[&query[..], &["--analyzer-memory", "1KiB"]].concat());
    assert!(stderr(&small).contains("begins with 65536 bytes of memory, but may have 1024"), "{small:?}");
}

#[test]
fn a_new_one_overwrites_nothing() {
    let scratch = Scratch::new("analyzer_new");
    let begun = scratch.mattock(&["analyzer", "new", "word_count", "--dir", "here/mine"]);
    assert_eq!(lines(&begun), ["here/mine/Cargo.toml", "here/mine/lib.rs"]);
    assert!(
        crate::process::read(&scratch.path().join("here/mine/Cargo.toml")).contains("name = \"word_count\"")
    );
    let again = scratch.mattock(&["analyzer", "new", "word_count", "--dir", "here/mine"]);
    assert!(again.status.code() == Some(2) && stderr(&again).contains("is not overwritten"), "{again:?}");
    let begun = scratch.mattock(&["analyzer", "new", "word_count", "--language", "c"]);
    assert_eq!(lines(&begun), ["word_count/word_count.c"]);
    for (name, reason) in
        [("title", "already"), ("Word", "cannot be a column's name"), ("../up", "cannot be")]
    {
        let refused = scratch.mattock(&["analyzer", "new", name]);
        assert!(refused.status.code() == Some(2) && stderr(&refused).contains(reason), "{refused:?}");
    }
}
