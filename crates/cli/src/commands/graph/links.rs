//! `mattock graph links`: who links to a page, and to whom it links.

use mattock_env::Env;
use mattock_features::{Direction, Grain};

use super::opened::Opened;
use crate::args::graph::LinksArgs;
use crate::exit::Ended;
use crate::rows::Rows;

pub(super) fn run(env: &Env, args: &LinksArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.node.place)?;
    let node = opened.find(&args.node.url)?;
    let direction = if args.inward { Direction::In } else { Direction::Out };
    let links = opened.coded(direction, 0)?;
    let mut rows = Rows::begin(&args.node.place.rows, &[opened.names.column()])?;
    for other in links.successors(node.into()) {
        rows.push(&[opened.names.name(other as u32)?.cell()])?;
    }
    let count = rows.finish()?;
    if !args.node.place.quiet && count == 0 {
        say!("{}", none(&opened, node, direction)?);
    }
    Ok(Ended::Done)
}

/// Why there is nothing to see.
fn none(opened: &Opened, node: u32, direction: Direction) -> anyhow::Result<String> {
    let name = opened.names.name(node)?;
    let uncrawled = opened.grain == Grain::Pages && !opened.features.crawled()?.contains(node.into());
    Ok(match direction {
        Direction::In => format!("Nothing that was crawled links to {name}"),
        Direction::Out if uncrawled => format!("{name} was not crawled: its links are not known"),
        Direction::Out => format!("{name} has no links"),
    })
}
