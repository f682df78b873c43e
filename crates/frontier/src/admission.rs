//! The first judgement on every link, before anything is remembered of it: is it wanted at all, and how urgently?
//!
//! In this order: the scope, the blocklist, the traps, and what the crawl is [for](crate::Application). What the operator named
//! (depth 0) is no trap. Everything that is refused has a reason that is counted.

use std::net::IpAddr;

use mattock_weburl::WebUrl;

use crate::blocklist::{Blocklist, BlocklistReader};
use crate::traps::{Limits, Traps, Verdict};
use crate::{Application, BAND_LAST, BreadthFirst, Link, Refusal, Scope};

/// Longer URLs fit into no queue.
const URL_BYTES_MAX: usize = 16 << 10;

pub(crate) struct Admission {
    scope: Scope,
    blocks: BlocklistReader,
    traps: Traps,
    application: Box<dyn Application>,
}

impl Admission {
    /// `learnt` is what an earlier run knew of queries, if it did.
    pub(crate) fn new(
        scope: Scope,
        blocklist: &Blocklist,
        limits: Limits,
        learnt: Option<&[u8]>,
    ) -> Admission {
        let traps = learnt.and_then(|bytes| Traps::decode(limits.clone(), bytes));
        let traps = traps.unwrap_or_else(|| Traps::new(limits));
        Admission { scope, blocks: blocklist.reader(), traps, application: Box::new(BreadthFirst) }
    }

    pub(crate) fn serve(&mut self, application: Box<dyn Application>) {
        self.application = application;
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn include(&mut self, seed: &WebUrl) {
        self.scope.include(seed);
    }

    /// The band of a link, or why it has none.
    pub(crate) fn judge(&mut self, link: &Link) -> Result<u8, Refusal> {
        if link.url.as_str().len() > URL_BYTES_MAX {
            return Err(Refusal::UrlTooLong);
        }
        if let Some(refusal) = self.scope.refuses(link).or_else(|| self.blocks.current().refuses(&link.url)) {
            return Err(refusal);
        }
        let demoted = match self.traps.judge(&link.url) {
            _ if link.depth == 0 => false,
            Verdict::Passed => false,
            Verdict::Demoted(_) => true,
            Verdict::Refused(refusal) => return Err(refusal),
        };
        let band = self.application.band(link).ok_or(Refusal::NotRequested)?;
        Ok(if demoted { BAND_LAST } else { band.min(BAND_LAST - 1) })
    }

    /// Why a URL that was admitted must not be visited after all: the blocklist may have changed since.
    pub(crate) fn refuses_visit(&mut self, url: &WebUrl, server: Option<IpAddr>) -> Option<Refusal> {
        let blocks = self.blocks.current();
        if blocks.is_empty() {
            return None;
        }
        blocks.refuses(url).or_else(|| server.and_then(|server| blocks.refuses_address(server)))
    }

    /// Learns what others have [learnt](Admission::encode) as well; what cannot be read is learnt again.
    pub(crate) fn adopt(&mut self, learnt: &[u8]) {
        let _ = self.traps.adopt(learnt);
    }

    /// What was learnt, for a checkpoint.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.traps.encode(&mut bytes);
        bytes
    }
}
