//! `mattock graph pagerank`: ranks of pages, hosts or domains.

use mattock_env::Env;
use mattock_features::Direction;
use mattock_graph::{Adjacency, Held, PageRank, PageRankOptions, RANK_BYTES, degrees, pagerank_watched, top};
use mattock_study::Values;

use super::keep;
use super::opened::Opened;
use super::rounds::Rounds;
use crate::args::graph::PageRankArgs;
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

pub(super) fn run(env: &Env, args: &PageRankArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let options = PageRankOptions {
        alpha: args.rank.damping,
        tolerance: args.rank.tolerance,
        rounds_max: args.rank.iterations.max(1),
        threads: args.rank.threads.count(),
    };
    let (found, stopped) = ranks(&opened, &options, args.place.quiet)?;
    // First what took long: whoever reads the rows may have enough of them at any time.
    if !args.no_keep {
        keep_ranks(env, args, &opened, &found, stopped)?;
    }
    let mut rows = Rows::begin(&args.place.rows, &[opened.names.column(), ("pagerank", Kind::Float)])?;
    match args.top {
        Some(count) => {
            for node in top(&found.ranks, usize::try_from(count).unwrap_or(usize::MAX)) {
                let rank = found.ranks[node as usize];
                rows.push(&[opened.names.name(node)?.cell(), Cell::Float(rank)])?;
            }
        }
        None => {
            for (name, rank) in opened.names.all().zip(&found.ranks) {
                rows.push(&[name?.cell(), Cell::Float(*rank)])?;
            }
        }
    }
    rows.finish()?;
    Ok(if stopped { Ended::Interrupted } else { Ended::Done })
}

/// Keeps ranks that are as good as they were asked to be.
fn keep_ranks(
    env: &Env,
    args: &PageRankArgs,
    opened: &Opened,
    found: &PageRank,
    stopped: bool,
) -> anyhow::Result<()> {
    if found.converged {
        let value = |id: u64| found.ranks.get(id as usize).copied();
        return keep::column(env, &args.place, opened, "pagerank", Values::Floats(&value));
    }
    if keep::has_columns(opened) && !stopped && !args.place.quiet {
        say!("Not kept: allow more --iterations, or a greater --tolerance.");
    }
    Ok(())
}

/// Computes ranks, shown round by round; and whether somebody has stopped them before they were good enough.
pub(super) fn ranks(
    opened: &Opened,
    options: &PageRankOptions,
    quiet: bool,
) -> anyhow::Result<(PageRank, bool)> {
    // Both directions are not needed at once.
    let degrees = degrees(&opened.coded(Direction::Out, RANK_BYTES.coded)?);
    let inlinks = opened.held(Direction::In, RANK_BYTES)?;
    let mut rounds = Rounds::begin(quiet, |number, bound| {
        format!("round {number:>3}: the ranks are within {} of the true ones", short(bound))
    });
    let mut watch = |number: usize, bound: f64| rounds.after(number, bound);
    let found = match &inlinks {
        Held::Lists(graph) => pagerank_watched(graph, &degrees, options, &mut watch),
        Held::Coded(links) => pagerank_watched(links, &degrees, options, &mut watch),
    };
    let stopped = rounds.end() && !found.converged;
    if !quiet {
        let (count, bound) = (found.bounds.len(), found.bounds.last().copied().unwrap_or(0.0));
        let end = match (stopped, found.converged) {
            (true, _) => "Stopped",
            (false, true) => "Converged",
            (false, false) => "Not converged: --iterations ended it",
        };
        let nodes = indicatif::HumanCount(inlinks.nodes() as u64);
        let plural = opened.names.plural();
        let bound = short(bound);
        say!("{end} after {count} rounds: the ranks of {nodes} {plural} are within {bound} of the true ones");
    }
    Ok((found, stopped))
}

/// A bound in a few letters.
fn short(bound: f64) -> String {
    if bound >= 0.01 { format!("{bound:.2}") } else { format!("{bound:.0e}") }
}
