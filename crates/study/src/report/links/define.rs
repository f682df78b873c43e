//! What the figures of links are, and what gives them again: of those that there are.

use super::super::ask::Desk;
use super::{GraphFigures, LinkFigures};

pub(super) fn define(desk: &mut Desk<'_>, figures: &LinkFigures) {
    counts(desk);
    if figures.reach.is_some() {
        let report = format!("{} --json", desk.report_command());
        desk.define(
            &report,
            &[
                ("links.reach.within_host", "Links to a page of the same host."),
                ("links.reach.within_domain", "Links to another host of the same domain."),
                ("links.reach.between_domains", "Links to another domain."),
            ],
        );
    }
    if figures.page_graph.is_some() {
        page_graph(desk);
    }
    let others: [(_, _, &Option<GraphFigures>); 2] = [
        ("links.host_graph.strong_components", "hosts", &figures.host_graph),
        ("links.domain_graph.strong_components", "domains", &figures.domain_graph),
    ];
    for (figure, grain, _) in others.into_iter().filter(|(_, _, graph)| graph.is_some()) {
        let command = format!("{} --grain {grain}", desk.features_command("graph stats"));
        let definition = format!("Strongly connected components of the graph of {grain}.");
        desk.define(&command, &[(figure, &definition)]);
    }
    let tops: [(_, _, _, &Option<GraphFigures>); 3] = [
        ("links.page_graph.top", "", "URLs", &figures.page_graph),
        ("links.host_graph.top", " --grain hosts", "hosts", &figures.host_graph),
        ("links.domain_graph.top", " --grain domains", "domains", &figures.domain_graph),
    ];
    for (figure, grain, what, _) in tops.into_iter().filter(|(_, _, _, graph)| graph.is_some()) {
        let command = format!("{}{grain} --by pagerank", desk.features_command("graph top"));
        let definition =
            format!("The {what} with the highest PageRank, with a probability of 0.85 to follow a link.");
        desk.define(&command, &[(figure, &definition)]);
    }
}

/// What the manifest knows.
fn counts(desk: &mut Desk<'_>) {
    let info = desk.features_command("features info");
    desk.define(
        &info,
        &[
            (
                "links.urls",
                "URLs of the link graph: those that were crawled, and those that crawled pages only link to.",
            ),
            ("links.urls_crawled", "Those of them that were crawled."),
            ("links.hosts", "Hosts of all URLs of the link graph."),
            ("links.domains", "Domains of all URLs of the link graph."),
            (
                "links.links",
                "Links from one URL to another, each pair once, links of a page to itself included.",
            ),
        ],
    );
}

fn page_graph(desk: &mut Desk<'_>) {
    let stats = desk.features_command("graph stats");
    desk.define(
        &stats,
        &[
            (
                "links.page_graph.reciprocity",
                "Reciprocity is the share of links between two different URLs that are answered by a link back.",
            ),
            (
                "links.page_graph.in_degrees",
                "How many URLs have how many links to them; the exponent is fitted by maximum likelihood.",
            ),
            (
                "links.page_graph.out_degrees",
                "How many URLs have how many links; those that were not crawled have none.",
            ),
            (
                "links.page_graph.strong_components",
                "Within a strongly connected component every URL can be reached from every other.",
            ),
            (
                "links.page_graph.weak_components",
                "Within a weakly connected component the same holds if links may be followed both ways.",
            ),
        ],
    );
    let bowtie = desk.features_command("graph bowtie");
    desk.define(
        &bowtie,
        &[(
            "links.page_graph.bowtie",
            "The largest strongly connected component, what leads to it, what it leads to, and the rest (Broder et al., 2000).",
        )],
    );
}
