//! What a frontier is made with, and how its memory is cut.

use crate::bench::Room;
use crate::blocklist::Blocklist;
use crate::traps::Limits;
use crate::{BudgetPolicy, Politeness, Scope};

/// What a frontier is made with.
#[derive(Clone, Debug)]
pub struct FrontierOptions {
    /// What the crawl is about.
    pub scope: Scope,
    /// What it must not touch, whatever it is about; may change while it runs.
    pub blocklist: Blocklist,
    /// What links look like that lead into places without end.
    pub traps: Limits,
    /// How long hosts, servers and domains are left alone.
    pub politeness: Politeness,
    /// What domains may have.
    pub budget: BudgetPolicy,
    /// Whose rules in robots.txt are ours.
    pub product_token: String,
    /// Memory for all of it.
    pub memory_bytes: u64,
    /// The checkpoint that is opened; 0 is the empty frontier before the first.
    pub checkpoint: u64,
    /// Whether an earlier run may have visited anybody until just now: then everybody is left alone for a delay first.
    pub restarted: bool,
    /// Whether the addresses of hosts are looked up before they are visited. Without, servers cannot be told apart.
    pub resolve: bool,
}

const MIB: u64 = 1 << 20;

impl FrontierOptions {
    /// With less memory than this there is nothing to cut up; it is taken all the same.
    pub const MEMORY_BYTES_MIN: u64 = 64 * MIB;

    /// With nothing blocked, no budgets and the least memory; addresses are not looked up.
    pub fn new(scope: Scope, politeness: Politeness, product_token: &str) -> FrontierOptions {
        FrontierOptions {
            scope,
            blocklist: Blocklist::default(),
            traps: Limits::default(),
            politeness,
            budget: BudgetPolicy::Unlimited,
            product_token: product_token.to_owned(),
            memory_bytes: FrontierOptions::MEMORY_BYTES_MIN,
            checkpoint: 0,
            restarted: false,
            resolve: false,
        }
    }
}

/// How the memory is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) seen_bytes: u64,
    pub(crate) robots_bytes: u64,
    pub(crate) queues_bytes: u64,
    pub(crate) degrees_bytes: u64,
    pub(crate) content_bytes: u64,
    pub(crate) bench: Room,
}

/// About what a URL and a host take on the bench.
const URL_BYTES: u64 = 300;
const HOST_BYTES: u64 = 1200;

impl Cut {
    /// Without budgets nobody counts in-degrees: their part goes to `seen`.
    pub(crate) fn new(memory_bytes: u64, budgeted: bool) -> Cut {
        let memory = memory_bytes.max(FrontierOptions::MEMORY_BYTES_MIN);
        let bench = memory / 32 * 6;
        let (seen, degrees) = if budgeted { (12, 4) } else { (16, 0) };
        Cut {
            seen_bytes: memory / 32 * seen,
            content_bytes: memory / 32 * 3,
            degrees_bytes: memory / 32 * degrees,
            robots_bytes: memory / 8,
            queues_bytes: memory / 32 * 3,
            bench: Room {
                hosts: (bench / 4 / HOST_BYTES) as usize,
                urls: (bench / 4 * 3 / URL_BYTES) as usize,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_not_more_than_the_whole() {
        for (memory, budgeted) in [(64 * MIB, true), (1 << 30, true), (1 << 36, true), (1 << 30, false)] {
            let cut = Cut::new(memory, budgeted);
            let bench = cut.bench.hosts as u64 * HOST_BYTES + cut.bench.urls as u64 * URL_BYTES;
            assert!(
                cut.seen_bytes
                    + cut.degrees_bytes
                    + cut.content_bytes
                    + cut.robots_bytes
                    + cut.queues_bytes
                    + bench
                    <= memory,
                "{cut:?}"
            );
        }
    }
}
