//! `mattock graph hits` and `mattock graph related`: what is around a page.

use mattock_env::Env;
use mattock_features::{Grain, Hosts};
use mattock_graph::{Related, Vicinity, around, cocitation, companions};

use super::opened::Opened;
use crate::args::graph::{AroundArgs, By, NodePlace, RelatedArgs};
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

pub(super) fn hits(env: &Env, args: &AroundArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.node.place)?;
    let node = opened.find(&args.node.url)?;
    let (graph, turned) = opened.coded_both(0)?;
    let nodes = around(&graph, &turned, node, &Vicinity::default());
    let found = mattock_graph::hits(&graph, &nodes, args.count);
    let columns = [("kind", Kind::Text), ("score", Kind::Float), opened.names.column()];
    let mut rows = Rows::begin(&args.node.place.rows, &columns)?;
    for (kind, list) in [("authority", &found.authorities), ("hub", &found.hubs)] {
        for Related { node, score } in list {
            rows.push(&[Cell::Text(kind), Cell::Float(*score), opened.names.name(*node)?.cell()])?;
        }
    }
    rows.finish()?;
    if !args.node.place.quiet {
        say!("{} {} are around {}", nodes.len() - 1, opened.names.plural(), opened.names.name(node)?);
    }
    Ok(Ended::Done)
}

pub(super) fn run(env: &Env, args: &RelatedArgs) -> anyhow::Result<Ended> {
    let RelatedArgs { around: AroundArgs { node: NodePlace { place, url }, count }, by } = args;
    let opened = Opened::open(env, place)?;
    let node = opened.find(url)?;
    let (graph, turned) = opened.coded_both(0)?;
    let vicinity = Vicinity::default();
    let found = match by {
        By::Cocitation => cocitation(&graph, &turned, node, &vicinity, *count),
        By::Companion => {
            let hosts = opened.features.has_urls().then(|| opened.features.hosts()).transpose()?;
            let host = |node: u32| host_of(opened.grain, hosts.as_ref(), node);
            companions(&graph, &turned, node, host, &vicinity, *count)
        }
    };
    let mut rows = Rows::begin(&place.rows, &[("score", Kind::Float), opened.names.column()])?;
    for Related { node, score } in &found {
        rows.push(&[Cell::Float(*score), opened.names.name(*node)?.cell()])?;
    }
    rows.finish()?;
    if !place.quiet && found.is_empty() {
        let why = match by {
            By::Companion => {
                "no links between hosts are around it; --by cocitation counts those within one, too"
            }
            By::Cocitation => "no two pages that link to it also link to another next to it",
        };
        say!("Nothing is like {}: {why}", opened.names.name(node)?);
    }
    Ok(Ended::Done)
}

/// Who speaks with one voice: pages of a host, hosts of a domain; a domain, or a node without a name, for itself.
fn host_of(grain: Grain, hosts: Option<&Hosts>, node: u32) -> u64 {
    let node = u64::from(node);
    match (grain, hosts) {
        (Grain::Pages, Some(hosts)) => hosts.host_of(node),
        (Grain::Hosts, Some(hosts)) => hosts.domain_of_host(node),
        _ => node,
    }
}
