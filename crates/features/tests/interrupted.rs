//! A build that does not end leaves the generation before in use, whole.

use std::path::Path;

use mattock_env::{Fault, Files};
use mattock_features::{Counts, Direction, Features, Grain, Result, Shingleprint, TermVector};

use crate::world::{self, DIR, Pages};

const MEMORY: u64 = 1 << 16;

/// The generation in use, and all that is in it.
type Summary = (u64, Vec<String>, Vec<Vec<usize>>, Vec<(u64, TermVector)>, Vec<(u64, Shingleprint)>);

fn summary(files: &Files) -> Summary {
    let features = Features::open(files, Path::new(DIR)).unwrap();
    let urls = features.urls().unwrap();
    let links = features.links(Grain::Pages, Direction::Out).unwrap();
    features.links(Grain::Pages, Direction::In).unwrap();
    features.links(Grain::Domains, Direction::In).unwrap();
    let lists = (0..links.nodes()).map(|node| links.successors(node).collect()).collect();
    let urls = urls.iter(0..urls.len()).map(|url| url.unwrap()).collect();
    let terms = features.terms().unwrap().unwrap();
    let vectors = terms.scan(0..terms.len()).map(|vector| vector.unwrap()).collect();
    let shingles = features.shingles().unwrap().unwrap();
    let prints = shingles.scan(0..shingles.len()).map(|print| print.unwrap()).collect();
    (features.generation(), urls, lists, vectors, prints)
}

fn build(files: &Files, pages: &Pages) -> Result<Counts> {
    // Not of all, to have fewer steps at which to fail.
    let contents = world::contents(3, pages).into_iter().step_by(30).collect();
    world::build_whole(files, MEMORY, pages, &contents)
}

#[test]
fn the_generation_before_stays_in_use_wherever_a_build_is_cut_off() {
    let (first, second) = (world::pages(1, 120), world::pages(2, 900));
    let (disk, files) = world::disk(1);
    build(&files, &first).unwrap();
    let before = summary(&files);
    let begin = disk.operations();
    build(&files, &second).unwrap();
    let after = summary(&files);
    let operations = disk.operations() - begin;
    assert!(operations > 100);
    let mut outcomes = [0, 0];
    for step in 0..operations {
        let (disk, files) = world::disk(1000 + step);
        build(&files, &first).unwrap();
        disk.fail_at(disk.operations() + step, if step % 3 == 0 { Fault::NoSpace } else { Fault::Stop });
        let built = build(&files, &second);
        match step % 3 {
            1 => disk.kill(),
            _ => disk.crash(),
        }
        disk.clear_faults();
        let found = summary(&files);
        let expected = if found.0 == 1 { &before } else { &after };
        assert_eq!(found, *expected, "step {step}");
        assert!(found.0 == 2 || built.is_err(), "step {step}: a build that has ended is in use");
        outcomes[found.0 as usize - 1] += 1;
        build(&files, &second).unwrap();
        assert_eq!(summary(&files).1, after.1);
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}
