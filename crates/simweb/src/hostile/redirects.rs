//! Redirects that lead nowhere, in circles, or where nobody should go.

use super::reply::{head, html, page, raw, redirect, response, spelled};
use super::{Ask, Hostility};
use crate::script::{End, Script};

/// Sites that send their visitors to one victim.
const CROWD: u32 = 1_000;

pub(super) const TABLE: [Hostility; 8] = [
    Hostility::new(
        "R01",
        "loops",
        "redirects to itself, and between two pages",
        "each asked for once",
        &["/self", "/a"],
        |ask| match ask.path {
            "/self" => redirect("/self"),
            "/a" => redirect("/b"),
            "/b" => redirect("/a"),
            _ => None,
        },
    ),
    Hostility::new(
        "R02",
        "long chains",
        "redirects 11 times, and for ever to new URLs",
        "at most 10 followed",
        &["/hop/1", "/endless/1"],
        |ask| match ask.path.strip_prefix("/hop/").map(str::parse::<u64>) {
            Some(Ok(12)) => html("the end of the chain"),
            Some(Ok(step)) => redirect(&format!("/hop/{}", step + 1)),
            _ => {
                let step: u64 = ask.path.strip_prefix("/endless/")?.parse().ok()?;
                redirect(&format!("/endless/{}", step.wrapping_add(1)))
            }
        },
    ),
    Hostility::new(
        "R03",
        "other schemes",
        "redirects to file:, data: and javascript:",
        "not followed",
        &["/file", "/data", "/javascript"],
        |ask| match ask.path {
            "/file" => redirect("file:///etc/passwd"),
            "/data" => redirect("data:text/html,<a href='/never-followed'>x</a>"),
            "/javascript" => redirect("javascript:alert(1)"),
            _ => None,
        },
    ),
    Hostility::new(
        "R04",
        "to private addresses",
        "redirects to a private and to the metadata address",
        "refused, no connection",
        &["/private", "/metadata"],
        |ask| match ask.path {
            "/private" => redirect("http://10.0.0.1/"),
            "/metadata" => redirect("http://169.254.169.254/latest/meta-data/"),
            _ => None,
        },
    ),
    Hostility::new(
        "R05",
        "bad Location",
        "redirects without a Location, to 100 KB of it, to one with a bare CR, to one in bad UTF-8",
        "an error, and nothing is followed",
        &["/absent", "/long", "/control", "/encoding"],
        bad_location,
    ),
    Hostility::new(
        "R06",
        "to a forbidden path",
        "redirects to what its robots.txt forbids",
        "not fetched",
        &["/moved"],
        |ask| if ask.path == "/moved" { redirect("/never/page") } else { None },
    ),
    Hostility::new(
        "R07",
        "a thousand against one",
        "a thousand sites redirect to one victim",
        "the victim's delay holds",
        &[],
        crowd,
    ),
    Hostility::new(
        "R08",
        "refresh loop",
        "two pages refresh into each other",
        "each asked for once",
        &["/a"],
        |ask| match ask.path {
            "/a" => html("<meta http-equiv=refresh content='0; url=/b'>"),
            "/b" => html("<meta http-equiv=refresh content='0; url=/a'>"),
            _ => None,
        },
    ),
];

fn bad_location(ask: &Ask<'_>) -> Option<Script> {
    match ask.path {
        "/absent" => Some(response("302 Found", &[], b"")),
        "/long" => redirect(&format!("/never-followed/{}", "x".repeat(100_000))),
        "/control" => raw(
            &b"HTTP/1.1 302 Found\r\nLocation: /never\rfollowed\r\nContent-Length: 0\r\n\r\n"[..],
            End::Keep,
        ),
        "/encoding" => {
            let mut bytes = head("302 Found", &["Location: /never-followed-?", "Content-Length: 0"]);
            let at = bytes.iter().position(|&byte| byte == b'?')?;
            bytes[at] = 0xff;
            raw(bytes, End::Keep)
        }
        _ => None,
    }
}

fn crowd(ask: &Ask<'_>) -> Option<Script> {
    match (ask.below, ask.path) {
        (_, "/robots.txt") => None,
        ("", "/") => {
            let links: Vec<String> =
                (0..CROWD).map(|site| format!("http://site{site}.{}/", ask.host)).collect();
            html(page("a thousand sites", &links))
        }
        ("victim", path) => html(format!("poor me: {}", spelled(path))),
        (site, "/") => redirect(&format!("http://victim.{}/{site}", ask.host)),
        _ => None,
    }
}
