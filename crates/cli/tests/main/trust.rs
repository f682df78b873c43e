//! What reaches beyond a directory holds for the user who set it; to anybody else it is shown, and waits for `--trust`.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::FieldRef;
use bytes::Bytes;
use mattock_codec::BlockSummer;
use mattock_env::Files;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::process::{MATTOCK, Scratch};
use crate::served::Served;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The program as another user runs it, or the same one on another machine.
fn stranger(scratch: &Scratch) -> Command {
    let mut command = scratch.command(MATTOCK);
    command.env("XDG_CONFIG_HOME", scratch.path().join(".stranger"));
    command
}

fn ended(mut command: Command, arguments: &[&str]) -> Output {
    command.args(arguments).output().expect("the binary was built for this test")
}

fn archive(title: &str) -> String {
    let block = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{title}</title><p>All about {title}."
    );
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://other.example/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
         WARC-Record-ID: <urn:test:1>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn a_crawl_of_somebody_else_runs_no_command_and_asks_no_proxy() {
    let scratch = Scratch::new("trust-crawl");
    let served = Served::start(3, "5ms", u64::MAX);
    // An alert that comes at once: there is never so much room.
    scratch.write(
        "ours.toml",
        "[watch]\ndisk_free_min = '900000GiB'\non_alert = 'echo ran >> alerts'\n[checkpoint]\ndisk_reserve = '1MiB'\n",
    );
    let crawled = scratch
        .command(MATTOCK)
        .args(&served.crawl)
        .args(["--config", "ours.toml", "--max-pages", "10", "--quiet"])
        .output()
        .expect("the binary was built for this test");
    assert!(crawled.status.success(), "{}", said(&crawled));
    assert!(scratch.is_there("crawl/TRUST"));
    // Its own user goes on without a word, also where it was moved to.
    Files::real()
        .rename(&scratch.path().join("crawl"), &scratch.path().join("moved"))
        .expect("it can be moved");
    let again = scratch.mattock(&["crawl", "--out", "moved", "--max-pages", "12", "--quiet"]);
    assert!(again.status.success(), "{}", said(&again));
    let _ = Files::real().remove_file(&scratch.path().join("alerts"));

    let arguments = ["crawl", "--out", "moved", "--max-pages", "20", "--quiet"];
    let refused = ended(stranger(&scratch), &arguments);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    for shown in ["watch.on_alert = echo ran >> alerts", "network.allow_address = 127.0.0.0/8", "--trust"] {
        assert!(said(&refused).contains(shown), "{}", said(&refused));
    }
    assert!(!scratch.is_there("alerts"));
    // To look at it takes no trust.
    for arguments in [&["stalls", "moved"][..], &["check", "moved"], &["query", "moved", "select name, body"]]
    {
        let looked = ended(stranger(&scratch), arguments);
        assert!(looked.status.success(), "{arguments:?}: {}", said(&looked));
    }
    // Other values are the stranger's own word.
    let proxied = ended(stranger(&scratch), &[&arguments[..], &["--proxy", "http://127.0.0.1:9"]].concat());
    assert_eq!(proxied.status.code(), Some(2), "{}", said(&proxied));
    assert!(!said(&proxied).contains("network.proxy"), "{}", said(&proxied));
    let confirmed = ended(stranger(&scratch), &[&arguments[..], &["--trust"]].concat());
    assert!(confirmed.status.success(), "{}", said(&confirmed));
    // Once is enough.
    let later = ended(stranger(&scratch), &["crawl", "--out", "moved", "--max-pages", "22", "--quiet"]);
    assert!(later.status.success(), "{}", said(&later));
    // But not for what was changed since then.
    let config = scratch.path().join("moved/crawl.toml");
    let text = crate::process::read(&config).replace("echo ran", "echo evil");
    scratch.write("moved/crawl.toml", &text);
    let changed = scratch.mattock(&arguments);
    assert_eq!(changed.status.code(), Some(2), "{}", said(&changed));
    assert!(said(&changed).contains("echo evil"), "{}", said(&changed));
}

#[test]
fn archives_elsewhere_are_read_by_whoever_imported_them() {
    let scratch = Scratch::new("trust-archives");
    scratch.write("own.warc", &archive("spades"));
    let imported = scratch.mattock(&["import", "repository", "own.warc"]);
    assert!(imported.status.success(), "{}", said(&imported));
    let get = ["get", "repository", "http://other.example/"];
    assert!(printed(&scratch.mattock(&get)).contains("All about spades"));
    // The rows are there for everybody.
    let rows = ended(stranger(&scratch), &["query", "repository", "select name", "--format", "jsonl"]);
    assert!(printed(&rows).contains("other.example"), "{}", said(&rows));
    let refused = ended(stranger(&scratch), &get);
    assert!(!refused.status.success() && !printed(&refused).contains("spades"));
    assert!(said(&refused).contains("own.warc") && said(&refused).contains("--trust"), "{}", said(&refused));
    let body = ended(stranger(&scratch), &["query", "repository", "select body", "--format", "jsonl"]);
    assert!(!printed(&body).contains("spades") && said(&body).contains("--trust"), "{}", said(&body));
    let confirmed = ended(stranger(&scratch), &[&get[..], &["--trust"]].concat());
    assert!(printed(&confirmed).contains("All about spades"), "{}", said(&confirmed));
    let later = ended(stranger(&scratch), &get);
    assert!(printed(&later).contains("All about spades"), "once is enough: {}", said(&later));
}

/// A list can name what lies in the directory, too: the configuration, with a password that its user has put there.
#[test]
fn files_that_are_no_archives_are_not_published_as_such() {
    let scratch = Scratch::new("trust-named");
    let served = Served::start(3, "5ms", u64::MAX);
    let crawled = scratch
        .command(MATTOCK)
        .args(&served.crawl)
        .args(["--max-pages", "2", "--quiet", "--header", "Accept-Language: s3cret"])
        .output()
        .expect("the binary was built for this test");
    assert!(crawled.status.success(), "{}", said(&crawled));
    assert!(scratch.mattock(&["index", "crawl"]).status.success());
    scratch.write("crawl/notes.warc", "s3cret");
    // A ZIP file with nothing in it, and some words before its end.
    let zip = format!("PK\u{3}\u{4}s3cretPK\u{5}\u{6}{}", "\0".repeat(18));
    scratch.write("crawl/notes.wacz", &zip);
    for name in ["crawl.toml", "notes.warc", "notes.wacz"] {
        assert!(crate::process::read(&scratch.path().join("crawl").join(name)).contains("s3cret"));
        crate::planted::rewrite(&scratch.path().join("crawl/index/INDEX"), &|list| {
            list["imported"] = vec![name].into();
        });
        for more in [&[][..], &["--with-imported"]] {
            let refused = scratch.mattock(&[&["publish", "crawl", "published"][..], more].concat());
            assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
            assert!(
                said(&refused).contains(name) && said(&refused).contains("is none"),
                "{}",
                said(&refused)
            );
            assert!(!scratch.is_there(&format!("published/{name}")));
        }
    }
}

/// A module that does as many steps as it may.
const ENDLESS: &str = r#"(module
    (import "mattock" "give_integer" (func $give_integer (param i64)))
    (memory (export "memory") 1)
    (func (export "analyze_integer") (local $n i32)
        (local.set $n (i32.const 30000000))
        (loop $again
            (local.set $n (i32.sub (local.get $n) (i32.const 1)))
            (br_if $again (local.get $n)))
        (call $give_integer (i64.const 7))))"#;

#[test]
fn limits_of_analyzers_are_those_of_whoever_set_them() {
    let scratch = Scratch::new("trust-limits");
    let served = Served::start(3, "5ms", u64::MAX);
    scratch.write("ours.toml", "[analyzers]\nfuel = 5000000000\n");
    let crawled = scratch
        .command(MATTOCK)
        .args(&served.crawl)
        .args(["--config", "ours.toml", "--max-pages", "2", "--quiet"])
        .output()
        .expect("the binary was built for this test");
    assert!(crawled.status.success(), "{}", said(&crawled));
    let module = wat::parse_str(ENDLESS).expect("the module is right");
    Files::real().create_dir_all(&scratch.path().join("crawl/analyzers")).expect("it can be made");
    Files::real()
        .write_atomic(&scratch.path().join("crawl/analyzers/endless.wasm"), &module)
        .expect("it can be written");
    let ask = ["query", "crawl", "select endless where status = 200", "--format", "jsonl"];
    let own = scratch.mattock(&ask);
    assert!(printed(&own).contains(r#"{"endless":7}"#), "{}", said(&own));
    let foreign = ended(stranger(&scratch), &ask);
    assert!(
        !printed(&foreign).contains('7') && said(&foreign).contains("default limits"),
        "{}",
        said(&foreign)
    );
    let trusted = ended(stranger(&scratch), &[&ask[..], &["--trust"]].concat());
    assert!(printed(&trusted).contains(r#"{"endless":7}"#), "{}", said(&trusted));
    let later = ended(stranger(&scratch), &ask);
    assert!(printed(&later).contains(r#"{"endless":7}"#), "once is enough: {}", said(&later));
}

#[test]
fn archives_elsewhere_are_published_when_that_is_asked_for() {
    let scratch = Scratch::new("trust-publish");
    scratch.write("own.warc", &archive("spades"));
    assert!(scratch.mattock(&["import", "repository", "own.warc"]).status.success());
    let target = format!("file://{}", scratch.path().join("bucket").display());
    let published = scratch.mattock(&["publish", "repository", &target]);
    assert!(published.status.success(), "{}", said(&published));
    assert!(said(&published).contains("own.warc") && said(&published).contains("--with-imported"));
    assert!(!scratch.is_there("bucket/outside"));
    // A list of somebody else's names what is not theirs: to ask for it is not enough.
    let stolen = ended(stranger(&scratch), &["publish", "repository", &target, "--with-imported"]);
    assert!(!stolen.status.success() && !scratch.is_there("bucket/outside"), "{}", said(&stolen));
    let sent = scratch.mattock(&["publish", "repository", &target, "--with-imported"]);
    assert!(sent.status.success(), "{}", said(&sent));
    assert!(
        printed(&scratch.mattock(&["get", &target, "http://other.example/"])).contains("All about spades")
    );
}

/// Counts connections.
#[expect(clippy::disallowed_methods, reason = "a real client needs a real socket")]
fn listening() -> (u16, Arc<AtomicUsize>) {
    let (count, listener) =
        (Arc::new(AtomicUsize::new(0)), TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let (port, counted) = (listener.local_addr().expect("it is bound").port(), count.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = (&stream).read(&mut [0; 512]);
        }
    });
    (port, count)
}

/// Makes the only row of the only part name another archive, as whoever passes a repository on can.
pub(crate) fn forge(scratch: &Scratch, name: &str) {
    let index = scratch.path().join("repository/index");
    let part = index.join("part-000001.parquet");
    let bytes = Files::real().read(&part).expect("there is a part");
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).expect("it is sound");
    let mut batches = reader.build().expect("it is sound");
    let batch = batches.next().expect("it has a row").expect("it is sound");
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let named = |(field, column): (&FieldRef, &ArrayRef)| -> ArrayRef {
        match field.name().as_str() {
            "warc_filename" => Arc::new(StringArray::from(vec![name])),
            _ => column.clone(),
        }
    };
    let forged = RecordBatch::try_new(schema.clone(), columns.map(named).collect()).expect("it fits");
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).expect("it can be written");
    writer.write(&forged).expect("it can be written");
    let bytes = writer.into_inner().expect("it can be written");
    Files::real().write_atomic(&part, &bytes).expect("it can be written");
    let mut blocks = BlockSummer::default();
    blocks.update(&bytes);
    let blocks = blocks.finish().to_text();
    crate::planted::rewrite(&index.join("INDEX"), &|list| {
        list["parts"][0]["bytes"] = bytes.len().into();
        list["parts"][0]["sum"] = crc32fast::hash(&bytes).into();
        list["parts"][0]["blocks"] = blocks.clone().into();
        list["parts"][0]["archives"] = vec![name].into();
        list["imported"] = vec![name].into();
        list["extents"] = serde_json::json!({});
    });
}

#[test]
fn rows_send_no_requests_to_servers_that_they_name() {
    let scratch = Scratch::new("trust-requests");
    Files::real().create_dir_all(&scratch.path().join("repository")).expect("it can be made");
    scratch.write("repository/own.warc", &archive("spades"));
    let imported = scratch.mattock(&["import", "repository", "repository/own.warc"]);
    assert!(imported.status.success(), "{}", said(&imported));
    let (port, count) = listening();
    // The rows of a part that somebody else has made name a server within one's own network.
    let url = format!("http://127.0.0.1:{port}/latest/meta-data.warc");
    forge(&scratch, &url);
    for arguments in [
        &["query", "repository", "select name, body"][..],
        &["get", "repository", "http://other.example/"],
        &["check", "repository"],
        &["export", "repository", "--format", "warc", "--output", "out.warc.gz"],
        &["publish", "repository", "published", "--with-imported"],
        &["index", "repository", "--rebuild"],
        &["report", "repository"],
    ] {
        let output = ended(stranger(&scratch), arguments);
        assert_eq!(count.load(Ordering::SeqCst), 0, "{arguments:?}: {}", said(&output));
        // The forged row is taken for one.
        assert!(arguments[0] != "get" || said(&output).contains(&url), "{}", said(&output));
    }
}
