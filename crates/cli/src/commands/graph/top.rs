//! `mattock graph top`: the nodes that have the most.

use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::{PageRankOptions, degrees, threads, top};

use super::opened::Opened;
use super::pagerank;
use crate::args::graph::{Measure, TopArgs};
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

/// Degrees, the same as numbers that can be compared, and the order.
const BYTES: u64 = 16;

pub(super) fn run(env: &Env, args: &TopArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let counted = |direction| -> anyhow::Result<Vec<f64>> {
        let links = opened.coded(direction, BYTES)?;
        Ok(degrees(&links).into_iter().map(f64::from).collect())
    };
    let (name, values, stopped) = match args.by {
        Measure::InDegree => ("in_degree", counted(Direction::In)?, false),
        Measure::OutDegree => ("out_degree", counted(Direction::Out)?, false),
        Measure::PageRank => {
            let threads = args.threads.unwrap_or_else(threads).max(1);
            let options = PageRankOptions { threads, ..PageRankOptions::default() };
            let (found, stopped) = pagerank::ranks(&opened, &options, args.place.quiet)?;
            ("pagerank", found.ranks, stopped)
        }
    };
    let whole = args.by != Measure::PageRank;
    let kind = if whole { Kind::Integer } else { Kind::Float };
    let mut rows = Rows::begin(env, &args.rows, &[(name, kind), opened.names.column()])?;
    for node in top(&values, args.count) {
        let value = values[node as usize];
        let cell = if whole { Cell::count(value as u64) } else { Cell::Float(value) };
        rows.push(&[cell, opened.names.name(node)?.cell()])?;
    }
    rows.finish()?;
    Ok(if stopped { Ended::Interrupted } else { Ended::Done })
}
