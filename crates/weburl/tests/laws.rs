//! Laws over generated texts: canonical is canonical, the fast path is the slow path, the parts make the whole.

use mattock_weburl::{Base, Canonicalizer, Fingerprint, WebUrl, domain_of};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};

/// A fixed seed: a run repeats. To look further, change it and raise the cases.
fn config() -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1);
    ProptestConfig { failure_persistence: None, cases: 6000, rng_seed, ..ProptestConfig::default() }
}

/// Pieces of paths and queries that mean something to some rule, some of them only together.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "/", "/", "/", "//", ".", "..", "/./", "/../", "%2e", "%2E", "/%2e%2E", "\\", "a", "b", "index.html",
    "Z", "9", "4", "1", "%", "%%", "%2", "%41", "%34", "%31", "%6", "%6%65",
    "%7e", "%7E", "%2f", "%2F", "%c3%bc", "%C3%BC", "%25",
    "%zz", ";", ";v=1", ";jsessionid=", ";JSessionID=4F", ";%6asessionid=1", "jsessionid", "?", "?", "&",
    "&", "=", "#", "PHPSESSID=1", "phpsessid", "sid=0123456789abcdef0123456789abcdef", "sid=7",
    "ASPSESSIONIDX=1", "CFID=1", "CFTOKEN=2", "osCsid=3", "zenid=", "utm_source=x", "%50HPSESSID=1",
    "page=2", "sort", "category=c", "^", "|", "[", "]", "{", "}", "`", "'", "\"", "<", ">", " ", "\t",
    "\n", "\0", "\u{7f}", "\u{fc}", "\u{2028}", "\u{1f600}", "+", "~", "_", "-", "!", "$", "(", ")", "*",
    ",", ":", "@", ":8", "://",
];

/// Labels of hosts, good and bad.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "example", "www", "com", "co", "uk", "Example", "a-b", "_x", "x", "1", "0x7f", "127", "256", "09",
    "xn--bcher-kva", "xn--a", "xn--", "b\u{fc}cher", "\u{3002}", "%41", "%2e", "", "", "-", "--", "ab--c",
    "*", "a,b", "a)b", "\u{ad}", "\u{df}", "github", "io", "kawasaki", "jp",
];

/// How references begin.
#[rustfmt::skip]
const STARTS: &[&str] = &[
    "", "", "/", "/", "//", "///", "/\\", "?", "#", "./", "../", "../../", ".", "..", "./.", "../x",
    "page.html", "a/b", "a:b", "1:b", "mailto:", "javascript:", "http:", "https:", "http:/", " ", "\n",
    "x:", ":", "~", ";", "&", "..;jsessionid=1",
];

fn tail() -> impl Strategy<Value = String> {
    let piece = select(PIECES);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn authority() -> impl Strategy<Value = String> {
    let label = select(LABELS);
    let user = select(vec!["", "", "", "", "", "user@", "u:p@", "@", "a:b@c@"]);
    let host = prop_oneof![
        8 => prop::collection::vec(label, 1..5).prop_map(|labels| labels.join(".")),
        4 => select(vec!["example.com", "www.example.co.uk", "a.b.c.example.org"]).prop_map(str::to_owned),
        1 => select(vec!["[::1]", "[2001:DB8::0:1]", "[::ffff:1.2.3.4]", "[1]", "1.2.3.4", "1.2.3.4.", "1.2.3.4..", "0x7f.1.."])
            .prop_map(str::to_owned),
    ];
    let end = select(vec![
        "", "", "", "", ".", "..", ":", ":80", ":443", ":8080", ":080", ":0", ":65535", ":65536", ":x",
    ]);
    (user, host, end).prop_map(|(user, host, end)| format!("{user}{host}{end}"))
}

fn absolute() -> impl Strategy<Value = String> {
    let scheme = select(vec![
        "http://",
        "http://",
        "http://",
        "https://",
        "https://",
        "https://",
        "HTTP://",
        "http:/",
        "http:",
        "https:///",
        " http://",
        "http:\\\\",
        "ht\ntp://",
        "ftp://",
        "//",
        "",
    ]);
    (scheme, authority(), select(vec!["/", "/", "/", "?", "#", "", "\\"]), tail())
        .prop_map(|(scheme, authority, slash, tail)| format!("{scheme}{authority}{slash}{tail}"))
}

fn reference() -> impl Strategy<Value = String> {
    let start = select(STARTS);
    prop_oneof![
        6 => (start, tail()).prop_map(|(start, tail)| format!("{start}{tail}")),
        1 => authority().prop_map(|authority| format!("//{authority}/x")),
        2 => absolute(),
    ]
}

fn rules() -> impl Strategy<Value = Canonicalizer> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(short, trackers, own)| {
        let mut rules = Canonicalizer::default();
        if own {
            rules = rules.session_parameters(["sort", "p*", "sid+page"]).expect("patterns");
        }
        rules.strip_trackers(trackers).length_max(if short { 40 } else { 2048 })
    })
}

/// Everything that the accessors say: equality of URLs looks at the text only.
fn parts(url: &WebUrl) -> impl PartialEq + std::fmt::Debug + use<> {
    let (text, name) = (url.as_str().to_owned(), url.host_name().to_owned());
    let (path, query) = (url.path().to_owned(), url.query().map(str::to_owned));
    (
        text,
        url.scheme(),
        name,
        url.port(),
        url.authority().to_owned(),
        path,
        query,
        url.domain().to_owned(),
        url.ip(),
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn canonicalising_twice_changes_nothing(text in absolute(), rules in rules()) {
        if let Ok(url) = rules.parse(&text) {
            let again = rules.parse(url.as_str());
            prop_assert_eq!(again.as_ref().map(parts), Ok(parts(&url)));
            let again = rules.parse_without_scan(url.as_str());
            prop_assert_eq!(again.as_ref().map(parts), Ok(parts(&url)));
        }
    }

    #[test]
    fn the_fast_path_is_the_slow_path(text in absolute(), rules in rules()) {
        let (fast, slow) = (rules.parse(&text), rules.parse_without_scan(&text));
        prop_assert_eq!(fast.as_ref().map(parts), slow.as_ref().map(parts));
    }

    #[test]
    fn the_fast_join_is_the_slow_join(base in absolute(), reference in reference(), rules in rules()) {
        let Ok(base) = rules.parse(&base) else { return Ok(()) };
        let fast = rules.join(&base, &reference);
        let slow = Base::new(&base).join_without_scan(&reference, &rules);
        prop_assert_eq!(fast.as_ref().ok().map(parts), slow.as_ref().ok().map(parts));
        prop_assert_eq!(Base::new(&base).join_with(&reference, &rules), fast.clone());
        if let Ok(url) = fast {
            let again = rules.parse(url.as_str());
            prop_assert_eq!(again.as_ref().map(parts), Ok(parts(&url)));
            prop_assert_eq!(base.join(url.as_str()).map(|url| url.as_str().len() <= 2048), Ok(true));
        }
    }

    #[test]
    fn any_text_at_all(text in "\\PC*", base in absolute()) {
        for text in [text.clone(), format!("http://{text}"), format!("http://a.b/{text}"), format!("https://a.b/?{text}")] {
            let (fast, slow) = (WebUrl::parse(&text), Canonicalizer::standard().parse_without_scan(&text));
            prop_assert_eq!(fast.as_ref().map(parts), slow.as_ref().map(parts));
            if let Ok(url) = fast {
                let again = WebUrl::parse(url.as_str());
                prop_assert_eq!(again.as_ref().map(parts), Ok(parts(&url)));
            }
        }
        if let Ok(base) = WebUrl::parse(&base) {
            let slow = Base::new(&base).join_without_scan(&text, Canonicalizer::standard());
            prop_assert_eq!(base.join(&text).ok(), slow.ok());
        }
    }

    #[test]
    fn the_parts_make_the_whole(text in absolute()) {
        let Ok(url) = WebUrl::parse(&text) else { return Ok(()) };
        prop_assert!(url.as_str().is_ascii());
        prop_assert_eq!(format!("{}://{}", url.scheme(), url.authority()), url.host());
        prop_assert_eq!(format!("{}{}", url.host(), url.path_and_query()), url.as_str());
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        prop_assert_eq!(format!("{}{query}", url.path()), url.path_and_query());
        prop_assert!(!query.is_empty() || url.query().is_none());
        prop_assert!(url.path().starts_with('/'));
        prop_assert!(url.host_name().ends_with(url.domain()));
        prop_assert_eq!(url.domain(), domain_of(url.host_name()));
        let port = match url.port() == url.scheme().default_port() {
            true => String::new(),
            false => format!(":{}", url.port()),
        };
        prop_assert_eq!(format!("{}{port}", url.host_name()), url.authority());
        prop_assert!(!url.as_str().contains('#') && !url.host_name().ends_with('.'));
        prop_assert_eq!(url.fingerprint(), Fingerprint::of(url.as_str()));
        let url_parser = url::Url::parse(url.as_str()).expect("a URL");
        prop_assert_eq!(url_parser.as_str(), url.as_str());
        prop_assert_eq!(url_parser.port_or_known_default(), Some(url.port()));
    }
}
