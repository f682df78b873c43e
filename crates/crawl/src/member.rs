//! One partition from opening its files to saving them: what runs on a thread of its own.
//!
//! Everything that the partitions of a crawl have in common is in [`Common`], which goes to every thread. What a partition
//! owns is made on its thread and never leaves it.

use std::sync::Arc;
use std::time::Duration;

use mattock_env::Env;
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Counts, Frontier, FrontierOptions, Servers};
use mattock_repository::{Ledger, WarcWriter, WriterOptions};

use crate::checkpoint::{Coordinator, Part, PartitionRecord, Seat};
use crate::directory::Directory;
use crate::exchange::{Inbox, Outbox};
use crate::partition::Partition;
use crate::summary::Totals;
use crate::{Config, Control, CrawlError, End, Progress};

/// What all partitions of a crawl have in common.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) env: Env,
    pub(crate) config: Config,
    pub(crate) directory: Directory,
    pub(crate) coordinator: Arc<Coordinator>,
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
    /// The longest that it stood still for a checkpoint.
    pub(crate) longest_pause: Duration,
}

/// What each of so many frontiers is made with.
pub(crate) fn frontier_options(config: &Config, blocklist: Blocklist, partitions: usize) -> FrontierOptions {
    FrontierOptions {
        blocklist,
        traps: config.traps.clone(),
        resolve: !config.politeness.server_delay.is_zero(),
        budget: config.budget.clone(),
        memory_bytes: config.memory_bytes / partitions as u64,
        ..FrontierOptions::new(config.scope(), config.politeness.clone(), &config.product)
    }
}

impl Common {
    /// Runs one partition to its last checkpoint. `from` is what the one before says of it.
    pub(crate) async fn run(self, inbox: Inbox, from: PartitionRecord) -> Result<Outcome, CrawlError> {
        let mut partition = self.open(inbox, from)?;
        let end = partition.run().await?;
        let (counts, totals) = (partition.frontier.counts(), partition.totals_now());
        Ok(Outcome { end, totals, counts, longest_pause: partition.part.longest_pause })
    }

    fn open(self, inbox: Inbox, from: PartitionRecord) -> Result<Partition, CrawlError> {
        let Common { env, config, directory, coordinator, servers, restarted, blocklist, control, progress } =
            self;
        let (index, count) = (inbox.index, inbox.hub.partitions());
        // From here on the others know if this one fails.
        let part = Part::new(&env, Seat::new(&coordinator, index));
        let PartitionRecord { ledger_bytes, totals, .. } = from;
        let mut frontier = Frontier::open(
            &env,
            &directory.frontier(index),
            FrontierOptions {
                checkpoint: coordinator.committed(),
                restarted,
                ..frontier_options(&config, blocklist, count)
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
        let archive =
            WarcWriter::open(&env.files, &directory.warc(), WriterOptions { prefix, ..writer }, random)?;
        let ledger = Ledger::open(&env.files, &directory.ledger(index), ledger_bytes)?;
        let outbox = Outbox::new(&inbox.hub);
        let rules = config.rules.clone();
        Ok(Partition {
            env,
            config,
            frontier,
            archive,
            ledger,
            part,
            rules,
            totals,
            control,
            progress,
            inbox,
            outbox,
        })
    }
}
