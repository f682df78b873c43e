//! A small Web at random, built into features on a simulated disk, and the naive model of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Builder, Content, Counts, Result};
use mattock_weburl::WebUrl;

pub(crate) const DIR: &str = "/features";

/// Pages with their links, in the order in which they are handed in.
pub(crate) type Pages = Vec<(WebUrl, Vec<WebUrl>)>;

pub(crate) fn disk(seed: u64) -> (SimFiles, Files) {
    let disk = SimFiles::new(Random::from_seed(seed));
    (disk.clone(), Files::simulated(disk))
}

fn below(random: &mut Random, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}

pub(crate) fn pages(seed: u64, count: usize) -> Pages {
    let mut random = Random::from_seed(seed);
    let url = |random: &mut Random| {
        let scheme = ["http", "https"][below(random, 2)];
        // Of one domain there are hosts on both sides of another that is within it; and some names are none, but are linked to.
        let hosts = "a.com www.a.com a-b.com b.co.uk x.github.io y.github.io 10.0.0.1 ec2.amazonaws.com x.s3.amazonaws.com \
            sns.amazonaws.com a.com) x,y.com a+.com *.a.com";
        let hosts: Vec<&str> = hosts.split_whitespace().collect();
        let host = hosts[below(random, hosts.len())];
        let port = ["", "", "", ":8080"][below(random, 4)];
        let text = format!("{scheme}://{host}{port}/{}/P{}", below(random, 9), below(random, count));
        WebUrl::parse(&text).unwrap()
    };
    (0..count)
        .map(|_| {
            let page = url(&mut random);
            let degree = below(&mut random, 12);
            (page, (0..degree).map(|_| url(&mut random)).collect())
        })
        .collect()
}

/// What a page says.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) terms: BTreeMap<String, u32>,
    pub(crate) sketch: Vec<u64>,
}

/// What each page says: terms by a law like Zipf's, some pages the same as others, some nothing.
pub(crate) fn contents(seed: u64, pages: &Pages) -> BTreeMap<String, Said> {
    let mut random = Random::from_seed(seed ^ 0x5eed);
    let mut said = BTreeMap::new();
    for (page, _) in pages {
        let count = [0, 1, 20, 90, 300][below(&mut random, 5)];
        let term = |random: &mut Random| {
            let most = 1 << below(random, 12);
            format!("t{}é", below(random, most))
        };
        let terms = (0..count).map(|_| (term(&mut random), 1 + below(&mut random, 9) as u32)).collect();
        let first = random.next_u64() >> 62;
        let sketch = match below(&mut random, 4) {
            0 => Vec::new(),
            _ => (0..64).map(|place| (first << 8 | place).wrapping_mul(0x1234_5678_9abc_def1)).collect(),
        };
        said.insert(page.as_str().to_owned(), Said { terms, sketch });
    }
    said
}

/// Builds with content.
pub(crate) fn build_whole(
    files: &Files,
    memory: u64,
    pages: &Pages,
    contents: &BTreeMap<String, Said>,
) -> Result<Counts> {
    let report = &mut |_| {};
    let mut builder =
        Builder::begin(files, Path::new(DIR), &BuildOptions { memory, ..BuildOptions::default() }, report)?;
    for (number, (page, links)) in pages.iter().enumerate() {
        // Some before their pages, some after.
        if number % 2 == 0 {
            builder.page(page, links)?;
        }
        let is_first = || pages[..number].iter().all(|(before, _)| before != page);
        if let Some(said) = contents.get(page.as_str()).filter(|_| is_first()) {
            let terms: Vec<(&str, u32)> =
                said.terms.iter().map(|(term, count)| (term.as_str(), *count)).collect();
            builder.content(page, &Content { terms: &terms, sketch: &said.sketch })?;
        }
        if number % 2 == 1 {
            builder.page(page, links)?;
        }
    }
    builder.finish()
}

pub(crate) fn build(files: &Files, memory: u64, pages: &Pages) -> Result<Counts> {
    let report = &mut |_| {};
    let mut builder =
        Builder::begin(files, Path::new(DIR), &BuildOptions { memory, ..BuildOptions::default() }, report)?;
    for (page, links) in pages {
        builder.page(page, links)?;
    }
    builder.finish()
}

/// Every URL with its links; those that were crawled.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) links: BTreeMap<String, BTreeSet<String>>,
    pub(crate) crawled: BTreeSet<String>,
}

impl Model {
    pub(crate) fn of(pages: &Pages) -> Model {
        let mut model = Model::default();
        for (page, links) in pages {
            model.crawled.insert(page.as_str().into());
            model.links.entry(page.as_str().into()).or_default();
            for link in links {
                model.links.entry(link.as_str().into()).or_default();
                model.links.get_mut(page.as_str()).unwrap().insert(link.as_str().into());
            }
        }
        model
    }
}
