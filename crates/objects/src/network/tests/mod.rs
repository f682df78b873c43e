//! Repositories on servers that want more than to be asked: redirects, names that change their meaning, floods.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

mod server;

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use mattock_env::{Files, OpenMode};

use super::*;
use crate::Objects;
use server::{Request, Server, flood, head, send, serve};

/// Files of a user who has named these servers.
fn files(named: &[&Server]) -> Files {
    let objects = Objects::new();
    named.iter().for_each(|server| objects.named_by_user(&server.url("")));
    Files::real().with_remote(Arc::new(objects))
}

fn read(files: &Files, url: &str) -> Result<Vec<u8>, String> {
    files.read(Path::new(url)).map_err(|error| error.to_string())
}

#[test]
fn a_redirect_leads_to_no_other_server() {
    let other = Server::start(|request, stream| serve(request, stream, b"internal"));
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let place = format!("Location: {}\r\n", other.url("internal"));
        let server = Server::start(move |request, stream| send(request, stream, status, &place, b""));
        let files = files(&[&server]);
        let said = read(&files, &server.url("warc/a.warc.gz")).unwrap_err();
        assert!(said.contains("sends readers on to http://127.0.0.1:") && said.contains("name that URL"));
        assert!(files.list(Path::new(&server.url("index"))).is_err());
        // Nobody asks twice for what is refused.
        assert_eq!((server.asked(), other.asked()), (2, 0), "{status}");
    }
    // Neither where the length is told, and the content is elsewhere.
    let place = format!("Location: {}\r\n", other.url("internal"));
    let server = Server::start(move |request, stream| match request.method.as_str() {
        "HEAD" => send(request, stream, "200 OK", "", b"internal"),
        _ => send(request, stream, "302 Found", &place, b""),
    });
    assert!(read(&files(&[&server]), &server.url("x")).unwrap_err().contains("another server"));
    assert_eq!(other.asked(), 0);
}

#[test]
fn redirects_within_a_server_are_followed() {
    let server = Server::start(|request, stream| match request.path.as_str() {
        "/web/a" => send(request, stream, "302 Found", "Location: /web/b\r\n", b""),
        "/web/b" => serve(request, stream, b"here"),
        "/web/dir" => send(request, stream, "301 Moved", "Location: /web/dir/\r\n", b""),
        "/web/dir/" => send(request, stream, "200 OK", "", b"<html>a list for people"),
        _ => send(request, stream, "302 Found", &format!("Location: {}x\r\n", request.path), b""),
    });
    let files = files(&[&server]);
    assert_eq!(read(&files, &server.url("web/a")).unwrap(), b"here");
    // A directory is no object, whatever is shown of it.
    assert_eq!(files.entry(Path::new(&server.url("web/dir"))).unwrap(), None);
    assert!(read(&files, &server.url("circles")).unwrap_err().contains("without end"));
}

#[test]
fn servers_that_nobody_has_named_must_be_public() {
    let server = Server::start(|request, stream| serve(request, stream, b"internal"));
    let port = server.address.port();
    let strangers = files(&[]);
    for host in
        ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "a@127.0.0.1"]
    {
        for path in ["latest/meta-data", ""] {
            let url = format!("http://{host}:{port}/{path}");
            let said = strangers.list(Path::new(&url)).unwrap_err().to_string();
            assert!(said.contains("no public server") && said.contains("mattock import"), "{url}: {said}");
        }
        let said = read(&strangers, &format!("http://{host}:{port}/latest/meta-data")).unwrap_err();
        assert!(said.contains("no public server"), "{said}");
    }
    assert_eq!(server.asked(), 0);
    // By another name, and at another port, it is another server.
    let other = Server::start(|request, stream| serve(request, stream, b"other"));
    let own = files(&[&server]);
    assert!(read(&own, &format!("http://localhost:{port}/x")).is_err());
    assert!(read(&own, &other.url("x")).is_err());
    assert_eq!(read(&own, &server.url("x")).unwrap(), b"internal");
    assert_eq!(other.asked(), 0);
}

#[test]
fn a_name_means_the_same_server_until_the_end() {
    let server = Server::start(|request, stream| serve(request, stream, b"public"));
    let port = server.address.port();
    let internal =
        Server::at(&format!("127.0.0.2:{port}"), |request, stream| serve(request, stream, b"internal"));
    let lookups = AtomicUsize::new(0);
    let lookup = move |_: &str| {
        let at = lookups.fetch_add(1, Ordering::SeqCst);
        Ok(vec![["127.0.0.1", "127.0.0.2"][at.min(1)].parse::<IpAddr>().unwrap()])
    };
    let objects = Objects::new().with_names(Arc::new(Names::with_lookup(lookup)));
    let url = format!("http://rebinding.example:{port}");
    objects.named_by_user(&url);
    let files = Files::real().with_remote(Arc::new(objects));
    for name in ["index/INDEX", "warc/a", "warc/b"] {
        assert_eq!(read(&files, &format!("{url}/{name}")).unwrap(), b"public");
    }
    assert!(server.asked() >= 3 && internal.asked() == 0);
}

#[test]
fn of_several_addresses_those_count_that_have_answered() {
    let server = Server::start(|request, stream| serve(request, stream, b"one"));
    let port = server.address.port();
    let both = |_: &str| Ok(["127.0.0.1", "127.0.0.3"].map(|text| text.parse::<IpAddr>().unwrap()).to_vec());
    let names = Arc::new(Names::with_lookup(both));
    let objects = Objects::new().with_names(names.clone());
    let url = format!("http://several.example:{port}");
    objects.named_by_user(&url);
    let files = Files::real().with_remote(Arc::new(objects));
    assert_eq!(read(&files, &format!("{url}/x")).unwrap(), b"one");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let found = runtime.block_on(names.find("several.example")).unwrap();
    assert_eq!(found, ["127.0.0.1".parse::<IpAddr>().unwrap()]);
}

#[test]
fn a_name_with_one_local_address_is_no_public_server() {
    let server = Server::start(|request, stream| serve(request, stream, b"internal"));
    let both = |_: &str| Ok(["1.1.1.1", "127.0.0.1"].map(|text| text.parse::<IpAddr>().unwrap()).to_vec());
    let objects = Objects::new().with_names(Arc::new(Names::with_lookup(both)));
    let files = Files::real().with_remote(Arc::new(objects));
    let said = read(&files, &format!("http://both.example:{}/x", server.address.port())).unwrap_err();
    assert!(said.contains("its address is 127.0.0.1"), "{said}");
    assert_eq!(server.asked(), 0);
}

#[test]
fn no_url_is_too_strange_to_be_refused() {
    let objects =
        Objects::new().with_names(Arc::new(Names::with_lookup(|_| Ok(vec!["10.0.0.1".parse().unwrap()]))));
    let files = Files::real().with_remote(Arc::new(objects));
    for letter in (0x20..0x7f).map(char::from).chain(['ä', '\u{202e}', '\u{ffff}', '😀']) {
        for url in [
            format!("http://strange.example:1/a{letter}b"),
            format!("http://str{letter}ange.example/x"),
            format!("http://strange.example{letter}/x"),
            format!("http://{letter}/x"),
            format!("http://strange.example:{letter}/x"),
        ] {
            let said = read(&files, &url).unwrap_err();
            assert!(!said.contains("the thread that speaks"), "{url}: {said}");
        }
    }
}

/// Reads one range of what a server calls 1,000 bytes long; what comes of it, and how much it could send.
fn ranged(
    answer: impl Fn(&Request, &mut std::net::TcpStream) -> usize + Send + Sync + 'static,
) -> (Result<Vec<u8>, String>, usize) {
    let (sender, sent) = mpsc::channel();
    let server = Server::start(move |request, stream| match request.method.as_str() {
        "HEAD" => send(request, stream, "200 OK", "ETag: \"a\"\r\n", &[0; 1000]),
        _ => {
            let _ = sender.send(answer(request, stream));
        }
    });
    let files = files(&[&server]);
    let file = files.open(Path::new(&server.url("a.warc.gz")), OpenMode::Read).unwrap();
    let mut bytes = vec![0; 1000];
    let read = file.read_exact_at(&mut bytes, 0).map(|()| bytes).map_err(|error| error.to_string());
    drop((file, files));
    (read, sent.recv().unwrap())
}

/// As much as fits into the buffers of a connection that nobody reads.
const UNREAD_BYTES: usize = 16 << 20;
static PIECE: [u8; 100_000] = [7; 100_000];

#[test]
fn no_server_decides_how_much_is_read() {
    let (read, sent) = ranged(|_, stream| {
        let fields = "Content-Range: bytes 0-999/1000\r\nContent-Length: 6442450944\r\nETag: \"a\"\r\n";
        head(stream, "206 Partial Content", fields);
        flood(stream, &PIECE)
    });
    let said = read.unwrap_err();
    assert!(said.contains("announces 6442450944 bytes where 1000 were asked for"), "{said}");
    assert!(sent < UNREAD_BYTES, "{sent}");

    // Without a length it is no answer.
    let (read, sent) = ranged(|_, stream| {
        head(stream, "206 Partial Content", "Content-Range: bytes 0-999/1000\r\nETag: \"a\"\r\n");
        flood(stream, &PIECE)
    });
    assert!(read.unwrap_err().contains("Content-Length"));
    assert!(sent < UNREAD_BYTES, "{sent}");

    let (read, sent) = ranged(|_, stream| {
        head(stream, "200 OK", "Content-Length: 6442450944\r\n");
        flood(stream, &PIECE)
    });
    let said = read.unwrap_err();
    assert!(said.contains("answers with a whole file") && said.contains("Accept-Ranges"), "{said}");
    assert!(sent < UNREAD_BYTES, "{sent}");

    // Fewer bytes than were asked for are not what was asked for.
    let (read, _) = ranged(|request, stream| {
        send(request, stream, "206 Partial Content", "Content-Range: bytes 0-999/1000\r\n", &[7; 10]);
        0
    });
    assert!(read.unwrap_err().contains("become shorter"));
}

#[test]
fn a_file_that_is_read_whole_is_no_longer_than_such_files_are() {
    let server = Server::start(|_, stream| {
        head(stream, "200 OK", "Content-Length: 6442450944\r\n");
    });
    let said = read(&files(&[&server]), &server.url("index/INDEX")).unwrap_err();
    assert!(said.contains("6442450944 bytes"), "{said}");
    assert_eq!(server.asked(), 1);
}

#[test]
fn no_file_is_longer_than_files_can_be() {
    let server = Server::start(|_, stream| {
        head(stream, "200 OK", "Content-Length: 18446744073709551614\r\n");
    });
    let error = files(&[&server]).open(Path::new(&server.url("a.parquet")), OpenMode::Read).unwrap_err();
    assert!(error.to_string().contains("18446744073709551614 bytes"), "{error}");
}

#[test]
fn servers_that_list_nothing_say_so_in_many_ways() {
    for status in [
        "400 Bad Request",
        "401 Unauthorized",
        "403 Forbidden",
        "404 Not Found",
        "405 Method Not Allowed",
        "501 Not Implemented",
        "200 OK",
    ] {
        let server = Server::start(move |request, stream| match request.method.as_str() {
            "PROPFIND" => send(request, stream, status, "", "<html>n\u{f6}".as_bytes()),
            _ => send(request, stream, "404 Not Found", "", b"\xff"),
        });
        let files = files(&[&server]);
        let path = server.url("index");
        let error = files.list(Path::new(&path)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported, "{status}: {error}");
        assert_eq!(server.asked(), 1, "{status}");
        assert_eq!(files.entry(Path::new(&path)).unwrap(), None);
    }
}

#[test]
fn no_list_is_endless() {
    let (sender, sent) = mpsc::channel();
    let server = Server::start(move |_, stream| {
        head(stream, "207 Multi-Status", "");
        let _ = sender.send(flood(stream, &PIECE));
    });
    let error = files(&[&server]).list(Path::new(&server.url("index"))).unwrap_err();
    assert!(error.to_string().contains("longer than 67108864 bytes"), "{error}");
    assert!(sent.recv().unwrap() < (64 << 20) + UNREAD_BYTES);
}

#[cfg(feature = "aws")]
#[test]
fn nor_has_it_endless_pages() {
    use object_store::aws::AmazonS3Builder;
    let page = "<?xml version=\"1.0\"?><ListBucketResult><Name>bucket</Name><IsTruncated>true</IsTruncated>\
                <NextContinuationToken>more</NextContinuationToken></ListBucketResult>";
    let server = Server::start(move |request, stream| send(request, stream, "200 OK", "", page.as_bytes()));
    let names = Arc::new(Names::with_lookup(|_| Ok(Vec::new())));
    let store = AmazonS3Builder::new()
        .with_endpoint(format!("http://{}", server.address))
        .with_allow_http(true)
        .with_region("here")
        .with_bucket_name("bucket")
        .with_skip_signature(true)
        .with_http_connector(Connector(Asking::Provider(names)))
        .build()
        .unwrap();
    let objects = Objects::new().with_store("s3://bucket", Arc::new(store));
    let files = Files::real().with_remote(Arc::new(objects));
    let error = files.list(Path::new("s3://bucket/index")).unwrap_err();
    assert!(error.to_string().contains("longer than 268435456 bytes"), "{error}");
}
