//! What hostile hosts cost: a crawl of healthy hosts alone and beside hosts of every kind of the catalogue, over sockets.
//!
//! `cargo run --release -p mattock-crawl --example hostile -- [COPIES] [SECONDS] [DELAY] [IDS]` runs the server and each crawl in a
//! process of its own (so that peak memory is the crawler's), and prints peak memory, CPU time and the speed at which the
//! healthy pages were served, with the ratios between both runs.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_crawl::{Control, Crawl, RawConfig};
use mattock_env::{Env, Time};
use mattock_simweb::{
    Answer, HealthyWeb, HostileWeb, Hostility, Request, Resolution, ServeOptions, Web, catalogue, serve,
};

const HEALTHY_HOSTS: u32 = 100;
const HEALTHY_PAGES: u32 = 100;

fn healthy() -> HealthyWeb {
    HealthyWeb::new(HEALTHY_HOSTS, HEALTHY_PAGES)
}

/// The behaviours whose ids begin with one of these, separated by commas; all if there are none.
fn chosen(ids: &str) -> impl Iterator<Item = &'static Hostility> {
    catalogue().filter(move |entry| ids.split(',').any(|id| entry.id.starts_with(id)))
}

/// Counts the pages that are still to be asked for.
struct Counted {
    web: HealthyWeb,
    left: AtomicU64,
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

/// Serves until its input ends; says where, and then how long the healthy pages took.
fn run_server() {
    let env = Env::real();
    mattock_env::run(async {
        let all = u64::from(HEALTHY_HOSTS * (HEALTHY_PAGES + 1));
        let counted = Counted { web: healthy(), left: AtomicU64::new(all) };
        let web = Arc::new(HostileWeb::new(counted));
        let server = serve(&env, web.clone(), ServeOptions::default(), None).await.expect("free ports");
        println!("{} {}", server.dns_address(), server.http_port());
        let first = Cell::new(None::<Time>);
        loop {
            env.clock.sleep(Duration::from_millis(5)).await;
            let left = web.around().left.load(Ordering::Relaxed);
            if left < all && first.get().is_none() {
                first.set(Some(env.clock.now()));
            }
            if let (0, Some(first)) = (left, first.get()) {
                println!("{:.3}", env.clock.now().since(first).as_secs_f64());
                std::future::pending::<()>().await;
            }
        }
    });
}

/// Crawls for so long, and says what it took.
fn run_crawl(dns: &str, port: &str, copies: u32, seconds: u64, delay: &str, ids: &str, root: &Path) {
    let env = Env::real();
    let mut seeds = healthy().seeds();
    for copy in 0..copies {
        seeds.extend(chosen(ids).map(|entry| entry.seed(copy)));
    }
    let config = format!(
        "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[politeness]\ndelay = '{delay}'\n[network]\ndns = ['{dns}']\n\
         allow_address = ['127.0.0.0/8']\nconnect_port = ['80={port}', '443={port}']"
    );
    let config = RawConfig::parse(&config, "example").expect("a valid configuration");
    let control = Control::default();
    let (stop, clock) = (control.clone(), env.clock.clone());
    let summary = mattock_env::run(async {
        tokio::task::spawn_local(async move {
            clock.sleep(Duration::from_secs(seconds)).await;
            stop.stop();
        });
        let crawl = Crawl::open(&env, root, config).expect("a new directory");
        crawl.run(control).await.expect("the archive can be written")
    });
    let peak_kb = mattock_env::peak_resident_bytes().unwrap_or_default() / 1024;
    println!("{peak_kb} {:.2} {}", summary.cpu_seconds, summary.pages);
    let _ = env.files.remove_dir_all(root);
}

fn start(arguments: &[String]) -> Child {
    let me = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(me);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("this program can be started again")
}

fn line(reader: &mut impl BufRead) -> Vec<f64> {
    let mut line = String::new();
    reader.read_line(&mut line).expect("the child writes text");
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

struct Measured {
    peak_mb: f64,
    cpu_s: f64,
    pages: f64,
    healthy_per_s: Option<f64>,
}

fn measure(copies: u32, seconds: u64, delay: &str, ids: &str) -> Measured {
    let mut server = start(&["serve".into()]);
    let mut from_server = BufReader::new(server.stdout.take().expect("it is piped"));
    let mut address = String::new();
    from_server.read_line(&mut address).expect("the server says where it is");
    let (dns, port) = address.trim().split_once(' ').expect("two words");
    let name = format!("mattock-hostile-{:016x}", Env::real().random.clone().next_u64());
    let root = std::env::temp_dir().join(name);
    let arguments = [
        "crawl",
        dns,
        port,
        &copies.to_string(),
        &seconds.to_string(),
        delay,
        ids,
        &root.display().to_string(),
    ];
    let mut crawl = start(&arguments.map(str::to_owned));
    let mut from_crawl = BufReader::new(crawl.stdout.take().expect("it is piped"));
    let taken = line(&mut from_crawl);
    let _ = crawl.wait();
    // If the healthy pages were done, the server has said so by now; if not, its output just ends.
    let _ = server.kill();
    let _ = server.wait();
    let healthy_s = line(&mut from_server).first().copied();
    let all = f64::from(HEALTHY_HOSTS * (HEALTHY_PAGES + 1));
    let [peak_kb, cpu_s, pages] = taken[..] else { panic!("the crawl failed") };
    Measured {
        peak_mb: peak_kb / 1024.0,
        cpu_s,
        pages,
        healthy_per_s: healthy_s.map(|seconds| all / seconds),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => return run_server(),
        Some("crawl") => {
            let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
            run_crawl(
                &arguments[1],
                &arguments[2],
                number(3) as u32,
                number(4),
                &arguments[5],
                &arguments[6],
                Path::new(&arguments[7]),
            );
            return;
        }
        _ => {}
    }
    let number =
        |at: usize, default| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let (copies, seconds) = (number(0, 1) as u32, number(1, 30));
    let delay = arguments.get(2).map_or("100ms", String::as_str);
    let ids = arguments.get(3).map_or("", String::as_str);
    let mut out = std::io::stdout();
    let _ = writeln!(
        out,
        "{} hostile hosts beside {HEALTHY_HOSTS} healthy ones, {seconds} s each, delay {delay}",
        u64::from(copies) * chosen(ids).count() as u64
    );
    let show = |name: &str, run: &Measured| {
        let speed =
            run.healthy_per_s.map_or("not all fetched".to_owned(), |speed| format!("{speed:.0} pages/s"));
        println!(
            "{name}: peak {:.0} MB, {:.1} CPU s, {} pages, healthy {speed}",
            run.peak_mb, run.cpu_s, run.pages
        );
    };
    let clean = measure(0, seconds, delay, ids);
    show("clean", &clean);
    let hostile = measure(copies, seconds, delay, ids);
    show("hostile", &hostile);
    println!("peak above clean: {:.0} MB", hostile.peak_mb - clean.peak_mb);
    if let (Some(with), Some(without)) = (hostile.healthy_per_s, clean.healthy_per_s) {
        println!("healthy speed against clean: {:.2}", with / without);
    }
}
