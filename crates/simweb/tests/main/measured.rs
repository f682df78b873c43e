//! Worlds have the size and the shape that their parameters promise.

use crate::client::{get, references};
use mattock_simweb::{Params, Preset, World};
use mattock_weburl::WebUrl;

#[test]
fn a_small_world_has_the_shape_of_the_web() {
    let world = World::new(Params::preset(Preset::Small), 1);
    let truth = world.truth(1_000_000).expect("small ends");
    assert!((35_000..=70_000).contains(&truth.allowed), "{} pages", truth.allowed);
    assert!(truth.reachable > truth.allowed && truth.duplicates > 0);
    let replies: u64 = truth.statuses.values().sum();
    let failed = replies - truth.statuses[&200];
    let share = failed as f64 / replies as f64;
    assert!((0.10..0.18).contains(&share), "{share} of the replies are errors or redirects");
    // IRLbot attempted 7,606 million connections and got 7,437 million valid replies.
    let lost = truth.unreachable as f64 / (replies + truth.unreachable) as f64;
    assert!((0.015..0.03).contains(&lost), "{lost} of the attempts get no reply");
    for status in [301, 302, 403, 404, 410, 500, 503] {
        assert!(truth.statuses.contains_key(&status), "{status} never happens");
    }

    let (mut pages, mut bytes, mut links, mut same_host) = (0u64, 0u64, 0u64, 0u64);
    let mut body = Vec::new();
    for text in truth.pages.iter().step_by(29) {
        let url = WebUrl::parse(text).unwrap();
        let answer = get(&world, &url, &mut body).expect("an allowed page answers");
        let found = if answer.content_type.starts_with("text/html") {
            references(std::str::from_utf8(&body).unwrap())
        } else {
            Vec::new()
        };
        if found.is_empty() {
            continue;
        }
        pages += 1;
        bytes += body.len() as u64;
        links += found.len() as u64;
        same_host += found.iter().filter(|reference| reference.starts_with('/')).count() as u64;
    }
    let mean_links = links as f64 / pages as f64;
    let mean_bytes = bytes as f64 / pages as f64;
    let same_host = same_host as f64 / links as f64;
    assert!((55.0..63.0).contains(&mean_links), "{mean_links} links a page");
    assert!((18_000.0..22_000.0).contains(&mean_bytes), "{mean_bytes} bytes a page");
    assert!((0.75..0.85).contains(&same_host), "{same_host} of the links stay on their host");
}

#[test]
fn in_degrees_follow_popularity() {
    let world = World::new(Params::preset(Preset::Small), 2);
    let truth = world.truth(1_000_000).expect("small ends");
    let mut degrees: Vec<u64> = truth.in_degrees.iter().map(|entry| entry.in_degree).collect();
    degrees.sort_unstable();
    assert_eq!(degrees.len() as u64, truth.domains);
    let (median, top) = (degrees[degrees.len() / 2], degrees[degrees.len() - 1]);
    assert!(median > 0 && top > 4 * median, "median {median}, top {top}");
}

#[test]
fn presets_have_their_sizes() {
    let size = |preset| World::new(Params::preset(preset), 3).size();
    let large = size(Preset::Large);
    assert!((8_000_000..12_500_000).contains(&large.pages) && !large.sampled, "{large:?}");
    let huge = size(Preset::Huge);
    assert!((1_000_000_000..3_000_000_000).contains(&huge.pages) && huge.sampled, "{huge:?}");
    assert!(size(Preset::Spam).pages < 10_000);
}
