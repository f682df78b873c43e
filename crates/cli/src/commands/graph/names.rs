//! Names of nodes: URLs, hosts or domains; or ids, if a graph has no names. And which node a person means by a name.

use std::ops::Range;

use mattock_features::{Features, Grain, Hosts, Urls};
use mattock_weburl::WebUrl;

use crate::exit::Usage;
use crate::rows::{Cell, Kind};

/// The names of all nodes of a graph.
pub(super) enum Names {
    /// There are none: so many nodes have only their ids.
    Ids(u64),
    Urls(Urls),
    Hosts(Hosts),
    Domains(Hosts),
}

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Text(String),
    Id(u64),
}

impl Name {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Name::Text(text) => Cell::Text(text),
            Name::Id(id) => Cell::count(*id),
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Text(text) => out.write_str(text),
            Name::Id(id) => write!(out, "{id}"),
        }
    }
}

impl Names {
    pub(super) fn open(features: &Features, grain: Grain) -> anyhow::Result<Names> {
        Ok(match grain {
            Grain::Pages if !features.has_urls() => Names::Ids(features.counts().urls),
            Grain::Pages => Names::Urls(features.urls()?),
            Grain::Hosts => Names::Hosts(features.hosts()?),
            Grain::Domains => Names::Domains(features.hosts()?),
        })
    }

    /// The column that names stand in.
    pub(super) fn column(&self) -> (&'static str, Kind) {
        match self {
            Names::Ids(_) => ("node", Kind::Integer),
            Names::Urls(_) => ("url", Kind::Text),
            Names::Hosts(_) => ("host", Kind::Text),
            Names::Domains(_) => ("domain", Kind::Text),
        }
    }

    /// What nodes are called, many of them.
    pub(super) fn plural(&self) -> &'static str {
        match self {
            Names::Ids(_) => "nodes",
            Names::Urls(_) => "pages",
            Names::Hosts(_) => "hosts",
            Names::Domains(_) => "domains",
        }
    }

    fn len(&self) -> u64 {
        match self {
            Names::Ids(count) => *count,
            Names::Urls(urls) => urls.len(),
            Names::Hosts(hosts) => hosts.len(),
            Names::Domains(hosts) => hosts.domains(),
        }
    }

    /// The name of a node, which must exist.
    pub(super) fn name(&self, node: u32) -> anyhow::Result<Name> {
        let node = u64::from(node);
        let text = match self {
            Names::Ids(_) => None,
            Names::Urls(urls) => urls.url(node)?,
            Names::Hosts(hosts) => hosts.host(node),
            Names::Domains(hosts) => hosts.domain(node),
        };
        Ok(text.map_or(Name::Id(node), Name::Text))
    }

    /// The names of a range of nodes, in order: faster than one by one.
    pub(super) fn each(&self, nodes: Range<u64>) -> Box<dyn Iterator<Item = anyhow::Result<Name>> + '_> {
        match self {
            Names::Urls(urls) => Box::new(urls.iter(nodes).map(|url| Ok(Name::Text(url?)))),
            _ => Box::new(nodes.map(|node| self.name(node as u32))),
        }
    }

    /// The names of all nodes.
    pub(super) fn all(&self) -> Box<dyn Iterator<Item = anyhow::Result<Name>> + '_> {
        self.each(0..self.len())
    }

    /// The node that a name means; if there is none, the error says what is near.
    pub(super) fn find(&self, features: &Features, text: &str) -> anyhow::Result<u32> {
        let found = match self {
            Names::Ids(count) => id_of(text, *count)?,
            Names::Urls(urls) => page_of(features, urls, text)?,
            Names::Hosts(hosts) => host_of(hosts, text)?,
            Names::Domains(hosts) => domain_of(hosts, text)?,
        };
        Ok(u32::try_from(found).map_err(|_| Usage(format!("{text} has a number that is too large")))?)
    }
}

fn id_of(text: &str, count: u64) -> Result<u64, Usage> {
    let id = text.parse().ok().filter(|id: &u64| *id < count);
    let range = if count == 0 { "none".to_owned() } else { format!("0 to {}", count - 1) };
    id.ok_or_else(|| Usage(format!("{text} is no node: this graph has no URLs, its nodes are {range}")))
}

fn page_of(features: &Features, urls: &Urls, text: &str) -> anyhow::Result<u64> {
    let url = WebUrl::parse(text).map_err(|error| Usage(format!("{text} is no URL: {error}")))?;
    if let Some(id) = urls.id(&url)? {
        return Ok(id);
    }
    let (hosts, rank) = (features.hosts()?, urls.rank(&url)?);
    // The neighbours by order have the longest beginning in common.
    let shared =
        |other: &str| other.bytes().zip(url.as_str().bytes()).take_while(|(one, two)| one == two).count();
    let ids = hosts.find(&url).and_then(|host| hosts.ids_of_host(host)).unwrap_or_default();
    let mut nearest: Option<String> = None;
    for id in [rank.checked_sub(1), Some(rank)].into_iter().flatten().filter(|id| ids.contains(id)) {
        let other = urls.url(id)?;
        if let Some(other) =
            other.filter(|other| nearest.as_deref().is_none_or(|near| shared(other) > shared(near)))
        {
            nearest = Some(other);
        }
    }
    let hint = match nearest {
        Some(near) => format!("; the nearest of its host is {near}"),
        None => other_hosts(&hosts, &url),
    };
    Err(Usage(format!("{} was neither crawled nor linked to{hint}", url.as_str())).into())
}

/// What there is instead of a URL's host.
fn other_hosts(hosts: &Hosts, url: &WebUrl) -> String {
    let first = hosts.find_domain(url.domain()).and_then(|domain| hosts.first_host_of(domain));
    match first.and_then(|first| hosts.host(first)) {
        Some(host) => format!("; of its domain there is {host}"),
        None => format!("; nothing of {} is there", url.domain()),
    }
}

/// A host is named as in the answers, `https://www.example.com`, or without its scheme if that is enough.
fn host_of(hosts: &Hosts, text: &str) -> anyhow::Result<u64> {
    let (name, schemes) = match text.split_once("://") {
        Some((scheme, name)) => (name, vec![scheme]),
        None => (text, vec!["https", "http"]),
    };
    let (mut found, mut known) = (Vec::new(), None);
    for scheme in schemes {
        let url = WebUrl::parse(&format!("{scheme}://{name}"));
        let url = url.map_err(|error| Usage(format!("{text} is no host: {error}")))?;
        found.extend(hosts.find(&url));
        known = Some(url);
    }
    match (found.as_slice(), known) {
        ([host], _) => Ok(*host),
        ([], Some(url)) => Err(Usage(format!("there is no host {text}{}", other_hosts(hosts, &url))).into()),
        _ => {
            Err(Usage(format!("{text} is there with both schemes: say http://{name} or https://{name}"))
                .into())
        }
    }
}

fn domain_of(hosts: &Hosts, text: &str) -> anyhow::Result<u64> {
    let name = text.to_ascii_lowercase();
    if let Some(domain) = hosts.find_domain(&name) {
        return Ok(domain);
    }
    let above = mattock_weburl::domain_of(&name);
    let hint = match hosts.find_domain(above) {
        Some(_) => format!("; did you mean {above}?"),
        None => "; `mattock graph top --grain domains` names some".to_owned(),
    };
    Err(Usage(format!("there is no domain {text}{hint}")).into())
}
