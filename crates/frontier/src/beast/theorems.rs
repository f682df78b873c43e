//! Theorems 4 and 5 and equation (11), on crawls in which they must hold: every domain always has more than its budget.

use super::tests::{open, simulate};
use super::*;

const DOMAINS: u64 = 30;
const BUDGET: u32 = 4;
/// New URLs per page: L.
const LINKS: u64 = 4;
const RECORD_BYTES: u64 = 64;
/// Pages of one queue: B·V.
const PASS: u64 = DOMAINS * BUDGET as u64;

/// Pushes the links of a page; each domain has its turn.
struct Web {
    links: u64,
}

impl Web {
    fn page(&mut self, links: u64, mut push: impl FnMut(u64, &[u8])) {
        for _ in 0..links {
            self.links += 1;
            push(self.links % DOMAINS, &[1; RECORD_BYTES as usize]);
        }
    }
}

/// α: how many passes N pages are.
fn alpha(pages: u64) -> f64 {
    (pages as f64 / PASS as f64).max(1.0)
}

/// Bytes per page of the stages of a crawl of `stages` rounds: j, pages so far, bytes read and written per page.
fn beast_stages(stages: usize) -> Vec<(u64, u64, f64)> {
    let mut measured = Vec::new();
    simulate(1, |env| {
        let mut beast = Beast::new(&open(env), "beast", BeastOptions::default());
        let mut web = Web { links: 0 };
        web.page(PASS, |domain, record| beast.push(domain, BUDGET, record).unwrap());
        // A stage writes what its rescan puts back, and reads what the next one looks at.
        let (mut written, mut read, mut pages) = (beast.stats().written_bytes, 0, 0);
        while measured.len() < stages {
            let mut popped = 0;
            let result = beast.pop::<QueueError>(50, |_| {
                popped += 1;
                Ok(())
            });
            web.page(popped * LINKS, |domain, record| beast.push(domain, BUDGET, record).unwrap());
            let expected = 1 << ((alpha(beast.stats().popped) + 1.0).log2().ceil() as u32 - 1);
            if result.unwrap() == Popped::Rescan || beast.is_rescanning() {
                let before = beast.stats();
                beast.rescan::<QueueError>(u64::MAX, |_, _| Ok(Some(BUDGET))).unwrap();
                let bytes = before.written_bytes - written + beast.stats().read_bytes - read;
                let stage = before.popped - pages;
                measured.push((beast.width() / 2, before.popped, bytes as f64 / stage as f64));
                (written, read, pages) = (before.written_bytes, beast.stats().read_bytes, before.popped);
            } else {
                assert_eq!(beast.width(), expected, "equation (11) after {} pages", beast.stats().popped);
            }
        }
    });
    measured
}

#[test]
fn theorem_5_beast_costs_the_same_however_large_the_crawl() {
    let stages = beast_stages(8);
    let bound = (2 * (RECORD_BYTES + 8) * (2 * LINKS - 1)) as f64;
    for (index, (width, pages, bytes)) in stages.iter().enumerate() {
        assert_eq!(*width, 1 << index, "j doubles");
        assert!(*bytes <= bound, "{bytes} bytes per page after {pages} pages: the bound is {bound}");
    }
    let (_, first_pages, first) = stages[1];
    let (_, last_pages, last) = stages[7];
    assert!(last_pages >= 64 * first_pages, "{first_pages} {last_pages}");
    assert!(last < 1.5 * first, "{first} {last}");
}

#[test]
fn theorem_4_two_queues_cost_ever_more() {
    simulate(1, |env| {
        let mut naive = NaiveQueue::new(&open(env), "naive");
        let mut web = Web { links: 0 };
        web.page(PASS, |domain, record| naive.push(domain, BUDGET, record).unwrap());
        let mut costs = Vec::new();
        let (mut bytes, mut pages) = (0, 0);
        while costs.len() < 64 {
            let rescans = naive.stats().rescans;
            let popped = naive.pop(u64::MAX, |_| BUDGET, |_| ()).unwrap();
            web.page(popped * LINKS, |domain, record| naive.push(domain, BUDGET, record).unwrap());
            let stats = naive.stats();
            if stats.rescans > rescans {
                costs.push(
                    (stats.read_bytes + stats.written_bytes - bytes) as f64 / (stats.popped - pages) as f64,
                );
                (bytes, pages) = (stats.read_bytes + stats.written_bytes, stats.popped);
            }
        }
        for (index, cost) in costs.iter().enumerate().skip(8) {
            let theorem = 2.0 * (RECORD_BYTES + 8) as f64 * (LINKS - 1) as f64 * (index + 1) as f64;
            assert!((0.8..1.4).contains(&(cost / theorem)), "pass {index}: {cost}, theorem 4 says {theorem}");
        }
        assert!(costs[63] > 6.0 * costs[7]);
    });
}
