//! What the links tell: how many there are, between whom, how degrees are distributed, how the graph hangs together, who is linked to most.
//!
//! Made of the feature databases, if there are any. A graph that takes no more than half of the memory is taken into it
//! ([`Csr`]); a larger one is walked as it is stored, which takes several times as long. Beside it algorithms need some 30 bytes a node.

use mattock_env::Files;
use mattock_features::{Direction, Features, FeaturesError, Grain, Hosts, Links};
use mattock_graph::{
    Adjacency, Csr, PARTS, PageRankOptions, PowerLaw, bowtie, degrees, pagerank, stats, strong_components,
    top, weak_components,
};
use serde::Serialize;

use super::ReportOptions;
use super::ask::Desk;
use super::error::Result;

/// Pages, hosts and domains that are told by name.
const TOP: usize = 15;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkFigures {
    /// The generation of features that this is of.
    pub generation: u64,
    /// URLs: crawled ones, and those that are only linked to.
    pub urls: u64,
    /// Those that were crawled.
    pub urls_crawled: u64,
    /// Hosts of all these URLs.
    pub hosts: u64,
    /// Domains of all these URLs.
    pub domains: u64,
    /// Links between URLs, each once.
    pub links: u64,
    /// Where links lead; nothing for a graph without URLs.
    pub reach: Option<Reach>,
    /// The graph of URLs.
    pub page_graph: GraphFigures,
    /// The graph of hosts; nothing for a graph without URLs.
    pub host_graph: Option<GraphFigures>,
    /// The graph of domains, likewise.
    pub domain_graph: Option<GraphFigures>,
}

/// Links by how far they lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// To the same host.
    pub within_host: u64,
    /// To another host of the same domain.
    pub within_domain: u64,
    /// To another domain.
    pub between_domains: u64,
}

/// A graph in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphFigures {
    /// Nodes.
    pub nodes: u64,
    /// Links, each once.
    pub links: u64,
    /// The share of links between two different nodes that are answered by one the other way.
    pub reciprocity: f64,
    /// Links that lead to a node.
    pub in_degrees: DegreeFigures,
    /// Links that a node has.
    pub out_degrees: DegreeFigures,
    /// Strongly connected components.
    pub strong_components: u64,
    /// Nodes of the largest.
    pub strong_component_most: u64,
    /// Weakly connected components.
    pub weak_components: u64,
    /// Nodes of the largest.
    pub weak_component_most: u64,
    /// The parts of the bow-tie.
    pub bowtie: BowtieSizes,
    /// The nodes with the highest PageRank.
    pub top: Vec<Ranked>,
}

/// Degrees in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DegreeFigures {
    /// The greatest.
    pub most: u32,
    /// Of all nodes.
    pub mean: f64,
    /// Nodes without links.
    pub zero: u64,
    /// The power law that the tail follows; nothing if it is too short for one.
    pub power_law: Option<PowerLaw>,
    /// How many nodes there are of each degree.
    pub histogram: Vec<(u32, u64)>,
}

/// Nodes in each part of the bow-tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BowtieSizes {
    /// The largest strongly connected component.
    pub core: u64,
    /// Leads to the core.
    #[serde(rename = "in")]
    pub leading_in: u64,
    /// Is reached from the core.
    #[serde(rename = "out")]
    pub leading_out: u64,
    /// Leads from in to out, past the core.
    pub tubes: u64,
    /// Joined to the others otherwise.
    pub tendrils: u64,
    /// Not joined to the core.
    pub disconnected: u64,
}

impl BowtieSizes {
    /// In the order of charts.
    pub fn sizes(&self) -> [u64; 6] {
        let BowtieSizes { core, leading_in, leading_out, tubes, tendrils, disconnected } = *self;
        [core, leading_in, leading_out, tubes, tendrils, disconnected]
    }
}

/// A node by its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// URL, host or domain; a number in a graph without URLs.
    pub name: String,
    /// Its share of the visits of a random surfer.
    pub pagerank: f64,
    /// Links that lead to it.
    pub in_degree: u64,
}

/// The generation in use; `None` if nothing was built.
pub(crate) fn open(files: &Files, dir: &std::path::Path) -> Result<Option<Features>> {
    match Features::open(files, dir) {
        Ok(features) => Ok(Some(features)),
        Err(FeaturesError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn gather(
    desk: &mut Desk<'_>,
    features: &Features,
    options: &ReportOptions,
) -> Result<LinkFigures> {
    desk.begin("links between pages")?;
    let counts = features.counts();
    let names = features
        .has_urls()
        .then(|| Ok::<_, FeaturesError>((features.urls()?, features.hosts()?)))
        .transpose()?;
    let (out, into) = both(features, Grain::Pages)?;
    let reach = names.as_ref().map(|(_, hosts)| reach(&out, hosts));
    let page_graph = figures(&out, &into, options, |node| {
        let url = names.as_ref().map(|(urls, _)| urls.url(u64::from(node))).transpose()?.flatten();
        Ok(url.unwrap_or_else(|| node.to_string()))
    })?;
    drop((out, into));
    let (mut host_graph, mut domain_graph) = (None, None);
    if let Some((_, hosts)) = &names {
        desk.begin("links between hosts")?;
        let (out, into) = both(features, Grain::Hosts)?;
        host_graph =
            Some(figures(&out, &into, options, |node| Ok(hosts.host(u64::from(node)).unwrap_or_default()))?);
        desk.begin("links between domains")?;
        let (out, into) = both(features, Grain::Domains)?;
        domain_graph = Some(figures(&out, &into, options, |node| {
            Ok(hosts.domain(u64::from(node)).unwrap_or_default())
        })?);
    }
    define(desk);
    Ok(LinkFigures {
        generation: features.generation(),
        urls: counts.urls,
        urls_crawled: counts.crawled,
        hosts: counts.hosts,
        domains: counts.domains,
        links: counts.links,
        reach,
        page_graph,
        host_graph,
        domain_graph,
    })
}

fn both(features: &Features, grain: Grain) -> Result<(Links, Links)> {
    Ok((features.links(grain, Direction::Out)?, features.links(grain, Direction::In)?))
}

/// Counts links by how far they lead: a host is a range of ids, and the targets of a page that are of one host stand side by side.
fn reach(out: &Links, hosts: &Hosts) -> Reach {
    let mut reach = Reach::default();
    let ((mut host, mut domain), (mut other, mut other_domain)) = ((0..0, 0), (0..0, 0));
    Adjacency::scan(out, 0..Adjacency::nodes(out), |node, targets| {
        let node = u64::from(node);
        if !host.contains(&node) {
            let number = hosts.host_of(node);
            host = hosts.ids_of_host(number).unwrap_or_default();
            domain = hosts.domain_of_host(number);
        }
        for target in targets {
            let target = u64::from(*target);
            if !host.contains(&target) && !other.contains(&target) {
                let number = hosts.host_of(target);
                other = hosts.ids_of_host(number).unwrap_or_default();
                other_domain = hosts.domain_of_host(number);
            }
            let counted = match host.contains(&target) {
                true => &mut reach.within_host,
                false if other_domain == domain => &mut reach.within_domain,
                false => &mut reach.between_domains,
            };
            *counted += 1;
        }
    });
    reach
}

/// Measures a graph, in memory if it fits.
fn figures(
    out: &Links,
    into: &Links,
    options: &ReportOptions,
    name: impl Fn(u32) -> Result<String>,
) -> Result<GraphFigures> {
    let bytes = 2 * Csr::bytes_for(out.nodes(), out.arcs());
    if bytes <= options.memory_bytes as u64 / 2 {
        return measured(&Csr::load(out), &Csr::load(into), options, name);
    }
    measured(out, into, options, name)
}

fn measured<A: Adjacency>(
    out: &A,
    into: &A,
    options: &ReportOptions,
    name: impl Fn(u32) -> Result<String>,
) -> Result<GraphFigures> {
    let stats = stats(out, into);
    let strong = strong_components(out);
    let weak = weak_components(out);
    let bowtie = bowtie(out, into, &strong);
    let [core, leading_in, leading_out, tubes, tendrils, disconnected] = PARTS.map(|part| bowtie.size(part));
    let ranked = PageRankOptions { threads: options.threads, ..PageRankOptions::default() };
    let ranks = pagerank(into, &degrees(out), &ranked).ranks;
    let mut first = Vec::new();
    for node in top(&ranks, TOP) {
        first.push(Ranked {
            name: name(node)?,
            pagerank: ranks[node as usize],
            in_degree: into.degree(node) as u64,
        });
    }
    let most = |sizes: &[u32]| sizes.first().copied().map_or(0, u64::from);
    Ok(GraphFigures {
        nodes: stats.nodes,
        links: stats.arcs,
        reciprocity: stats.reciprocity,
        in_degrees: degree_figures(stats.in_degrees),
        out_degrees: degree_figures(stats.out_degrees),
        strong_components: strong.sizes().len() as u64,
        strong_component_most: most(strong.sizes()),
        weak_components: weak.sizes().len() as u64,
        weak_component_most: most(weak.sizes()),
        bowtie: BowtieSizes { core, leading_in, leading_out, tubes, tendrils, disconnected },
        top: first,
    })
}

fn degree_figures(found: mattock_graph::Degrees) -> DegreeFigures {
    DegreeFigures {
        most: found.max,
        mean: found.average,
        zero: found.zero,
        power_law: found.power_law,
        histogram: found.histogram,
    }
}

fn define(desk: &mut Desk<'_>) {
    let info = desk.command("features info");
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
    let report = format!("{} --json", desk.command("report"));
    desk.define(
        &report,
        &[
            ("links.reach.within_host", "Links to a page of the same host."),
            ("links.reach.within_domain", "Links to another host of the same domain."),
            ("links.reach.between_domains", "Links to another domain."),
        ],
    );
    let stats = desk.command("graph stats");
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
    let bowtie = desk.command("graph bowtie");
    desk.define(
        &bowtie,
        &[(
            "links.page_graph.bowtie",
            "The largest strongly connected component, what leads to it, what it leads to, and the rest (Broder et al., 2000).",
        )],
    );
    for (figure, grain) in
        [("links.host_graph.strong_components", "hosts"), ("links.domain_graph.strong_components", "domains")]
    {
        let command = format!("{stats} --grain {grain}");
        desk.define(&command, &[(figure, &format!("The same of the graph of {grain}."))]);
    }
    for (figure, grain, what) in [
        ("links.page_graph.top", "", "URLs"),
        ("links.host_graph.top", " --grain hosts", "hosts"),
        ("links.domain_graph.top", " --grain domains", "domains"),
    ] {
        let command = format!("{}{grain} --by pagerank", desk.command("graph top"));
        let definition =
            format!("The {what} with the highest PageRank, with a probability of 0.85 to follow a link.");
        desk.define(&command, &[(figure, &definition)]);
    }
}
