//! One partition from opening its files to saving them: what runs on a thread of its own.
//!
//! Everything that the partitions of a crawl have in common is in [`Common`], which goes to every thread. What a partition
//! owns is made on its thread and never leaves it.

use std::path::PathBuf;
use std::sync::Arc;

use mattock_env::Env;
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Counts, Frontier, FrontierOptions, Servers};
use mattock_repository::{WarcWriter, WriterOptions};

use crate::exchange::{Inbox, Outbox};
use crate::partition::Partition;
use crate::summary::Totals;
use crate::{Config, Control, CrawlError, End, Progress};

/// What all partitions of a crawl have in common.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) env: Env,
    pub(crate) config: Config,
    /// The directory of the frontiers, each in one of its own.
    pub(crate) frontiers: PathBuf,
    pub(crate) warc: PathBuf,
    pub(crate) servers: Arc<Servers>,
    /// Whether there was an earlier run.
    pub(crate) restarted: bool,
    pub(crate) blocklist: Blocklist,
    pub(crate) control: Control,
    pub(crate) progress: Arc<Progress>,
}

/// What a partition has come to.
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) totals: Totals,
    pub(crate) counts: Counts,
}

/// Where the frontier of a partition is.
pub(crate) fn frontier_dir(frontiers: &std::path::Path, index: usize) -> PathBuf {
    frontiers.join(index.to_string())
}

impl Common {
    /// Runs one partition to its end and saves it. `totals` is what is counted already.
    pub(crate) async fn run(self, inbox: Inbox, totals: Totals) -> Result<Outcome, CrawlError> {
        let mut partition = self.open(inbox, totals)?;
        let end = partition.run().await;
        // The archive is closed whatever happened; after a failure the saved state stays that of the last clean stop.
        let archived = partition.archive.finish();
        let Partition { mut frontier, mut totals, outbox, env, .. } = partition;
        let end = end?;
        archived?;
        let counts = frontier.counts();
        for (refusal, count) in &counts.refused {
            *totals.refused.entry(refusal.to_string()).or_default() += count;
        }
        totals.copies += counts.content.copies;
        totals.near_copies += counts.content.near_copies;
        totals.links_exchanged += outbox.sent;
        frontier.save(env.clock.now())?;
        Ok(Outcome { end, totals, counts })
    }

    fn open(self, inbox: Inbox, totals: Totals) -> Result<Partition, CrawlError> {
        let Common { env, config, frontiers, warc, servers, restarted, blocklist, control, progress } = self;
        let (index, count) = (inbox.index, inbox.hub.partitions());
        let politeness = config.politeness.clone();
        let mut frontier = Frontier::open(
            &env,
            &frontier_dir(&frontiers, index),
            FrontierOptions {
                scope: config.scope(),
                blocklist,
                traps: config.traps.clone(),
                resolve: !politeness.server_delay.is_zero(),
                politeness,
                product_token: config.product.clone(),
                budget: config.budget.clone(),
                memory_bytes: config.memory_bytes / count as u64,
                restarted,
            },
            servers,
        )?;
        frontier.serve(config.application());
        for seed in &config.seeds {
            frontier.include(seed);
        }
        for seed in config.seeds.iter().filter(|seed| inbox.hub.owner(seed) == index) {
            frontier.seed(seed.clone())?;
        }
        let writer = config.writer_options();
        let prefix = if count == 1 { writer.prefix } else { format!("{}-p{index}", writer.prefix) };
        let random = env.random.fork(&format!("warc {index}"));
        let archive = WarcWriter::open(&env.files, &warc, WriterOptions { prefix, ..writer }, random)?;
        let outbox = Outbox::new(&inbox.hub);
        let rules = config.rules.clone();
        Ok(Partition { env, config, frontier, archive, rules, totals, control, progress, inbox, outbox })
    }
}
