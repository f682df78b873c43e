//! What servers do to those who read their `robots.txt`, by its catalogue number. B03 (compressed bombs), B08 (redirects to other hosts)
//! and B13 (rules that change) are decided where files are fetched and kept, not where they are read.

use std::time::Duration;

use mattock_robots::{Access, BODY_BYTES_MAX, CRAWL_DELAY_MAX, Robots, access_for_status};

fn robots(body: impl AsRef<[u8]>) -> Robots {
    Robots::parse(body.as_ref(), "Mattock")
}

/// B01: of a giant file 500 KiB are read; the size of what is kept shows it.
#[test]
fn b01_a_giant_file() {
    let line = "disallow: /0123456789abcdef0123456789abcdef\n";
    let giant = robots(format!("user-agent: *\n{}", line.repeat(1_000_000)));
    assert!(giant.truncated());
    assert_eq!(giant.rules_count(), (BODY_BYTES_MAX - "user-agent: *\n".len()) / line.len());
}

/// B02: a rule beyond the limit is not obeyed, and the file says that something may be missing.
#[test]
fn b02_a_rule_beyond_the_limit() {
    let filler = "#".repeat(99) + "\n";
    let body = format!("user-agent: *\n{}disallow: /late", filler.repeat(BODY_BYTES_MAX / 100));
    let cut = robots(&body);
    assert!(cut.truncated() && cut.allows("/late"));
    let whole = robots(&body[100..]);
    assert!(!whole.truncated());
}

/// B04, B05, B06: no answer closes the host, "not there" opens it, "not now" closes it.
#[test]
fn b04_b05_b06_statuses() {
    for status in [500, 502, 503, 599, 0] {
        assert_eq!(access_for_status(status), Access::DisallowAll, "{status}");
    }
    for status in [400, 401, 403, 404, 410, 451] {
        assert_eq!(access_for_status(status), Access::AllowAll, "{status}");
    }
    assert_eq!(access_for_status(429), Access::DisallowAll);
}

/// B07: a chain that was given up leaves a redirect as the last status, and that means "unavailable".
#[test]
fn b07_a_chain_given_up() {
    for status in [301, 302, 303, 307, 308] {
        assert_eq!(access_for_status(status), Access::AllowAll, "{status}");
    }
}

/// B09: a matcher that backtracks does not come back from these.
#[test]
fn b09_asterisks() {
    for pattern in [
        format!("/{}b$", "*a".repeat(30)),
        format!("/{}$", "*".repeat(10_000)),
        "/*a*a*a*a*a*a*a*a*a*a*b".to_owned(),
    ] {
        let rules = robots(format!("user-agent: *\ndisallow: {pattern}"));
        let path = format!("/{}", "a".repeat(200_000));
        assert_eq!(rules.allows(&path), !pattern.starts_with("/***"), "{}", &pattern[..20]);
    }
}

/// B10: marks, line ends, NULs, UTF-16 and pages in place of a file.
#[test]
fn b10_odd_bytes() {
    let plain = "user-agent: *\ndisallow: /x\n";
    let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{plain}").encode_utf16().flat_map(bytes).collect()
    };
    for body in [
        plain.as_bytes().to_vec(),
        format!("\u{feff}{plain}").into_bytes(),
        plain.replace('\n', "\r").into_bytes(),
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace(": ", ":\0").into_bytes(),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
    ] {
        let rules = robots(&body);
        assert!(!rules.allows("/x") && rules.allows("/y"), "{body:?}");
    }
    assert!(robots("<!doctype html><html><body>\n<p>User-agent: *</p>\n<p>Disallow: /</p>").allows("/"));
}

/// B11: a hundred thousand rules; as many as fit in the limit are kept, in one pool of no more bytes than were read.
#[test]
fn b11_a_hundred_thousand_rules() {
    let body: String = (0..100_000).map(|i| format!("disallow:/{i:x}$\n")).collect();
    let many = robots(format!("user-agent: *\n{body}"));
    assert!(many.truncated() && many.rules_count() > 25_000);
    assert!(many.to_bytes().len() < BODY_BYTES_MAX);
    assert!(!many.allows("/0") && !many.allows("/5fff") && many.allows("/zzz"));
}

/// B12: all groups of one token count.
#[test]
fn b12_scattered_groups() {
    let rules = robots(
        "user-agent: mattock\ndisallow: /1\nuser-agent: *\ndisallow: /2\nuser-agent: x\nuser-agent: Mattock\ndisallow: /3",
    );
    assert_eq!(["/1", "/2", "/3"].map(|path| rules.allows(path)), [false, true, false]);
}

/// B14: no delay is negative, endless or no number; a long one is kept, so that nobody crawls faster than was asked.
#[test]
fn b14_delays() {
    let delay = |value: &str| robots(format!("user-agent: *\ncrawl-delay: {value}")).crawl_delay();
    assert_eq!(delay("86400"), Some(Duration::from_secs(86_400)));
    assert_eq!(delay("1e309"), Some(CRAWL_DELAY_MAX));
    for value in ["-1", "NaN", "-1e309", "inf"] {
        assert_eq!(delay(value), None, "{value}");
    }
}

/// B15: a line of 17 KB is cut, the next one read.
#[test]
fn b15_a_giant_line() {
    let rules = robots(format!("user-agent: *\ndisallow: /{}\ndisallow: /y\n", "x".repeat(17_000)));
    assert!(!rules.allows("/y") && rules.allows("/x") && !rules.allows(&format!("/{}", "x".repeat(17_000))));
}
