//! Graphs of hosts and of domains, folded from that of pages.
//!
//! Ids of a host are a range, so one step along the sources and a search for the targets say which hosts a link joins. A
//! list is folded before it is sorted: most of its links stay within one host or go to one that it had just before.

use super::coded::Coder;
use super::{Progress, Stage, Steps};
use crate::error::Result;
use crate::features::Grain;
use crate::generation::Manifest;
use crate::hosts::Hosts;
use crate::links::{LinkFiles, Links};
use crate::output::Written;
use crate::sort::pairs::PairSorter;

type Both = (LinkFiles, LinkFiles);

pub(super) fn fold(
    coder: &Coder<'_>,
    manifest: &Manifest,
    hosts: &Written,
    report: &mut dyn FnMut(Progress),
) -> Result<[Both; 2]> {
    let hosts = Hosts::open(&coder.site.files, &coder.site.dir, hosts)?;
    let links = Links::open(&coder.site.files, &coder.site.dir, &manifest.out_links)?;
    let mut between_hosts = PairSorter::new(coder.scratch, "hosts", coder.memory / 2);
    let mut between_domains = PairSorter::new(coder.scratch, "domains", coder.memory / 2);
    let mut steps = Steps::new(report, Stage::Hosts);
    let mut scan = links.scan(0..links.nodes());
    let (mut host, mut ids) = (0, 0..0);
    while let Some((source, targets)) = scan.next() {
        if !ids.contains(&source) {
            host = hosts.host_of(source);
            ids = hosts.ids_of_host(host).unwrap_or_default();
        }
        let mut last = ids.clone();
        for target in targets.iter().map(|target| *target as u64) {
            // Targets are sorted, so that those of one host stand side by side.
            if last.contains(&target) || ids.contains(&target) {
                continue;
            }
            let target = hosts.host_of(target);
            last = hosts.ids_of_host(target).unwrap_or_default();
            between_hosts.push((host, target))?;
            let (from, to) = (hosts.domain_of_host(host), hosts.domain_of_host(target));
            if from != to {
                between_domains.push((from, to))?;
            }
        }
        steps.step();
    }
    drop(links);
    let host_links = coder.both_directions(Grain::Hosts, hosts.len(), between_hosts.finish()?, report)?;
    let domain_links =
        coder.both_directions(Grain::Domains, hosts.domains(), between_domains.finish()?, report)?;
    Ok([host_links, domain_links])
}
