//! A simulated Web, of which it is known who links to whom: databases and algorithms must say what the world says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Builder, Direction, Features, Grain};
use mattock_graph::{Csr, Form, Held, NodeBytes, form_within, stats, strong_components, weak_components};
use mattock_simweb::{Params, Preset, Truth, World};
use mattock_weburl::WebUrl;

/// What an obedient crawler fetches of a world, with the links that it takes from each page.
pub(crate) struct Crawled {
    pub(crate) truth: Truth,
    pub(crate) links: BTreeMap<String, BTreeSet<String>>,
}

impl Crawled {
    pub(crate) fn tiny(seed: u64) -> Crawled {
        let world = World::new(Params::preset(Preset::Tiny), seed);
        let truth = world.truth(1_000_000).unwrap();
        let fetched = truth.pages.iter().chain(&truth.failures);
        let links = fetched.map(|url| (url.clone(), world.links(url, 0).into_iter().collect())).collect();
        Crawled { truth, links }
    }

    pub(crate) fn features(&self) -> Features {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let (dir, report) = (Path::new("/features"), &mut |_| {});
        let mut builder =
            Builder::begin(&files, dir, &BuildOptions { memory: 1 << 20, ..BuildOptions::default() }, report)
                .unwrap();
        for (page, links) in &self.links {
            let links: Vec<WebUrl> = links.iter().map(|link| WebUrl::parse(link).unwrap()).collect();
            builder.page(&WebUrl::parse(page).unwrap(), &links).unwrap();
        }
        builder.finish().unwrap();
        Features::open(&files, dir).unwrap()
    }

    /// Everything that was fetched or is linked to.
    fn urls(&self) -> BTreeSet<&str> {
        self.links.iter().flat_map(|(page, links)| links.iter().chain([page])).map(String::as_str).collect()
    }
}

/// What is reached from a URL without leaving a set.
fn reach<'a>(
    graph: &BTreeMap<&'a str, Vec<&'a str>>,
    start: &'a str,
    inside: &BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let (mut found, mut waiting) = (BTreeSet::from([start]), vec![start]);
    while let Some(url) = waiting.pop() {
        for next in graph.get(url).into_iter().flatten() {
            if inside.contains(next) && found.insert(next) {
                waiting.push(next);
            }
        }
    }
    found
}

/// Whom each URL reaches, by names and without a thought of speed: two are in one component if each reaches the other.
fn components(crawled: &Crawled) -> BTreeMap<&str, usize> {
    type Lists<'a> = BTreeMap<&'a str, Vec<&'a str>>;
    let (mut forward, mut backward): (Lists<'_>, Lists<'_>) = Default::default();
    for (page, links) in &crawled.links {
        for link in links {
            forward.entry(page).or_default().push(link);
            backward.entry(link).or_default().push(page);
        }
    }
    let mut component = BTreeMap::new();
    // A set that no component crosses is divided by one of its members: its component, what it reaches, what reaches it, the rest.
    let mut sets = vec![crawled.urls()];
    while let Some(set) = sets.pop() {
        let Some(start) = set.first().copied() else { continue };
        let (after, before) = (reach(&forward, start, &set), reach(&backward, start, &set));
        let number = component.len();
        let part = |in_after: bool, in_before: bool| -> BTreeSet<&str> {
            let is_there = |url: &&str| (after.contains(url), before.contains(url)) == (in_after, in_before);
            set.iter().copied().filter(is_there).collect()
        };
        component.extend(part(true, true).into_iter().map(|url| (url, number)));
        sets.extend([part(true, false), part(false, true), part(false, false)]);
    }
    component
}

#[test]
fn in_degrees_and_components_are_those_of_the_world() {
    for seed in [3, 7] {
        let crawled = Crawled::tiny(seed);
        let features = crawled.features();
        let (urls, hosts) = (features.urls().unwrap(), features.hosts().unwrap());
        let names: Vec<String> = urls.iter(0..urls.len()).collect::<Result<_, _>>().unwrap();
        assert_eq!(names.iter().map(String::as_str).collect::<BTreeSet<_>>(), crawled.urls());

        // Pages.
        let mut in_degrees: BTreeMap<&str, u64> = BTreeMap::new();
        crawled.links.values().flatten().for_each(|link| *in_degrees.entry(link).or_default() += 1);
        let in_links = features.links(Grain::Pages, Direction::In).unwrap();
        for (id, name) in names.iter().enumerate() {
            let known = in_degrees.get(name.as_str()).copied().unwrap_or(0);
            assert_eq!(in_links.degree(id as u64), known, "{name}");
        }

        // Domains, as the world itself has counted them.
        let domains = features.links(Grain::Domains, Direction::In).unwrap();
        assert!(!crawled.truth.in_degrees.is_empty());
        for known in &crawled.truth.in_degrees {
            let domain = hosts.find_domain(&known.domain).expect("every domain with a page is there");
            assert_eq!(domains.degree(domain), known.in_degree, "{}", known.domain);
        }

        // Components.
        let known = components(&crawled);
        let found = strong_components(&Csr::load(&features.links(Grain::Pages, Direction::Out).unwrap()));
        let mut pairs = BTreeMap::new();
        for (id, name) in names.iter().enumerate() {
            let (known, found) = (known[name.as_str()], found.of(id as u32));
            assert_eq!(*pairs.entry(known).or_insert(found), found, "{name}");
        }
        assert_eq!(pairs.len(), found.sizes().len());
        assert!(found.sizes()[0] > 100, "a world has a core: {:?}", &found.sizes()[..3]);
    }
}

#[test]
fn a_graph_is_the_same_in_either_form() {
    let features = Crawled::tiny(5).features();
    let sizes =
        [Direction::Out, Direction::In].map(|direction| features.link_size(Grain::Pages, direction).unwrap());
    let held = |form| {
        [Direction::Out, Direction::In]
            .map(|direction| Held::new(features.links(Grain::Pages, direction).unwrap(), form))
    };
    assert_eq!(form_within(&sizes, NodeBytes::both(0), 1 << 30), Ok(Form::Lists));
    let told = [Form::Lists, Form::Coded].map(|form| {
        let [graph, turned] = held(form);
        let told = stats(&graph, &turned);
        let weak = weak_components(&graph).sizes().to_vec();
        (format!("{told:?}"), strong_components(&graph), weak, Csr::load(&graph))
    });
    assert_eq!(told[0], told[1]);
}
