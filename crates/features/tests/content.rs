//! Content databases say of every page what was handed in, as far as it fits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_features::{BuildOptions, Builder, Content, Features, SKETCH_LENGTH, Shingleprint, VECTOR_TERMS};
use mattock_weburl::WebUrl;
use proptest::prelude::*;

use crate::world::{self, DIR, Said};

/// The pages of each term that counts; for each page its terms with their weights, the heaviest first.
type Weights = (BTreeMap<String, u64>, BTreeMap<String, Vec<(String, f64)>>);

/// tf·idf by the book.
fn weights(contents: &BTreeMap<String, Said>) -> Weights {
    // The 256 most frequent terms of a page count.
    let taken = |said: &Said| {
        let mut terms: Vec<(String, u32)> = said.terms.clone().into_iter().collect();
        terms.sort_by(|one, two| two.1.cmp(&one.1).then(one.0.cmp(&two.0)));
        terms.truncate(256);
        terms
    };
    let pages: BTreeMap<&String, Vec<(String, u32)>> = contents
        .iter()
        .map(|(page, said)| (page, taken(said)))
        .filter(|(_, terms)| !terms.is_empty())
        .collect();
    let mut documents: BTreeMap<String, u64> = BTreeMap::new();
    for (term, _) in pages.values().flatten() {
        *documents.entry(term.clone()).or_default() += 1;
    }
    documents.retain(|_, count| *count >= 2 && *count as f64 <= pages.len() as f64 * 0.9);
    let weigh = |terms: &Vec<(String, u32)>| {
        let mut weighed: Vec<(String, f64)> = terms
            .iter()
            .filter_map(|(term, count)| {
                let idf = (pages.len() as f64 / *documents.get(term)? as f64).ln();
                Some((term.clone(), (1.0 + f64::from(*count).ln()) * idf))
            })
            .collect();
        weighed.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
        weighed
    };
    let vectors = pages.iter().map(|(page, terms)| ((*page).clone(), weigh(terms))).collect();
    (documents, vectors)
}

fn check_terms(features: &Features, contents: &BTreeMap<String, Said>) {
    let (terms, urls) = (features.terms().unwrap().unwrap(), features.urls().unwrap());
    let (documents, vectors) = weights(contents);
    let vocabulary = terms.vocabulary();
    assert_eq!(features.counts().terms, documents.len() as u64);
    assert_eq!(
        (u64::from(vocabulary.len()), vocabulary.pages()),
        (documents.len() as u64, vectors.len() as u64)
    );
    for (number, (term, count)) in (0..).zip(&documents) {
        assert_eq!(vocabulary.term(number), Some((term.clone(), *count)));
        assert_eq!(vocabulary.find(term), Some(number));
    }
    let mut found = BTreeSet::new();
    for page in terms.scan(0..terms.len()) {
        let (id, vector) = page.unwrap();
        let url = urls.url(id).unwrap().unwrap();
        assert_eq!(terms.vector(id).unwrap(), Some(vector));
        let expected = &vectors[&url][..vectors[&url].len().min(VECTOR_TERMS)];
        assert_eq!(vector.len(), expected.len());
        // Equally heavy ones may have changed places by the last bit of a weight.
        let lightest = expected.last().map_or(0.0, |last| last.1);
        let all: BTreeMap<&String, f64> =
            vectors[&url].iter().map(|(term, weight)| (term, *weight)).collect();
        for (number, weight) in vector.iter() {
            let exact = all[&vocabulary.term(number).unwrap().0];
            assert!(exact >= lightest - 1e-9, "{url}: {exact} is not among the heaviest");
            let share = f64::from(weight) / 255.0;
            assert!(
                (share - exact / expected[0].1).abs() < 0.5 / 255.0 + 1e-9 || weight == 1,
                "{url}: {share}"
            );
        }
        found.insert(url);
    }
    assert_eq!(found, vectors.into_keys().collect());
}

fn check_prints(features: &Features, contents: &BTreeMap<String, Said>) {
    let (shingles, urls) = (features.shingles().unwrap().unwrap(), features.urls().unwrap());
    let mut expected = BTreeMap::new();
    for (page, said) in contents {
        let id = urls.id(&WebUrl::parse(page).unwrap()).unwrap().unwrap();
        let print = Shingleprint::of_sketch(&said.sketch);
        assert_eq!(shingles.print(id).unwrap(), print);
        expected.extend(print.map(|print| (id, print)));
    }
    let found: BTreeMap<u64, Shingleprint> =
        shingles.scan(0..shingles.len()).map(|print| print.unwrap()).collect();
    assert_eq!(found, expected);
    for (place, id) in (0..).zip(expected.keys()) {
        assert_eq!((shingles.id_at(place), shingles.places(0..*id).end), (Some(*id), place));
        assert_eq!(shingles.at(place).unwrap(), expected[id]);
    }
    assert_eq!(shingles.print(urls.len()).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn vectors_and_prints_are_those_of_the_pages(
        seed: u64,
        count in 1_usize..400,
        memory in prop_oneof![Just(0_u64), Just(1 << 20), Just(1 << 26)],
    ) {
        let (_, files) = world::disk(1);
        let pages = world::pages(seed, count);
        let contents = world::contents(seed, &pages);
        world::build_whole(&files, memory, &pages, &contents).unwrap();
        let features = Features::open(&files, Path::new(DIR)).unwrap();
        let texts = contents.values().filter(|said| !said.terms.is_empty() || !said.sketch.is_empty()).count();
        prop_assert_eq!(features.counts().texts, texts as u64);
        if texts == 0 {
            prop_assert!(features.terms().unwrap().is_none() && features.shingles().unwrap().is_none());
        } else {
            check_terms(&features, &contents);
            check_prints(&features, &contents);
        }
    }
}

#[test]
fn runs_on_disk_make_no_difference() {
    let pages = world::pages(5, 1500);
    let contents = world::contents(5, &pages);
    let snapshots = [0, 1 << 28].map(|memory| {
        let (disk, files) = world::disk(1);
        let before = disk.operations();
        world::build_whole(&files, memory, &pages, &contents).unwrap();
        (disk.snapshot(), disk.operations() - before)
    });
    assert_eq!(snapshots[0].0, snapshots[1].0);
    assert!(snapshots[0].1 > snapshots[1].1 + 20, "little memory must lead to runs on disk");
}

#[test]
fn a_generation_without_content_has_none() {
    let (disk, files) = world::disk(1);
    let pages = world::pages(5, 50);
    world::build(&files, 1 << 20, &pages).unwrap();
    let features = Features::open(&files, Path::new(DIR)).unwrap();
    assert!(features.terms().unwrap().is_none() && features.shingles().unwrap().is_none());
    assert!(disk.snapshot().keys().all(|path| !path.ends_with("vocabulary") && !path.ends_with("shingles")));
}

/// Manifests of the time before content databases had neither these files nor these counts.
#[test]
fn manifests_that_know_nothing_of_content_open() {
    let (_, files) = world::disk(1);
    let pages = world::pages(5, 50);
    world::build(&files, 1 << 20, &pages).unwrap();
    let path = Path::new(DIR).join("MANIFEST");
    let text = String::from_utf8(files.read(&path).unwrap()).unwrap();
    let (json, _) = text.trim_end().rsplit_once('\n').unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(json).unwrap();
    let counts = manifest["counts"].as_object_mut().unwrap();
    assert!(counts.remove("texts").is_some() && counts.remove("terms").is_some());
    assert!(manifest.get("contents").is_none(), "without content it is not even named");
    let json = manifest.to_string();
    let sealed = format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes()));
    files.write_atomic(&path, sealed.as_bytes()).unwrap();
    let features = Features::open(&files, Path::new(DIR)).unwrap();
    assert_eq!((features.counts().texts, features.counts().terms), (0, 0));
    assert!(features.terms().unwrap().is_none() && features.urls().is_ok());
}

#[test]
fn what_is_no_sketch_is_refused_and_a_second_content_is_left() {
    let (_, files) = world::disk(1);
    let report = &mut |_| {};
    let mut builder = Builder::begin(
        &files,
        Path::new(DIR),
        &BuildOptions { memory: 0, ..BuildOptions::default() },
        report,
    )
    .unwrap();
    let page = WebUrl::parse("http://a.com/").unwrap();
    let error = builder.content(&page, &Content { terms: &[], sketch: &[7; 3] }).unwrap_err();
    assert_eq!(error.to_string(), "http://a.com/: a sketch has 64 numbers or none, not 3");
    for number in [2_u64, 1] {
        builder.content(&page, &Content { terms: &[], sketch: &[number; SKETCH_LENGTH] }).unwrap();
    }
    let counts = builder.finish().unwrap();
    assert_eq!((counts.crawled, counts.texts, counts.terms), (1, 1, 0));
    let shingles = Features::open(&files, Path::new(DIR)).unwrap().shingles().unwrap().unwrap();
    assert_eq!(shingles.len(), 1);
}
