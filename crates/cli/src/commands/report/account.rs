//! What a crawl's directory says of the crawl, in the form that a report takes it.

use std::path::Path;

use indicatif::HumanBytes;
use mattock_crawl::config::RawOrder;
use mattock_crawl::units::format_duration;
use mattock_crawl::{Config, CrawlError, End, SavedCrawl};
use mattock_env::{Env, is_url};
use mattock_study::report::{CrawlFigures, Setting};

/// Seeds that are named.
const SEEDS_SHOWN: usize = 3;

/// The account of the crawl in `root`; `None` if there is none.
pub(super) fn of(env: &Env, root: &Path) -> anyhow::Result<Option<CrawlFigures>> {
    if is_url(root) {
        return Ok(None);
    }
    let saved = match SavedCrawl::open(env, root) {
        Ok(saved) => saved,
        Err(CrawlError::NoCrawl { .. } | CrawlError::NotACrawl { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let totals = saved.totals();
    let mut figures = CrawlFigures {
        running: saved.status().is_some_and(|status| status.is_fresh(env.clock.unix())),
        end: saved.end().map(|end| {
            match end {
                End::Complete => "complete",
                End::MaxPages => "max-pages",
                End::Stopped => "stopped",
            }
            .to_owned()
        }),
        checkpoint: saved.number(),
        received_bytes: totals.bytes,
        outcomes: totals.outcomes,
        refusals: totals.refused,
        settings: settings(&saved.config()?),
        ..CrawlFigures::default()
    };
    for counts in saved.partitions() {
        figures.discovered += counts.accounts.seen;
        figures.fetched += counts.accounts.fetched;
        figures.failed += counts.accounts.failed;
        figures.refused += counts.accounts.refused;
        figures.queued += counts.queued + counts.in_flight;
    }
    Ok(Some(figures))
}

/// What decides which pages a crawl has, and how gently it got them.
fn settings(config: &Config) -> Vec<Setting> {
    let named: Vec<&str> = config.seeds.iter().take(SEEDS_SHOWN).map(|seed| seed.as_str()).collect();
    let more = config.seeds.len().saturating_sub(SEEDS_SHOWN);
    let seeds = if more > 0 { format!("{} and {more} more", named.join(" ")) } else { named.join(" ") };
    let order = match config.order {
        RawOrder::BreadthFirst => "breadth-first",
        RawOrder::ShortPathsFirst => "short-paths-first",
    };
    let limit = |limit: Option<String>| limit.unwrap_or_else(|| "none".to_owned());
    let politeness = &config.politeness;
    [
        ("crawl.seeds", seeds),
        ("crawl.scope", format!("{:?}", config.scope).to_lowercase()),
        ("crawl.max_pages", limit(config.max_pages.map(|pages| pages.to_string()))),
        ("crawl.max_depth", limit(config.max_depth.map(|depth| depth.to_string()))),
        ("crawl.budget", config.budget.name().to_owned()),
        ("crawl.order", order.to_owned()),
        ("crawl.partitions", config.partitions.to_string()),
        ("politeness.delay", format_duration(politeness.delay)),
        ("politeness.server_delay", format_duration(politeness.server_delay)),
        ("politeness.retries", politeness.retries_max.to_string()),
        ("fetch.body_max", HumanBytes(config.limits.body_bytes_max as u64).to_string()),
        ("identity", config.identity.user_agent.clone()),
    ]
    .into_iter()
    .map(|(key, value)| Setting { key: key.to_owned(), value })
    .collect()
}
