//! What holds whatever happens, and the paper's figure 4 by hand.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};
use mattock_queue::{Options, Queues, Sizes};

use super::*;

const DIR: &str = "/crawl/queues";

pub(super) fn open(env: &Env) -> Queues {
    let sizes = Sizes { block_bytes: 2048, segment_bytes: 20_000, unwritten_bytes_max: 16_000 };
    Queues::open(env, Path::new(DIR), &Options { sizes: Some(sizes), ..Options::new(48_000) }).unwrap()
}

pub(super) fn simulate(seed: u64, test: impl FnOnce(&Env)) {
    Simulation::new(seed).run(|env| async move { test(&env) });
}

fn record(domain: u64, serial: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&domain.to_le_bytes());
    bytes[8..].copy_from_slice(&serial.to_le_bytes());
    bytes
}

fn parts(record: &[u8]) -> (u64, u64) {
    let (domain, serial) = record.split_at(8);
    (u64::from_le_bytes(domain.try_into().unwrap()), u64::from_le_bytes(serial.try_into().unwrap()))
}

/// Pops from one queue; what came, and where from.
fn pop(beast: &mut Beast, limit: u64) -> (Popped, Vec<(u64, u64)>) {
    let mut out = Vec::new();
    let popped = beast.pop::<QueueError>(limit, |bytes| {
        out.push(parts(bytes));
        Ok(())
    });
    (popped.unwrap(), out)
}

fn rescan_all(beast: &mut Beast, budget: u32) {
    beast.rescan::<QueueError>(u64::MAX, |_, _| Ok(Some(budget))).unwrap();
    assert!(!beast.is_rescanning());
}

#[test]
fn urls_are_spread_as_in_the_paper() {
    simulate(1, |env| {
        let options = BeastOptions { queues_first: 4, ..BeastOptions::default() };
        let mut beast = Beast::new(&open(env), "beast", options);
        let push = |beast: &mut Beast, domain, serials: std::ops::Range<u64>| {
            serials.for_each(|serial| beast.push(domain, 2, &record(domain, serial)).unwrap());
        };
        push(&mut beast, 7, 0..10);
        push(&mut beast, 8, 0..1);
        assert_eq!((beast.len(), beast.over_budget()), (11, 2), "Q1 to Q4 have two each of 7");
        assert_eq!(pop(&mut beast, 9), (Popped::Some(3), vec![(7, 0), (7, 1), (8, 0)]));
        push(&mut beast, 7, 10..11);
        push(&mut beast, 8, 1..2);
        assert_eq!(beast.over_budget(), 3, "while Q1 is read, Q2 to Q4 are full");
        assert_eq!(pop(&mut beast, 9), (Popped::Some(3), vec![(7, 2), (7, 3), (8, 1)]));
        push(&mut beast, 7, 11..14);
        assert_eq!(beast.over_budget(), 4, "while Q2 is read, two go into the next Q1");
        assert_eq!(pop(&mut beast, 9).1, [(7, 4), (7, 5)]);
        assert_eq!(pop(&mut beast, 1).1, [(7, 6)]);
        assert_eq!(pop(&mut beast, 9).1, [(7, 7)]);
        assert_eq!((beast.current(), beast.width()), (4, 4));
        // The end of the round. What the next Q1 has can be popped before QF is looked at.
        assert_eq!(pop(&mut beast, 9).1, [(7, 11), (7, 12)]);
        assert_eq!((beast.current(), beast.width(), beast.is_rescanning()), (5, 8, true));
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan, "nothing but QF is left");
        rescan_all(&mut beast, 2);
        assert_eq!(beast.over_budget(), 0);
        assert_eq!(pop(&mut beast, 9).1, [(7, 8), (7, 9)]);
        assert_eq!(beast.current(), 8, "into the queues that the doubling has added");
        assert_eq!(pop(&mut beast, 9).1, [(7, 10), (7, 13)]);
        assert_eq!(pop(&mut beast, 9).0, Popped::None);
        let stats = beast.stats();
        assert_eq!((stats.popped, stats.rescans, stats.rescanned, stats.over_budget), (16, 1, 4, 4));
        assert_eq!(stats.written_bytes, 16 * 16 + 4 * 24);
        assert_eq!(stats.read_bytes, stats.written_bytes);
    });
}

#[test]
fn one_url_passes_at_once() {
    simulate(2, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        assert_eq!(pop(&mut beast, 9).0, Popped::None);
        for serial in 0..50 {
            beast.push(1, 1, &record(1, serial)).unwrap();
            if pop(&mut beast, 9) == (Popped::Rescan, vec![]) {
                rescan_all(&mut beast, 1);
                assert_eq!(pop(&mut beast, 9).1, [(1, serial)]);
            }
            assert!(beast.is_empty());
        }
        assert!(beast.width() <= 2, "nothing was over budget for long: {}", beast.width());
    });
}

#[test]
fn queues_that_a_rescan_fills_are_not_read_before_its_end() {
    simulate(7, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        (0..4).for_each(|serial| beast.push(1, 1, &record(1, serial)).unwrap());
        beast.push(2, 1, &record(2, 0)).unwrap();
        beast.push(2, 1, &record(2, 1)).unwrap();
        assert_eq!(pop(&mut beast, 9).1, [(1, 0), (2, 0)]);
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan);
        beast.rescan::<QueueError>(2, |_, _| Ok(Some(1))).unwrap();
        assert_eq!(beast.records, 1, "the next of 1 has its place");
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan, "and waits for the first of others");
        beast.rescan::<QueueError>(u64::MAX, |_, _| Ok(None)).unwrap();
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan, "which are on their way");
        beast.push_again(1, 1, &record(1, 3)).unwrap();
        beast.push_again(2, 1, &record(2, 1)).unwrap();
        assert_eq!(pop(&mut beast, 9).1, [(1, 1), (2, 1)]);
        assert_eq!(beast.over_budget(), 2);
    });
}

#[test]
fn without_a_limit_all_is_one_queue() {
    simulate(6, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        let mut next = 0;
        for serial in 0..500 {
            beast.push(serial % 7, u32::MAX, &record(serial % 7, serial)).unwrap();
            if serial % 3 == 0 {
                pop(&mut beast, 2).1.iter().for_each(|(_, popped)| {
                    assert_eq!(*popped, next);
                    next += 1;
                });
            }
        }
        assert_eq!(pop(&mut beast, u64::MAX).0, Popped::Some(500 - next));
        let stats = beast.stats();
        assert_eq!((stats.over_budget, stats.rescans, beast.width(), beast.domains()), (0, 0, 1, 0));
    });
}

#[test]
fn without_budget_urls_are_withheld_until_it_changes() {
    simulate(3, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        beast.push(1, 0, &record(1, 0)).unwrap();
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan);
        rescan_all(&mut beast, 0);
        assert_eq!((pop(&mut beast, 9).0, beast.len()), (Popped::Withheld, 1));
        beast.push(2, 1, &record(2, 0)).unwrap();
        assert_eq!(pop(&mut beast, 9).1, [(2, 0)], "others pass");
        beast.retry();
        assert_eq!(pop(&mut beast, 9).0, Popped::Rescan);
        rescan_all(&mut beast, 5);
        assert_eq!(pop(&mut beast, 9).1, [(1, 0)]);
        assert_eq!(pop(&mut beast, 9).0, Popped::None);
    });
}

#[test]
fn what_is_refused_stays() {
    simulate(4, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        (0..3).for_each(|serial| beast.push(1, 9, &record(1, serial)).unwrap());
        let refuse = |_: &[u8]| Err(QueueError::TooLarge { bytes: 1, limit: 0 });
        beast.pop(9, refuse).unwrap_err();
        assert_eq!((beast.len(), beast.bytes()), (3, 48));
        assert_eq!(pop(&mut beast, 9).1, [(1, 0), (1, 1), (1, 2)]);
    });
}

/// What there is beside the stage: what must be true of it, and what is saved with it.
#[derive(Clone, Default)]
struct Truth {
    pushed: BTreeMap<u64, u64>,
    popped: BTreeSet<(u64, u64)>,
    /// Records that were in QF, as far as that was seen.
    over: BTreeSet<(u64, u64)>,
    /// The last serial that was popped: of those that never were in QF, and of the others.
    last: BTreeMap<(u64, bool), u64>,
    per_queue: BTreeMap<(u64, u64), u32>,
    /// Handed out by a rescan, on their way back.
    waiting: VecDeque<(u64, u64)>,
    /// Whether a rescan is done as soon as it is begun, so that nothing is pushed meanwhile.
    at_once: bool,
}

fn budget(domain: u64) -> u32 {
    1 + (domain % 4) as u32 * (domain % 3) as u32
}

impl Truth {
    fn step(&mut self, beast: &mut Beast, random: &mut Random, domains: u64) {
        match random.below(10) {
            0..=4 => {
                let domain = random.below(domains).min(random.below(domains));
                for _ in 0..1 + random.below(6) {
                    let serial = self.pushed.entry(domain).or_insert(0);
                    beast.push(domain, budget(domain), &record(domain, *serial)).unwrap();
                    *serial += 1;
                }
            }
            5..=6 => self.pop(beast, 1 + random.below(12)),
            7 => self.rescan(beast, random.below(20), Some(&mut *random)),
            _ => self.come_back(beast, random.below(10)),
        }
        if self.at_once {
            self.rescan(beast, u64::MAX, None);
        }
    }

    fn pop(&mut self, beast: &mut Beast, limit: u64) {
        let before = beast.len();
        let (result, popped) = pop(beast, limit);
        assert_eq!(beast.len(), before - popped.len() as u64);
        if before > 0 {
            assert!(matches!(result, Popped::Some(1..) | Popped::Rescan), "{result:?} of {before}");
        }
        for (domain, serial) in popped {
            assert!(self.popped.insert((domain, serial)), "twice: {domain} {serial}");
            let count = self.per_queue.entry((beast.current(), domain)).or_insert(0);
            *count += 1;
            assert!(*count <= budget(domain), "{domain} has {count} in queue {}", beast.current());
            let over = self.over.contains(&(domain, serial));
            if let Some(last) = self.last.insert((domain, over), serial)
                && (!over || self.at_once)
            {
                assert!(last < serial, "{domain}: {serial} after {last}, over budget: {over}");
            }
        }
    }

    fn rescan(&mut self, beast: &mut Beast, limit: u64, mut random: Option<&mut Random>) {
        beast
            .rescan::<QueueError>(limit, |domain, bytes| {
                let (of, serial) = parts(bytes);
                assert_eq!(of, domain);
                self.over.insert((domain, serial));
                // In order, so nothing is judged at once while something of it waits.
                let waits = self.waiting.iter().any(|(other, _)| *other == domain);
                if waits || random.as_mut().is_some_and(|random| random.chance(0.4)) {
                    self.waiting.push_back((domain, serial));
                    return Ok(None);
                }
                Ok(Some(budget(domain)))
            })
            .unwrap();
    }

    fn come_back(&mut self, beast: &mut Beast, count: u64) {
        for _ in 0..count {
            let Some((domain, serial)) = self.waiting.pop_front() else { return };
            beast.push_again(domain, budget(domain), &record(domain, serial)).unwrap();
        }
    }
}

/// Random pushes, pops and rescans; now and then a checkpoint, and now and then back to it.
fn survive(seed: u64, options: BeastOptions, domains: u64) {
    simulate(seed, |env| {
        let mut random = Random::from_seed(seed);
        let mut queues = open(env);
        let mut beast = Beast::new(&queues, "beast", options);
        let mut truth = Truth { at_once: seed.is_multiple_of(2), ..Truth::default() };
        let mut saved = None;
        for _ in 0..1500 {
            truth.step(&mut beast, &mut random, domains);
            assert!(beast.domains() <= options.domains_max);
            if random.chance(0.01) {
                let mut state = Vec::new();
                beast.encode(&mut state);
                queues.checkpoint().unwrap();
                saved = Some((state, truth.clone()));
            }
            if random.chance(0.01)
                && let Some((state, then)) = &saved
            {
                drop((beast, queues));
                queues = open(env);
                beast = Beast::restore(&queues, "beast", options, state).unwrap();
                let mut again = Vec::new();
                beast.encode(&mut again);
                assert_eq!(&again, state);
                truth = then.clone();
            }
        }
        while !(beast.is_empty() && truth.waiting.is_empty()) {
            truth.pop(&mut beast, u64::MAX);
            truth.rescan(&mut beast, u64::MAX, None);
            truth.come_back(&mut beast, u64::MAX);
        }
        let pushed: u64 = truth.pushed.values().sum();
        assert_eq!(truth.popped.len() as u64, pushed);
        assert_eq!((beast.len(), beast.bytes(), beast.is_rescanning()), (0, 0, false));
    });
}

#[test]
fn nothing_is_lost_and_budgets_hold_over_checkpoints() {
    for seed in 0..12 {
        survive(seed, BeastOptions::default(), 20);
    }
}

#[test]
fn they_hold_with_few_queues_and_many_domains() {
    for seed in 100..112 {
        let options = BeastOptions { queues_first: 1 + seed % 3, queues_max: 2 + seed % 7, domains_max: 8 };
        survive(seed, options, 60);
    }
}

#[test]
fn a_damaged_state_is_refused() {
    simulate(5, |env| {
        let queues = open(env);
        let mut beast = Beast::new(&queues, "beast", BeastOptions::default());
        (0..30).for_each(|serial| beast.push(serial % 4, 2, &record(serial % 4, serial)).unwrap());
        let mut state = Vec::new();
        beast.encode(&mut state);
        let restore = |state: &[u8]| Beast::restore(&queues, "beast", BeastOptions::default(), state);
        assert!(restore(&state).is_some());
        assert!((0..state.len()).all(|len| restore(&state[..len]).is_none()));
        state[0] = 9;
        assert!(restore(&state).is_none());
    });
}
