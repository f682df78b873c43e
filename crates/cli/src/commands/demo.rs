//! `mattock demo`

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use mattock_crawl::{Control, Crawl, RawConfig};
use mattock_lab::ServedWorld;
use mattock_lab::demo::{self, Sample};
use mattock_simweb::{Params, Preset, World};

use crate::args::DemoArgs;
use crate::display::{Display, print_summary};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places;
use crate::settings::check_directory;
use crate::shell::{program, quoted};
use crate::signals::Interrupts;

const SEED: u64 = 2007;
const SAMPLE_EVERY: Duration = Duration::from_millis(250);
/// A crawl waits when the disk is nearly full, and a demo that waits shows nothing.
const FREE_BYTES_MIN: u64 = 1 << 30;

pub(crate) fn run(args: DemoArgs) -> anyhow::Result<Ended> {
    let env = places::bound([args.out.as_path()]);
    check_directory(&env, &args.out)?;
    let entry =
        env.files.entry(&args.out).with_context(|| format!("cannot look at {}", args.out.display()))?;
    let occupied = match entry {
        Some(entry) if entry.is_dir => !env.files.list(&args.out)?.is_empty(),
        _ => false,
    };
    if occupied {
        let message =
            format!("{} is not empty; name another directory with --out, or remove it", args.out.display());
        return Err(Usage(message).into());
    }
    // The directory is made before the world, so that a wrong one is told at once.
    env.files
        .create_dir_all(&args.out)
        .with_context(|| format!("cannot create {}; name a directory with --out", args.out.display()))?;
    let free_bytes = env.files.free_bytes(&args.out)?;
    if free_bytes < FREE_BYTES_MIN {
        anyhow::bail!(
            "only {} MiB are left on the disk of {}, and the demo wants 1 GiB; make room, or name another disk with --out",
            free_bytes >> 20,
            args.out.display()
        );
    }
    say!("A simulated Web is started on loopback addresses: millions of pages, no network needed.");
    let world = World::new(Params::preset(Preset::Large), SEED);
    let seeds = world.seeds();
    let served = ServedWorld::start(world)?;
    let config = RawConfig::parse(&demo::crawl_config(&served, &seeds), "demo")?;
    let crawl = Crawl::open(&env, &args.out, config)?;
    say!("Crawling it for {} seconds into {} …", args.seconds, args.out.display());

    let control = Control::default();
    let progress = crawl.progress();
    let display = Display::new(progress.clone(), control.clone(), None, false);
    let (summary, samples) = mattock_env::run(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let shown = tokio::task::spawn_local(display.run(env.clock.clone()));
        let stop = control.clone();
        let clock = env.clock.clone();
        let limit = Duration::from_secs(args.seconds);
        let timed = tokio::task::spawn_local(async move {
            let _ = clock.timeout(limit, interrupts.next()).await;
            stop.stop();
        });
        let clock = env.clock.clone();
        let sampled = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let samples = sampled.clone();
        let sampler = tokio::task::spawn_local(async move {
            let begun = clock.now();
            loop {
                let reading = progress.read();
                let seconds = clock.now().since(begun).as_secs_f64();
                let sample =
                    Sample { seconds, pages: reading.pages, bytes: reading.bytes, queued: reading.queued };
                samples.borrow_mut().push(sample);
                clock.sleep(SAMPLE_EVERY).await;
            }
        });
        let summary = crawl.run(control).await;
        for task in [shown, timed, sampler] {
            task.abort();
            let _ = task.await;
        }
        anyhow::Ok((summary?, sampled.take()))
    })?;
    drop(served);

    print_summary(&summary, &args.out);
    let report = args.out.join("report.html");
    let html = demo::report(&summary, &samples, &next_commands(&args.out));
    env.files
        .write_atomic(&report, html.as_bytes())
        .with_context(|| format!("cannot write {}", report.display()))?;
    output::print_data(&format!("{}\n", report.display()))?;
    say!("\nThe report is {} (open it in a browser). What to try next:", report.display());
    for (command, what) in next_commands(&args.out) {
        say!("\n  {command}\n      {what}");
    }
    Ok(Ended::Done)
}

fn next_commands(out: &Path) -> [(String, String); 6] {
    let warc = quoted(&out.join("warc").display().to_string());
    let mattock = program();
    let directory = quoted(&out.display().to_string());
    [
        (
            format!(
                "{mattock} query {directory} '[samplingProb=0.0002, samplingSeed=1] select name, title, language'"
            ),
            "look at one page in five thousand, the same ones each time; `--sql` asks in SQL".into(),
        ),
        (
            format!("{mattock} features build {directory} && {mattock} graph pagerank {directory} --top 10"),
            "make its links, words and copies into feature databases, a matter of minutes, and rank its pages".into(),
        ),
        (
            format!("{mattock} report {directory}"),
            "measure what was stored: outcomes, types, languages, sizes, domains, copies; it takes the place of this report".into(),
        ),
        (
            format!("gzip -dc {warc}/*.warc.gz | less"),
            "look at what was stored: every request and response, as standard WARC records".into(),
        ),
        (
            format!("{mattock} simweb serve --preset small --audit audit.log"),
            "serve a smaller simulated Web and log every request; it prints the command that crawls it, and \
             `simweb audit audit.log` then judges the crawler's manners"
                .into(),
        ),
        (
            format!("{mattock} crawl --out my-crawl --max-pages 100 http://example.com/"),
            "crawl a real site, two seconds between requests, robots.txt obeyed".into(),
        ),
    ]
}
