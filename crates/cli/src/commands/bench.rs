//! `mattock bench`

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use mattock_console::{Access, Bind, Console, Desk, Running, Updates};
use mattock_crawl::Control;
use mattock_drum::bench::{BenchOptions, BenchReport};
use mattock_env::Env;
use mattock_lab::bench::console::{Counted, Watched};
use mattock_lab::bench::features::FeaturesBenchOptions;
use mattock_lab::bench::query::QueryBenchOptions;
use serde::Serialize;

use crate::args::bench::{BenchArgs, BenchCommand, BenchDrumArgs};
use crate::exit::Ended;
use crate::output;
use crate::places;

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    match args.command {
        BenchCommand::Drum(args) => drum(&env, &args)?,
        BenchCommand::Checkpoint(args) => {
            let name = format!("mattock-bench-checkpoint-{:08x}", env.random.fork("bench").next_u64() as u32);
            let (dir, turn) = (args.dir.join(name), Duration::from_secs(args.seconds.max(1)));
            show(&mattock_lab::bench::checkpoint::run(&env, &dir, args.urls, turn)?, args.json)?;
        }
        BenchCommand::Console(args) => {
            let name = format!("mattock-bench-console-{:08x}", env.random.fork("bench").next_u64() as u32);
            let (dir, slice) = (args.dir.join(name), Duration::from_secs(args.seconds.max(2)));
            let watch = |root: &Path, control: &Control| Watcher::begin(&env, root, control);
            show(&mattock_lab::bench::console::run(&env, &dir, slice, watch)?, args.json)?;
        }
        BenchCommand::Crawl(args) => {
            let name = format!("mattock-bench-crawl-{:08x}", env.random.fork("bench").next_u64() as u32);
            show(&mattock_lab::bench::crawl::run(&env, &args.dir.join(name))?, args.json)?;
        }
        BenchCommand::Features(args) => {
            let name = format!("mattock-bench-features-{:08x}", env.random.fork("bench").next_u64() as u32);
            let options = FeaturesBenchOptions {
                links: args.links.max(1000),
                memory: args.memory,
                data: args.data.clone(),
            };
            let talk = |text: &str| say!("{text}");
            show(&mattock_lab::bench::features::run(&env, &args.dir.join(name), &options, talk)?, args.json)?;
        }
        BenchCommand::Path(args) => {
            show(&mattock_lab::bench::path::run(&env, args.pages.max(100))?, args.json)?;
        }
        BenchCommand::Query(args) => {
            let name = format!("mattock-bench-query-{:08x}", env.random.fork("bench").next_u64() as u32);
            let options = QueryBenchOptions {
                instances: args.instances.max(1000),
                page_bytes: args.page_bytes as usize,
                memory_bytes: args.memory as usize,
            };
            let talk = |text: &str| say!("{text}");
            show(
                &mattock_lab::bench::query::run(&env, &args.dir.join(name), &args.peers, &options, talk)?,
                args.json,
            )?;
        }
        BenchCommand::Simweb(args) => {
            let round = Duration::from_secs(args.seconds.max(1));
            show(&mattock_lab::bench::simweb::run(&env, round)?, args.json)?;
        }
    }
    Ok(Ended::Done)
}

/// A console and the reader of its stream.
struct Watcher {
    updates: Updates,
    console: Console,
}

impl Watcher {
    fn begin(env: &Env, root: &Path, control: &Control) -> Watcher {
        let desk = Desk::running(env, root, Running::new(control.clone()));
        let bind = Bind::parse("127.0.0.1:0", Access::Everybody).expect("loopback needs no token");
        let console = Console::start(env, desk, Some(bind), None).expect("a free port is found");
        let address = console.address().expect("it has a port");
        Watcher { updates: Updates::follow(env, address), console }
    }
}

impl Watched for Watcher {
    fn counted(&self) -> Counted {
        let (updates, bytes) = self.updates.counted();
        Counted { updates, bytes, cpu_seconds: self.console.cpu_seconds() }
    }
}

fn show(report: &(impl Display + Serialize), json: bool) -> anyhow::Result<()> {
    if json {
        return output::print_json(report);
    }
    Ok(output::print(&format!("{report}\n"))?)
}

fn drum(env: &Env, args: &BenchDrumArgs) -> anyhow::Result<()> {
    let name = format!("mattock-bench-drum-{:08x}", env.random.fork("bench").next_u64() as u32);
    let options = BenchOptions {
        stream: args.stream,
        cache: !args.no_cache,
        ram_set: !args.no_ram_set,
        ..BenchOptions::new(args.keys, args.memory, args.dir.join(name))
    };
    let report = mattock_drum::bench::run(env, &options, &mut |progress| {
        let (done, total) = (progress.checks as f64 / 1e6, progress.total as f64 / 1e6);
        let speed = progress.checks_per_second / 1e6;
        say!("{:<8} {done:>6.0} of {total:.0} million checks  {speed:.2} million/s", progress.contender);
    })?;
    if args.json {
        return output::print_json(&report);
    }
    Ok(output::print(&drum_text(&report))?)
}

fn drum_text(report: &BenchReport) -> String {
    let ratio = |ratio: Option<f64>| ratio.map_or("not measured".into(), |ratio| format!("{ratio:.2}"));
    let rows = [
        ("checks a second", format!("{:.0}", report.checks_per_second)),
        ("over the set in RAM", ratio(report.ratio_to_ram_set)),
        ("over RocksDB", ratio(report.ratio_to_rocksdb)),
        ("last tenth over the second", format!("{:.2}", report.decay)),
        ("bytes of I/O per byte of URL", format!("{:.3}", report.alpha)),
        ("  the published structure", format!("{:.3}", report.alpha_model)),
        ("  its minimum", format!("{:.3}", report.alpha_min)),
        ("repeats that the cache caught", format!("{:.1} %", report.cache_hit_rate_of_repeats * 100.0)),
        ("longest pause", format!("{:.1} ms", report.longest_pause_ms)),
        ("peak memory over what was given", ratio(report.rss_over_memory)),
    ];
    rows.iter().map(|(name, value)| format!("{name:<32} {value:>14}\n")).collect()
}
