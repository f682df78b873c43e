//! Pages, feeds and header fields that hurt whoever reads them carelessly.

use std::time::Duration;

use super::reply::{head, html, page, raw, repeat, response, send, status, stream};
use super::{Ask, Hostility, ordinary};
use crate::script::{ENDLESS, End, Script, Step};

/// The link that shows that a page was read to its end.
const AFTER: &[u8] = b"\n<a href=/after>after</a>\n";

pub(super) const TABLE: [Hostility; 20] = [
    Hostility::new(
        "P01",
        "two million links",
        "a page with two million links",
        "6,000 taken, flagged",
        &["/links"],
        |ask| {
            let link =
                Step::Numbered { before: "<a href=/l/".into(), after: ">x</a>\n".into(), times: 2_000_000 };
            if ask.path == "/links" { stream(vec![link], End::Close) } else { None }
        },
    ),
    Hostility::new(
        "P02",
        "deep nesting",
        "500,000 elements inside each other",
        "linear time",
        &["/deep"],
        |ask| match ask.path {
            "/deep" => stream(vec![repeat(&b"<div>"[..], 500_000), send(AFTER)], End::Close),
            _ => after(ask),
        },
    ),
    Hostility::new(
        "P03",
        "giant tokens",
        "an attribute, a comment and a script of 4 MB",
        "bounded; what comes after is read",
        &["/attribute", "/comment", "/script"],
        |ask| {
            let giant = |open: &'static [u8], close: &'static [u8]| {
                stream(
                    vec![send(open), repeat(&b"0123456789abcdef"[..], 250_000), send(close), send(AFTER)],
                    End::Close,
                )
            };
            match ask.path {
                "/attribute" => giant(b"<p title=\"", b"\">"),
                "/comment" => giant(b"<!--", b"-->"),
                "/script" => giant(b"<script>", b"</script>"),
                _ => after(ask),
            }
        },
    ),
    Hostility::new(
        "P04",
        "killers of expressions",
        "text on which backtracking expressions take for ever",
        "no backtracking",
        &["/killers"],
        |ask| match ask.path {
            "/killers" => {
                let mut body = b"<meta http-equiv=refresh content='0;".to_vec();
                body.extend(b" ".repeat(100_000));
                body.extend(b"url'><style>");
                body.extend(b"url(".repeat(50_000));
                body.extend(b"</style><a href='");
                body.extend(b"/.".repeat(500));
                body.extend(b"'>x</a>");
                body.extend(b"<".repeat(100_000));
                body.extend(b"&".repeat(100_000));
                body.extend(AFTER);
                html(body)
            }
            _ => after(ask),
        },
    ),
    Hostility::new(
        "P05",
        "broken text",
        "invalid UTF-8 under three contradictory charsets",
        "read with replacements, stored as it came",
        &["/text"],
        |ask| match ask.path {
            "/text" => {
                let body = [b"\xef\xbb\xbf<meta charset=shift_jis><p>\xff\xfe\x80\xc3(\xf5", AFTER].concat();
                Some(response("200 OK", &["Content-Type: text/html; charset=iso-8859-1"], &body))
            }
            _ => after(ask),
        },
    ),
    Hostility::new(
        "P06",
        "control characters",
        "NUL, line ends and terminal escapes in links and title",
        "encoded or dropped, never sent",
        &["/control"],
        |ask| match ask.path {
            "/control" => html(
                b"<title>\x1b[31mred\x07</title><a href='/a\0b'>x</a><a href='/a\r\nHost: evil'>x</a>\
                  <a href='/\x1b[2J'>x</a><a href='/after'>x</a>",
            ),
            _ => after(ask),
        },
    ),
    Hostility::new(
        "P07",
        "malformed and giant URLs",
        "links that are no URLs, and one of 100 KB",
        "dropped and counted",
        &["/urls"],
        |ask| match ask.path {
            "/urls" => {
                let mut body = page(
                    "urls",
                    &[
                        "http://",
                        "http:///",
                        "http://[::1/",
                        "http://a b/",
                        "//",
                        "http://x:99999/",
                        "ht tp://x/",
                        "%%%",
                    ],
                );
                body.push_str(&format!(
                    "<a href='/giant/{}'>x</a><a href='/after'>x</a>",
                    "x".repeat(100_000)
                ));
                html(body)
            }
            "/after" => after(ask),
            _ => None,
        },
    ),
    Hostility::new(
        "P08",
        "hostile base",
        "a base that leads to a private address",
        "links are judged like all others",
        &["/base"],
        |ask| match ask.path {
            "/base" => html("<base href='http://10.0.0.1/'><a href='/inside'>x</a>"),
            _ => None,
        },
    ),
    Hostility::new(
        "P09",
        "giant data URI",
        "an image and a link of 8 MB each in place",
        "skipped",
        &["/data"],
        |ask| match ask.path {
            "/data" => stream(
                vec![
                    send(AFTER),
                    send(&b"<a href=\"data:text/html;base64,"[..]),
                    repeat(&b"QUJD"[..], 1_000_000),
                    send(&b"\">x</a><img src=\"data:image/png;base64,"[..]),
                    repeat(&b"QUJD"[..], 1_000_000),
                    send(&b"\">"[..]),
                ],
                End::Close,
            ),
            _ => after(ask),
        },
    ),
    Hostility::new(
        "P10",
        "stream",
        "a camera that sends a picture every 100 ms, for ever",
        "cut, marked `length` or `time`",
        &["/camera"],
        |ask| {
            (ask.path == "/camera").then(|| {
                let head = head(
                    "200 OK",
                    &["Content-Type: multipart/x-mixed-replace; boundary=b", "Connection: close"],
                );
                let mut picture = b"--b\r\nContent-Type: image/jpeg\r\n\r\n".to_vec();
                picture.resize(4096, 0xd8);
                let pictures =
                    Step::Repeat { bytes: picture.into(), times: ENDLESS, pause: Duration::from_millis(100) };
                Script { steps: vec![send(head), pictures], end: End::Close }
            })
        },
    ),
    Hostility::new(
        "P11",
        "entities in a sitemap",
        "a sitemap with external entities",
        "not resolved; its plain URL is found",
        &[],
        |ask| {
            let outside = "<!DOCTYPE urlset [<!ENTITY file SYSTEM 'file:///etc/passwd'>\
                           <!ENTITY net SYSTEM 'http://10.0.0.1/'>]>";
            sitemap(ask, outside, "&file;&net;")
        },
    ),
    Hostility::new(
        "P12",
        "billion laughs",
        "a sitemap with entities that multiply, and an element with 100,000 attributes",
        "an error within 100 ms",
        &[],
        |ask| {
            let mut entities = String::from("<!DOCTYPE urlset [<!ENTITY l0 'lol'>");
            for level in 1..10 {
                let before = format!("&l{};", level - 1);
                entities.push_str(&format!("<!ENTITY l{level} '{}'>", before.repeat(10)));
            }
            let attributes: String = (0..100_000).map(|number| format!(" a{number}='1'")).collect();
            sitemap(ask, &format!("{entities}]>"), &format!("&l9;<x{attributes}/>"))
        },
    ),
    Hostility::new(
        "P13",
        "sitemap loop",
        "two sitemap indexes that name each other",
        "depth at most 3; the plain URL is found",
        &[],
        sitemap_loop,
    ),
    Hostility::new(
        "P14",
        "a thousand cookies",
        "sets a thousand cookies of a kilobyte, and a hundred small ones",
        "the first is refused; no cookie is ever sent back",
        &["/cookies", "/few"],
        |ask| {
            let count = match ask.path {
                "/cookies" => 1_000,
                "/few" => 100,
                _ => return None,
            };
            let size = if count == 100 { 10 } else { 1_000 };
            let lines: Vec<String> =
                (0..count).map(|number| format!("Set-Cookie: c{number}={}", "x".repeat(size))).collect();
            let fields: Vec<&str> = lines.iter().map(String::as_str).collect();
            Some(response("200 OK", &fields, b"cookies"))
        },
    ),
    Hostility::new(
        "P15",
        "odd dates",
        "Last-Modified is in 1969, in 2099, and junk",
        "ignored",
        &["/past", "/future", "/junk"],
        |ask| {
            let date = match ask.path {
                "/past" => "Wed, 31 Dec 1969 23:59:59 GMT",
                "/future" => "Thu, 31 Dec 2099 23:59:59 GMT",
                "/junk" => "Wed, 99 Foo 99999999999 99:99:99 XYZ",
                _ => return None,
            };
            Some(response(
                "200 OK",
                &["Content-Type: text/html", &format!("Last-Modified: {date}")],
                b"dated",
            ))
        },
    ),
    Hostility::new(
        "P16",
        "not modified, unasked",
        "answers 304 to a request without conditions",
        "an error of its own",
        &["/304"],
        |ask| {
            if ask.path == "/304" { raw(&b"HTTP/1.1 304 Not Modified\r\n\r\n"[..], End::Keep) } else { None }
        },
    ),
    Hostility::new(
        "P17",
        "odd Retry-After",
        "503 with a Retry-After of 10^12 s, -1, and a date long past",
        "at most 24 h",
        &["http://far.{host}/x", "http://negative.{host}/x", "http://past.{host}/x"],
        |ask| {
            let value = match ask.below {
                "far" => "1000000000000",
                "negative" => "-1",
                "past" => "Sat, 01 Jan 2000 00:00:00 GMT",
                _ => return None,
            };
            match ask.path {
                "/x" => {
                    Some(response("503 Service Unavailable", &[&format!("Retry-After: {value}")], b"busy"))
                }
                _ => None,
            }
        },
    ),
    Hostility::new(
        "P18",
        "forged archive fields",
        "sends header fields that belong into the archive's records",
        "inert",
        &["/forged"],
        |ask| {
            let fields = [
                "Content-Type: text/html",
                "WARC-Type: request",
                "WARC-Target-URI: http://evil.example/",
                "WARC-Truncated: length",
                "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>",
                "depth: 99",
            ];
            let body = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://evil.example/\r\n\r\n";
            (ask.path == "/forged").then(|| response("200 OK", &fields, body))
        },
    ),
    Hostility::new(
        "P19",
        "script in title and URL",
        "a title and a path that are script elements",
        "inert wherever they are shown",
        &["/title", "/%3Cscript%3Ealert(1)%3C/script%3E"],
        |ask| match ask.path {
            "/title" => html("<title>&lt;script>alert(document.domain)&lt;/script></title>"),
            path if path.starts_with("/%3C") => html("a page"),
            _ => None,
        },
    ),
    Hostility::new(
        "P20",
        "file names that climb",
        "Content-Disposition names a file outside",
        "not used",
        &["/download"],
        |ask| {
            let fields = [
                "Content-Type: application/octet-stream",
                "Content-Disposition: attachment; filename=\"../../../../evil.sh\"",
            ];
            (ask.path == "/download").then(|| response("200 OK", &fields, b"#!/bin/sh\n"))
        },
    ),
];

fn after(ask: &Ask<'_>) -> Option<Script> {
    if ask.path == "/after" { html("after") } else { ordinary(ask) }
}

fn with_sitemap(ask: &Ask<'_>, path: &str) -> Option<Script> {
    let rules = format!("User-agent: *\nDisallow: /never/\nSitemap: http://{}{path}\n", ask.host);
    Some(response("200 OK", &["Content-Type: text/plain"], rules.as_bytes()))
}

fn xml(body: &str) -> Option<Script> {
    Some(response("200 OK", &["Content-Type: application/xml"], body.as_bytes()))
}

fn sitemap(ask: &Ask<'_>, document_type: &str, inside: &str) -> Option<Script> {
    let host = ask.host;
    match ask.path {
        "/robots.txt" => with_sitemap(ask, "/sitemap.xml"),
        "/sitemap.xml" => xml(&format!(
            "<?xml version='1.0'?>{document_type}<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
             <url><loc>http://{host}/from-sitemap</loc></url><url><loc>http://{host}/{inside}</loc></url></urlset>"
        )),
        "/from-sitemap" => html("found"),
        path if path.len() > 1 => status("404 Not Found"),
        _ => None,
    }
}

fn sitemap_loop(ask: &Ask<'_>) -> Option<Script> {
    let host = ask.host;
    let index = |other: &str| {
        xml(&format!(
            "<?xml version='1.0'?><sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
             <sitemap><loc>http://{host}{other}</loc></sitemap><sitemap><loc>http://{host}/plain.xml</loc></sitemap>\
             </sitemapindex>"
        ))
    };
    match ask.path {
        "/robots.txt" => with_sitemap(ask, "/a.xml"),
        "/a.xml" => index("/b.xml"),
        "/b.xml" => index("/a.xml"),
        "/plain.xml" => xml(&format!(
            "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
             <url><loc>http://{host}/from-sitemap</loc></url></urlset>"
        )),
        "/from-sitemap" => html("found"),
        _ => None,
    }
}
