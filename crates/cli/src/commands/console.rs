//! `mattock console`

use anyhow::Context;
use mattock_console::{Console, Desk};
use mattock_crawl::{CrawlError, SavedCrawl};
use mattock_index::Manifest;

use crate::args::desk::ConsoleArgs;
use crate::exit::Ended;
use crate::output;
use crate::places;
use crate::signals::Interrupts;

pub(crate) fn run(args: &ConsoleArgs) -> anyhow::Result<Ended> {
    let env = places::bound([args.dir.as_path()]);
    let bind = args.token.bind(&env, &args.listen)?;
    // That there is a crawl is said before anything listens.
    let running = match SavedCrawl::open(&env, &args.dir) {
        Ok(saved) => saved.status().is_some_and(|status| status.is_fresh(env.clock.unix())),
        Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. })
            if !Manifest::read(&env.files, &args.dir)?.parts.is_empty() =>
        {
            say!("note: there is no crawl here, only imported archives: their pages can be looked up by URL");
            false
        }
        Err(error) => return Err(error.into()),
    };
    if running {
        say!(
            "note: this crawl is running; `mattock crawl --console ADDRESS` shows it live, this console only what its last checkpoint says"
        );
    }
    mattock_env::run(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let console = Console::start(&env, Desk::stopped(&env, &args.dir), Some(bind), None)?;
        if let Some(url) = console.url() {
            output::print_data(&format!("{url}\n"))?;
        }
        say!("Serving until Ctrl-C.");
        interrupts.next().await;
        anyhow::Ok(())
    })?;
    Ok(Ended::Done)
}
