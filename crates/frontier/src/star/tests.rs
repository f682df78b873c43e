//! Degrees, budgets and order, in RAM and on disk; and both budget stages together.

use std::collections::{BTreeMap, BTreeSet};

use mattock_drum::Plan;
use mattock_env::Random;
use mattock_env::sim::Simulation;
use mattock_queue::{QueueError, Queues};

use super::*;
use crate::beast::{Beast, BeastOptions, Popped};

const DIR: &str = "/crawl/degrees";

fn simulate(seed: u64, test: impl FnOnce(&Env)) {
    Simulation::new(seed).run(|env| async move { test(&env) });
}

/// A repository that goes to disk early.
fn small() -> Options {
    let sizes = Plan {
        buckets: 4,
        chunk_bytes: 4096,
        log_block_bytes: 64 << 10,
        log_blocks_in_ram: 1,
        cache_sets: 0,
        table_bytes: 3000,
        generation_records_max: 300,
        generation_bytes_max: 60_000,
        bucket_bytes_max: 30_000,
        read_bytes: 4096,
        writes_max: 3,
    };
    Options { sizes: Some(sizes), ..Options::new(1 << 20) }
}

fn open(env: &Env, policy: BudgetPolicy, options: Options, saved: Option<&[u8]>) -> Star {
    Star::open(env, Path::new(DIR), policy, options, saved).unwrap().unwrap()
}

type Answer = (u64, Vec<u8>, u64, u32);

fn answer(known: Budgeted<'_>) -> Answer {
    (known.domain, known.record.to_vec(), known.in_degree.count, known.budget)
}

/// Pushes one URL and takes whatever comes.
fn push(star: &mut Star, domain: u64, record: &[u8], out: &mut Vec<Answer>) {
    star.push(domain, 1.0, record, |known| out.push(answer(known))).unwrap();
    star.deliver(usize::MAX, |known| out.push(answer(known))).unwrap();
}

#[test]
fn a_domain_counts_those_that_link_to_it_once_and_not_itself() {
    simulate(1, |env| {
        let mut star = open(env, BudgetPolicy::broad(), Options::new(16 << 20), None);
        star.link([(1, 2), (1, 3), (1, 2), (1, 1), (2, 1)]).unwrap();
        let mut out = Vec::new();
        push(&mut star, 1, b"a", &mut out);
        push(&mut star, 2, b"b", &mut out);
        push(&mut star, 3, b"c", &mut out);
        let budgets: Vec<_> =
            out.iter().map(|(domain, _, degree, budget)| (*domain, *degree, *budget)).collect();
        assert_eq!(budgets, [(1, 2, 10), (2, 1, 10), (3, 0, 10)]);
        assert_eq!(star.stats().edges_repeated, 1);
        // By now the first is known to stand out.
        push(&mut star, 1, b"d", &mut out);
        assert_eq!(out[3], (1, b"d".to_vec(), 2, 10_000));
        assert!(star.is_empty());
    });
}

#[test]
fn a_factor_scales_what_a_domain_gets() {
    simulate(2, |env| {
        let mut star = open(env, BudgetPolicy::Equal { pages: 100 }, Options::new(16 << 20), None);
        let mut budgets = Vec::new();
        for factor in [1.0, 0.5, 0.0, -3.0, f32::NAN] {
            star.push(1, factor, b"", |known| budgets.push(known.budget)).unwrap();
        }
        assert_eq!(budgets, [100, 50, 1, 1, 1]);
        assert!(star.repository().is_none(), "nobody has to count");
    });
}

#[test]
fn the_unlimited_policy_lets_everything_through_at_once() {
    simulate(3, |env| {
        let mut star = open(env, BudgetPolicy::Unlimited, Options::new(16 << 20), None);
        star.link([(1, 2)]).unwrap();
        let mut out = None;
        star.push_again(1, 0.1, b"x", |known| out = Some((known.budget, known.again))).unwrap();
        assert_eq!(out, Some((UNLIMITED, true)));
        assert_eq!(env.files.entry(Path::new(DIR)).unwrap(), None);
    });
}

/// Random edges and URLs against a map of sets, with restarts.
fn compare(seed: u64, options: fn() -> Options) {
    simulate(seed, |env| {
        let policy = BudgetPolicy::Broad { top: 5, least: 3, most: 50 };
        let mut random = Random::from_seed(seed);
        let mut star = open(env, policy.clone(), options(), None);
        let mut sources: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let mut pushed: BTreeMap<u64, u64> = BTreeMap::new();
        let mut out = Vec::new();
        for step in 0..3000u64 {
            let domain = random.below(60).min(random.below(60));
            if random.chance(0.5) {
                let source = random.below(90);
                star.link([(domain, source)]).unwrap();
                if source != domain {
                    sources.entry(domain).or_default().insert(source);
                }
            } else {
                let serial = pushed.entry(domain).or_insert(0);
                star.push(domain, 1.0, &serial.to_le_bytes(), |known| out.push((answer(known), step)))
                    .unwrap();
                *serial += 1;
            }
            if random.chance(0.1) {
                star.deliver(usize::MAX, |known| out.push((answer(known), step))).unwrap();
            }
            if random.chance(0.003) {
                star.flush().unwrap();
            }
            if random.chance(0.003) {
                star.begin_checkpoint().unwrap();
                let mut state = Vec::new();
                star.encode(&mut state);
                while star.finished_checkpoint().is_none() {}
                let waiting = star.len();
                drop(star);
                star = open(env, policy.clone(), options(), Some(&state));
                assert_eq!(star.len(), waiting);
            }
        }
        star.settle().unwrap();
        star.deliver(usize::MAX, |known| out.push((answer(known), 3000))).unwrap();
        assert!(star.is_empty());
        let mut next: BTreeMap<u64, u64> = BTreeMap::new();
        for ((domain, record, degree, budget), _) in &out {
            let serial = next.entry(*domain).or_insert(0);
            assert_eq!(record, &serial.to_le_bytes(), "in order");
            *serial += 1;
            assert!(*degree <= sources.get(domain).map_or(0, |sources| sources.len() as u64));
            assert!((3..=50).contains(budget));
        }
        assert_eq!(next, pushed, "each once");
        // Asked anew, everything is exact.
        star.link((0..500).map(|source| (999, 1000 + source))).unwrap();
        for (domain, sources) in &sources {
            let mut out = Vec::new();
            star.push(*domain, 1.0, b"", |known| out.push(answer(known))).unwrap();
            star.settle().unwrap();
            star.deliver(usize::MAX, |known| out.push(answer(known))).unwrap();
            assert_eq!(out[0].2, sources.len() as u64, "{domain}");
        }
    });
}

#[test]
fn degrees_are_those_of_a_map_in_ram() {
    (10..14).for_each(|seed| compare(seed, || Options::new(16 << 20)));
}

#[test]
fn degrees_are_those_of_a_map_on_disk() {
    (20..24).for_each(|seed| compare(seed, small));
}

#[test]
fn most_urls_and_edges_never_reach_the_repository() {
    simulate(5, |env| {
        let mut star = open(env, BudgetPolicy::broad(), Options::new(16 << 20), None);
        let mut out = Vec::new();
        for page in 0..2000u64 {
            let source = page % 100;
            star.link((0..5).map(|link| (source * 7 % 50 + link, source))).unwrap();
            (0..5).for_each(|_| push(&mut star, page % 50, b"url", &mut out));
        }
        assert_eq!(out.len(), 10_000);
        let stats = star.stats();
        assert!(stats.edges < 1000 && stats.asked < 1000, "{stats:?}");
    });
}

/// The loop that the documentation of `beast` shows.
fn drive(star: &mut Star, beast: &mut Beast, popped: &mut Vec<Vec<u8>>) {
    loop {
        let result = beast.pop::<QueueError>(100, |record| {
            popped.push(record.to_vec());
            Ok(())
        });
        if result.unwrap() != Popped::Rescan {
            break;
        }
        let judge = |domain: u64, record: &[u8]| {
            let mut budget = None;
            star.push_again(domain, 1.0, record, |known| budget = Some(known.budget)).unwrap();
            Ok::<_, QueueError>(budget)
        };
        beast.rescan(100, judge).unwrap();
        hand_over(star, beast);
        if beast.is_rescanning() && beast.over_budget() == 0 {
            star.settle().unwrap();
            hand_over(star, beast);
        }
    }
}

fn hand_over(star: &mut Star, beast: &mut Beast) {
    star.deliver(usize::MAX, |known| {
        let push = if known.again { Beast::push_again } else { Beast::push };
        push(beast, known.domain, known.budget, known.record).unwrap();
    })
    .unwrap();
}

/// A crawl of `pages` pages: some honest domains that all link to each other, and one that has no end and that one links to.
fn crawl(policy: BudgetPolicy, options: Options, pages: usize) -> (usize, u64) {
    let mut farm = 0;
    let mut waiting = 0;
    simulate(6, |env| {
        let mut star = open(env, policy, options, None);
        let queues =
            Queues::open(env, Path::new("/crawl/queues"), &mattock_queue::Options::new(1 << 20)).unwrap();
        let mut beast = Beast::new(&queues, "beast", BeastOptions::default());
        let mut random = Random::from_seed(6);
        let (mut popped, mut read, mut pushed) = (Vec::new(), 0, 0u64);
        let mut push = |star: &mut Star, beast: &mut Beast, domain: u64| {
            let record = [domain.to_le_bytes(), pushed.to_le_bytes()].concat();
            pushed += 1;
            star.push(domain, 1.0, &record, |known| {
                beast.push(known.domain, known.budget, known.record).unwrap()
            })
            .unwrap();
        };
        push(&mut star, &mut beast, 1);
        while read < pages {
            if read == popped.len() {
                hand_over(&mut star, &mut beast);
                drive(&mut star, &mut beast, &mut popped);
            }
            if read == popped.len() {
                star.settle().unwrap();
                continue;
            }
            let domain = u64::from_le_bytes(*popped[read].first_chunk().unwrap());
            read += 1;
            if domain == 0 {
                farm += 1;
                (0..20).for_each(|_| push(&mut star, &mut beast, 0));
            }
            for _ in 0..3 {
                let other = 1 + random.below(20);
                let target = if domain == 7 && random.chance(0.2) { 0 } else { other };
                star.link([(target, domain)]).unwrap();
                push(&mut star, &mut beast, target);
            }
        }
        waiting = beast.len();
        assert_eq!(waiting + star.len() + popped.len() as u64, pushed, "nothing is lost");
    });
    (farm, waiting)
}

#[test]
fn who_is_linked_to_by_few_gets_little_of_a_crawl() {
    let (farm, _) = crawl(BudgetPolicy::Unlimited, Options::new(16 << 20), 4000);
    assert!(farm > 1200, "{farm} of 4000 pages are the farm's if nobody keeps it in check");
    let policy = BudgetPolicy::Broad { top: 15, least: 2, most: 500 };
    for options in [Options::new(16 << 20), small()] {
        let (farm, waiting) = crawl(policy.clone(), options, 4000);
        assert!(farm < 200, "{farm} of 4000");
        assert!(waiting > 1000, "and the rest waits: {waiting}");
    }
}
