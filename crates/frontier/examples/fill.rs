//! A frontier that never outgrows its memory: pages are made up in process, each with links to new URLs and to old ones, and
//! answered at once, until so many URLs are queued.
//!
//! `cargo run --release -p mattock-frontier --example fill -- URLS MEMORY_MIB DIR [BUDGET] [PARTITIONS]`
//!
//! Every twentieth of the links that this takes it prints URLs seen, queued and visited, links a second, peak memory, and the bytes on disk
//! per queued URL, its text among them. What waits for its batch in `seen` is not queued yet, but on disk. With a number of partitions the
//! frontier is then divided among them: how long that takes, the peak memory, and whether all URLs are there.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Files, Random, Time};
use mattock_fetch::FetchOutcome;
use mattock_frontier::split::{Division, DivisionOptions};
use mattock_frontier::{
    BudgetPolicy, Counts, Finished, Frontier, FrontierOptions, Link, Next, Politeness, Purpose, RobotsAnswer,
    Scope, ScopeRule, Servers,
};
use mattock_weburl::WebUrl;

/// Links of a page, and how many of them are new.
const LINKS: u64 = 60;
const NEW_LINKS: u64 = 12;
const DOMAINS: u64 = 2_000_000;

struct Web {
    random: Random,
    known: u64,
    text: String,
}

impl Web {
    fn url(&mut self, number: u64) -> WebUrl {
        use std::fmt::Write;
        // A few domains have most of the pages.
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let domain = (mixed % DOMAINS) * ((mixed >> 21) % 1000 + 1) / 1000;
        self.text.clear();
        let _ = write!(
            self.text,
            "http://www{}.site-{domain}.example/archive/stories/{:x}/page-of-some-length-{number}.html",
            number % 3,
            mixed % 4096,
        );
        WebUrl::parse(&self.text).expect("the text is made to be a URL")
    }

    fn page(&mut self, source: &WebUrl, links: &mut Vec<Link>) {
        links.clear();
        for link in 0..LINKS {
            let number = if link < NEW_LINKS {
                self.known += 1;
                self.known
            } else {
                self.random.below(self.known.max(1)) + 1
            };
            let url = self.url(number);
            links.push(Link { via: Some(source.fingerprint()), ..Link::page(url, 1) });
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let word = |at: usize, default: &str| words.get(at).cloned().unwrap_or(default.to_owned());
    let urls = word(1, "1e6").parse::<f64>().expect("a number of URLs") as u64;
    let memory_mib: u64 = word(2, "256").parse().expect("memory in MiB");
    let dir = PathBuf::from(word(3, "fill"));
    let budget = match word(4, "unlimited").as_str() {
        "broad" => BudgetPolicy::broad(),
        "equal" => BudgetPolicy::Equal { pages: 10 },
        _ => BudgetPolicy::Unlimited,
    };
    let env = Env::real();
    let politeness =
        Politeness { server_delay: Duration::ZERO, ..Politeness::with_delay(Duration::from_secs(10)) };
    let options = FrontierOptions {
        budget,
        memory_bytes: memory_mib << 20,
        ..FrontierOptions::new(Scope::new(ScopeRule::Any, None), politeness, "mattock")
    };
    let partitions: usize = word(5, "0").parse().expect("a number of partitions");
    let divided = options.clone();
    let servers = Arc::new(Servers::new(Duration::ZERO));
    let mut frontier = Frontier::open(&env, &dir, options, servers).expect("the directory is empty");
    let mut web = Web { random: Random::from_seed(1), known: 0, text: String::new() };
    frontier.seed(web.url(1)).expect("a seed");
    let (mut now, begun) = (Time::ZERO, env.clock.now());
    let (mut visited, mut told, mut last) = (0u64, 1, (0u64, begun));
    let (mut links, mut numbers) = (Vec::new(), Vec::new());
    loop {
        let counts = frontier.counts();
        let full = counts.queued >= urls;
        if visited * NEW_LINKS * 20 >= urls * told || full {
            let (time, done) = (env.clock.now(), visited * LINKS);
            let speed = (done - last.0) as f64 / time.since(last.1).as_secs_f64();
            last = (done, time);
            let rss = mattock_env::peak_resident_bytes().unwrap_or(0) as f64 / 1e6;
            let disk = bytes_below(&env.files, &dir) as f64;
            println!(
                "{:>12} seen {:>12} queued {visited:>10} visited {speed:>10.0} links/s {rss:>7.0} MB peak {:>6.1} bytes on disk per queued URL",
                counts.accounts.seen,
                counts.queued,
                disk / counts.queued as f64
            );
            told += 1;
            if full {
                break;
            }
        }
        match frontier.next(now).expect("the disk has room") {
            Next::Visit(visit) => {
                let is_robots = visit.purpose != Purpose::Page;
                let source = visit.request.url.clone();
                let outcome = FetchOutcome::Answered(if is_robots { 404 } else { 200 });
                let robots = is_robots.then_some(RobotsAnswer { body: None, location: None });
                let took = Duration::from_millis(1);
                let finished =
                    Finished { visit, outcome, at: now, took, retry_after_s: None, robots, content: None };
                frontier.finished(finished, now).expect("the disk has room");
                if !is_robots {
                    visited += 1;
                    if partitions > 0 {
                        numbers.extend(number_of(source.as_str()));
                    }
                    web.page(&source, &mut links);
                    frontier.submit(&links, Some(&source)).expect("the disk has room");
                }
            }
            Next::WaitUntil(time) => now = time,
            Next::WaitForVisits | Next::Resolve(_) => {
                unreachable!("visits end at once, and nobody is looked up")
            }
            Next::Empty => break,
        }
    }
    println!(
        "{:.1} s, {:.1} s of CPU",
        env.clock.now().since(begun).as_secs_f64(),
        mattock_env::cpu_seconds().unwrap_or(0.0)
    );
    if partitions > 0 {
        frontier.save(1, now).expect("the disk has room");
        let before = frontier.counts();
        drop(frontier);
        divide(&env, &dir, partitions, divided, before, numbers.into_iter().map(|number| web.url(number)));
    }
    drop(env.files.remove_dir_all(&dir));
}

/// The number in a URL's text.
fn number_of(url: &str) -> Option<u64> {
    url.rsplit_once('-')?.1.strip_suffix(".html")?.parse().ok()
}

fn divide(
    env: &Env,
    dir: &Path,
    partitions: usize,
    options: FrontierOptions,
    before: Counts,
    settled: impl Iterator<Item = WebUrl>,
) {
    let begun = (env.clock.now(), mattock_env::cpu_seconds().unwrap_or(0.0));
    let to: Vec<PathBuf> = (0..partitions).map(|index| dir.join(format!("part-{index}"))).collect();
    let options = FrontierOptions { memory_bytes: options.memory_bytes / partitions as u64, ..options };
    let mut division = Division::open(
        env,
        DivisionOptions {
            from: &[dir.to_owned()],
            from_checkpoint: 1,
            to: &to,
            to_checkpoint: 2,
            scratch: &dir.join("dividing"),
            owner_of: |domain, partitions| (domain % partitions as u64) as usize,
            frontier: options,
            salvage: false,
        },
    )
    .expect("the checkpoint is whole");
    for url in settled {
        division.settled(&url, true).expect("the disk has room");
    }
    let after = division.finish().expect("the disk has room").counts;
    let mut sums = Counts::default();
    for counts in &after {
        assert_eq!(counts.missing(), 0);
        sums.accounts.add(&counts.accounts);
        sums.queued += counts.queued;
    }
    assert_eq!(sums.accounts.settled(), before.accounts.settled());
    assert_eq!(sums.accounts.seen - before.accounts.seen, sums.queued - before.queued);
    println!(
        "divided among {partitions} in {:.1} s, {:.1} s of CPU, {:.0} MB peak",
        env.clock.now().since(begun.0).as_secs_f64(),
        mattock_env::cpu_seconds().unwrap_or(0.0) - begun.1,
        mattock_env::peak_resident_bytes().unwrap_or(0) as f64 / 1e6,
    );
}

fn bytes_below(files: &Files, dir: &Path) -> u64 {
    let entries = files.list(dir).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| if entry.is_dir { bytes_below(files, &dir.join(&entry.name)) } else { entry.len })
        .sum()
}
