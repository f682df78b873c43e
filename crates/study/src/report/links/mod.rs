//! What the links tell: how many there are, between whom, how degrees are distributed, how the graph hangs together, who is linked to most.
//!
//! Made of the feature databases, if there are any. Before a graph is opened its size is held against the memory, with what algorithms
//! keep for each node beside it (44 bytes, or 170 while links are coded): it is taken into memory as lists ([`Csr`]) if these fit, and
//! is walked as it is stored otherwise, which takes several times as long. One that does not fit even so is left out, and
//! told as missing with the memory that would do. One graph is in memory at a time.

mod define;

use mattock_env::Files;
use mattock_features::{Direction, Features, FeaturesError, Grain, Hosts, LinkSize};
use mattock_graph::{
    Adjacency, BOWTIE_BYTES, Csr, Form, GraphError, PARTS, PageRankOptions, PowerLaw, bowtie, coded_within,
    degrees, form_within, pagerank, stats, strong_components, top, weak_components,
};
use mattock_plot::format;
use serde::Serialize;

use super::ask::Desk;
use super::error::Result;
use super::{Missing, ReportOptions};

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
    /// Where links lead; nothing for a graph without URLs, or if there is not enough memory.
    pub reach: Option<Reach>,
    /// The graph of URLs; nothing if there is not enough memory.
    pub page_graph: Option<GraphFigures>,
    /// The graph of hosts; nothing for a graph without URLs, or if there is not enough memory.
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

/// Figures whose graph fits into memory; the others are added to what is `missing`.
pub(crate) fn gather(
    desk: &mut Desk<'_>,
    features: &Features,
    options: &ReportOptions,
    missing: &mut Vec<Missing>,
) -> Result<LinkFigures> {
    desk.begin("links between pages")?;
    let counts = features.counts();
    let names = features
        .has_urls()
        .then(|| Ok::<_, FeaturesError>((features.urls()?, features.hosts()?)))
        .transpose()?;
    let mut figures = LinkFigures {
        generation: features.generation(),
        urls: counts.urls,
        urls_crawled: counts.crawled,
        hosts: counts.hosts,
        domains: counts.domains,
        links: counts.links,
        reach: None,
        page_graph: None,
        host_graph: None,
        domain_graph: None,
    };
    let graph = |grain| Graph { features, grain, options };
    if let Some((_, hosts)) = &names {
        figures.reach = found(graph(Grain::Pages).reach(hosts)?, "links.reach", desk, missing);
    }
    let pages = graph(Grain::Pages).figures(|node| {
        let url = names.as_ref().map(|(urls, _)| urls.url(u64::from(node))).transpose()?.flatten();
        Ok(url.unwrap_or_else(|| node.to_string()))
    })?;
    figures.page_graph = found(pages, "links.page_graph", desk, missing);
    if let Some((_, hosts)) = &names {
        desk.begin("links between hosts")?;
        let name = |node| Ok(hosts.host(u64::from(node)).unwrap_or_default());
        let of_hosts = graph(Grain::Hosts).figures(name)?;
        figures.host_graph = found(of_hosts, "links.host_graph", desk, missing);
        desk.begin("links between domains")?;
        let name = |node| Ok(hosts.domain(u64::from(node)).unwrap_or_default());
        let of_domains = graph(Grain::Domains).figures(name)?;
        figures.domain_graph = found(of_domains, "links.domain_graph", desk, missing);
    }
    define::define(desk, &figures);
    Ok(figures)
}

/// What was found, or why it was not, for the user.
fn found<T>(
    result: std::result::Result<T, GraphError>,
    figures: &'static str,
    desk: &Desk<'_>,
    missing: &mut Vec<Missing>,
) -> Option<T> {
    let error = match result {
        Ok(found) => return Some(found),
        Err(error) => error,
    };
    let lack = match error {
        GraphError::Memory { nodes, arcs, needed, memory } => Missing {
            figures,
            why: format!(
                "{} nodes and {} links need about {} of memory, and {} are allowed",
                format::integer(nodes),
                format::integer(arcs),
                format::bytes(needed as f64),
                format::bytes(memory as f64)
            ),
            command: Some(format!("{} --memory {}MiB", desk.report_command(), needed.div_ceil(1 << 20))),
        },
        error @ (GraphError::Nodes { .. } | GraphError::Terms { .. }) => {
            Missing { figures, why: error.to_string(), command: None }
        }
    };
    missing.push(lack);
    None
}

/// A graph that was not opened yet.
struct Graph<'a> {
    features: &'a Features,
    grain: Grain,
    options: &'a ReportOptions,
}

impl Graph<'_> {
    fn size(&self, direction: Direction) -> Result<LinkSize> {
        Ok(self.features.link_size(self.grain, direction)?)
    }

    /// Where its links lead, if its nodes are pages.
    fn reach(&self, hosts: &Hosts) -> Result<std::result::Result<Reach, GraphError>> {
        let memory = self.options.memory_bytes as u64;
        if let Err(error) = coded_within(&[self.size(Direction::Out)?], 0, memory) {
            return Ok(Err(error));
        }
        Ok(Ok(reach(&self.features.links(self.grain, Direction::Out)?, hosts)))
    }

    /// Measures it in the form that memory allows.
    fn figures(
        &self,
        name: impl Fn(u32) -> Result<String>,
    ) -> Result<std::result::Result<GraphFigures, GraphError>> {
        let sizes = [self.size(Direction::Out)?, self.size(Direction::In)?];
        let form = match form_within(&sizes, BOWTIE_BYTES, self.options.memory_bytes as u64) {
            Ok(form) => form,
            Err(error) => return Ok(Err(error)),
        };
        let links = |direction| self.features.links(self.grain, direction);
        let measured = match form {
            Form::Lists => {
                let out = Csr::load(&links(Direction::Out)?);
                let into = Csr::load(&links(Direction::In)?);
                measured(&out, &into, self.options, name)
            }
            Form::Coded => measured(&links(Direction::Out)?, &links(Direction::In)?, self.options, name),
        };
        measured.map(Ok)
    }
}

/// Counts links by how far they lead: a host is a range of ids, and the targets of a page that are of one host stand side by side.
fn reach(out: &impl Adjacency, hosts: &Hosts) -> Reach {
    let mut reach = Reach::default();
    let ((mut host, mut domain), (mut other, mut other_domain)) = ((0..0, 0), (0..0, 0));
    out.scan(0..out.nodes(), |node, targets| {
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

/// One thing after the other, so that no two need their memory at once: it never takes more than the bow-tie does.
fn measured<A: Adjacency>(
    out: &A,
    into: &A,
    options: &ReportOptions,
    name: impl Fn(u32) -> Result<String>,
) -> Result<GraphFigures> {
    let stats = stats(out, into);
    let counted = |sizes: &[u32]| (sizes.len() as u64, sizes.first().copied().map_or(0, u64::from));
    let (weak_components, weak_component_most) = counted(weak_components(out).sizes());
    let strong = strong_components(out);
    let (strong_components, strong_component_most) = counted(strong.sizes());
    let parts = bowtie(out, into, &strong);
    let [core, leading_in, leading_out, tubes, tendrils, disconnected] = PARTS.map(|part| parts.size(part));
    drop((strong, parts));
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
    Ok(GraphFigures {
        nodes: stats.nodes,
        links: stats.arcs,
        reciprocity: stats.reciprocity,
        in_degrees: degree_figures(stats.in_degrees),
        out_degrees: degree_figures(stats.out_degrees),
        strong_components,
        strong_component_most,
        weak_components,
        weak_component_most,
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
