//! Graphs of hosts and of domains, folded from that of pages while its links pass by.
//!
//! Ids of a host are a range, so one step along the sources and a search for the targets say which hosts a link joins. A
//! list is folded before it is sorted: most of its links stay within one host or go to one that it had just before.

use std::ops::Range;

use super::Progress;
use super::coded::Coder;
use crate::error::Result;
use crate::features::Grain;
use crate::hosts::Hosts;
use crate::links::LinkFiles;
use crate::sort::pairs::PairSorter;

type Both = (LinkFiles, LinkFiles);

pub(super) struct Fold {
    hosts: Hosts,
    between_hosts: PairSorter,
    between_domains: PairSorter,
    /// The host of the last source, and its ids.
    host: u64,
    ids: Range<u64>,
    source: u64,
    /// The ids of the host of that source's last target.
    last: Range<u64>,
}

impl Fold {
    pub(super) fn new(coder: &Coder<'_>, hosts: Hosts, memory: u64) -> Fold {
        let between_hosts = PairSorter::new(coder.scratch, "hosts", memory / 2);
        let between_domains = PairSorter::new(coder.scratch, "domains", memory / 2);
        Fold { hosts, between_hosts, between_domains, host: 0, ids: 0..0, source: 0, last: 0..0 }
    }

    /// Takes the next link between pages, in order.
    #[inline]
    pub(super) fn link(&mut self, source: u64, target: u64) -> Result<()> {
        if !self.ids.contains(&source) {
            self.host = self.hosts.host_of(source);
            self.ids = self.hosts.ids_of_host(self.host).unwrap_or_default();
        }
        if self.source != source {
            (self.source, self.last) = (source, 0..0);
        }
        // Targets are sorted, so that those of one host stand side by side.
        if self.last.contains(&target) || self.ids.contains(&target) {
            return Ok(());
        }
        let target = self.hosts.host_of(target);
        self.last = self.hosts.ids_of_host(target).unwrap_or_default();
        self.between_hosts.push((self.host, target))?;
        let (from, to) = (self.hosts.domain_of_host(self.host), self.hosts.domain_of_host(target));
        if from != to {
            self.between_domains.push((from, to))?;
        }
        Ok(())
    }

    /// Writes the graphs of hosts and of domains.
    pub(super) fn finish(self, coder: &Coder<'_>, report: &mut dyn FnMut(Progress)) -> Result<[Both; 2]> {
        let (hosts, domains) = (self.hosts.len(), self.hosts.domains());
        drop(self.hosts);
        let (host_links, domain_links) = (self.between_hosts.finish()?, self.between_domains.finish()?);
        let host_links = coder.both_directions(Grain::Hosts, hosts, host_links, report, |_, _| Ok(()))?;
        let domain_links =
            coder.both_directions(Grain::Domains, domains, domain_links, report, |_, _| Ok(()))?;
        Ok([host_links, domain_links])
    }
}
