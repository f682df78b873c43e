//! What a crawl says of itself: handed in by whoever knows crawls, told beside what the repository says.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ask::Desk;

/// A crawl as its last checkpoint has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrawlFigures {
    /// Whether it is running.
    pub running: bool,
    /// Why its last run ended: `complete`, `max-pages` or `stopped`; nothing if it has not.
    pub end: Option<String>,
    /// The number of the checkpoint; 0 before the first.
    pub checkpoint: u64,
    /// Different URLs that were found in its scope.
    pub discovered: u64,
    /// Those that their servers have answered.
    pub fetched: u64,
    /// Those that were given up without an answer.
    pub failed: u64,
    /// Those that were not asked for: by robots.txt or the blocklist.
    pub refused: u64,
    /// Those that wait, or were under way.
    pub queued: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
    /// What became of URLs: statuses and failures with their counts.
    pub outcomes: BTreeMap<String, u64>,
    /// Why URLs were not asked for, with their counts.
    pub refusals: BTreeMap<String, u64>,
    /// Its settings, those that matter to who reads its figures.
    pub settings: Vec<Setting>,
}

/// A setting of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// As in the configuration file: `politeness.delay`.
    pub key: String,
    /// As people read it.
    pub value: String,
}

impl CrawlFigures {
    pub(crate) fn define(&self, desk: &mut Desk<'_>) {
        let account = format!("{} --json", desk.report_command());
        desk.define(
            &account,
            &[
                ("crawl.discovered", "Different URLs that the crawl found within its scope."),
                ("crawl.fetched", "URLs that were settled by an answer of their server, whatever it said."),
                ("crawl.failed", "URLs that were given up without an answer."),
                (
                    "crawl.refused",
                    "URLs that were not asked for, because robots.txt or the blocklist forbids it.",
                ),
                ("crawl.queued", "URLs that still wait, and those that were under way at the checkpoint."),
                ("crawl.received_bytes", "Bytes that came over the network, compressed as they came."),
                (
                    "crawl.outcomes",
                    "What became of the URLs that were asked for: HTTP statuses, and failures by name.",
                ),
                (
                    "crawl.refusals",
                    "Links that were not followed and URLs that were not asked for, by the reason.",
                ),
            ],
        );
        let stalls = desk.command("stalls");
        desk.define(&stalls, &[("crawl.running", "Whether the crawl was running when this was written.")]);
    }

    /// URLs that are accounted for; as many as were discovered if the books are right.
    pub(crate) fn accounted(&self) -> u64 {
        self.fetched + self.failed + self.refused + self.queued
    }
}
