//! What hostile hosts cost: a crawl of healthy hosts alone and beside hosts of every kind of the catalogue.
//!
//! `cargo run --release -p mattock-crawl --example hostile -- core|sockets [COPIES] [SECONDS] [DELAY] [IDS] [ROUNDS] [MEMORY]`
//!
//! `core` runs crawler and servers in one process on virtual time that CPU time moves on: as on a core of its own, whatever else
//! the machine does. That is for speed. `sockets` runs them in processes of their own. That is for memory. IDS are beginnings of
//! ids, separated by commas; with a `-` before it an id is left out. Clean and hostile runs take turns; the median of the
//! ratios counts. Printed are
//!
//! - the speed at which healthy pages were served, from the first to the last of them;
//! - the CPU time, and the longest that was computed without looking up: no document cost more;
//! - visits under way on average, at most, and after the end (which must be none);
//! - over sockets, peak memory of the crawler, and how long it was ready to run and the machine did not let it.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

#[path = "hostile/core.rs"]
mod core;
#[path = "hostile/sockets.rs"]
mod sockets;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_crawl::{Control, Progress, RawConfig};
use mattock_env::{Clock, Time};
use mattock_simweb::{Answer, HealthyWeb, Hostility, Request, Resolution, Web, catalogue};

const HEALTHY_HOSTS: u32 = 100;
const HEALTHY_PAGES: u32 = 100;
/// The port in the healthy hosts' URLs, by which they can have a server of their own.
const HEALTHY_PORT: u16 = 8080;
const PAGES: u64 = (HEALTHY_HOSTS * (HEALTHY_PAGES + 1)) as u64;
/// How often a crawl looks at itself.
const LOOK: Duration = Duration::from_millis(10);

fn healthy() -> HealthyWeb {
    HealthyWeb::new(HEALTHY_HOSTS, HEALTHY_PAGES)
}

/// What is to be measured.
#[derive(Clone)]
struct Setting {
    /// Hosts of each kind.
    copies: u32,
    seconds: u64,
    delay: String,
    ids: String,
    /// What the frontier may have.
    memory: String,
}

impl Setting {
    /// From the words of the command line: COPIES SECONDS DELAY IDS.
    fn parse(words: &[String]) -> Setting {
        let word = |at: usize, default: &str| words.get(at).cloned().unwrap_or(default.to_owned());
        Setting {
            copies: word(0, "1").parse().expect("a number of copies"),
            seconds: word(1, "30").parse().expect("a number of seconds"),
            delay: word(2, "100ms"),
            ids: word(3, ""),
            memory: word(5, "1GiB"),
        }
    }

    fn words(&self) -> [String; 6] {
        let Setting { delay, ids, memory, .. } = self.clone();
        [self.copies.to_string(), self.seconds.to_string(), delay, ids, "1".to_owned(), memory]
    }

    fn chosen(&self) -> impl Iterator<Item = &'static Hostility> {
        let (out, only): (Vec<&str>, Vec<&str>) =
            self.ids.split(',').filter(|id| !id.is_empty()).partition(|id| id.starts_with('-'));
        catalogue().filter(move |entry| {
            (only.is_empty() || only.iter().any(|id| entry.id.starts_with(id)))
                && !out.iter().any(|id| entry.id.starts_with(&id[1..]))
        })
    }

    fn config(&self, dns: &str, port: &str, healthy_port: &str) -> RawConfig {
        let with_port = |url: &String| format!("{}:{HEALTHY_PORT}/", url.trim_end_matches('/'));
        let mut seeds: Vec<String> = healthy().seeds().iter().map(with_port).collect();
        for copy in 0..self.copies {
            seeds.extend(self.chosen().map(|entry| entry.seed(copy)));
        }
        let Setting { delay, memory, .. } = self;
        let config = format!(
            "[crawl]\nseeds = {seeds:?}\nscope = 'any'\nmemory = '{memory}'\n[politeness]\ndelay = '{delay}'\n[network]\ndns = ['{dns}']\n\
             allow_address = ['127.0.0.0/8']\n\
             connect_port = ['80={port}', '443={port}', '{HEALTHY_PORT}={healthy_port}']"
        );
        RawConfig::parse(&config, "example").expect("a valid configuration")
    }
}

/// Counts the pages that are still to be asked for.
struct Counted {
    web: HealthyWeb,
    left: Arc<AtomicU64>,
}

impl Web for Counted {
    fn resolve(&self, name: &str) -> Resolution {
        self.web.resolve(name)
    }

    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        if request.path_and_query != "/robots.txt" {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        self.web.answer(request, time_s, body)
    }
}

/// Healthy pages a second, once all were asked for.
async fn healthy_per_s(clock: &Clock, left: &AtomicU64) -> f64 {
    let mut first = None::<Time>;
    loop {
        clock.sleep(Duration::from_millis(5)).await;
        let left = left.load(Ordering::Relaxed);
        if left < PAGES {
            let first = *first.get_or_insert_with(|| clock.now());
            if left == 0 {
                return PAGES as f64 / clock.now().since(first).as_secs_f64();
            }
        }
    }
}

/// What a crawl saw of itself.
#[derive(Default)]
struct Looks {
    count: u64,
    under_way: u64,
    under_way_most: u64,
    longest_s: f64,
}

/// Looks until the time is over, and stops the crawl then.
async fn look(clock: Clock, seconds: u64, progress: Arc<Progress>, control: Control) -> Looks {
    let end = clock.now() + Duration::from_secs(seconds);
    let mut looks = Looks::default();
    while clock.now() < end {
        let before = mattock_env::thread_cpu_seconds();
        clock.sleep(LOOK).await;
        let under_way = progress.read().in_flight;
        looks.count += 1;
        looks.under_way += under_way;
        looks.under_way_most = looks.under_way_most.max(under_way);
        looks.longest_s = looks.longest_s.max(mattock_env::thread_cpu_seconds() - before);
    }
    control.stop();
    looks
}

/// What a run took.
struct Measured {
    healthy_per_s: Option<f64>,
    text: String,
    /// Over sockets only.
    peak_mb: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let measure = match words.first().map(String::as_str) {
        Some("sockets") => sockets::measure,
        Some("core") | None => core::measure,
        Some(child) => return sockets::run(child, &words[1..]),
    };
    let hostile = Setting::parse(words.get(1..).unwrap_or_default());
    let clean = Setting { copies: 0, ..hostile.clone() };
    let rounds: usize = words.get(5).map_or(1, |word| word.parse().expect("a number of rounds"));
    let hosts = hostile.copies as usize * hostile.chosen().count();
    let Setting { seconds, delay, .. } = &hostile;
    println!("{hosts} hostile hosts beside {HEALTHY_HOSTS} healthy ones, {seconds} s each, delay {delay}");
    let (mut above, mut speed) = (Vec::new(), Vec::new());
    let show = |name: &str, run: Measured| {
        let speed = run.healthy_per_s.map_or("not all fetched".into(), |speed| format!("{speed:.1} pages/s"));
        println!("{name:<8} healthy {speed}; {}", run.text);
        // What is not done in time has no speed.
        (run.healthy_per_s.unwrap_or(0.0), run.peak_mb)
    };
    for _ in 0..rounds {
        let without = show("clean", measure(&clean));
        let with = show("hostile", measure(&hostile));
        speed.push(with.0 / without.0);
        above.push(with.1 - without.1);
    }
    println!("healthy speed against clean: {:.2}; peak above clean: {:.0} MB", median(speed), median(above));
}
