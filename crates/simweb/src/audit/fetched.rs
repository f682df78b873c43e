//! URLs that were fetched more than once.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use super::auditor::{EXAMPLES_MAX, audited, push_example};
use super::line::Line;
use super::report::{AuditReport, AuditedRequest};

/// Looks for URLs fetched twice among those whose hash falls in one slice.
pub(super) struct Fetched {
    pass: u64,
    passes: u64,
    /// By hash of host and path; true once the URL was counted.
    urls: HashMap<u64, bool>,
    count: u64,
    examples: Vec<AuditedRequest>,
}

impl Fetched {
    pub(super) fn new(pass: u64, passes: u64) -> Fetched {
        Fetched { pass, passes, urls: HashMap::new(), count: 0, examples: Vec::new() }
    }

    pub(super) fn request(&mut self, line: &Line<'_>) {
        if line.status != 200 || line.is_robots || line.is_head || !line.has_host() {
            return;
        }
        let mut hash = Xxh3::new();
        hash.update(line.host.as_bytes());
        hash.update(line.path.as_bytes());
        let hash = hash.digest();
        if hash % self.passes != self.pass {
            return;
        }
        match self.urls.get_mut(&hash) {
            None => drop(self.urls.insert(hash, false)),
            Some(counted) if !*counted => {
                *counted = true;
                self.count += 1;
                push_example(&mut self.examples, || audited(line));
            }
            Some(_) => {}
        }
    }

    pub(super) fn finish(self, report: &mut AuditReport) {
        report.fetched_twice += self.count;
        let examples = &mut report.examples.fetched_twice;
        examples.extend(self.examples);
        examples.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        examples.truncate(EXAMPLES_MAX);
    }
}
