//! `mattock crawl`

use std::path::Path;

use anyhow::Context;
use mattock_crawl::config::{RawCrawl, RawFetch, RawIdentity, RawNetwork, RawPoliteness, RawScope};
use mattock_crawl::{Control, Crawl, End, RawConfig};
use mattock_env::Env;

use crate::args::{CrawlArgs, Scope};
use crate::display::{Display, print_summary};
use crate::exit::Ended;
use crate::signals;

pub(crate) fn run(args: Box<CrawlArgs>) -> anyhow::Result<Ended> {
    let env = Env::real();
    let asked = match &args.config {
        Some(path) => flags(&args).or(read_config(&env, path)?),
        None => flags(&args),
    };
    let crawl = Crawl::open(&env, &args.out, asked)?;
    if crawl.is_resumed() && !args.quiet {
        eprintln!("Going on with the crawl in {}.", crawl.root().display());
    }
    let control = Control::default();
    let display = Display::new(crawl.progress(), crawl.config().max_pages, args.quiet);
    let summary = mattock_env::run(async {
        tokio::task::spawn_local(stop_when_interrupted(control.clone()));
        let shown = tokio::task::spawn_local(display.run(env.clock.clone()));
        let summary = crawl.run(control).await;
        shown.abort();
        let _ = shown.await;
        summary
    })?;
    if args.json {
        println!("{}", serde_json::to_string(&summary)?);
    }
    if !args.quiet {
        print_summary(&summary, &args.out);
    }
    if summary.end == End::Stopped {
        eprintln!("\nStopped; everything is saved. To go on:\n  mattock crawl --out {}", quoted(&args.out));
        return Ok(Ended::Interrupted);
    }
    Ok(Ended::Done)
}

/// The first wish stops the crawl in good order, the second at once.
async fn stop_when_interrupted(control: Control) {
    signals::interrupted().await;
    eprintln!("\nStopping: waiting for what is under way (again to leave at once) …");
    control.stop();
    signals::interrupted().await;
    std::process::exit(130);
}

fn read_config(env: &Env, path: &Path) -> anyhow::Result<RawConfig> {
    let bytes = env.files.read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(RawConfig::parse(&String::from_utf8_lossy(&bytes), &path.display().to_string())?)
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
        },
        ..RawConfig::default()
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
