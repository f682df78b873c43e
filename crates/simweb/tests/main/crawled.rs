//! A naive crawl through HTML and robots.txt finds exactly what the truth says.

use crate::client::crawl;
use mattock_simweb::{Params, Preset, TruthError, World};

fn check(world: &World) {
    let truth = world.truth(1_000_000).expect("a world with an end");
    let found = crawl(world, true);
    assert_eq!(found.pages, truth.pages);
    assert_eq!(found.failures, truth.failures);
    assert_eq!(found.statuses, truth.statuses);
    assert_eq!(found.links, truth.links);
    assert_eq!((found.forbidden, found.unreachable), (truth.forbidden, truth.unreachable));
    assert_eq!(found.pages.len() as u64, truth.allowed);
}

fn check_reachable(world: &World) {
    let reachable = world.truth(1_000_000).expect("a world with an end").reachable;
    assert_eq!(crawl(world, false).pages.len() as u64, reachable);
}

#[test]
fn twenty_tiny_worlds_are_as_the_truth_says() {
    let mut unlinked = 0;
    for seed in 0..20 {
        let world = World::new(Params::preset(Preset::Tiny), seed);
        check(&world);
        let truth = world.truth(1_000_000).expect("tiny ends");
        assert!((700..=1_400).contains(&truth.allowed), "seed {seed}: {} pages", truth.allowed);
        unlinked += truth.pages.iter().filter(|url| url.contains("/unlinked/")).count();
    }
    assert!(unlinked > 50, "only {unlinked} pages need a sitemap");
    check_reachable(&World::new(Params::preset(Preset::Tiny), 20));
}

#[test]
fn a_world_in_which_everything_goes_wrong_is_as_the_truth_says() {
    let params = Params {
        domains: 60,
        seeds: 3,
        hosts_max: 40,
        hosts_exponent: 1.0,
        pages_max: 60,
        mirror_hosts: 0.3,
        near_duplicates: 0.3,
        redirects: 0.3,
        meta_nofollow: 0.1,
        odd_spellings: 0.5,
        nofollow_links: 0.3,
        broken_links: 0.5,
        dead_names: 0.1,
        failing_names: 0.1,
        reset_hosts: 0.1,
        silent_hosts: 0.1,
        robots_missing: 1,
        robots_allow_all: 1,
        robots_redirected: 8,
        robots_unavailable: 4,
        robots_untidy: 8,
        sitemap_hosts: 0.7,
        session_hosts: 0.4,
        calendar_hosts: 0.3,
        farms: 2,
        farm_domains: 3,
        farm_pages: 35,
        links_to_farms: 0.02,
        ..Params::preset(Preset::Tiny)
    };
    params.check().expect("valid parameters");
    for seed in 100..103 {
        check(&World::new(params.clone(), seed));
        check_reachable(&World::new(params.clone(), seed));
    }
}

#[test]
fn endless_and_too_large_worlds_have_no_truth() {
    for preset in [Preset::Large, Preset::Huge, Preset::Spam] {
        let world = World::new(Params::preset(preset), 1);
        assert_eq!(world.truth(1_000).expect_err("no end"), TruthError::Endless);
    }
    let world = World::new(Params::preset(Preset::Small), 1);
    assert_eq!(world.truth(1_000).expect_err("too large"), TruthError::TooLarge { limit: 1_000 });
}
