//! The world: names become addresses, requests become answers.
//!
//! Filled once by [`World::new`] with a few derived tables; after that it is read only and may be shared by any number of
//! threads. The same request at the same time always gets the same bytes.

pub(crate) use crate::answer::{Answer, Behaviour, EntityTag, Request, Resolution};
use crate::answer::{HTML, TEXT};
use crate::curve::{Pareto, Spread, Zipf};
use crate::failures::Fate;
use crate::hosts::Host;
use crate::links::Link;
use crate::mix::mix_bytes;
use crate::names::Names;
use crate::pages::{LeafShares, PageKind};
use crate::params::Params;
use crate::place::{Place, Resource, Site, Target};
use crate::robots_txt::{ROBOTS_PATH, RobotsReply};
use crate::sitemap;

/// The Unix time at which every world begins: midnight of the first of January 2020. Times of the world are in seconds
/// since then.
pub const EPOCH_UNIX_S: u64 = 1_577_836_800;

/// A simulated Web.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) params: Params,
    pub(crate) seed: u64,
    pub(crate) names: Names,
    pub(crate) hosts_per_domain: Pareto,
    /// The share of domains with one host.
    pub(crate) single_host_share: f64,
    pub(crate) pages_per_host: Pareto,
    pub(crate) zipf: Zipf,
    pub(crate) link_spread: Spread,
    pub(crate) size_spread: Spread,
    pub(crate) leaf_shares: LeafShares,
    pub(crate) robots_weights: [u32; 14],
}

impl World {
    /// Makes a world. The parameters should have passed [`Params::check`].
    pub fn new(params: Params, seed: u64) -> World {
        let weights = [
            params.robots_missing,
            params.robots_empty,
            params.robots_allow_all,
            params.robots_sections,
            params.robots_wildcard,
            params.robots_agent,
            params.robots_override,
            params.robots_delay,
            params.robots_disallow_all,
            params.robots_unavailable,
            params.robots_refused,
            params.robots_redirected,
            params.robots_untidy,
            params.robots_verbose,
        ];
        let hosts_per_domain = Pareto::new(1.0, f64::from(params.hosts_max) + 1.0, params.hosts_exponent);
        World {
            names: Names::new(seed, params.domains_total()),
            single_host_share: hosts_per_domain.share_below(2.0),
            hosts_per_domain,
            pages_per_host: Pareto::new(
                params.pages_min as f64,
                params.pages_max as f64 + 1.0,
                params.pages_exponent,
            ),
            zipf: Zipf::new(params.domains, params.zipf),
            link_spread: Spread::new(0.5),
            size_spread: Spread::new(0.6),
            leaf_shares: LeafShares::new(&params),
            robots_weights: weights,
            params,
            seed,
        }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Canonical URLs from which everything can be reached.
    pub fn seeds(&self) -> Vec<String> {
        let inner = |&domain: &u64| domain == 0 || !self.is_leaf_domain(domain);
        (0..u64::from(self.params.seeds))
            .filter(inner)
            .map(|domain| self.url(Place::home(domain, 0)))
            .collect()
    }

    /// What a name stands for.
    pub fn resolve(&self, name: &str) -> Resolution {
        let name = name.to_ascii_lowercase();
        let Some(site) = self.site_named(name.strip_suffix('.').unwrap_or(&name)) else {
            return Resolution::NoSuchName;
        };
        match self.fate(site) {
            Fate::DeadName => Resolution::NoSuchName,
            Fate::FailingName => Resolution::Failure,
            Fate::Healthy | Fate::Reset | Fate::Silent => Resolution::Address(self.address(site)),
        }
    }

    /// Answers a request; `body` is cleared and filled.
    pub fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        let Some(site) = self.site_of(request.host) else {
            return Answer::status(404, body);
        };
        match self.fate(site) {
            Fate::Healthy | Fate::DeadName | Fate::FailingName => {}
            Fate::Reset => return Answer { behaviour: Behaviour::Reset, ..Answer::new(0, HTML) },
            Fate::Silent => return Answer { behaviour: Behaviour::Silent, ..Answer::new(0, HTML) },
        }
        let path = without_fragment(request.path_and_query);
        let mut answer = match site {
            Site::Alias { domain } => {
                let mut location = b"http://".to_vec();
                self.write_site(Site::Host { domain, index: 0 }, &mut location);
                location.extend_from_slice(path.as_bytes());
                Answer::redirect(301, text(location), body)
            }
            Site::Farm { domain, label } => self.farm_answer(domain, label, path, body),
            Site::Host { domain, index } => self.host_answer(domain, index, path, request, time_s, body),
        };
        answer.retry_after_s = (answer.status == 503).then_some(self.params.retry_after_s);
        answer.delay_ms = self.delay_ms(site, mix_bytes(0, path.as_bytes()));
        answer
    }

    fn farm_answer(&self, domain: u64, label: u64, path: &str, body: &mut Vec<u8>) -> Answer {
        let Some(page) = self.parse_farm_path(label, path) else {
            return Answer::status(404, body);
        };
        let mut links = Vec::with_capacity(64);
        self.farm_links(domain, label, page, &mut links);
        let key = self.farm_key(domain, label, page);
        self.write_farm_html(key, self.names.language(domain), &links, body);
        Answer::new(200, HTML)
    }

    fn host_answer(
        &self,
        domain: u64,
        index: u32,
        path: &str,
        request: &Request<'_>,
        time_s: u64,
        body: &mut Vec<u8>,
    ) -> Answer {
        let (owner, owned) = self.content_host(domain, index);
        let host = self.host(owner, owned);
        if path.ends_with("robots.txt") || path.ends_with("robots-rules.txt") {
            let robots = self.robots_file(domain, index, &host);
            match self.robots_reply(&robots, path) {
                Some(RobotsReply::Body) => {
                    self.write_robots(&robots, &host, body);
                    self.write_sitemap_line(domain, index, body);
                    return Answer::new(200, TEXT);
                }
                Some(RobotsReply::Status(status)) => return Answer::status(status, body),
                Some(RobotsReply::Redirect(status, to)) => {
                    return Answer::redirect(status, to.to_owned(), body);
                }
                None => {}
            }
        }
        if sitemap::may_be_sitemap(path)
            && let Some(answer) = self.sitemap_answer(domain, index, path, body)
        {
            return answer;
        }
        match self.parse_path(&host, &without_session(path)) {
            Some(resource) => self.resource_answer(&host, resource, request, time_s, body),
            None => Answer::status(404, body),
        }
    }

    fn resource_answer(
        &self,
        host: &Host,
        resource: Resource,
        request: &Request<'_>,
        time_s: u64,
        body: &mut Vec<u8>,
    ) -> Answer {
        let kind = self.kind(host, resource);
        let content_type = match kind {
            PageKind::Reset => return Answer { behaviour: Behaviour::Reset, ..Answer::new(0, HTML) },
            PageKind::Status(status) => return Answer::status(status, body),
            PageKind::Redirect(status, target) => {
                let mut location = Vec::with_capacity(96);
                match target {
                    Target::Here(resource) => self.write_path(host, resource, false, &mut location),
                    Target::There(place) => self.write_url(place, &mut location),
                }
                return Answer::redirect(status, text(location), body);
            }
            PageKind::Html { .. } => HTML,
            PageKind::Plain => TEXT,
            PageKind::Pdf => "application/pdf",
        };
        let key = self.text_key(host, resource, kind);
        // Documents do not change.
        let version = self.version(key, if content_type == HTML { time_s } else { 0 });
        let etag = EntityTag(key.wrapping_add(version.number));
        let answer = Answer {
            etag: Some(etag),
            last_modified_s: Some(version.since_s),
            ..Answer::new(200, content_type)
        };
        let unchanged = match request.if_none_match {
            Some(tags) => tags == "*" || tags.contains(&etag.to_string()),
            None => request.if_modified_since_s.is_some_and(|since_s| since_s >= version.since_s),
        };
        if unchanged {
            return Answer { status: 304, ..answer };
        }
        if content_type == HTML {
            let mut links = Vec::<Link>::with_capacity(128);
            self.links_of(host, resource, kind, &mut links);
            self.write_html(host, resource, kind, version.number, &links, body);
        } else {
            self.write_document(host, key, kind, body);
        }
        answer
    }

    /// Whether robots.txt forbids a path to [`AGENT`](crate::AGENT): known from the host's kind, not by parsing.
    /// Everything is forbidden on a host whose robots.txt answers 503, nothing on a host that does not exist.
    pub fn forbidden(&self, host: &str, path_and_query: &str) -> bool {
        self.site_of(host).is_some_and(|site| self.site_forbids(site, without_fragment(path_and_query)))
    }

    pub(crate) fn site_forbids(&self, site: Site, path: &str) -> bool {
        let (domain, index) = match site {
            Site::Host { domain, index } => (domain, index),
            // The alias redirects requests for its robots.txt too.
            Site::Alias { domain } => (domain, 0),
            Site::Farm { .. } => return false,
        };
        let (owner, owned) = self.content_host(domain, index);
        let content = self.host(owner, owned);
        let robots = self.robots_file(domain, index, &content);
        path != ROBOTS_PATH && self.robots_forbids(&robots, &content, path)
    }

    /// The links that a follower takes from a page, as canonical URLs in order of appearance; none if the URL is not an
    /// HTML page, or one that asks not to be followed. Links do not depend on time.
    pub fn links(&self, url: &str, _time_s: u64) -> Vec<String> {
        let Some(place) = self.place_of(url) else { return Vec::new() };
        let mut targets = Vec::new();
        self.follow(place, &mut targets);
        targets.into_iter().map(|target| self.url(target)).collect()
    }

    /// All links that stand in a page, as canonical URLs: those that a follower takes, those that it is asked not to, and the one in the
    /// page's head; of a redirect the target. Links do not depend on time.
    pub fn links_on(&self, url: &str) -> Vec<String> {
        let Some(place) = self.place_of(url) else { return Vec::new() };
        let Site::Host { domain, index } = place.site else { return self.links(url, 0) };
        let (domain, index) = self.content_host(domain, index);
        let host = self.host(domain, index);
        let kind = self.kind(&host, place.resource);
        if !matches!(kind, PageKind::Html { .. }) {
            return self.links(url, 0);
        }
        let mut links = Vec::new();
        self.links_of(&host, place.resource, kind, &mut links);
        let targets = links.iter().map(|link| link.to.on(place.site));
        targets.chain(self.canonical_of(&host, place.resource, kind)).map(|target| self.url(target)).collect()
    }

    fn place_of(&self, url: &str) -> Option<Place> {
        let rest = url.strip_prefix("http://")?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        self.place(self.site_of(host)?, path)
    }

    /// Whether a host belongs to a spam farm.
    pub fn is_farm(&self, host: &str) -> bool {
        matches!(self.site_of(host), Some(Site::Farm { .. }))
    }

    pub(crate) fn site_of(&self, host: &str) -> Option<Site> {
        let name = host.split(':').next().unwrap_or(host);
        let name = name.strip_suffix('.').unwrap_or(name);
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return self.site_named(&name.to_ascii_lowercase());
        }
        self.site_named(name)
    }

    pub(crate) fn place(&self, site: Site, path: &str) -> Option<Place> {
        let path = if path.is_empty() { "/" } else { without_fragment(path) };
        let resource = match site {
            Site::Host { domain, index } => {
                let (owner, owned) = self.content_host(domain, index);
                self.parse_path(&self.host(owner, owned), &without_session(path))?
            }
            Site::Alias { domain } => self.parse_path(&self.host(domain, 0), &without_session(path))?,
            Site::Farm { label, .. } => Resource::Page(self.parse_farm_path(label, path)?),
        };
        Some(Place { site, resource })
    }

    /// Appends the canonical path of a place.
    pub(crate) fn write_place_path(&self, place: Place, html: bool, out: &mut Vec<u8>) {
        // A home page's path needs no facts about the host, and most links to other hosts lead to one.
        if place.resource == Resource::Page(0) {
            out.push(b'/');
            return;
        }
        match (place.site, place.resource) {
            (Site::Farm { .. }, Resource::Page(page)) => self.write_farm_path(page, out),
            (Site::Farm { .. }, _) => out.push(b'/'),
            (Site::Host { domain, index }, resource) => {
                let (owner, owned) = self.content_host(domain, index);
                self.write_path(&self.host(owner, owned), resource, html, out);
            }
            (Site::Alias { domain }, resource) => self.write_path(&self.host(domain, 0), resource, html, out),
        }
    }

    /// Appends the canonical URL of a place.
    pub(crate) fn write_url(&self, place: Place, out: &mut Vec<u8>) {
        out.extend_from_slice(b"http://");
        self.write_site(place.site, out);
        self.write_place_path(place, false, out);
    }

    /// The canonical URL of a place.
    pub(crate) fn url(&self, place: Place) -> String {
        let mut url = Vec::with_capacity(96);
        self.write_url(place, &mut url);
        text(url)
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("names and paths are ASCII")
}

fn without_fragment(path: &str) -> &str {
    path.split('#').next().unwrap_or(path)
}

/// The path without `;jsessionid=…` and `PHPSESSID=…`, which every host takes and ignores.
fn without_session(path: &str) -> std::borrow::Cow<'_, str> {
    let mut path = std::borrow::Cow::Borrowed(path);
    if !path.bytes().any(|byte| byte == b';' || byte == b'?') {
        return path;
    }
    if let Some(start) = path.find(";jsessionid=") {
        let end = path[start..].find('?').map_or(path.len(), |offset| start + offset);
        path.to_mut().replace_range(start..end, "");
    }
    if let Some(start) = path.find("PHPSESSID=") {
        let end = path[start..].find('&').map_or(path.len(), |offset| start + offset + 1);
        path.to_mut().replace_range(start..end, "");
        if path.ends_with(['?', '&']) {
            path.to_mut().pop();
        }
    }
    path
}
