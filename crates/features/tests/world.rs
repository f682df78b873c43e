//! A small Web at random, built into features on a simulated disk, and the naive model of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_features::{BuildOptions, Builder, Counts, Result};
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
        let host = ["a.com", "www.a.com", "a-b.com", "b.co.uk", "x.github.io", "y.github.io", "10.0.0.1"]
            [below(random, 7)];
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

pub(crate) fn build(files: &Files, memory: u64, pages: &Pages) -> Result<Counts> {
    let report = &mut |_| {};
    let mut builder = Builder::begin(files, Path::new(DIR), &BuildOptions { memory }, report)?;
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
