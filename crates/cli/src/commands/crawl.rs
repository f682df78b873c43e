//! `mattock crawl`

use std::cell::Cell;
use std::rc::Rc;

use anyhow::Context;
use indicatif::{HumanBytes, HumanCount};
use mattock_console::{Bind, Console, ConsoleError, Desk, Running, SOCKET, TOKEN_FILE};
use mattock_crawl::config::{RawBudget, RawCrawl, RawFetch, RawLinks, RawOrder, RawPoliteness, RawScope};
use mattock_crawl::steer::log::Logger;
use mattock_crawl::{Config, Control, Crawl, End, RawConfig, SavedCrawl};
use mattock_env::{Clock, Env};

use crate::args::crawl::{Budget, CrawlArgs, Order, Scope};
use crate::display::{Display, all_failed, print_summary};
use crate::exit::Ended;
use crate::output;
use crate::places;
use crate::settings::{asked, check_directory, some};
use crate::shell::{program, quoted};
use crate::signals::{Interrupts, Wish};

pub(crate) fn run(args: Box<CrawlArgs>) -> anyhow::Result<Ended> {
    let env = places::bound([args.out.as_path()]);
    // Nothing is begun for a console that cannot be.
    let bind = args.console.as_deref().map(|address| args.token.bind(&env, address)).transpose()?;
    let asked = asked(flags(&args), &args.network, None)?;
    check_directory(&env, &args.out)?;
    if !args.quiet {
        tell_of_division(&env, &args);
    }
    let crawl = Crawl::open(&env, &args.out, asked)?;
    if !args.quiet && is_anonymous(crawl.config()) {
        say!(
            "warning: nobody can tell who crawls; name a URL or an e-mail address with --contact, so that the owners \
             of sites can reach you"
        );
    }
    if !args.quiet {
        crawl.config().warnings().iter().for_each(|warning| say!("warning: {warning}"));
    }
    let first_seed = crawl.config().seeds.first().map(|seed| seed.as_str().to_owned());
    let control = crawl.control();
    write_logs(&env, &crawl, &control);
    let max_pages = crawl.config().max_pages;
    let console = open_console(&env, &crawl, &control, bind, args.quiet)?;
    let display = Display::new(crawl.progress(), control.clone(), max_pages, args.quiet);
    let wish = Rc::new(Cell::new(Wish::Stop));
    let summary = mattock_env::run(async {
        let interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let asked = stop_when_asked(interrupts, control.clone(), env.clock.clone(), wish.clone());
        tokio::task::spawn_local(asked);
        if !args.quiet {
            let begun = if crawl.is_resumed() { "Going on with the crawl in" } else { "Crawling into" };
            say!("{begun} {}; Ctrl-C stops it in good order.", crawl.root().display());
            let undone = crawl.undone();
            if undone.bytes > 0 {
                say!(
                    "The run before did not end in good order: it goes on from its last checkpoint, and fetches again what came \
                     after that ({}).",
                    HumanBytes(undone.bytes)
                );
            }
            for name in &undone.missing {
                say!("note: {name} is not in the archive any more; it will not be missed");
            }
        }
        let shown = tokio::task::spawn_local(display.run(env.clock.clone()));
        let summary = crawl.run(control).await;
        shown.abort();
        let _ = shown.await;
        anyhow::Ok(summary?)
    })?;
    drop(console);
    if args.json {
        output::print_json(&summary)?;
    }
    if !args.quiet {
        print_summary(&summary, &args.out);
    }
    let again = format!("{} crawl --out {}", program(), quoted(&args.out.display().to_string()));
    match summary.end {
        End::Complete => match all_failed(&summary) {
            Some(cause) => {
                say!("error: not one page came in: {cause}");
                let seed = first_seed.map(|seed| quoted(&seed)).unwrap_or_default();
                say!("To see step by step why:\n  {} fetch {seed}", program());
                Ok(Ended::Failed)
            }
            None => Ok(Ended::Done),
        },
        End::MaxPages => {
            if !args.quiet && summary.urls_queued > 0 {
                let more = max_pages.unwrap_or_default().max(summary.pages).max(1).saturating_mul(2);
                say!("\nTo go on with a higher limit:\n  {again} --max-pages {more}");
            }
            Ok(Ended::Done)
        }
        End::Stopped => {
            say!("\nEverything is saved. To go on:\n  {again}");
            // To whoever has asked for its end it ended as it should: it need not be started again.
            Ok(if wish.get() == Wish::Interrupt { Ended::Interrupted } else { Ended::Done })
        }
    }
}

/// Says so if the crawl is to be divided otherwise, which can take minutes.
fn tell_of_division(env: &Env, args: &CrawlArgs) {
    let Ok(saved) = SavedCrawl::open(env, &args.out) else { return };
    let (before, waiting) = (saved.partitions().len(), saved.partitions().map(|counts| counts.queued).sum());
    if let Some(partitions) = args.partitions.filter(|partitions| *partitions != before && saved.number() > 0)
    {
        say!(
            "Dividing the crawl among {partitions} partition(s); it had {before}. Its whole state is read and written anew, with {} \
             URLs that wait …",
            HumanCount(waiting)
        );
    }
}

/// The console of a crawl: always at its socket, for `mattock ctl`, and at an address if that was asked for.
fn open_console(
    env: &Env,
    crawl: &Crawl,
    control: &Control,
    bind: Option<Bind>,
    quiet: bool,
) -> anyhow::Result<Option<Console>> {
    let desk = || Desk::running(env, crawl.root(), Running::new(control.clone()));
    let socket = crawl.root().join(SOCKET);
    let mut console = match Console::start(env, desk(), bind.clone(), Some(&socket)) {
        Ok(console) => console,
        // Not every file system has sockets; a crawl can do without.
        Err(error @ ConsoleError::Socket { .. }) => {
            say!("warning: {error}; `mattock ctl` will not reach this crawl");
            match bind {
                Some(bind) => Console::start(env, desk(), Some(bind), None)?,
                None => return Ok(None),
            }
        }
        Err(error) => return Err(error.into()),
    };
    let file = crawl.root().join(TOKEN_FILE);
    if let Err(error) = console.leave_token(&env.files, &file) {
        say!("warning: programs will not find the console's token: cannot write {}: {error}", file.display());
    }
    if let Some(url) = console.url().filter(|_| !quiet) {
        say!("Console: {url}");
    }
    Ok(Some(console))
}

/// The first wish stops the crawl in good order, the second at once. Whose the first was is left in `wish`.
async fn stop_when_asked(mut interrupts: Interrupts, control: Control, clock: Clock, wish: Rc<Cell<Wish>>) {
    wish.set(interrupts.next().await);
    // First the stop, then the talk: whoever listened on the other end of a pipe may have got the same signal.
    control.stop();
    say!("\nStopping: waiting for what is under way (again to leave at once, back to the last checkpoint) …");
    interrupts.settle(&clock).await;
    interrupts.next().await;
    // Not 130: that would say that the state is safe.
    std::process::exit(1);
}

/// Has everything that is said in the crawl's directory. A crawl without logs is better than none.
fn write_logs(env: &Env, crawl: &Crawl, control: &Control) {
    match Logger::new(env, &crawl.logs(), crawl.config().log, control.events()) {
        Ok(logger) => drop(logger.install()),
        Err(error) => say!("warning: nothing will be logged: {}: {error}", crawl.logs().display()),
    }
}

/// Whether requests go out to the Web without a word on who makes them. Where ports are exchanged the other side is a
/// laboratory.
fn is_anonymous(config: &Config) -> bool {
    config.contact.is_none() && config.identity.from.is_none() && config.connect_ports.is_empty()
}

/// What the flags say.
fn flags(args: &CrawlArgs) -> RawConfig {
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
            budget: args.budget.map(|budget| match budget {
                Budget::Unlimited => RawBudget::Unlimited,
                Budget::Equal => RawBudget::Equal,
                Budget::Broad => RawBudget::Broad,
                Budget::PopularOnly => RawBudget::PopularOnly,
            }),
            budget_pages: None,
            order: args.order.map(|order| match order {
                Order::BreadthFirst => RawOrder::BreadthFirst,
                Order::ShortPathsFirst => RawOrder::ShortPathsFirst,
            }),
            partitions: args.partitions,
            memory: args.memory.clone(),
        },
        links: RawLinks { blocklist: args.blocklist.clone(), ..Default::default() },
        politeness: RawPoliteness {
            delay: args.delay.clone(),
            server_delay: args.server_delay.clone(),
            retries: args.retries,
            ..Default::default()
        },
        fetch: RawFetch {
            connections: args.connections,
            body_max: args.body_max.clone(),
            ..Default::default()
        },
        ..RawConfig::default()
    }
}
