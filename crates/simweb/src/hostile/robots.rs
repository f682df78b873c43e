//! Robots.txt files that are huge, broken, out of reach, or unreasonable. The rule to keep is nearly always the same:
//! `/never/` is forbidden.

use super::coding::gzip_bomb;
use super::reply::{head, html, page, redirect, repeat, send, status, text};
use super::{Ask, Hostility};
use crate::script::{End, Script, Step};

const RULES: &str = "User-agent: *\nDisallow: /never/\n";
const COMMENT: &[u8] = b"# sixty-four bytes of nothing that anybody would want to read..\n";
const PAGES: [&str; 2] = ["/page", "/never/page"];
/// Pages of the host whose rules change; with its delay they take more than a day.
const TIGHTENING_PAGES: u32 = 320;
/// The world's time from which those rules forbid everything.
const TIGHTENED_AFTER_S: u64 = 3600;

pub(super) const TABLE: [Hostility; 15] = [
    Hostility::new(
        "B01",
        "a gigabyte",
        "its robots.txt is a gigabyte of comments after its rules",
        "read up to 500 KiB; the rules there hold",
        &PAGES,
        |ask| match ask.path {
            "/robots.txt" => Some(endless_text(vec![send(RULES.as_bytes()), repeat(COMMENT, 1 << 24)])),
            _ => pages(ask),
        },
    ),
    Hostility::new(
        "B02",
        "rule beyond 500 KiB",
        "its robots.txt forbids `/late/` after 600 KiB of comments",
        "that rule is not known, and logged",
        &["/page", "/late/page"],
        |ask| match ask.path {
            "/robots.txt" => {
                let late = b"User-agent: *\nDisallow: /late/\n";
                Some(endless_text(vec![repeat(COMMENT, 9_600), send(&late[..])]))
            }
            _ => pages(ask),
        },
    ),
    Hostility::new(
        "B03",
        "bomb",
        "its robots.txt is a gzip bomb that begins with rules",
        "decoded up to the limit; the rules there hold",
        &PAGES,
        |ask| match ask.path {
            "/robots.txt" => {
                let fields = ["Content-Type: text/plain", "Content-Encoding: gzip", "Connection: close"];
                let mut steps = vec![send(head("200 OK", &fields))];
                steps.extend(gzip_bomb(RULES.as_bytes()));
                Some(Script { steps, end: End::Close })
            }
            _ => pages(ask),
        },
    ),
    Hostility::new(
        "B04",
        "out of order",
        "robots.txt answers 500 or 503, or never",
        "everything forbidden; asked again later",
        &["http://s500.{host}/", "http://s503.{host}/", "http://silent.{host}/"],
        |ask| match (ask.below, ask.path) {
            ("s500", "/robots.txt") => status("500 Internal Server Error"),
            ("s503", "/robots.txt") => status("503 Service Unavailable"),
            ("silent", "/robots.txt") => Some(Script { steps: Vec::new(), end: End::Hang }),
            _ => below(ask),
        },
    ),
    Hostility::new(
        "B05",
        "absent",
        "robots.txt answers 404, 410, 401 or 403",
        "everything allowed",
        &["http://s404.{host}/", "http://s410.{host}/", "http://s401.{host}/", "http://s403.{host}/"],
        |ask| match (ask.below, ask.path) {
            ("s404", "/robots.txt") => status("404 Not Found"),
            ("s410", "/robots.txt") => status("410 Gone"),
            ("s401", "/robots.txt") => status("401 Unauthorized"),
            ("s403", "/robots.txt") => status("403 Forbidden"),
            _ => below(ask),
        },
    ),
    Hostility::new(
        "B06",
        "too many requests",
        "robots.txt answers 429",
        "everything forbidden, and backed off",
        &["http://s429.{host}/"],
        |ask| match (ask.below, ask.path) {
            ("s429", "/robots.txt") => status("429 Too Many Requests"),
            _ => below(ask),
        },
    ),
    Hostility::new(
        "B07",
        "redirects",
        "robots.txt is 5 or 6 redirects away, or in a loop",
        "5 are followed; what is farther is as if absent",
        &[
            "http://five.{host}/",
            "http://five.{host}/never/page",
            "http://six.{host}/",
            "http://loop.{host}/",
        ],
        redirected,
    ),
    Hostility::new(
        "B08",
        "elsewhere",
        "robots.txt is redirected to another path of another host",
        "the rules hold for the first host only",
        &["http://here.{host}/never/page", "http://there.{host}/never/page"],
        |ask| match (ask.below, ask.path) {
            ("here", "/robots.txt") => redirect(&format!("http://there.{}/x/robots.txt", ask.host)),
            ("there", "/x/robots.txt") => text(RULES),
            ("there", "/robots.txt") => text("User-agent: *\nAllow: /\n"),
            (_, "/never/page") => html("a page"),
            _ => None,
        },
    ),
    Hostility::new(
        "B09",
        "thirty asterisks",
        "a rule with thirty asterisks, and a path that nearly matches it",
        "matched in linear time",
        &["/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"],
        |ask| match ask.path {
            "/robots.txt" => text(format!("User-agent: *\nDisallow: /{}$\n", "*a".repeat(30))),
            path if path.starts_with("/aaa") => html("nearly"),
            _ => None,
        },
    ),
    Hostility::new(
        "B10",
        "odd encodings",
        "robots.txt begins with a BOM, ends lines with CR, holds NULs, is UTF-16, is HTML",
        "read leniently; never fatal",
        &[
            "http://bom.{host}/never/page",
            "http://cr.{host}/never/page",
            "http://nul.{host}/",
            "http://utf16.{host}/",
            "http://html.{host}/",
        ],
        encodings,
    ),
    Hostility::new(
        "B11",
        "a hundred thousand rules",
        "robots.txt has 100,000 rules",
        "at most 50 ms, bounded memory",
        &PAGES,
        |ask| match ask.path {
            "/robots.txt" => {
                let rule =
                    Step::Numbered { before: "Disallow: /r".into(), after: "/*x\n".into(), times: 100_000 };
                Some(endless_text(vec![send(RULES.as_bytes()), rule]))
            }
            _ => pages(ask),
        },
    ),
    Hostility::new(
        "B12",
        "several groups",
        "our token stands in two groups with another between them",
        "the groups are merged",
        &["/a/page", "/b/page", "/c/page"],
        |ask| match ask.path {
            "/robots.txt" => text(
                "User-agent: mattock\nDisallow: /a/\n\nUser-agent: other\nDisallow: /\n\n\
                 User-agent: MATTOCK\nDisallow: /b/\n\nUser-agent: *\nDisallow: /c/\n",
            ),
            "/c/page" => html("allowed"),
            "/a/page" | "/b/page" => html("forbidden"),
            _ => None,
        },
    ),
    Hostility::new(
        "B13",
        "rules that tighten",
        "robots.txt forbids everything from its second hour on",
        "what waits is judged again when the rules are a day old",
        &[],
        |ask| match ask.path {
            "/robots.txt" if ask.time_s < TIGHTENED_AFTER_S => text("User-agent: *\nCrawl-delay: 300\n"),
            "/robots.txt" => text("User-agent: *\nDisallow: /\n"),
            "/" => {
                let links: Vec<String> = (1..=TIGHTENING_PAGES).map(|page| format!("/page/{page}")).collect();
                html(page("many pages", &links))
            }
            _ => html("a page"),
        },
    ),
    Hostility::new(
        "B14",
        "odd delays",
        "Crawl-delay is a day, negative, no number, infinite",
        "between 0 and 300 s; never faster than our own",
        &["http://day.{host}/", "http://negative.{host}/", "http://nan.{host}/", "http://infinite.{host}/"],
        |ask| {
            let delay = match ask.below {
                "day" => "86400",
                "negative" => "-1",
                "nan" => "NaN",
                "infinite" => "1e309",
                _ => return None,
            };
            match ask.path {
                "/robots.txt" => text(format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /never/\n")),
                "/" => html(page("delays", &["/1", "/2"])),
                _ => html("a page"),
            }
        },
    ),
    Hostility::new(
        "B15",
        "a long line",
        "robots.txt has a line of 17 KB before its rule",
        "cut, and reading goes on",
        &PAGES,
        |ask| match ask.path {
            "/robots.txt" => {
                text(format!("User-agent: *\nDisallow: /{}\nDisallow: /never/\n", "x".repeat(17_000)))
            }
            _ => pages(ask),
        },
    ),
];

/// Text whose end is that of the connection.
fn endless_text(mut steps: Vec<Step>) -> Script {
    steps.insert(0, send(head("200 OK", &["Content-Type: text/plain", "Connection: close"])));
    Script { steps, end: End::Close }
}

/// Pages under every path but the home page and robots.txt.
fn pages(ask: &Ask<'_>) -> Option<Script> {
    if matches!(ask.path, "/" | "/robots.txt") { None } else { html("a page") }
}

/// Home pages of the hosts below: they link to nothing.
fn below(ask: &Ask<'_>) -> Option<Script> {
    if ask.below.is_empty() || ask.path != "/" { None } else { html("a page") }
}

fn redirected(ask: &Ask<'_>) -> Option<Script> {
    let steps = match ask.below {
        "five" => 5,
        "six" => 6,
        "loop" => u32::MAX,
        _ => return None,
    };
    let step = match ask.path {
        "/robots.txt" => 0,
        path => match path.strip_prefix("/robots/").map(str::parse::<u32>) {
            Some(Ok(step)) => step,
            _ => return html("a page"),
        },
    };
    match step {
        step if step == steps => text(RULES),
        1 if ask.below == "loop" => redirect("/robots.txt"),
        step => redirect(&format!("/robots/{}", step + 1)),
    }
}

fn encodings(ask: &Ask<'_>) -> Option<Script> {
    match (ask.below, ask.path) {
        ("bom", "/robots.txt") => text(format!("\u{feff}{RULES}")),
        ("cr", "/robots.txt") => text(RULES.replace('\n', "\r")),
        ("nul", "/robots.txt") => text(RULES.replace(": ", ":\0")),
        ("utf16", "/robots.txt") => {
            let bytes: Vec<u8> = RULES.encode_utf16().flat_map(u16::to_le_bytes).collect();
            text([&[0xff, 0xfe], &bytes[..]].concat())
        }
        ("html", "/robots.txt") => html(page("Not found", &["/"])),
        ("", _) => None,
        _ => html("a page"),
    }
}
