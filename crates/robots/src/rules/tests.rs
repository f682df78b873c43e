//! Cases of our own, one test per rule of RFC 9309 and per hostile file.

use super::*;
use proptest::prelude::*;

fn robots(body: &str) -> Robots {
    Robots::parse(body.as_bytes(), "Mattock")
}

fn allowed(body: &str, path: &str) -> bool {
    let robots = robots(body);
    let verdict = robots.verdict(path);
    assert_eq!(verdict.allowed, robots.allows(path), "both ways to ask agree");
    verdict.allowed
}

#[test]
fn groups_and_their_agents() {
    // All groups of our token merge, whatever its case and whatever follows it.
    let body = "user-agent: MATTOCK/1.0\ndisallow: /a\nuser-agent: other\ndisallow: /b\nuser-agent: mattock (+info)\ndisallow: /c\nuser-agent: *\ndisallow: /";
    for (path, expected) in [("/a", false), ("/b", true), ("/c", false), ("/d", true)] {
        assert_eq!(allowed(body, path), expected, "{path}");
    }
    // Consecutive agents share rules; other lines between do not end the group.
    let shared = "user-agent: mattock\nsitemap: x\ncrawl-delay: 1\nnonsense: 1\n\nuser-agent: other\ndisallow: /a\nfoo: bar\n\ndisallow: /b";
    assert!(!allowed(shared, "/a") && !allowed(shared, "/b"));
    // The star only if no group is ours, even if ours is empty.
    assert!(!allowed("user-agent: *\ndisallow: /", "/"));
    assert!(!allowed("user-agent: * # all\ndisallow: /", "/"));
    assert!(allowed("user-agent: *\ndisallow: /\nuser-agent: mattock", "/"));
    assert!(allowed("user-agent: mattocks\nuser-agent: mat\ndisallow: /", "/"));
    // Rules before any agent are nobody's.
    assert!(allowed("disallow: /\nuser-agent: mattock\ndisallow: /x", "/"));
    assert!(!Robots::parse(b"user-agent: bot2\ndisallow: /", "Bot2").allows("/"));
    assert!(Robots::parse(b"user-agent:\ndisallow: /", "").allows("/"));
}

#[test]
fn longest_match_decides_and_allow_wins_ties() {
    let body = "user-agent: *\nallow: /a/b\ndisallow: /a\ndisallow: /a/b/c\nallow: /t\ndisallow: /t\nallow:\ndisallow:\n";
    for (path, expected) in
        [("/a", false), ("/a/b", true), ("/a/b/c", false), ("/t", true), ("/", true), ("/A", true)]
    {
        assert_eq!(allowed(body, path), expected, "{path}");
    }
    // Octets, not characters: ä is two escapes long.
    assert!(!allowed("user-agent: *\nallow: /äaaa\ndisallow: /ä*aaaaa", "/äaaaaa"));
    let verdict =
        robots("user-agent: *\nallow: /\n\ndisallow: /p%72ivate/*.html$").verdict("/private/x.html");
    assert_eq!(
        verdict,
        Verdict {
            allowed: false,
            rule: Some(RuleRef { line: 4, text: "disallow: /private/*.html$".to_owned() })
        }
    );
}

#[test]
fn special_characters() {
    let star = |rule: &str, path: &str| !allowed(&format!("user-agent: *\ndisallow: {rule}"), path);
    assert!(star("/*.gif$", "/a/b.gif"));
    assert!(!star("/*.gif$", "/a/b.gif?x"));
    assert!(star("*.gif", "/b.gif?x"));
    assert!(star("/a$b", "/a$bc") && !star("/a$b", "/a"));
    assert!(star("/a$$", "/a$") && !star("/a$$", "/a$x"));
    assert!(star("/with-%2A.html", "/with-*.html") && !star("/with-%2A.html", "/with-xx.html"));
    assert!(star("/%24", "/$"));
    assert!(star("/x # comment", "/x") && star("/x#comment", "/x"));
    assert!(star("/?", "?x") && star("/?", "/?x") && !star("/?", "/"));
    assert!(!star("x", "/x") && !star("http://a/x", "/x"));
    assert!(star("/**a***$", "/bab"));
}

#[test]
fn percent_encoding_of_both_sides() {
    let hit = |rule: &str, path: &str| !allowed(&format!("user-agent: *\ndisallow: {rule}"), path);
    for (rule, path) in [
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%e3%83%84", "/foo/bar/ツ"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a"),
        ("/f?baz=https://foo.bar", "/f?baz=https%3A%2F%2Ffoo.bar"),
        ("/f?baz=https%3a%2f%2ffoo.bar", "/f?baz=https://foo.bar"),
        ("/*/x", "/f?u=/x"),
        ("/*%2Fx", "/f?u=%2fx"),
        ("/a b", "/a%20b"),
    ] {
        assert!(hit(rule, path), "{rule} against {path}");
    }
    for (rule, path) in [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/a%3Fb", "/a?b")] {
        assert!(!hit(rule, path), "{rule} against {path}");
    }
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    assert!(allowed("user-agent: *\ndisallow: /", "/robots.txt"));
    let closed = Robots::disallow_all(DisallowReason::Unreachable);
    assert!(closed.verdict("/robots.txt").allowed && closed.allows("/robots.txt"));
    assert!(!closed.verdict("/").allowed && !closed.allows("/"));
    assert_eq!(closed.disallow_reason(), Some(DisallowReason::Unreachable));
    assert!(Robots::allow_all().allows("/") && Robots::allow_all().verdict("/").rule.is_none());
}

#[test]
fn crawl_delays() {
    let delay = |value: &str| robots(&format!("user-agent: *\ncrawl-delay: {value}")).crawl_delay();
    for (value, seconds) in [
        ("5", 5.0),
        ("0.5", 0.5),
        (".25", 0.25),
        ("10 # slow", 10.0),
        ("7 seconds", 7.0),
        ("0", 0.0),
        ("1e2", 100.0),
    ] {
        assert_eq!(delay(value), Some(Duration::from_secs_f64(seconds)), "{value}");
    }
    for value in ["", "-1", "NaN", "inf", "nan", "soon", "1,5", "5s", "0x10", ".", "+1"] {
        assert_eq!(delay(value), None, "{value}");
    }
    for value in ["86401", "1e309", "99999999999999999999999"] {
        assert_eq!(delay(value), Some(CRAWL_DELAY_MAX), "{value}");
    }
    let body = "crawl-delay: 9\nuser-agent: *\ncrawl-delay: 30\nuser-agent: x\ndisallow: /a\nuser-agent: mattock\ncrawl-delay: 2\ncrawl-delay: 3\ndisallow: /b";
    assert_eq!(robots(body).crawl_delay(), Some(Duration::from_secs(3)));
    assert_eq!(Robots::parse(body.as_bytes(), "nobody").crawl_delay(), Some(Duration::from_secs(30)));
}

#[test]
fn a_delay_belongs_to_the_agents_right_above_it() {
    let delay = |body: &str, agent: &str| {
        Robots::parse(body.as_bytes(), agent).crawl_delay().map(|delay| delay.as_secs())
    };
    // No rule stands between the agents: they share the rules below, and not the delays.
    let body = "user-agent: slow\ncrawl-delay: 30\nuser-agent: mattock\ncrawl-delay: 2\ndisallow: /a";
    assert_eq!(
        (delay(body, "slow"), delay(body, "mattock"), delay(body, "nobody")),
        (Some(30), Some(2), None)
    );
    assert!(!Robots::parse(body.as_bytes(), "slow").allows("/a") && !robots(body).allows("/a"));
    let body = "user-agent: mattock\ncrawl-delay: 2\nuser-agent: *\ncrawl-delay: 60\ndisallow: /a";
    assert_eq!((delay(body, "mattock"), delay(body, "nobody")), (Some(2), Some(60)));
    // Agents that stand together share both.
    let body = "user-agent: slow\nuser-agent: mattock\nsitemap: /s\ncrawl-delay: 5\nnonsense\ncrawl-delay: 7";
    assert_eq!((delay(body, "slow"), delay(body, "mattock")), (Some(7), Some(7)));
}

#[test]
fn sitemaps_belong_to_no_group() {
    let body = "Sitemap: https://a.example/1.xml\nuser-agent: other\nSITEMAP:/2.xml\nsitemap:\ndisallow: /";
    assert_eq!(robots(body).sitemaps(), ["https://a.example/1.xml", "/2.xml"]);
}

#[test]
fn a_giant_file_is_cut_at_a_line_and_says_so() {
    let mut body = "user-agent: *\n".to_owned();
    while body.len() < BODY_BYTES_MAX - 12 {
        body.push_str("disallow: /xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
    }
    body.truncate(BODY_BYTES_MAX - 12);
    body.push_str("\nallow: /\n");
    assert!(!robots(&body).truncated());
    body.truncate(BODY_BYTES_MAX - 12);
    body.push_str("\ndisallow: /cut/here\ndisallow: /after");
    let cut = robots(&body);
    assert!(cut.truncated());
    assert!(cut.allows("/cut/here") && cut.allows("/c") && cut.allows("/after"));
    assert!(!cut.allows("/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
}

#[test]
fn a_rule_that_ends_with_what_is_read_counts() {
    let mut body = "user-agent: *\n".to_owned();
    let last = "disallow: /whole";
    body.push_str(&"#\n".repeat((BODY_BYTES_MAX - body.len() - last.len()) / 2));
    body.push_str(&" ".repeat(BODY_BYTES_MAX - body.len() - last.len()));
    body.push_str(last);
    assert_eq!(body.len(), BODY_BYTES_MAX);
    for (rest, counts) in [("", true), ("\n", true), ("\r\ndisallow: /after", true), ("/not\n", false)] {
        let read = robots(&format!("{body}{rest}"));
        assert_eq!(read.allows("/whole"), !counts, "{rest:?}");
        assert!(read.allows("/after"));
    }
}

#[test]
fn a_giant_line_forbids_what_it_began_to_forbid() {
    let long = "x".repeat(17_000);
    assert!(!allowed(&format!("user-agent: *\ndisallow: /{long}y$"), &format!("/{long}")));
    assert!(!allowed(&format!("user-agent: *\ndisallow: /\nallow: /{long}"), &format!("/{long}")));
}

#[test]
fn many_rules_keep_every_rule() {
    let mut body = "user-agent: *\n".to_owned();
    for i in 0..30_000 {
        body.push_str(&format!("disallow:/{i:x}$\n"));
    }
    let many = robots(&body);
    assert_eq!(many.rules_count(), 30_000);
    assert!(!many.allows("/0") && !many.allows("/752f") && many.allows("/7530"));
}

#[test]
fn other_bodies_are_harmless() {
    for body in [
        &b""[..],
        b"\0\0\0",
        b"<!doctype html><title>user-agent: *</title>\n<p>disallow: /",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf",
        b"\x1f\x8b\x08junk",
    ] {
        assert!(Robots::parse(body, "Mattock").allows("/"), "{body:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_parse_and_decide(body in proptest::collection::vec(any::<u8>(), 0..300), path in "\\PC{0,30}") {
        let robots = Robots::parse(&body, "Mattock");
        prop_assert_eq!(robots.allows(&path), robots.verdict(&path).allowed);
    }

    /// The sorted first match is the longest match, found the slow way over the rules as written.
    #[test]
    fn precedence_agrees_with_the_model(rules in proptest::collection::vec((any::<bool>(), "/[ab*]{0,5}\\$?"), 0..12), path in "/[ab]{0,8}") {
        let mut body = "user-agent: *\n".to_owned();
        let mut best: Option<(usize, bool)> = None;
        for (allow, pattern) in &rules {
            body.push_str(&format!("{}: {pattern}\n", if *allow { "allow" } else { "disallow" }));
            let (literal, anchored) = pattern.strip_suffix('$').map_or((pattern.as_str(), false), |literal| (literal, true));
            if matches(literal.as_bytes(), anchored, path.as_bytes()) {
                best = best.max(Some((pattern.len(), *allow)));
            }
        }
        prop_assert_eq!(robots(&body).allows(&path), best.is_none_or(|(_, allow)| allow));
    }
}

#[test]
fn rules_can_be_listed_in_the_order_in_which_they_decide() {
    let robots = Robots::parse(b"User-agent: *\nDisallow: /a\nAllow: /a/b$\nDisallow: /a/b\n", "mattock");
    let listed: Vec<(u32, String)> = robots.rules().map(|rule| (rule.line, rule.text)).collect();
    let expected = [(3, "allow: /a/b$"), (4, "disallow: /a/b"), (2, "disallow: /a")];
    assert_eq!(listed, expected.map(|(line, text)| (line, text.to_owned())));
    // The first that matches is the one that decides.
    assert_eq!(robots.verdict("/a/b").rule.map(|rule| rule.line), Some(3));
}
