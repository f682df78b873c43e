//! `mattock graph stats`: a graph in numbers.

use std::fmt::Write;

use indicatif::HumanCount;
use mattock_env::Env;
use mattock_features::{Direction, Grain};
use mattock_graph::{
    COMPONENT_BYTES, Components, Degrees, Held, PowerLaw, degree_counts, stats, strong_components,
    weak_components,
};
use serde::Serialize;

use super::names::Names;
use super::opened::Opened;
use crate::args::graph::{DegreesArg, StatsArgs};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::rows::{Cell, Kind, Rows};

/// What is told.
#[derive(Serialize)]
struct Report {
    grain: &'static str,
    nodes: u64,
    /// Pages that were crawled; the others are only linked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    crawled: Option<u64>,
    arcs: u64,
    loops: u64,
    reciprocity: f64,
    /// Nodes without links.
    dangling: u64,
    out_degrees: DegreesReport,
    in_degrees: DegreesReport,
    weak_components: ComponentsReport,
    strong_components: ComponentsReport,
}

#[derive(Serialize)]
struct DegreesReport {
    average: f64,
    max: u32,
    /// A node that has so many.
    max_name: String,
    zero: u64,
    power_law: Option<PowerLaw>,
}

#[derive(Serialize)]
struct ComponentsReport {
    count: u64,
    largest: u64,
    /// The nodes of the largest, of all.
    largest_share: f64,
}

pub(super) fn run(env: &Env, args: &StatsArgs) -> anyhow::Result<Ended> {
    let opened = Opened::open(env, &args.place)?;
    if let Some(direction) = args.degrees {
        return distribution(args, &opened, direction);
    }
    let rows = &args.place.rows;
    if rows.format.is_some() || rows.output.is_some() {
        let message = "--format and --output are for rows: add --degrees in or --degrees out";
        return Err(Usage(message.into()).into());
    }
    let report = report(&opened)?;
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&told(&report))?;
    }
    Ok(Ended::Done)
}

/// A row for each degree that occurs.
fn distribution(args: &StatsArgs, opened: &Opened, direction: DegreesArg) -> anyhow::Result<Ended> {
    let direction = match direction {
        DegreesArg::In => Direction::In,
        DegreesArg::Out => Direction::Out,
    };
    let counts = degree_counts(&opened.coded(direction, 0)?);
    let columns = [("degree", Kind::Integer), ("nodes", Kind::Integer)];
    let mut rows = Rows::begin(&args.place.rows, &columns)?;
    for (degree, nodes) in counts {
        rows.push(&[Cell::count(degree.into()), Cell::count(nodes)])?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}

fn report(opened: &Opened) -> anyhow::Result<Report> {
    let (graph, turned) = opened.both(COMPONENT_BYTES)?;
    let found = stats(&graph, &turned);
    drop(turned);
    // From list to list it is faster without asking for the form each time.
    let strong = match &graph {
        Held::Lists(graph) => strong_components(graph),
        Held::Coded(links) => strong_components(links),
    };
    let names = &opened.names;
    let pages = opened.grain == Grain::Pages && opened.features.has_urls();
    Ok(Report {
        grain: names.plural(),
        nodes: found.nodes,
        crawled: pages.then_some(opened.features.counts().crawled),
        arcs: found.arcs,
        loops: found.loops,
        reciprocity: found.reciprocity,
        dangling: found.out_degrees.zero,
        out_degrees: degrees(names, found.out_degrees)?,
        in_degrees: degrees(names, found.in_degrees)?,
        weak_components: components(&weak_components(&graph), found.nodes),
        strong_components: components(&strong, found.nodes),
    })
}

fn degrees(names: &Names, degrees: Degrees) -> anyhow::Result<DegreesReport> {
    let max_name = if degrees.max == 0 { String::new() } else { names.name(degrees.max_node)?.to_string() };
    Ok(DegreesReport {
        average: degrees.average,
        max: degrees.max,
        max_name,
        zero: degrees.zero,
        power_law: degrees.power_law,
    })
}

fn components(components: &Components, nodes: u64) -> ComponentsReport {
    let largest = components.sizes().first().map_or(0, |size| u64::from(*size));
    ComponentsReport {
        count: components.sizes().len() as u64,
        largest,
        largest_share: largest as f64 / nodes.max(1) as f64,
    }
}

fn told(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<16} {value}").expect("a string takes all that is written");
    };
    let crawled = report.crawled.map(|crawled| format!(", {} of them crawled", HumanCount(crawled)));
    line(report.grain, format!("{}{}", HumanCount(report.nodes), crawled.unwrap_or_default()));
    let average = report.out_degrees.average;
    line("links", format!("{}, {average:.2} on average", HumanCount(report.arcs)));
    line("  to itself", HumanCount(report.loops).to_string());
    line("  answered", format!("{:.1} % by a link the other way", report.reciprocity * 100.0));
    for (name, degrees) in [("links of one", &report.out_degrees), ("links to one", &report.in_degrees)] {
        line(
            name,
            format!("{} without, {} at most", HumanCount(degrees.zero), HumanCount(degrees.max.into())),
        );
        if degrees.max > 0 {
            line("  the most", degrees.max_name.clone());
        }
        line("  power law", law(degrees.power_law, report.grain));
    }
    for (name, found) in
        [("weak parts", &report.weak_components), ("strong parts", &report.strong_components)]
    {
        line(
            name,
            format!(
                "{}, the largest with {} ({:.1} %)",
                HumanCount(found.count),
                HumanCount(found.largest),
                found.largest_share * 100.0
            ),
        );
    }
    text
}

fn law(law: Option<PowerLaw>, plural: &str) -> String {
    let Some(law) = law else { return "none: too few degrees are different".to_owned() };
    format!(
        "exponent {:.2} ± {:.2} from {} on, where {} {plural} are; off by {:.3} at most",
        law.alpha,
        law.error,
        law.xmin,
        HumanCount(law.tail),
        law.distance
    )
}
