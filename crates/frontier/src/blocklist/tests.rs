use super::*;
use proptest::prelude::*;

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

const FILE: &str = "\
# what the tests block
farm.com
domain news.example.org
host www.single.com     # not the others
host https://port.com:8443

address 192.0.2.0/24
url http://*/calendar/*
url regex:[?&]session=\\d{6,}
";

#[test]
fn every_kind_of_entry_blocks_for_its_reason() {
    let blocks = Blocks::parse(FILE).unwrap();
    assert_eq!(blocks.len(), 7);
    for (text, refusal) in [
        ("http://farm.com/", Some(Refusal::BlockedDomain)),
        ("https://a.b.farm.com:99/x", Some(Refusal::BlockedDomain)),
        ("http://notfarm.com/", None),
        ("http://farm.com.net/", None),
        ("http://news.example.org/", Some(Refusal::BlockedDomain)),
        ("http://old.news.example.org/", Some(Refusal::BlockedDomain)),
        ("http://example.org/", None),
        ("http://www.single.com:81/", Some(Refusal::BlockedHost)),
        ("http://single.com/", None),
        ("http://a.www.single.com/", None),
        ("https://port.com:8443/", Some(Refusal::BlockedHost)),
        ("https://port.com/", None),
        ("http://any.org/calendar/1", Some(Refusal::BlockedUrl)),
        ("https://any.org/calendar/1", None),
        ("http://any.org/?session=123456", Some(Refusal::BlockedUrl)),
        ("http://any.org/?session=12345", None),
        ("http://192.0.2.9/", Some(Refusal::BlockedAddress)),
        ("http://192.0.3.9/", None),
    ] {
        assert_eq!(blocks.refuses(&url(text)), refusal, "{text}");
    }
    assert_eq!(blocks.refuses_address("192.0.2.1".parse().unwrap()), Some(Refusal::BlockedAddress));
    assert_eq!(blocks.refuses_address("192.0.1.1".parse().unwrap()), None);
}

#[test]
fn a_wrong_line_is_named_by_its_number() {
    for (text, line) in [("a.com\n\nhost", 3), ("# x\naddress 1.2.3\n", 2), ("url regex:(", 1)] {
        let error = Blocks::parse(text).unwrap_err();
        assert!(matches!(error, RuleError::Line { line: found, .. } if found == line), "{error}");
        assert!(error.to_string().starts_with(&format!("line {line}: ")), "{error}");
    }
}

#[test]
fn changes_are_in_force_for_all_readers_at_once() {
    let list = Blocklist::default();
    let mut reader = list.reader();
    let page = url("http://www.a.com/x");
    assert_eq!(reader.current().refuses(&page), None);
    let before = list.snapshot();
    let operator = list.clone();
    std::thread::spawn(move || assert_eq!(operator.block("domain a.com"), Ok(true))).join().unwrap();
    assert_eq!(reader.current().refuses(&page), Some(Refusal::BlockedDomain));
    assert_eq!(before.refuses(&page), None, "a snapshot stays what it was");
    assert_eq!(list.block("a.com"), Ok(false), "the same entry in other words");
    assert_eq!(list.unblock("host a.com"), Ok(false), "another entry");
    assert_eq!(list.unblock("a.com"), Ok(true));
    assert_eq!(reader.current().refuses(&page), None);
    assert!(list.block("url regex:(").is_err());
    assert!(list.snapshot().is_empty(), "a wrong entry changes nothing");
    list.replace(Blocks::parse(FILE).unwrap());
    assert_eq!(reader.current().len(), 7);
}

const ENTRIES: [&str; 10] = [
    "a.com",
    "b.a.com",
    "host a.com",
    "host http://b.a.com",
    "address 10.0.0.0/8",
    "address 10.0.0.0/9",
    "url *x*",
    "url regex:/y$",
    "com",
    "host c.com",
];

/// What an entry means, said in the plainest way.
fn naive(entry: &str, url: &WebUrl) -> bool {
    let name = url.host_name();
    match entry {
        "host http://b.a.com" => url.host() == "http://b.a.com",
        "address 10.0.0.0/8" => name.starts_with("10."),
        "address 10.0.0.0/9" => name == "10.0.0.1",
        "url *x*" => url.as_str().contains('x'),
        "url regex:/y$" => url.as_str().ends_with("/y"),
        _ => match entry.strip_prefix("host ") {
            Some(host) => name == host,
            None => name == entry || name.ends_with(&format!(".{entry}")),
        },
    }
}

proptest! {
    #[test]
    fn calls_and_files_agree_with_a_plain_list(
        changes in proptest::collection::vec((0..ENTRIES.len(), any::<bool>()), 0..20),
    ) {
        let list = Blocklist::default();
        let mut reader = list.reader();
        let mut model = BTreeSet::new();
        for (at, present) in changes {
            let entry = ENTRIES[at];
            let changed = if present { list.block(entry) } else { list.unblock(entry) };
            prop_assert_eq!(changed, Ok(if present { model.insert(entry) } else { model.remove(entry) }));
        }
        let text = model.iter().copied().collect::<Vec<_>>().join("\n");
        let read = Blocks::parse(&text).unwrap();
        prop_assert_eq!((read.len(), reader.current().len()), (model.len(), model.len()));
        for text in [
            "http://a.com/", "http://b.a.com/y", "https://b.a.com/", "http://c.com/x", "http://d.org/y",
            "http://10.0.0.1/", "http://10.200.0.1/", "http://11.0.0.1/", "http://ba.com/",
        ] {
            let url = url(text);
            let blocked = model.iter().any(|entry| naive(entry, &url));
            prop_assert_eq!(reader.current().refuses(&url).is_some(), blocked, "{}", text);
            prop_assert_eq!(read.refuses(&url), reader.current().refuses(&url));
        }
    }
}

#[test]
fn a_million_domains_fit_in_nine_megabytes() {
    let prints = (0..1_000_000u64).map(|number| Fingerprint::of(&format!("farm{number}.com")).0).collect();
    let mut lists = Lists { domains: prints, ..Lists::default() };
    lists.add(Entry::parse("extra.com").unwrap().unwrap());
    let blocks = lists.build().unwrap();
    assert_eq!(blocks.len(), 1_000_001);
    assert!(blocks.domains.bytes() < 9_000_000, "{}", blocks.domains.bytes());
    for number in (0..1_000_000).step_by(1_001) {
        assert!(blocks.refuses(&url(&format!("http://www.farm{number}.com/"))).is_some());
        assert!(blocks.refuses(&url(&format!("http://www.honest{number}.com/"))).is_none());
    }
}
