//! Which payloads have been read, so that a revisit can be held against the page that it repeats.
//!
//! A writer remembers a limited number of payloads, the latest used ones; here there are at least as many, so that whatever a
//! revisit refers to is still known if it could be read. One for each partition, whose writer refers to its own files only.
//!
//! Memory: some 40 bytes each, up to [`REVISITS_MAX`] twice.

use std::collections::HashSet;

use mattock_repository::Digest;

use crate::config::REVISITS_MAX;

/// See the module.
#[derive(Default)]
pub(super) struct Payloads {
    young: HashSet<Digest>,
    old: HashSet<Digest>,
}

impl Payloads {
    /// A page with this payload was read.
    pub(super) fn add(&mut self, digest: Digest) {
        if self.young.len() >= REVISITS_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest);
    }

    /// Whether there was one; it stays known.
    pub(super) fn has(&mut self, digest: Digest) -> bool {
        let known = self.young.contains(&digest) || self.old.contains(&digest);
        if known {
            self.add(digest);
        }
        known
    }
}
