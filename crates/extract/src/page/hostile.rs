//! What pages do to those who read them, by its catalogue number. Time is shown by the bytes that are looked at: no more than a few times the
//! input, and twice as many for twice the input.

use super::*;
use crate::work;

fn everything() -> Options {
    Options {
        embeds: true,
        forms: true,
        css: true,
        headings: true,
        text: true,
        product_token: "Mattock".to_owned(),
        ..Options::default()
    }
}

/// Reads `unit` many times over, between `before` and `after`, in two sizes and with and without everything.
#[track_caller]
fn is_linear(before: &str, unit: &str, after: &str) {
    for options in [Options::default(), everything()] {
        let work = |times: usize| {
            let body = format!("{before}{}{after}", unit.repeat(times));
            let work = work::of(|| {
                let found = extract(body.as_bytes(), Some("text/html; charset=utf-8"), &options);
                assert!(found.links.len() <= options.links_max);
                assert!(found.text.is_none_or(|text| text.len() <= options.text_bytes_max));
            });
            assert!(work <= 12 * body.len() as u64, "{before} {unit}: {work} for {}", body.len());
            work
        };
        let (once, twice) = (work(5_000), work(10_000));
        assert!(twice <= 2 * once + 10_000, "{before} {unit}: {once}, then {twice}");
    }
}

/// P01: of two million links 6,000 are kept, the others counted.
#[test]
fn p01_two_million_links() {
    let found = extract("<a href=x>".repeat(2_000_000).as_bytes(), None, &Options::default());
    assert_eq!((found.links.len(), found.links_dropped), (6_000, 1_994_000));
    is_linear("", "<a href=x>", "");
}

/// P02: depth costs nothing, since nothing is deep here.
#[test]
fn p02_nesting() {
    let deep = format!("{}<a href=/x>", "<div><b><svg><math><foreignObject>".repeat(100_000));
    assert_eq!(extract(deep.as_bytes(), None, &everything()).links.len(), 1);
    for unit in [
        "<div>",
        "<b>",
        "<svg><foreignObject>",
        "<math><mi>",
        "<nav>",
        "<h1>",
        "<table><tr><td>",
        "</svg>",
        "<svg></p>",
    ] {
        is_linear("", unit, "");
        is_linear("<svg>", unit, "</svg></nav></h1>");
    }
}

/// P03: one token of five megabytes, of each kind: passed over, what follows is read, and nothing of its size is kept.
#[test]
fn p03_giant_tokens() {
    let giant = "x".repeat(5_000_000);
    for (before, after) in [
        ("<a title='", "'>"),
        ("<a href='", "'>"),
        ("<a ", ">"),
        ("<", ">"),
        ("<p style='(", "'>"),
        ("<!--", "-->"),
        ("<!doctype ", ">"),
        ("<script>", "</script>"),
        ("<style>", "</style>"),
        ("<title>", "</title>"),
        ("<meta name=robots content='", "'>"),
        ("<html lang='", "'>"),
        ("<base href='", "'>"),
        ("<link rel='", "' href=/y>"),
        ("<h1>", "</h1>"),
    ] {
        let body = format!("{before}{giant}{after}<a href=/x>");
        let found = extract(body.as_bytes(), None, &everything());
        assert_eq!(found.links.last().map(|link| link.target.as_str()), Some("/x"), "{before}");
        let kept = format!("{found:?}").len();
        assert!(kept < 20_000 + everything().text_bytes_max, "{before}: {kept} bytes");
    }
}

/// P04: what makes patterns backtrack is read once from left to right.
#[test]
fn p04_what_kills_patterns() {
    for (before, unit, after) in [
        ("", "<a href='x' ", ""),
        ("<a ", "=", ">"),
        ("<a ", "a=\"\" ", ">"),
        ("<a href=", "&amp", ">"),
        ("<a href=\"", "&#x", "\">"),
        ("<a href=\"", "&notin", ""),
        ("<meta http-equiv=refresh content='", "0;url=", "'>"),
        ("<meta http-equiv=refresh content='", "0", "'>"),
        ("<img srcset='", "a (,", "'>"),
        ("<img srcset='", ", ", "'>"),
        ("<meta http-equiv=content-type content='", "charset", "'>"),
        ("<title>", "</titl", ""),
        ("<title>", " ", "</title>"),
        ("<script>", "<!--<script>", ""),
        ("<script><!--", "--", ""),
        ("", "<!--", ""),
        ("<!--", "-->", ""),
        ("<!--", "--!", ""),
        ("", "<![CDATA[", ""),
        ("<svg>", "<![CDATA[ ]]", ""),
        ("", "</", ""),
        ("", "<", ""),
        ("", " ", ""),
        ("", "&", ""),
        ("", "a&lt", ""),
        ("<style>", "url(", "</style>"),
        ("<style>", "/*", "</style>"),
        ("<style>", "@import ", "</style>"),
        ("<style>", "url(\\", "</style>"),
        ("<p style=\"", "url('", "\">"),
        ("", "<p style='url(a)'>", ""),
        ("", "<?", ""),
        ("<link rel='", "nofollow ", "' href=x>"),
    ] {
        is_linear(before, unit, after);
    }
}

/// P05: bad bytes become replacement characters; of several charsets the one counts that comes first in rank.
#[test]
fn p05_charsets_that_lie() {
    let found =
        extract(b"<title>a\xff\xfeb</title><a href=\xc3>", Some("text/html; charset=utf-8"), &everything());
    assert_eq!(found.title.as_deref(), Some("a\u{fffd}\u{fffd}b"));
    assert_eq!(found.links[0].target, "\u{fffd}");
    let body = b"<meta charset=shift_jis><meta http-equiv=content-type content='text/html;charset=big5'><title>\xe4</title>";
    let named = extract(body, Some("text/html; charset=windows-1252"), &everything());
    assert_eq!((named.charset, named.title.as_deref()), (encoding_rs::WINDOWS_1252, Some("\u{e4}")));
    assert_eq!(extract(body, None, &everything()).charset, encoding_rs::SHIFT_JIS);
    assert_eq!(
        extract(&[b"\xef\xbb\xbf", &body[..]].concat(), None, &everything()).charset,
        encoding_rs::UTF_8
    );
}

/// P06: line ends and tabs leave a URL, a NUL is replaced; titles and texts are one line of what they say.
#[test]
fn p06_controls() {
    let found = extract(
        b"<title>a\r\nSet-Cookie: x\0\x1b[31m</title><a href='/a\r\nHost: b\0\tc'><h1>d\r\ne</h1>",
        Some("text/html; charset=utf-8"),
        &everything(),
    );
    assert_eq!(found.links[0].target, "/aHost: b\u{fffd}c");
    assert!(found.title.is_some_and(|title| !title.contains(['\r', '\n'])));
    assert_eq!(found.headings[0].text, "d e");
}

/// P07: a URL of 100 KB is dropped and counted, in every place a URL can stand.
#[test]
fn p07_giant_urls() {
    let long = "x".repeat(100_000);
    for (html, dropped) in [
        (format!("<a href={long}>"), 1),
        (format!("<img src={long} srcset='{long} 1x, {long} 2x'>"), 3),
        (format!("<meta http-equiv=refresh content='0;url={long}'>"), 1),
        (format!("<style>a{{b:url({long})}}</style><p style='b:url({long})'>"), 2),
        (format!("<base href={long}><link rel=canonical href={long}>"), 1),
    ] {
        let found = extract(html.as_bytes(), None, &everything());
        assert_eq!((found.links.len(), found.links_dropped), (0, dropped), "{}", &html[..30]);
        assert!(found.base.is_none() && found.canonical.is_none() && found.refresh.is_none());
    }
}

/// P08: a base is reported as written, and the first counts; what it may point to is decided where it is joined.
#[test]
fn p08_hostile_bases() {
    let base = |html: &str| extract(html.as_bytes(), None, &everything()).base;
    assert_eq!(base("<base href=http://127.0.0.1/><base href=/b>").as_deref(), Some("http://127.0.0.1/"));
    assert_eq!(base("<base href='java\nscript:x'>").as_deref(), Some("javascript:x"));
    assert_eq!(base("<!-- <base href=/c> --><script>'<base href=/s>'</script>"), None);
}

/// P09: a `data:` of ten megabytes is skipped without being decoded: the work is the one search for the end of the value.
#[test]
fn p09_giant_data_urls() {
    let body = format!("<img src='data:image/png;base64,{}'><a href=/x>", "A".repeat(10_000_000));
    let work = work::of(|| {
        let found = extract(body.as_bytes(), Some("text/html; charset=utf-8"), &everything());
        assert_eq!((found.links.len(), found.links_dropped), (1, 0));
    });
    assert!(work < body.len() as u64 + 1_000, "{work}");
}
