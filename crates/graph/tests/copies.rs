//! Copies in the simulated Web: what is found is what the world knows.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;

use mattock_analyze::{Document, Value, built_in};
use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Builder, Content, DESIGN_RESEMBLANCE, Features};
use mattock_graph::{
    Cluster, DuplicateOptions, Duplicates, MirrorOptions, Preference, duplicates, mirrors, similar,
};
use mattock_simweb::{Behaviour, Params, Preset, Request, Resolution, World};
use mattock_weburl::WebUrl;

/// Every page with text that links lead to, whatever robots.txt says.
fn pages(world: &World) -> BTreeMap<String, (String, Vec<u8>)> {
    let mut seen: BTreeSet<String> = world.seeds().into_iter().collect();
    let mut waiting: VecDeque<String> = seen.iter().cloned().collect();
    let mut found = BTreeMap::new();
    while let Some(url) = waiting.pop_front() {
        let parsed = WebUrl::parse(&url).unwrap();
        let mut body = Vec::new();
        let request = Request {
            host: parsed.host_name(),
            path_and_query: parsed.path_and_query(),
            ..Request::default()
        };
        let Resolution::Address(_) = world.resolve(parsed.host_name()) else { continue };
        let answer = world.answer(&request, 0, &mut body);
        if answer.behaviour == Behaviour::Respond && answer.status == 200 && world.text_of(&url).is_some() {
            found.insert(url.clone(), (answer.content_type.to_owned(), body));
        }
        waiting.extend(world.links(&url, 0).into_iter().filter(|link| seen.insert(link.clone())));
    }
    found
}

/// All shingles of a text, as hashes.
fn shingles(text: &str) -> HashSet<u64> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let hash = |shingle: &[String]| {
        let mut hasher = DefaultHasher::new();
        shingle.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(8.min(words.len().max(1))).map(hash).collect()
}

/// A world's pages as features, and their whole shingle sets.
struct Studied {
    world: World,
    features: Features,
    texts: BTreeMap<u64, HashSet<u64>>,
    /// As the pages themselves say.
    languages: BTreeMap<u64, String>,
}

impl Studied {
    fn new(params: Params, seed: u64) -> Studied {
        let world = World::new(params, seed);
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let (dir, report) = (Path::new("/features"), &mut |_| {});
        let mut builder =
            Builder::begin(&files, dir, &BuildOptions { memory: 1 << 24, ..BuildOptions::default() }, report)
                .unwrap();
        let analyzers = ["term_counts", "shingles", "text"].map(|name| built_in(name).unwrap());
        let (mut sets, mut said) = (BTreeMap::new(), BTreeMap::new());
        for (url, (content_type, body)) in pages(&world) {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
            let document = Document::new(&url, 0, 200, head.as_bytes(), &body, false);
            let values = analyzers.clone().map(|analyzer| analyzer.analyze(&document).unwrap());
            let [Value::TextList(terms), Value::IntegerList(sketch), Value::Text(text)] = values else {
                panic!("{url} has no text")
            };
            let terms: Vec<(&str, u32)> = terms
                .iter()
                .map(|term| {
                    term.rsplit_once(':').map(|(term, count)| (term, count.parse().unwrap())).unwrap()
                })
                .collect();
            let sketch: Vec<u64> = sketch.into_iter().map(i64::cast_unsigned).collect();
            let page = WebUrl::parse(&url).unwrap();
            let links: Vec<WebUrl> =
                world.links(&url, 0).iter().map(|link| WebUrl::parse(link).unwrap()).collect();
            builder.page(&page, &links).unwrap();
            builder.content(&page, &Content { terms: &terms, sketch: &sketch }).unwrap();
            let html = String::from_utf8_lossy(&body);
            let language = html.split_once("lang=\"").and_then(|(_, rest)| rest.split_once('"'));
            said.extend(language.map(|(language, _)| (url.clone(), language.to_owned())));
            sets.insert(url, shingles(&text));
        }
        builder.finish().unwrap();
        let features = Features::open(&files, dir).unwrap();
        let urls = features.urls().unwrap();
        let id = |url: &String| urls.id(&WebUrl::parse(url).unwrap()).unwrap().unwrap();
        let texts = sets.into_iter().map(|(url, set)| (id(&url), set)).collect();
        let languages = said.into_iter().map(|(url, language)| (id(&url), language)).collect();
        Studied { world, features, texts, languages }
    }

    fn duplicates(&self) -> Duplicates {
        let shingles = self.features.shingles().unwrap().unwrap();
        let preference = Preference { inlinks: &|| Ok(Box::new(|_| 0)), url_length: &|_| Ok(0) };
        let options = DuplicateOptions::default();
        duplicates(&shingles, &options, &preference, &mut |_| ControlFlow::Continue(())).unwrap().unwrap()
    }

    /// The number that the world has for a page's text.
    fn text_of(&self, page: u64) -> u64 {
        let url = self.features.urls().unwrap().url(page).unwrap().unwrap();
        self.world.text_of(&url).unwrap()
    }

    /// The share of all shingles of two pages that both have.
    fn resemblance(&self, one: u64, two: u64) -> f64 {
        let (one, two) = (&self.texts[&one], &self.texts[&two]);
        let common = one.intersection(two).count();
        common as f64 / (one.len() + two.len() - common) as f64
    }

    /// Pairs of pages that show the same text, by the world's word.
    fn copies(&self) -> Vec<(u64, u64)> {
        let mut by_text: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for page in self.texts.keys() {
            by_text.entry(self.text_of(*page)).or_default().push(*page);
        }
        by_text.values().flat_map(|pages| pairs(pages)).collect()
    }
}

fn pairs(pages: &[u64]) -> Vec<(u64, u64)> {
    let later = |at: usize| pages[at + 1..].iter().copied();
    pages.iter().enumerate().flat_map(|(at, one)| later(at).map(move |two| (*one, two))).collect()
}

/// Precision and recall of pairs, at the design threshold.
///
/// True pairs are those that show the same text by the world's word and have the resemblance that prints are designed for.
/// Found ones are those of a cluster; one is wrong if the world knows nothing of it.
fn judge(studied: &Studied) -> (f64, f64, usize) {
    let copies: BTreeSet<(u64, u64)> = studied.copies().into_iter().collect();
    let wanted: Vec<&(u64, u64)> =
        copies.iter().filter(|(one, two)| studied.resemblance(*one, *two) >= DESIGN_RESEMBLANCE).collect();
    let clusters = studied.duplicates().clusters;
    let found: BTreeSet<(u64, u64)> =
        clusters.iter().flat_map(|Cluster { pages, .. }| pairs(pages)).collect();
    let right = found.iter().filter(|pair| copies.contains(pair)).count() as f64;
    let recalled = wanted.iter().filter(|pair| found.contains(pair)).count() as f64;
    (right / found.len() as f64, recalled / wanted.len() as f64, wanted.len())
}

/// A world with many copies and no farms.
fn small(links_per_page: f64) -> Params {
    Params {
        domains: 16,
        pages_max: 150,
        near_duplicates: 0.4,
        links_per_page,
        farms: 0,
        ..Params::preset(Preset::Small)
    }
}

#[test]
fn near_duplicates_are_those_of_the_world() {
    // With few links the texts are nearly the same, with many some are and others are less so.
    for (links_per_page, seed) in [(4.0, 1), (20.0, 2), (40.0, 3)] {
        let studied = Studied::new(small(links_per_page), seed);
        let (precision, recall, wanted) = judge(&studied);
        let told =
            format!("{links_per_page} links: precision {precision}, recall {recall} of {wanted} pairs");
        assert!(precision >= 0.95 && recall >= 0.95 && wanted > 80, "{told}");
    }
}

#[test]
fn mirrors_are_those_of_the_world() {
    let params = Params {
        mirror_hosts: 0.5,
        hosts_exponent: 1.2,
        pages_max: 30,
        page_bytes: 4_000,
        domains: 24,
        ..small(4.0)
    };
    let studied = Studied::new(params, 5);
    let (urls, hosts) = (studied.features.urls().unwrap(), studied.features.hosts().unwrap());
    let shingles = studied.features.shingles().unwrap().unwrap();
    let options = MirrorOptions::default();
    let name = |host: u64| hosts.host(host).unwrap().strip_prefix("http://").unwrap().to_owned();
    let mut by_original: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for host in 0..hosts.len() {
        let places = shingles.places(hosts.ids_of_host(host).unwrap());
        if places.end - places.start >= options.pages_min {
            by_original.entry(studied.world.original_of(&name(host)).unwrap()).or_default().push(host);
        }
    }
    let expected: BTreeSet<(u64, u64)> = by_original.values().flat_map(|hosts| pairs(hosts)).collect();
    assert!(expected.len() > 10, "{}", expected.len());
    let found = mirrors(&urls, &hosts, &shingles, &studied.duplicates(), &options).unwrap();
    let found: BTreeSet<(u64, u64)> = found.iter().map(|mirror| (mirror.one, mirror.two)).collect();
    assert_eq!(found, expected);
}

#[test]
fn pages_like_a_page_are_in_its_language() {
    let studied = Studied::new(small(20.0), 7);
    let terms = studied.features.terms().unwrap().unwrap();
    let languages = &studied.languages;
    assert!(languages.values().collect::<BTreeSet<_>>().len() > 3);
    let (mut same, mut all) = (0, 0);
    for page in terms.scan(0..terms.len()).step_by(47) {
        let (id, vector) = page.unwrap();
        for other in similar(&terms, &vector, Some(id), 5, 1).unwrap() {
            same += usize::from(languages.get(&other.page) == languages.get(&id));
            all += 1;
        }
    }
    assert!(all > 50 && same * 100 >= all * 95, "{same} of {all}");
}
