//! `mattock graph scc`: strongly connected components.

use indicatif::HumanCount;
use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::{COMPONENT_BYTES, Components, Held, strong_components};
use mattock_study::Values;

use super::keep;
use super::opened::Opened;
use crate::args::graph::SccArgs;
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

pub(super) fn run(env: &Env, args: &SccArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let components = match opened.held(Direction::Out, COMPONENT_BYTES)? {
        Held::Lists(graph) => strong_components(&graph),
        Held::Coded(links) => strong_components(&links),
    };
    if !args.place.quiet {
        let largest = components.sizes().first().copied().unwrap_or(0);
        let count = HumanCount(components.sizes().len() as u64);
        say!("{count} components, the largest with {} {}", HumanCount(largest.into()), opened.names.plural());
    }
    // Before the rows: whoever reads them may have enough of them at any time.
    if !args.no_keep {
        let value = |id: u64| components.all().get(id as usize).map(|component| i64::from(*component));
        keep::column(env, &args.place, &opened, "component", Values::Integers(&value))?;
    }
    match args.sizes {
        true => sizes(args, &components)?,
        false => nodes(args, &opened, &components)?,
    }
    Ok(Ended::Done)
}

fn sizes(args: &SccArgs, components: &Components) -> anyhow::Result<()> {
    let mut rows = Rows::begin(&args.place.rows, &[("size", Kind::Integer), ("components", Kind::Integer)])?;
    for group in components.by_size() {
        rows.push(&[Cell::count(group.size.into()), Cell::count(group.count)])?;
    }
    rows.finish().map(drop)
}

fn nodes(args: &SccArgs, opened: &Opened, components: &Components) -> anyhow::Result<()> {
    let columns = [opened.names.column(), ("component", Kind::Integer)];
    let mut rows = Rows::begin(&args.place.rows, &columns)?;
    for (name, component) in opened.names.all().zip(components.all()) {
        rows.push(&[name?.cell(), Cell::count((*component).into())])?;
    }
    rows.finish().map(drop)
}
