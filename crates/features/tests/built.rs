//! What was built says what was handed in, however little memory there was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_features::{
    BuildOptions, Direction, Features, Grain, Hosts, Links, ListKind, Stage, Urls, build_from_ids,
    build_from_list, reorder,
};
use mattock_weburl::WebUrl;
use proptest::prelude::*;

use crate::world::{self, DIR, Model};

fn lists(links: &Links) -> Vec<Vec<usize>> {
    let mut lists = Vec::new();
    let mut scan = links.scan(0..links.nodes());
    while let Some((node, targets)) = scan.next() {
        assert_eq!(node as usize, lists.len());
        lists.push(targets.to_vec());
    }
    for (node, list) in lists.iter().enumerate() {
        assert_eq!(links.successors(node as u64).collect::<Vec<_>>(), *list);
        assert_eq!(links.degree(node as u64), list.len() as u64);
    }
    assert_eq!(lists.iter().map(|list| list.len() as u64).sum::<u64>(), links.arcs());
    lists
}

fn turned(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut turned = vec![Vec::new(); lists.len()];
    for (source, targets) in lists.iter().enumerate() {
        targets.iter().for_each(|target| turned[*target].push(source));
    }
    turned
}

/// The names of all nodes of a folded graph and the model of its links.
fn check_folded(features: &Features, grain: Grain, names: &[String], expected: BTreeSet<(String, String)>) {
    let out_links = lists(&features.links(grain, Direction::Out).unwrap());
    assert_eq!(turned(&out_links), lists(&features.links(grain, Direction::In).unwrap()));
    let name = |node: usize| names[node].clone();
    let found: BTreeSet<_> = out_links
        .iter()
        .enumerate()
        .flat_map(|(source, targets)| targets.iter().map(move |target| (name(source), name(*target))))
        .collect();
    assert_eq!(found, expected);
}

fn check_hosts(features: &Features, urls: &Urls, hosts: &Hosts, model: &Model) {
    let host_of = |url: &str| {
        let url = WebUrl::parse(url).unwrap();
        format!("{}://{}", url.scheme(), url.authority())
    };
    let domain_of = |url: &str| WebUrl::parse(url).unwrap().domain().to_string();
    for (id, url) in urls.iter(0..urls.len()).enumerate() {
        let (id, url) = (id as u64, url.unwrap());
        let host = hosts.host_of(id);
        assert_eq!(hosts.host(host), Some(host_of(&url)));
        assert_eq!(hosts.find(&WebUrl::parse(&url).unwrap()), Some(host));
        assert!(hosts.ids_of_host(host).unwrap().contains(&id));
        let domain = hosts.domain_of_host(host);
        assert_eq!(hosts.domain(domain), Some(domain_of(&url)));
        assert_eq!(hosts.find_domain(&domain_of(&url)), Some(domain));
        assert!(hosts.hosts_of_domain(domain).any(|other| other == host));
    }
    for absent in ["a", "com", "aa.com", "zz.zz", "0.a", "www.a.com", ""] {
        assert_eq!(hosts.find_domain(absent), None, "{absent}");
    }
    let fold = |name: &dyn Fn(&str) -> String| -> BTreeSet<(String, String)> {
        let pairs = model.links.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| (name(from), name(to))).filter(|(from, to)| from != to).collect()
    };
    let names: Vec<_> = (0..hosts.len()).map(|host| hosts.host(host).unwrap()).collect();
    check_folded(features, Grain::Hosts, &names, fold(&host_of));
    let names: Vec<_> = (0..hosts.domains()).map(|domain| hosts.domain(domain).unwrap()).collect();
    check_folded(features, Grain::Domains, &names, fold(&domain_of));
    assert_eq!((hosts.host(hosts.len()), hosts.domain(hosts.domains())), (None, None));
}

fn check(features: &Features, model: &Model) {
    let (urls, hosts) = (features.urls().unwrap(), features.hosts().unwrap());
    let by_id: Vec<String> = urls.iter(0..urls.len()).collect::<Result<_, _>>().unwrap();
    assert_eq!(by_id.iter().collect::<BTreeSet<_>>(), model.links.keys().collect());
    let mut ids = BTreeMap::new();
    let crawled = features.crawled().unwrap();
    for (id, url) in by_id.iter().enumerate() {
        assert_eq!(urls.url(id as u64).unwrap().as_ref(), Some(url));
        assert_eq!(urls.id(&WebUrl::parse(url).unwrap()).unwrap(), Some(id as u64));
        assert_eq!(crawled.contains(id as u64), model.crawled.contains(url));
        // What comes right behind it has the next place, there or not.
        let (here, behind) = (WebUrl::parse(url).unwrap(), WebUrl::parse(&format!("{url}0")).unwrap());
        assert_eq!(urls.rank(&here).unwrap(), id as u64);
        assert_eq!(urls.rank(&behind).unwrap(), id as u64 + 1);
        ids.insert(url.clone(), id);
    }
    assert_eq!(urls.url(urls.len()).unwrap(), None);
    for absent in ["http://a.com/none", "http://0.a/", "https://zz.zz/", "http://a.com/3/P1/x"] {
        assert_eq!(urls.id(&WebUrl::parse(absent).unwrap()).unwrap(), None);
    }
    let expected: Vec<Vec<usize>> = by_id
        .iter()
        .map(|url| {
            let mut targets: Vec<_> = model.links[url].iter().map(|target| ids[target]).collect();
            targets.sort_unstable();
            targets
        })
        .collect();
    let out_links = features.links(Grain::Pages, Direction::Out).unwrap();
    let size = features.link_size(Grain::Pages, Direction::Out).unwrap();
    assert_eq!((size.nodes, size.arcs, size.bits), (out_links.nodes(), out_links.arcs(), out_links.bits()));
    assert_eq!(lists(&out_links), expected);
    assert_eq!(lists(&features.links(Grain::Pages, Direction::In).unwrap()), turned(&expected));
    for (direction, lists) in [(Direction::Out, expected.clone()), (Direction::In, turned(&expected))] {
        let degrees = features.degrees(Grain::Pages, direction).unwrap();
        assert!(degrees.iter().eq(lists.iter().map(|list| list.len() as u64)));
    }
    check_hosts(features, &urls, &hosts, model);
    let counts = features.counts();
    assert_eq!(
        (counts.urls, counts.crawled, counts.links, counts.hosts, counts.domains, counts.collisions),
        (
            urls.len(),
            model.crawled.len() as u64,
            model.links.values().map(|targets| targets.len() as u64).sum(),
            hosts.len(),
            hosts.domains(),
            0
        )
    );
    urls.verify().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_page_and_link_comes_back(seed: u64, count in 0_usize..700, memory in prop_oneof![Just(0_u64), Just(1 << 20), Just(1 << 26)]) {
        let (_, files) = world::disk(1);
        let pages = world::pages(seed, count);
        world::build(&files, memory, &pages).unwrap();
        check(&Features::open(&files, Path::new(DIR)).unwrap(), &Model::of(&pages));
    }
}

#[test]
fn runs_on_disk_make_no_difference() {
    let pages = world::pages(5, 4000);
    let snapshots = [0, 1 << 28].map(|memory| {
        let (disk, files) = world::disk(1);
        let before = disk.operations();
        world::build(&files, memory, &pages).unwrap();
        (disk.snapshot(), disk.operations() - before)
    });
    assert_eq!(snapshots[0].0, snapshots[1].0);
    assert!(snapshots[0].1 > snapshots[1].1 + 20, "little memory must lead to runs on disk");
}

#[test]
fn the_next_generation_takes_the_place_of_the_one_before() {
    let (disk, files) = world::disk(1);
    for generation in 1..=3 {
        let pages = world::pages(generation, 50);
        world::build(&files, 1 << 20, &pages).unwrap();
        let features = Features::open(&files, Path::new(DIR)).unwrap();
        assert_eq!(features.generation(), generation);
        check(&features, &Model::of(&pages));
    }
    assert!(disk.snapshot().keys().all(|path| !path.to_string_lossy().contains("generation-2")));
}

#[test]
fn who_has_opened_the_generation_before_is_told_so() {
    let (_, files) = world::disk(1);
    world::build(&files, 1 << 20, &world::pages(1, 50)).unwrap();
    let features = Features::open(&files, Path::new(DIR)).unwrap();
    features.still_in_use().unwrap();
    world::build(&files, 1 << 20, &world::pages(2, 50)).unwrap();
    for error in [
        features.urls().unwrap_err(),
        features.links(Grain::Hosts, Direction::In).unwrap_err(),
        features.still_in_use().unwrap_err(),
    ] {
        let expected = "generation-1 is no longer in use: the features were built anew meanwhile";
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn lists_of_urls_and_of_numbers() {
    let (_, files) = world::disk(1);
    let (dir, options) = (Path::new(DIR), BuildOptions { memory: 1 << 20, ..BuildOptions::default() });
    let list = "http://a.com/\thttp://b.com/\nhttp://a.com/\tmailto:x\nnone\thttp://b.com/\nHTTP://B.com\thttp://a.com/#x\n";
    let mut stages = Vec::new();
    let mut report = |progress: mattock_features::Progress| stages.push(progress.stage);
    let counts =
        build_from_list(&files, dir, &options, ListKind::Urls, "list", list.as_bytes(), &mut report).unwrap();
    assert_eq!((counts.urls, counts.links, counts.crawled, counts.refused), (2, 2, 2, 2));
    assert!(stages.ends_with(&[Stage::Hosts; 2]) && stages.contains(&Stage::InLinks), "{stages:?}");

    let build = |kind, list: &str| {
        let counts = build_from_list(&files, dir, &options, kind, "list", list.as_bytes(), &mut |_| {})?;
        let features = Features::open(&files, dir)?;
        assert!(!features.has_urls() && features.urls().is_err());
        Ok::<_, mattock_features::FeaturesError>((
            counts,
            lists(&features.links(Grain::Pages, Direction::Out)?),
        ))
    };
    let (counts, found) = build(ListKind::Ids, "# of somebody\n3\t0\n0 1\r\n\n3\t0\n").unwrap();
    assert_eq!((counts.urls, counts.links, counts.links_given), (4, 2, 3));
    assert_eq!(found, [vec![1], vec![], vec![], vec![0]]);
    let (_, found) = build(ListKind::Adjacency, "3\n1 2\n\n0\n").unwrap();
    assert_eq!(found, [vec![1, 2], vec![], vec![0]]);
    for (kind, list, expected) in [
        (ListKind::Urls, "a b", "list, line 1: there is no tab"),
        (ListKind::Ids, "0\t1\n1\tx\n", "list, line 2: there are no two numbers"),
        (ListKind::Ids, "0\t99999999999999999999\n", "list, line 1"),
        (
            ListKind::Ids,
            "0\t1\n0\t4294967296\n",
            "list, line 2: node 4294967296: numbers go from 0 to 4294967295",
        ),
        (ListKind::Adjacency, "4294967297\n", "list, line 1: node 4294967296"),
        (ListKind::Adjacency, "3\n1\n", "list, line 3: the list ends before node 1 of 3"),
        (ListKind::Adjacency, "x\n", "list, line 1: the first line is not the number"),
        (ListKind::Adjacency, "2\n7\n\n", "node 7 in a graph of 2 nodes"),
    ] {
        let message = build(kind, list).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(Features::open(&files, dir).unwrap().counts().urls, 3, "what failed has changed nothing");
}

#[test]
fn a_graph_in_another_order_is_the_same_graph() {
    let (_, files) = world::disk(1);
    let (dir, options) = (Path::new(DIR), BuildOptions { memory: 1 << 20, ..BuildOptions::default() });
    let links = [(0, 1), (0, 2), (2, 0), (3, 3)].map(Ok);
    build_from_ids(&files, dir, &options, Some(4), links, &mut |_| {}).unwrap();
    let links = Features::open(&files, dir).unwrap().links(Grain::Pages, Direction::Out).unwrap();
    let other = Path::new("/other");
    reorder(&files, other, &options, &links, &[3, 0, 2, 1], &mut |_| {}).unwrap();
    let found = Features::open(&files, other).unwrap().links(Grain::Pages, Direction::Out).unwrap();
    assert_eq!(lists(&found), [vec![], vec![1], vec![3], vec![0, 2]]);
    for wrong in [&[0, 1, 2][..], &[0, 1, 2, 2], &[0, 1, 2, 4]] {
        assert!(reorder(&files, other, &options, &links, wrong, &mut |_| {}).is_err());
    }
}
