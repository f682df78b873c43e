//! What the links tell.

use mattock_graph::PowerLaw;
use mattock_plot::chart::{Axis, BowtieChart, LogLogChart, Series};
use mattock_plot::format;
use mattock_plot::report::{Column, Section, Table};

use super::super::{DataSet, DegreeFigures, GraphFigures, LinkFigures, Ranked};
use super::content::{missing, note};
use super::{charted, figures, section, shown};

/// Points of a law's line.
const LAW_POINTS: u32 = 60;

pub(super) fn sections(data: &DataSet) -> Vec<Section> {
    let Some(links) = &data.links else {
        let text = missing(data, "links", "Links, degrees, components and ranks come from feature databases");
        return vec![Section { title: "Links".into(), text, ..Section::default() }];
    };
    let mut sections = vec![counts(data, links)];
    if let Some(graph) = &links.page_graph {
        sections.extend([degrees(data, graph), bowtie(data, graph)]);
    }
    sections.push(graphs(data, links));
    let tops = [
        ("Pages of the highest PageRank", "URL", "links.page_graph.top", links.page_graph.as_ref()),
        ("Hosts of the highest PageRank", "Host", "links.host_graph.top", links.host_graph.as_ref()),
        ("Domains of the highest PageRank", "Domain", "links.domain_graph.top", links.domain_graph.as_ref()),
    ];
    for (title, column, figure, graph) in tops {
        sections.extend(graph.map(|graph| ranked(data, title, column, figure, &graph.top)));
    }
    sections
}

fn counts(data: &DataSet, links: &LinkFigures) -> Section {
    let mut rows = vec![
        ("URLs", format::integer(links.urls), "links.urls"),
        ("Crawled", format::integer(links.urls_crawled), "links.urls_crawled"),
        ("Links", format::integer(links.links), "links.links"),
        ("Hosts", format::integer(links.hosts), "links.hosts"),
        ("Domains", format::integer(links.domains), "links.domains"),
    ];
    let share = |part: u64| {
        format!("{} ({})", format::integer(part), format::percent(part as f64, links.links as f64))
    };
    if let Some(reach) = &links.reach {
        rows.push(("Links within a host", share(reach.within_host), "links.reach.within_host"));
        rows.push((
            "… to another host of the domain",
            share(reach.within_domain),
            "links.reach.within_domain",
        ));
        rows.push(("… to another domain", share(reach.between_domains), "links.reach.between_domains"));
    }
    let mut text = format!("Of generation {} of the feature databases.", links.generation);
    let notes = ["features", "links.reach"].into_iter().filter_map(|figures| note(data, figures));
    notes.for_each(|note| text += &format!("\n\n{note}"));
    let named =
        ["links.urls", "links.urls_crawled", "links.links", "links.hosts", "links.domains", "links.reach"];
    Section { table: Some(figures(data, &rows)), ..section(data, "Links", &text, &named) }
}

/// How many nodes the law expects with at least this degree.
fn expected(law: &PowerLaw, degree: f64) -> f64 {
    law.tail as f64 * ((degree - 0.5) / (f64::from(law.xmin) - 0.5)).powf(1.0 - law.alpha)
}

/// How many nodes have at least each degree that occurs, without those that have none.
fn at_least(histogram: &[(u32, u64)]) -> Vec<(f64, f64)> {
    let mut nodes = 0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (degree, count) in histogram.iter().rev().filter(|(degree, _)| *degree > 0) {
        nodes += count;
        points.push((f64::from(*degree), nodes as f64));
    }
    points
}

/// The line of a law.
fn law(direction: &str, law: &PowerLaw, most: u32) -> Series {
    let (first, last) = (f64::from(law.xmin).log10(), f64::from(most.max(law.xmin)).log10());
    let points = (0..=LAW_POINTS)
        .map(|at| 10_f64.powf(first + (last - first) * f64::from(at) / f64::from(LAW_POINTS)))
        .map(|degree| (degree, expected(law, degree)));
    Series::new(format!("{direction}: exponent {:.2} ± {:.2}", law.alpha, law.error), points)
}

fn degrees(data: &DataSet, graph: &GraphFigures) -> Section {
    let laws = [("in", &graph.in_degrees), ("out", &graph.out_degrees)];
    let chart = LogLogChart {
        title: "In- and out-degrees".into(),
        reading: "Each point is how many URLs have at least so many links; the dashed lines are power laws fitted to the tails.".into(),
        x: Axis::number("links"),
        y: Axis::number("URLs"),
        series: vec![
            Series::new("links to a URL (in)", at_least(&graph.in_degrees.histogram)),
            Series::new("links of a URL (out)", at_least(&graph.out_degrees.histogram)),
        ],
        laws: laws
            .into_iter()
            .filter_map(|(name, degrees)| degrees.power_law.as_ref().map(|found| law(name, found, degrees.most)))
            .collect(),
        ..LogLogChart::default()
    };
    let text = format!(
        "{} {}",
        data.definition("links.page_graph.in_degrees"),
        data.definition("links.page_graph.out_degrees")
    );
    let named = ["links.page_graph.in_degrees", "links.page_graph.out_degrees"];
    charted(data, "Degrees", &text, &named, chart.render())
}

fn bowtie(data: &DataSet, graph: &GraphFigures) -> Section {
    let chart = BowtieChart {
        title: "The bow-tie of the pages".into(),
        what: "URLs".into(),
        sizes: graph.bowtie.sizes(),
        ..BowtieChart::default()
    };
    let text = format!(
        "{} URLs that were not crawled have no links of their own, so that they are never in the core.",
        data.definition("links.page_graph.bowtie")
    );
    charted(data, "Bow-tie", &text, &["links.page_graph.bowtie"], chart.render())
}

/// Pages, hosts and domains side by side.
fn graphs(data: &DataSet, links: &LinkFigures) -> Section {
    let graphs: Vec<(&str, &GraphFigures)> = [
        ("URLs", links.page_graph.as_ref()),
        ("Hosts", links.host_graph.as_ref()),
        ("Domains", links.domain_graph.as_ref()),
    ]
    .into_iter()
    .filter_map(|(name, graph)| Some((name, graph?)))
    .collect();
    type Cell = fn(&GraphFigures) -> String;
    let exponent = |degrees: &DegreeFigures| {
        degrees.power_law.map_or(format::NONE.to_owned(), |law| format!("{:.2}", law.alpha))
    };
    let rows: [(&str, Cell); 16] = [
        ("Nodes", |graph| format::integer(graph.nodes)),
        ("Links", |graph| format::integer(graph.links)),
        ("Links to a node, on average", |graph| format::number(graph.in_degrees.mean)),
        ("Links to a node, at most", |graph| format::integer(graph.in_degrees.most.into())),
        ("Links of a node, at most", |graph| format::integer(graph.out_degrees.most.into())),
        ("Nodes without links to them", |graph| share(graph.in_degrees.zero, graph)),
        ("Nodes without links", |graph| share(graph.out_degrees.zero, graph)),
        ("Reciprocity", |graph| format::percent(graph.reciprocity, 1.0)),
        ("Strongly connected components", |graph| format::integer(graph.strong_components)),
        ("Nodes in the largest", |graph| share(graph.strong_component_most, graph)),
        ("Weakly connected components", |graph| format::integer(graph.weak_components)),
        ("Nodes in the largest", |graph| share(graph.weak_component_most, graph)),
        ("Bow-tie: in", |graph| share(graph.bowtie.leading_in, graph)),
        ("Bow-tie: out", |graph| share(graph.bowtie.leading_out, graph)),
        ("Bow-tie: tubes and tendrils", |graph| share(graph.bowtie.tubes + graph.bowtie.tendrils, graph)),
        ("Bow-tie: disconnected", |graph| share(graph.bowtie.disconnected, graph)),
    ];
    let row = |name: &str, cell: &dyn Fn(&GraphFigures) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(graphs.iter().map(|(_, graph)| cell(graph))).collect()
    };
    let mut table = Table {
        columns: std::iter::once(Column::text("Graph of"))
            .chain(graphs.iter().map(|(name, _)| Column::number(*name)))
            .collect(),
        rows: rows.iter().map(|(name, cell)| row(name, cell)).collect(),
    };
    table.rows.insert(5, row("Exponent of in-degrees", &|graph| exponent(&graph.in_degrees)));
    table.rows.insert(6, row("Exponent of out-degrees", &|graph| exponent(&graph.out_degrees)));
    let named = [
        "links.page_graph.reciprocity",
        "links.page_graph.strong_components",
        "links.page_graph.weak_components",
        "links.host_graph.strong_components",
        "links.domain_graph.strong_components",
    ];
    let defined = named[..3].iter().map(|figure| data.definition(figure)).filter(|text| !text.is_empty());
    let last =
        "A host or a domain links to another if any of its pages does; links to itself are not counted.";
    let mut text = defined.chain([last]).collect::<Vec<_>>().join(" ");
    let left_out =
        [("links.page_graph", "URLs"), ("links.host_graph", "hosts"), ("links.domain_graph", "domains")];
    for (figures, what) in left_out.into_iter().filter(|(figures, _)| data.lacks(figures).is_some()) {
        text += "\n\n";
        text += &missing(data, figures, &format!("The graph of {what} is left out"));
    }
    let table = (!graphs.is_empty()).then_some(table);
    Section { table, ..section(data, "Three graphs", &text, &named) }
}

fn share(part: u64, graph: &GraphFigures) -> String {
    format!("{} ({})", format::integer(part), format::percent(part as f64, graph.nodes as f64))
}

fn ranked(data: &DataSet, title: &str, column: &str, figure: &str, top: &[Ranked]) -> Section {
    let rows = top.iter().zip(1..).map(|(ranked, place)| {
        vec![
            format::integer(place),
            shown(&ranked.name),
            format!("{:.2e}", ranked.pagerank),
            format::integer(ranked.in_degree),
        ]
    });
    let table = Table {
        columns: vec![
            Column::number("Rank"),
            Column::text(column),
            Column::number("PageRank"),
            Column::number("Links to it"),
        ],
        rows: rows.collect(),
    };
    Section { table: Some(table), ..section(data, title, data.definition(figure), &[figure]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_begins_with_its_tail_and_falls() {
        let found = PowerLaw { alpha: 3.0, error: 0.01, xmin: 5, tail: 1000, distance: 0.0 };
        let series = law("in", &found, 100_000);
        assert_eq!(series.name, "in: exponent 3.00 ± 0.01");
        assert_eq!((series.points[0].0.round(), series.points[0].1.round()), (5.0, 1000.0));
        assert_eq!(series.points[60].0.round(), 100_000.0);
        // Ten times the degree, a hundredth of the nodes.
        assert!((expected(&found, 45.5) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn degrees_are_summed_from_the_greatest() {
        assert_eq!(at_least(&[(0, 7), (1, 5), (3, 2), (9, 1)]), [(9.0, 1.0), (3.0, 3.0), (1.0, 8.0)]);
    }
}
