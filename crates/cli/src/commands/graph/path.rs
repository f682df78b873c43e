//! `mattock graph path`: the shortest way from one node to another.

use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::path;

use super::opened::Opened;
use crate::args::graph::PathArgs;
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

/// Where each node was reached from, and those that wait.
const BYTES: u64 = 8;

/// Exit code 1 if there is no way.
pub(super) fn run(env: &Env, args: &PathArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let (from, to) = (opened.find(&args.from)?, opened.find(&args.to)?);
    let graph = opened.coded(Direction::Out, BYTES)?;
    let Some(way) = path(&graph, from, to) else {
        say!("No way leads from {} to {}", opened.names.name(from)?, opened.names.name(to)?);
        return Ok(Ended::Failed);
    };
    let mut rows = Rows::begin(&args.place.rows, &[("step", Kind::Integer), opened.names.column()])?;
    for (step, node) in way.iter().enumerate() {
        rows.push(&[Cell::count(step as u64), opened.names.name(*node)?.cell()])?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}
