//! `mattock graph distances`: how far nodes are apart.

use indicatif::HumanCount;
use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::{DistanceOptions, Distances, Held, distances_watched};

use super::opened::Opened;
use super::rounds::Rounds;
use crate::args::graph::DistancesArgs;
use crate::exit::Ended;
use crate::output;
use crate::rows::{Cell, Kind, Rows};

pub(super) fn run(env: &Env, args: &DistancesArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let options = DistanceOptions {
        log2_registers: args.log2_registers,
        seed: args.seed,
        threads: args.threads.count(),
        ..DistanceOptions::default()
    };
    let (found, stopped) = measured(&opened, Direction::Out, &options, args.place.quiet)?;
    if args.json {
        output::print_json(&found)?;
    } else {
        table(args, &found)?;
    }
    if !args.place.quiet {
        if stopped {
            say!("Stopped: greater distances are not counted.");
        }
        say!(
            "{:.2} on average; 90 % of all pairs are within {:.2}; {:.1} % of all pairs are joined. Counters are off by {:.0} %, sums over many by less.",
            found.average,
            found.effective_diameter,
            found.reachable * 100.0,
            found.error * 100.0
        );
    }
    Ok(if stopped { Ended::Interrupted } else { Ended::Done })
}

/// Measures distances along links or against them, shown one by one; and whether somebody has stopped it.
pub(super) fn measured(
    opened: &Opened,
    direction: Direction,
    options: &DistanceOptions,
    quiet: bool,
) -> anyhow::Result<(Distances, bool)> {
    let graph = opened.held(direction, options.node_bytes())?;
    let mut rounds = Rounds::begin(quiet, |distance, pairs| {
        format!("distance {distance:>3}: about {} pairs are no farther apart", HumanCount(pairs as u64))
    });
    let mut watch = |distance: usize, pairs: f64| rounds.after(distance, pairs);
    let found = match &graph {
        Held::Lists(graph) => distances_watched(graph, options, &mut watch),
        Held::Coded(links) => distances_watched(links, options, &mut watch),
    };
    Ok((found, rounds.end()))
}

/// A pair is a node and another that it reaches.
fn table(args: &DistancesArgs, found: &Distances) -> anyhow::Result<()> {
    let columns = [("distance", Kind::Integer), ("pairs", Kind::Float), ("share_within", Kind::Float)];
    let mut rows = Rows::begin(&args.place.rows, &columns)?;
    let itself = found.pairs_within.first().copied().unwrap_or(0.0);
    let joined = found.pairs_within.last().copied().unwrap_or(0.0) - itself;
    for (before, pair) in found.pairs_within.windows(2).enumerate() {
        let share = if joined > 0.0 { (pair[1] - itself) / joined } else { 0.0 };
        rows.push(&[Cell::count(before as u64 + 1), Cell::Float(pair[1] - pair[0]), Cell::Float(share)])?;
    }
    rows.finish().map(drop)
}
