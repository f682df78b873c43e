//! `mattock graph top`: the nodes that have the most.

use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::{DistanceOptions, PageRankOptions, degrees, top};

use super::opened::Opened;
use super::{distances, pagerank};
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
            let options = PageRankOptions { threads: args.threads.count(), ..PageRankOptions::default() };
            let (found, stopped) = pagerank::ranks(&opened, &options, args.place.quiet)?;
            ("pagerank", found.ranks, stopped)
        }
        Measure::Harmonic => {
            // Against the links: what counts is who gets there.
            let options = DistanceOptions { threads: args.threads.count(), ..DistanceOptions::default() };
            let (found, stopped) = distances::measured(&opened, Direction::In, &options, args.place.quiet)?;
            ("harmonic", found.harmonic, stopped)
        }
    };
    let whole = matches!(args.by, Measure::InDegree | Measure::OutDegree);
    let kind = if whole { Kind::Integer } else { Kind::Float };
    let mut rows = Rows::begin(&args.place.rows, &[(name, kind), opened.names.column()])?;
    for node in top(&values, args.count) {
        let value = values[node as usize];
        let cell = if whole { Cell::count(value as u64) } else { Cell::Float(value) };
        rows.push(&[cell, opened.names.name(node)?.cell()])?;
    }
    rows.finish()?;
    Ok(if stopped { Ended::Interrupted } else { Ended::Done })
}
