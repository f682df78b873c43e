//! Near-duplicates against a search through all pairs, mirrors, terms against sums by hand.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Builder, Content, Features, LinkSize, Shingleprint};
use mattock_graph::{
    DuplicateOptions, Duplicates, GraphError, Inlinks, MirrorOptions, Preference, TermSum, beside_clusters,
    duplicates, duplicates_within, mirrors, similar, sums_within,
};
use mattock_weburl::WebUrl;
use proptest::prelude::*;

const DIR: &str = "/features";

/// What a page says.
#[derive(Clone, Debug, Default)]
struct Page {
    url: String,
    sketch: Vec<u64>,
    terms: Vec<(String, u32)>,
}

fn built(pages: &[Page]) -> Features {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    let report = &mut |_| {};
    let mut builder = Builder::begin(
        &files,
        Path::new(DIR),
        &BuildOptions { memory: 1 << 22, ..BuildOptions::default() },
        report,
    )
    .unwrap();
    for page in pages {
        let url = WebUrl::parse(&page.url).unwrap();
        let terms: Vec<(&str, u32)> =
            page.terms.iter().map(|(term, count)| (term.as_str(), *count)).collect();
        builder.page(&url, []).unwrap();
        builder.content(&url, &Content { terms: &terms, sketch: &page.sketch }).unwrap();
    }
    builder.finish().unwrap();
    Features::open(&files, Path::new(DIR)).unwrap()
}

fn sketch(random: &mut Random) -> Vec<u64> {
    (0..64).map(|_| random.next_u64()).collect()
}

/// The same but for some places.
fn changed(random: &mut Random, sketch: &[u64], share: f64) -> Vec<u64> {
    let limit = (share * u64::MAX as f64) as u64;
    sketch.iter().map(|number| if random.next_u64() < limit { random.next_u64() } else { *number }).collect()
}

/// Some texts and variants of them.
fn pages(seed: u64, count: usize, texts: usize) -> Vec<Page> {
    let mut random = Random::from_seed(seed);
    let originals: Vec<Vec<u64>> = (0..texts).map(|_| sketch(&mut random)).collect();
    (0..count)
        .map(|number| {
            let original = &originals[random.next_u64() as usize % texts];
            let share = [0.0, 0.0, 0.05, 0.1, 0.2, 0.4][random.next_u64() as usize % 6];
            let path = "p".repeat(1 + random.next_u64() as usize % 3);
            let url = format!("http://h{}.com/{path}{number:04}", number % 7);
            Page { url, sketch: changed(&mut random, original, share), terms: Vec::new() }
        })
        .collect()
}

/// Links that some pages have: by chance, and many have equally many.
fn inlinks(page: u64) -> u64 {
    page * 7 % 3
}

fn find(features: &Features, options: &DuplicateOptions) -> Duplicates {
    let (shingles, urls) = (features.shingles().unwrap().unwrap(), features.urls().unwrap());
    let url_length = |page| Ok(urls.url(page)?.unwrap().len());
    let told = Cell::new(0.0);
    // Links are opened when the memory for comparing is free.
    let opened = || {
        assert!(told.get() > 0.999, "{}", told.get());
        Ok(Box::new(inlinks) as Inlinks)
    };
    let preference = Preference { inlinks: &opened, url_length: &url_length };
    let progress = &mut |share: f64| {
        assert!((told.get()..=1.0).contains(&share), "{share}");
        told.set(share);
        ControlFlow::Continue(())
    };
    let found = duplicates(&shingles, options, &preference, progress).unwrap().unwrap();
    assert!(told.get() > 0.999 || shingles.is_empty());
    found
}

/// Clusters by comparing all with all.
fn naive(features: &Features, threshold: f64) -> BTreeSet<BTreeSet<u64>> {
    let shingles = features.shingles().unwrap().unwrap();
    let prints: Vec<(u64, Shingleprint)> =
        shingles.scan(0..shingles.len()).collect::<Result<_, _>>().unwrap();
    let mut labels: Vec<usize> = (0..prints.len()).collect();
    for one in 0..prints.len() {
        for two in 0..one {
            let (first, second) = (&prints[one].1, &prints[two].1);
            let near = first.shared_super_shingles(second) >= 2 && first.resemblance(second) >= threshold;
            if near || first == second {
                let (from, to) = (labels[one], labels[two]);
                labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
            }
        }
    }
    let mut sets: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for (label, (page, _)) in labels.iter().zip(&prints) {
        sets.entry(*label).or_default().insert(*page);
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

fn check_clusters(features: &Features, found: &Duplicates) {
    let (shingles, urls) = (features.shingles().unwrap().unwrap(), features.urls().unwrap());
    for cluster in &found.clusters {
        let prints: BTreeSet<_> = cluster.pages.iter().map(|page| shingles.print(*page).unwrap()).collect();
        assert_eq!(cluster.distinct, prints.len() as u64);
        let rank = |page: &u64| {
            let length = urls.url(*page).unwrap().unwrap().len();
            (std::cmp::Reverse(inlinks(*page)), length, *page)
        };
        assert_eq!(cluster.representative, *cluster.pages.iter().min_by_key(|page| rank(page)).unwrap());
    }
    let sizes: Vec<usize> = found.clusters.iter().map(|cluster| cluster.pages.len()).collect();
    assert!(sizes.is_sorted_by(|one, two| one >= two));
    let counts = found.counts();
    assert_eq!(counts.pages, shingles.len());
    assert_eq!(counts.clustered, sizes.iter().sum::<usize>() as u64);
    assert_eq!(counts.redundant, counts.clustered - counts.clusters);
    assert!(counts.exact <= counts.redundant);
    let representatives = found.representatives();
    assert!(representatives.is_sorted() && representatives.len() as u64 == counts.clustered);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn clusters_are_what_is_connected(
        seed: u64,
        count in 0_usize..160,
        texts in 8_usize..40,
        threshold in prop_oneof![Just(0.5), Just(0.8), Just(0.9), Just(1.0)],
    ) {
        let features = built(&pages(seed, count.max(1), texts));
        let expected = naive(&features, threshold);
        for memory in [0, 1 << 15, 1 << 26] {
            let found = find(&features, &DuplicateOptions { threshold, memory });
            check_clusters(&features, &found);
            let sets: BTreeSet<BTreeSet<u64>> =
                found.clusters.iter().map(|cluster| cluster.pages.iter().copied().collect()).collect();
            prop_assert_eq!(&sets, &expected, "with {} bytes", memory);
        }
    }
}

#[test]
fn large_groups_are_found_in_one_go() {
    let mut random = Random::from_seed(5);
    let templates = [sketch(&mut random), sketch(&mut random)];
    let page = |number: usize| Page {
        url: format!("http://h.com/{number}"),
        sketch: changed(&mut random, &templates[number % 2], 0.03),
        terms: Vec::new(),
    };
    let features = built(&(0..3000).map(page).collect::<Vec<_>>());
    let found = find(&features, &DuplicateOptions::default());
    let sizes: Vec<usize> = found.clusters.iter().map(|cluster| cluster.pages.len()).collect();
    assert_eq!(sizes, [1500, 1500]);
    check_clusters(&features, &found);
}

#[test]
fn a_search_can_be_stopped() {
    let features = built(&pages(1, 50, 9));
    let shingles = features.shingles().unwrap().unwrap();
    let preference = Preference { inlinks: &|| Ok(Box::new(inlinks)), url_length: &|_| Ok(0) };
    let options = DuplicateOptions::default();
    let found = duplicates(&shingles, &options, &preference, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(found, None);
}

#[test]
fn what_does_not_fit_is_known_beforehand() {
    // 52 bytes a page: those of clusters of two, and who stands for whom; or the clusters and the links.
    let links = LinkSize { nodes: 1500, arcs: 3000, bits: 8000 };
    let of = |pages, links, memory| {
        duplicates_within(pages, links, memory).map_err(|error| match error {
            GraphError::Memory { needed, .. } => needed,
            other => panic!("{other}"),
        })
    };
    assert_eq!((of(1000, links, 52_000), of(1000, links, 51_999)), (Ok(()), Err(52_000)));
    let many = LinkSize { bits: 800_000, ..links };
    let needed = 1000 * 36 + 100_000 + 2 * 3000;
    assert_eq!((of(1000, many, needed), of(1000, many, needed - 1)), (Ok(()), Err(needed)));
    assert!(duplicates_within(1 << 32, links, u64::MAX).is_err());
    assert_eq!((beside_clusters(1000, 60_000), beside_clusters(1000, 100)), (8000, 0));

    assert_eq!(sums_within(2, 1000, 24_000), Ok(()));
    let error = sums_within(2, 1000, 23_999).unwrap_err();
    assert_eq!(error, GraphError::Terms { terms: 1000, needed: 24_000, memory: 23_999 });
    assert!(error.to_string().ends_with("say --memory 1MiB"), "{error}");
}

/// Hosts with some pages each, by path and text.
fn sites(sites: &[(&str, &[(&str, u64)])]) -> Vec<Page> {
    let page = |host: &str, (path, text): &(&str, u64)| Page {
        url: format!("{host}{path}"),
        sketch: sketch(&mut Random::from_seed(*text)),
        terms: Vec::new(),
    };
    sites.iter().flat_map(|(host, pages)| pages.iter().map(move |path| page(host, path))).collect()
}

fn mirrored(pages: &[Page]) -> Vec<(String, String, [u64; 4], f64)> {
    let features = built(pages);
    let (shingles, urls) = (features.shingles().unwrap().unwrap(), features.urls().unwrap());
    let (hosts, found) = (features.hosts().unwrap(), find(&features, &DuplicateOptions::default()));
    let name = |host: u64| hosts.host(host).unwrap();
    let [much, little] = [1 << 30, 0].map(|memory| {
        let options = MirrorOptions { memory, ..MirrorOptions::default() };
        mirrors(&urls, &hosts, &shingles, &found, &options).unwrap()
    });
    assert_eq!(much, little);
    much.into_iter()
        .map(|mirror| {
            let counts = [mirror.pages_one, mirror.pages_two, mirror.common, mirror.same];
            (name(mirror.one), name(mirror.two), counts, mirror.score)
        })
        .collect()
}

#[test]
fn hosts_with_the_same_pages_are_mirrors() {
    let pages = sites(&[
        ("http://a.com", &[("/", 1), ("/x", 2), ("/y?q", 3), ("/z", 4)]),
        // All but one page, and one that is not there.
        ("http://b.org", &[("/", 1), ("/x", 2), ("/y?q", 3), ("/z", 9), ("/other", 8)]),
        // The same paths with other texts.
        ("http://c.com", &[("/", 11), ("/x", 12), ("/y?q", 13), ("/z", 14)]),
        // The same texts at other paths.
        ("http://d.com", &[("/1", 1), ("/2", 2), ("/3", 3), ("/4", 4)]),
        // One page of many.
        ("http://e.com", &[("/", 1), ("/p", 21), ("/q", 22), ("/r", 23)]),
        // The first again, with a port.
        ("https://a.com:8443", &[("/", 1), ("/x", 2), ("/y?q", 3)]),
        // Too few pages to tell.
        ("http://f.com", &[("/", 1), ("/x", 2)]),
    ]);
    let found = mirrored(&pages);
    let [a, b, port] = ["http://a.com", "http://b.org", "https://a.com:8443"].map(str::to_owned);
    assert_eq!(
        found,
        [
            (a.clone(), port.clone(), [4, 3, 3, 3], 1.0),
            (port, b.clone(), [3, 5, 3, 3], 1.0),
            (a, b, [4, 5, 4, 3], 0.75),
        ]
    );
}

#[test]
fn many_mirrors_are_told_as_a_chain() {
    let names: Vec<String> = (0..40).map(|number| format!("http://m{number:02}.com")).collect();
    let host = |name| (name, &[("/a", 1_u64), ("/b", 2), ("/c", 3)][..]);
    let found = mirrored(&sites(&names.iter().map(|name| host(name.as_str())).collect::<Vec<_>>()));
    let expected: Vec<(String, String)> =
        names.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    assert_eq!(found.into_iter().map(|(one, two, ..)| (one, two)).collect::<Vec<_>>(), expected);
}

#[test]
fn terms_of_a_set_are_means_of_unit_vectors() {
    let mut random = Random::from_seed(3);
    let pages: Vec<Page> = (0..300)
        .map(|number| {
            let mut term =
                || (format!("t{}", random.next_u64() % 60 * (random.next_u64() % 3)), 1 + number % 4);
            let terms = (0..20).map(|_| term()).collect::<BTreeMap<_, _>>().into_iter().collect();
            Page { url: format!("http://h{}.com/{number}", number % 5), sketch: Vec::new(), terms }
        })
        .collect();
    let features = built(&pages);
    let (terms, hosts) = (features.terms().unwrap().unwrap(), features.hosts().unwrap());
    let mut whole: BTreeMap<u32, f64> = BTreeMap::new();
    let mut of_host: BTreeMap<u32, f64> = BTreeMap::new();
    let ids = hosts.ids_of_host(2).unwrap();
    let mut cosines = Vec::new();
    let first = terms.vector(ids.start).unwrap().unwrap();
    for page in terms.scan(0..terms.len()) {
        let (id, vector) = page.unwrap();
        for (term, weight) in vector.unit() {
            *whole.entry(term).or_default() += weight / 300.0;
            if ids.contains(&id) {
                *of_host.entry(term).or_default() += weight / 60.0;
            }
        }
        cosines.push((id, first.cosine(&vector)));
    }
    let sum = TermSum::of_places(&terms, terms.places(ids.clone())).unwrap();
    assert_eq!((sum.pages(), TermSum::of_pages(&terms, ids.clone()).unwrap().best(9)), (60, sum.best(9)));
    let best = sum.best(1000);
    assert!(best.is_sorted_by(|one, two| one.weight >= two.weight) && best.len() == of_host.len());
    assert!(best.iter().all(|telling| (telling.weight - of_host[&telling.term]).abs() < 1e-9));
    let all = TermSum::of_places(&terms, 0..terms.len()).unwrap();
    for telling in sum.against(&all, 1000) {
        let expected = of_host[&telling.term] - whole[&telling.term];
        assert!((telling.weight - expected).abs() < 1e-9);
    }

    cosines.retain(|(id, cosine)| *id != ids.start && *cosine > 0.0);
    cosines.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
    for threads in [1, 3] {
        let found = similar(&terms, &first, Some(ids.start), 25, threads).unwrap();
        let found: Vec<(u64, f64)> =
            found.into_iter().map(|similar| (similar.page, similar.cosine)).collect();
        assert_eq!(found, cosines[..25]);
    }
}
