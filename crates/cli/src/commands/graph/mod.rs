//! `mattock graph`: what links tell, one file for each question. The algorithms are those of `mattock_graph`; here graphs are opened, nodes
//! get their names, and answers become rows.

mod bowtie;
mod distances;
mod keep;
mod kendall;
mod links;
mod names;
mod opened;
mod pagerank;
mod path;
mod related;
mod rounds;
mod sample;
mod scc;
mod stats;
mod top;

use crate::args::graph::{GraphArgs, GraphCommand};
use crate::exit::Ended;
use crate::places;

pub(crate) fn run(args: &GraphArgs) -> anyhow::Result<Ended> {
    let env = &places::bound([args.command.dir()]);
    match &args.command {
        GraphCommand::Stats(args) => stats::run(env, args),
        GraphCommand::Scc(args) => scc::run(env, args),
        GraphCommand::Bowtie(args) => bowtie::run(env, args),
        GraphCommand::PageRank(args) => pagerank::run(env, args),
        GraphCommand::Hits(args) => related::hits(env, args),
        GraphCommand::Related(args) => related::run(env, args),
        GraphCommand::Distances(args) => distances::run(env, args),
        GraphCommand::Links(args) => links::run(env, args),
        GraphCommand::Top(args) => top::run(env, args),
        GraphCommand::Path(args) => path::run(env, args),
        GraphCommand::Sample(args) => sample::run(env, args),
        GraphCommand::Kendall(args) => kendall::run(env, args),
    }
}
