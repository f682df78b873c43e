use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

/// A sequence of numbers that looks like chance.
fn mixed(number: u64) -> u64 {
    let number = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (number ^ (number >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (number >> 32)
}

#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    demoted: BTreeMap<Signal, u64>,
    refused: BTreeMap<Refusal, u64>,
}

impl Tally {
    fn of(traps: &mut Traps, urls: impl IntoIterator<Item = WebUrl>) -> Tally {
        let mut tally = Tally::default();
        for url in urls {
            match traps.judge(&url) {
                Verdict::Passed => tally.passed += 1,
                Verdict::Demoted(signal) => *tally.demoted.entry(signal).or_default() += 1,
                Verdict::Refused(refusal) => *tally.refused.entry(refusal).or_default() += 1,
            }
        }
        tally
    }

    fn lost(&self) -> f64 {
        share(self.refused.values().sum(), self)
    }

    fn sunk(&self) -> f64 {
        share(self.demoted.values().sum(), self)
    }
}

fn share(part: u64, tally: &Tally) -> f64 {
    let all = tally.passed + tally.demoted.values().sum::<u64>() + tally.refused.values().sum::<u64>();
    part as f64 / all as f64
}

#[test]
fn facets_sink_and_then_end() {
    // As in a shop where every page links to fifty other choices of three filters.
    let mut traps = Traps::new(Limits::default());
    let link = |number: u64| {
        let chance = mixed(number);
        let (colour, size, brand) = (chance % 97, chance / 97 % 89, chance / 97 / 89 % 83);
        url(&format!("http://a.com/shop?colour={colour}&size={size}&brand={brand}"))
    };
    let first = Tally::of(&mut traps, (0..3_000).map(link));
    assert!(first.passed < 1_000, "{first:?}");
    assert!(first.refused.is_empty() && first.demoted[&Signal::QueryExplosion] > 2_000, "{first:?}");
    let later = Tally::of(&mut traps, (10_000..20_000).map(link));
    assert_eq!(later.passed, 0);
    assert!(later.refused[&Refusal::QueryExplosion] > 5_000, "{later:?}");
}

#[test]
fn filters_that_are_all_names_sink_too() {
    let mut traps = Traps::new(Limits::default());
    let link = |number: u64| {
        let chance = mixed(number);
        let chosen = (0..30).filter(|bit| chance >> bit & 3 == 3).map(|bit| format!("f{bit}=1"));
        url(&format!("http://a.com/list?{}", chosen.collect::<Vec<_>>().join("&")))
    };
    let tally = Tally::of(&mut traps, (0..20_000).map(link));
    assert!(tally.lost() > 0.6 && tally.passed < 1_500, "{tally:?}");
}

#[test]
fn what_counts_things_passes() {
    let mut traps = Traps::new(Limits::default());
    let forum = (0..30_000u64).flat_map(|topic| {
        let pages = 1 + mixed(topic) % 4;
        (0..pages).map(move |page| {
            url(&format!("http://a.com/viewtopic.php?f={}&t={topic}&start={}", topic % 12, page * 20))
        })
    });
    let forum = Tally::of(&mut traps, forum);
    assert_eq!((forum.sunk(), forum.lost()), (0.0, 0.0), "{forum:?}");
    let wiki = (0..20_000u64).flat_map(|title| {
        ["view", "edit", "history"].map(|action| {
            url(&format!("http://a.com/index.php?title=T{title}&action={action}&lang={}", title % 5))
        })
    });
    assert_eq!(Tally::of(&mut traps, wiki).sunk(), 0.0);
    let plain = (0..20_000u64).map(|number| url(&format!("http://a.com/?{number}&x")));
    assert_eq!(Tally::of(&mut traps, plain).sunk(), 0.0);
}

#[test]
fn long_urls_are_refused() {
    let mut traps = Traps::new(Limits::default());
    let of_length = |length: usize| url(&format!("http://a.com/{}", "x".repeat(length - 13)));
    assert_eq!(traps.judge(&of_length(2_000)), Verdict::Passed);
    assert_eq!(traps.judge(&of_length(2_001)), Verdict::Refused(Refusal::UrlTooLong));
}

#[test]
fn paths_that_grow_end() {
    let mut traps = Traps::new(Limits::default());
    let mut page = url("http://a.com/a/");
    let mut steps = 0;
    while traps.judge(&page) == Verdict::Passed {
        page = page.join("a/").unwrap();
        steps += 1;
    }
    assert_eq!(steps, 2);
}

#[test]
fn a_refusal_outweighs_a_signal() {
    let mut traps = Traps::new(Limits { parameters_max: 1, ..Limits::for_year(2026) });
    let link = url("http://a.com/2099/01/?a=1&b=2");
    assert_eq!(traps.judge(&link), Verdict::Refused(Refusal::TooManyParameters));
    assert_eq!(traps.judge(&url("http://a.com/2099/01/?a=1")), Verdict::Demoted(Signal::FarDate));
}

proptest! {
    #[test]
    fn a_copy_from_bytes_judges_in_the_same_way(seed in any::<u64>(), before in 0u64..1_500) {
        let limits = || Limits { paths_max: 8, combinations_demoted: 50, combinations_refused: 400, ..Limits::default() };
        let link = |number: u64| {
            let chance = mixed(seed ^ number);
            let (path, a, b) = (chance % 12, chance / 12 % 40, chance / 480 % 40);
            url(&format!("http://a.com/{}?a={a}&b={b}", path.min(9)))
        };
        let mut traps = Traps::new(limits());
        for number in 0..before {
            traps.judge(&link(number));
        }
        let mut bytes = Vec::new();
        traps.encode(&mut bytes);
        let mut copy = Traps::decode(limits(), &bytes).unwrap();
        for number in before..before + 500 {
            prop_assert_eq!(copy.judge(&link(number)), traps.judge(&link(number)));
        }
    }

    #[test]
    fn bytes_that_are_anything_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Some(mut traps) = Traps::decode(Limits::default(), &bytes) {
            traps.judge(&url("http://a.com/?a=1&b=2"));
        }
    }
}

#[test]
fn memory_is_bounded_and_a_trap_outlives_the_crowd() {
    let limits = Limits { paths_max: 64, ..Limits::default() };
    let mut traps = Traps::new(limits);
    assert!(traps.bytes_max() <= 64 * 256, "{}", traps.bytes_max());
    let facet = |number: u64| {
        let chance = mixed(number);
        url(&format!("http://shop.com/?a={}&b={}&c={}", chance % 50, chance / 50 % 50, chance / 2500 % 50))
    };
    let mut tally = Tally::default();
    for number in 0..40_000 {
        // Ten other paths for every link into the trap.
        for other in 0..10 {
            traps.judge(&url(&format!("http://honest{}.com/{other}?x=1&y=2", mixed(number) % 5_000)));
        }
        match traps.judge(&facet(number)) {
            Verdict::Refused(refusal) => *tally.refused.entry(refusal).or_default() += 1,
            Verdict::Demoted(signal) => *tally.demoted.entry(signal).or_default() += 1,
            Verdict::Passed => tally.passed += 1,
        }
    }
    assert!(tally.lost() > 0.5 && tally.passed < 2_000, "{tally:?}");
}

/// Real URLs: of a university's site in 2004, and those that stand in articles of many sites.
fn corpus() -> Vec<WebUrl> {
    let conformance = std::env::var_os("MATTOCK_CONFORMANCE").map(PathBuf::from);
    let shared = match conformance.and_then(|path| path.parent().map(PathBuf::from)) {
        Some(shared) => shared,
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let mut texts = Vec::new();
    if let Some(site) = read(shared.join("data/hollins-webgraph/hollins.dat")) {
        texts.extend(site.split_ascii_whitespace().filter(|word| word.contains("://")).map(str::to_owned));
    }
    for page in pages(shared.join("html/readability/readability")) {
        let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        texts.extend(links.filter(|link| link.starts_with("http")).map(|link| link.replace("&amp;", "&")));
    }
    texts.sort_unstable();
    texts.dedup();
    texts.iter().filter_map(|text| WebUrl::parse(text).ok()).collect()
}

#[expect(clippy::disallowed_methods, reason = "a test reads its corpus where it lies")]
fn read(path: PathBuf) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "a test reads its corpus where it lies")]
fn pages(directory: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.path().join("source.html"))).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "says that there is no corpus")]
fn real_sites_lose_next_to_nothing() {
    let urls = corpus();
    if urls.len() < 1_000 {
        eprintln!("skipped: there is no corpus of URLs");
        return;
    }
    let count = urls.len();
    let mut refused = Vec::new();
    let mut traps = Traps::new(Limits::for_year(2026));
    let mut demoted = 0;
    for url in urls {
        match traps.judge(&url) {
            Verdict::Refused(reason) => refused.push((reason, url)),
            Verdict::Demoted(_) => demoted += 1,
            Verdict::Passed => {}
        }
    }
    assert!(refused.len() * 1_000 < count, "of {count}: {refused:?}");
    assert!(demoted * 100 < count, "of {count}: {demoted}");
}
