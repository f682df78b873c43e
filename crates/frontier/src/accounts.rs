//! Where every URL has gone: nothing may be lost, and if anything is, it shows.

/// URLs of a partition, over all runs: those that passed `seen`, and how they were settled. All others are queued or in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// Different URLs, each once.
    pub seen: u64,
    /// Settled by an answer of their server, whatever it said.
    pub fetched: u64,
    /// Settled without one.
    pub failed: u64,
    /// Not visited after all: by robots.txt or the blocklist.
    pub refused: u64,
}

impl Accounts {
    /// URLs that are settled.
    pub fn settled(&self) -> u64 {
        self.fetched + self.failed + self.refused
    }

    /// The URLs that so many open ones leave unexplained; 0 if the books are right.
    pub fn missing(&self, open: u64) -> i64 {
        self.seen as i64 - (self.settled() + open) as i64
    }

    /// Adds those of another partition.
    pub fn add(&mut self, other: &Accounts) {
        self.seen += other.seen;
        self.fetched += other.fetched;
        self.failed += other.failed;
        self.refused += other.refused;
    }
}
