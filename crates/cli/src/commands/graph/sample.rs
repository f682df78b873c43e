//! `mattock graph sample`: nodes drawn nearly alike.

use indicatif::HumanCount;
use mattock_env::Env;
use mattock_graph::{Adjacency, SampleOptions, sample, weak_components};

use super::opened::Opened;
use crate::args::graph::SampleArgs;
use crate::exit::{Ended, Usage};
use crate::rows::Rows;

/// Parts that are joined by links, and their sizes.
const BYTES: u64 = 24;

pub(super) fn run(env: &Env, args: &SampleArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let (graph, turned) = opened.coded_both(BYTES)?;
    let nodes = Adjacency::nodes(&graph);
    if nodes == 0 {
        return Err(Usage("there is nothing to sample: the graph is empty".into()).into());
    }
    let seed = args.seed.unwrap_or_else(|| env.random.fork("sample").next_u64());
    let start = match &args.from {
        Some(name) => opened.find(name)?,
        None => {
            let parts = weak_components(&graph);
            if !args.place.quiet {
                let (largest, all) = (HumanCount(parts.sizes()[0].into()), HumanCount(nodes as u64));
                say!("{largest} of {all} {} are joined, and may be drawn", opened.names.plural());
            }
            (0..nodes as u32).find(|node| parts.of(*node) == 0).unwrap_or(0)
        }
    };
    if !args.place.quiet {
        say!("sample: seed {seed}");
    }
    let whole = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let options = SampleOptions {
        count: whole(args.count),
        burn_in: whole(args.burn_in),
        thinning: whole(args.thinning),
        seed,
    };
    let drawn = sample(&graph, &turned, start, &options);
    let mut rows = Rows::begin(&args.place.rows, &[opened.names.column()])?;
    for node in drawn {
        rows.push(&[opened.names.name(node)?.cell()])?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}
