//! `mattock crawl`

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use mattock_crawl::config::{RawCrawl, RawFetch, RawIdentity, RawNetwork, RawPoliteness, RawScope};
use mattock_crawl::{Control, Crawl, End, RawConfig};
use mattock_env::Env;

use crate::args::{CrawlArgs, Scope};
use crate::display::{Display, print_summary};
use crate::exit::{Ended, read_named};
use crate::output;
use crate::shell::{program, quoted};
use crate::signals::Interrupts;

pub(crate) fn run(args: Box<CrawlArgs>) -> anyhow::Result<Ended> {
    let env = Env::real();
    let asked = match &args.config {
        Some(path) => flags(&args).or(read_config(&env, path)?),
        None => flags(&args),
    };
    let crawl = Crawl::open(&env, &args.out, asked)?;
    let control = Control::default();
    let max_pages = crawl.config().max_pages;
    let display = Display::new(crawl.progress(), max_pages, args.quiet);
    let summary = mattock_env::run(async {
        let interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        tokio::task::spawn_local(stop_when_interrupted(interrupts, control.clone()));
        if !args.quiet {
            let begun = if crawl.is_resumed() { "Going on with the crawl in" } else { "Crawling into" };
            eprintln!("{begun} {}; Ctrl-C stops it in good order.", crawl.root().display());
        }
        let shown = tokio::task::spawn_local(display.run(env.clock.clone()));
        let summary = crawl.run(control).await;
        shown.abort();
        let _ = shown.await;
        anyhow::Ok(summary?)
    })?;
    if args.json {
        output::print_json(&summary)?;
    }
    if !args.quiet {
        print_summary(&summary, &args.out);
    }
    let again = format!("{} crawl --out {}", program(), quoted(&args.out.display().to_string()));
    match summary.end {
        End::Complete => Ok(Ended::Done),
        End::MaxPages => {
            if !args.quiet && summary.urls_queued > 0 {
                let more = max_pages.unwrap_or_default().max(summary.pages).max(1).saturating_mul(2);
                eprintln!("\nTo go on with a higher limit:\n  {again} --max-pages {more}");
            }
            Ok(Ended::Done)
        }
        End::Stopped => {
            eprintln!("\nEverything is saved. To go on:\n  {again}");
            Ok(Ended::Interrupted)
        }
    }
}

/// The first wish stops the crawl in good order, the second at once.
async fn stop_when_interrupted(mut interrupts: Interrupts, control: Control) {
    interrupts.next().await;
    // First the stop, then the talk: whoever listened on the other end of a pipe may have got the same signal.
    control.stop();
    let _ = writeln!(
        std::io::stderr(),
        "\nStopping: waiting for what is under way (again to leave at once, which loses this run) …"
    );
    interrupts.next().await;
    // Not 130: that would say that the state is safe.
    std::process::exit(1);
}

fn read_config(env: &Env, path: &Path) -> anyhow::Result<RawConfig> {
    Ok(RawConfig::parse(&read_named(env, path)?, &path.display().to_string())?)
}

/// What the flags say.
fn flags(args: &CrawlArgs) -> RawConfig {
    let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    RawConfig {
        crawl: RawCrawl {
            seeds: some(&args.seeds),
            scope: args.scope.map(|scope| match scope {
                Scope::Host => RawScope::Host,
                Scope::Domain => RawScope::Domain,
                Scope::Any => RawScope::Any,
            }),
            max_pages: args.max_pages,
            max_depth: args.max_depth,
        },
        politeness: RawPoliteness { delay: args.delay.clone(), retries: args.retries, ..Default::default() },
        identity: RawIdentity { contact: args.contact.clone(), ..Default::default() },
        fetch: RawFetch {
            connections: args.connections,
            body_max: args.body_max.clone(),
            ..Default::default()
        },
        network: RawNetwork {
            dns: some(&args.dns),
            allow_address: some(&args.allow_address),
            connect_port: some(&args.connect_port),
            ..Default::default()
        },
        ..RawConfig::default()
    }
}
