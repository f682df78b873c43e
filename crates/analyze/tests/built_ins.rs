//! Each built-in analyzer on a page, and on what is none.

use mattock_analyze::{Document, Value, built_in, built_ins};
use proptest::prelude::*;

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: apache\r\nX-Powered-By: a\r\nx-powered-by: b\r\nContent-Type: text/html\r\n\r\n";
const PAGE: &str = "<!doctype html><meta charset=windows-1252><title>A\n title</title><base href='/dir/'>
<h1>One</h1><p>Words of the page, and more words: d\u{fc}nn.</p><h2>Two <b>b</b></h2>
<a href='x.html#f'>x</a><a href=x.html>again</a><a href='mailto:a@b'>m</a><a href='https://other.example'>o</a>
<img src=i.png srcset='i2.png 2x, i3.png 3x'><video src=v.mp4 poster=p.jpg></video><audio><source src=s.ogg></audio>
<a href=' rtsp://a.example/film'>s</a><a href='PNM://a.example/x.rm'>p</a><script src=j.js></script><link rel=stylesheet href=c.css>";

fn value(name: &str) -> Value {
    let body: Vec<u8> = PAGE.chars().map(|character| character as u8).collect();
    let document = Document::new("http://www.example.co.uk/a/b?c", 0, 200, HEAD, &body, false);
    built_in(name).expect("there is one").analyze(&document).expect("built-ins do not fail")
}

fn list(texts: &[&str]) -> Value {
    Value::TextList(texts.iter().map(|text| (*text).to_owned()).collect())
}

#[test]
fn of_a_page() {
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(value("title"), text("A title"));
    assert_eq!(value("headings"), list(&["One", "Two b"]));
    assert_eq!(
        value("links"),
        list(&["http://www.example.co.uk/dir/x.html", "https://other.example/"]),
        "each once, canonical, only where a crawler can go"
    );
    let of_dir = ["i.png", "i2.png", "i3.png", "v.mp4", "p.jpg", "s.ogg"]
        .map(|name| format!("http://www.example.co.uk/dir/{name}"));
    let streams = ["rtsp://a.example/film", "PNM://a.example/x.rm"].map(str::to_owned);
    assert_eq!(value("mmlinks"), Value::TextList([of_dir.as_slice(), &streams].concat()));
    assert_eq!(value("http_server"), text("apache"));
    assert_eq!(value("http_X_Powered_By"), text("a, b"));
    assert_eq!(value("http_etag"), Value::Null);
    assert_eq!(value("charset"), text("windows-1252"));
    assert_eq!(value("domain"), text("example.co.uk"));
    assert_eq!(value("surt"), text("uk,co,example,www)/a/b?c"));
    assert_eq!(value("content"), text(PAGE));
    let Value::Text(digest) = value("digest") else { panic!("no digest") };
    assert!(digest.starts_with("sha1:") && digest.len() == 37, "{digest}");
    let Value::TextList(terms) = value("term_vector") else { panic!("no terms") };
    assert_eq!(terms[0], "words:2");
    assert_eq!(value("term_counts"), Value::TextList(terms), "of a small page both have all");
    let Value::IntegerList(sketch) = value("shingles") else { panic!("no sketch") };
    assert_eq!(sketch.len(), 64);
}

#[test]
fn of_what_is_no_page() {
    let png = Document::new(
        "http://a.example/",
        0,
        200,
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png",
        b"\x89PNG",
        false,
    );
    for name in [
        "title",
        "headings",
        "links",
        "mmlinks",
        "charset",
        "text",
        "term_counts",
        "term_vector",
        "shingles",
        "simhash",
    ] {
        assert_eq!(built_in(name).unwrap().analyze(&png), Ok(Value::Null), "{name}");
    }
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin1";
    let plain = Document::new("http://a.example/", 0, 200, head, b"<p>\xe4\n", false);
    for name in ["content", "text"] {
        assert_eq!(built_in(name).unwrap().analyze(&plain), Ok(Value::Text("<p>ä\n".to_owned())), "{name}");
    }
    assert_eq!(built_in("title").unwrap().analyze(&plain), Ok(Value::Null));
    let no_url = Document::new("urn:x", 0, 0, b"", b"<html><a href=x>", false);
    for name in ["links", "domain", "surt"] {
        assert_eq!(built_in(name).unwrap().analyze(&no_url), Ok(Value::Null), "{name}");
    }
}

proptest! {
    /// Whatever comes in: no panic, the announced kind, and the same again.
    #[test]
    fn any_bytes(head in proptest::collection::vec(any::<u8>(), 0..60), body in proptest::collection::vec(any::<u8>(), 0..300), url in ".{0,20}") {
        for analyzer in built_ins() {
            let value = analyzer.analyze(&Document::new(&url, 0, 200, &head, &body, true)).unwrap();
            prop_assert!(value.kind().is_none_or(|kind| kind == analyzer.kind()));
            prop_assert_eq!(value, analyzer.analyze(&Document::new(&url, 0, 200, &head, &body, true)).unwrap());
        }
    }
}
