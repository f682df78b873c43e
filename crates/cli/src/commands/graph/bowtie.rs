//! `mattock graph bowtie`: the parts of a Web and their sizes, as a table and as a picture.

use mattock_env::Env;
use mattock_graph::{BOWTIE_BYTES, Held, PARTS, bowtie, bowtie_svg, strong_components};

use super::opened::Opened;
use crate::args::graph::BowtieArgs;
use crate::exit::{Ended, Usage};
use crate::repository::name_of;
use crate::rows::{Cell, Kind, Rows};

pub(super) fn run(env: &Env, args: &BowtieArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    let (graph, turned) = opened.both(BOWTIE_BYTES)?;
    let components = match &graph {
        Held::Lists(graph) => strong_components(graph),
        Held::Coded(links) => strong_components(links),
    };
    let found = match (&graph, &turned) {
        (Held::Lists(graph), Held::Lists(turned)) => bowtie(graph, turned, &components),
        _ => bowtie(&graph, &turned, &components),
    };
    if let Some(path) = &args.svg {
        let place = crate::places::absolute(&args.place.dir)?;
        let svg = bowtie_svg(&found, &format!("{}, {}", name_of(&place), opened.names.plural()));
        let written = crate::places::write(path, svg.as_bytes());
        written.map_err(|error| Usage(format!("cannot write {}: {error}", path.display())))?;
        if !args.place.quiet {
            say!("The picture is {}", path.display());
        }
    }
    let columns = [("part", Kind::Text), ("nodes", Kind::Integer), ("share", Kind::Float)];
    let mut rows = Rows::begin(&args.place.rows, &columns)?;
    for part in PARTS {
        let size = found.size(part);
        let share = size as f64 / found.nodes().max(1) as f64;
        rows.push(&[Cell::Text(part.name()), Cell::count(size), Cell::Float(share)])?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}
