//! Connections that are kept open between two visits to a host.
//!
//! Filled when a fetch ends, emptied when the next one begins. At most `kept_max` are kept; the oldest goes first.

use std::collections::{BTreeMap, HashMap};

use mattock_fetch::Connection;

/// Open connections by host.
#[derive(Debug)]
pub(crate) struct Connections {
    by_host: HashMap<Box<str>, (u64, Connection)>,
    /// Hosts by the time they were put here.
    by_age: BTreeMap<u64, Box<str>>,
    age_next: u64,
    kept_max: usize,
}

impl Connections {
    pub(crate) fn new(kept_max: usize) -> Connections {
        Connections { by_host: HashMap::new(), by_age: BTreeMap::new(), age_next: 0, kept_max }
    }

    pub(crate) fn take(&mut self, host: &str) -> Option<Connection> {
        let (age, connection) = self.by_host.remove(host)?;
        self.by_age.remove(&age);
        Some(connection)
    }

    pub(crate) fn keep(&mut self, host: Box<str>, connection: Connection) {
        if self.by_host.len() >= self.kept_max
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.by_host.remove(&oldest);
        }
        self.age_next += 1;
        self.by_age.insert(self.age_next, host.clone());
        // A host has one connection at a time, so there is none to replace; should there be, its age goes too.
        if let Some((age, _)) = self.by_host.insert(host, (self.age_next, connection)) {
            self.by_age.remove(&age);
        }
    }
}
