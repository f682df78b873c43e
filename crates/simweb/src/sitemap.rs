//! Sitemaps: some hosts name one in their robots.txt, with pages in it that nothing else leads to.
//!
//! What a sitemap lists is known structurally (`listed`), and both its text and the truth are made from that. It comes in
//! the forms that are in use: a set of URLs, the same in gzip, an index of two parts, plain text, a feed.
//! The seeds' own host has none, so that whoever only looks at a few pages sees pages.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::answer::{Answer, TEXT};
use crate::failures::Fate;
use crate::mix::{Tag, mix, unit};
use crate::place::{Place, Resource, Site};
use crate::robots_txt::RobotsKind;
use crate::world::World;

const XML: &str = "application/xml";
/// Pages of the host's tree that its sitemap lists too.
const LINKED_PAGES: u64 = 12;
const PARTS: [&str; 2] = ["/sitemap-1.xml", "/sitemap-2.txt"];

/// What a host's sitemap looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    UrlSet,
    Packed,
    Index,
    Text,
    Feed,
}

impl Form {
    /// The path that robots.txt names.
    fn path(self) -> &'static str {
        match self {
            Form::UrlSet => "/sitemap.xml",
            Form::Packed => "/sitemap.xml.gz",
            Form::Index => "/sitemap-index.xml",
            Form::Text => "/sitemap.txt",
            Form::Feed => "/feed.xml",
        }
    }
}

/// Whether a path may be that of a sitemap; no page has such a one.
pub(crate) fn may_be_sitemap(path: &str) -> bool {
    path.starts_with("/sitemap") || path == Form::Feed.path()
}

impl World {
    fn sitemap_form(&self, domain: u64, index: u32) -> Option<Form> {
        let hash = mix(self.seed, Tag::Sitemap, domain, u64::from(index));
        let seed = domain == 0 && index == 0;
        if seed || unit(hash) >= self.params.sitemap_hosts {
            return None;
        }
        match self.robots_kind(domain, index) {
            // There is no text for it to stand in, or nothing that may be fetched.
            RobotsKind::Missing
            | RobotsKind::Empty
            | RobotsKind::Unavailable
            | RobotsKind::Refused
            | RobotsKind::DisallowAll => None,
            _ => Some(
                [Form::UrlSet, Form::Packed, Form::Index, Form::Text, Form::Feed][(hash & 0xff) as usize % 5],
            ),
        }
    }

    /// Appends the line of robots.txt that names the host's sitemap, if it has one.
    pub(crate) fn write_sitemap_line(&self, domain: u64, index: u32, out: &mut Vec<u8>) {
        let Some(form) = self.sitemap_form(domain, index) else { return };
        out.extend_from_slice(b"Sitemap: http://");
        self.write_site(Site::Host { domain, index }, out);
        out.extend_from_slice(form.path().as_bytes());
        out.push(b'\n');
    }

    /// Appends what the sitemaps list that the robots.txt of a site leads to.
    pub(crate) fn listed(&self, site: Site, out: &mut Vec<Place>) {
        let (domain, index) = match site {
            Site::Host { domain, index } => (domain, index),
            // Requests for its robots.txt are redirected like all others.
            Site::Alias { domain } => (domain, 0),
            Site::Farm { .. } => return,
        };
        let site = Site::Host { domain, index };
        if self.sitemap_form(domain, index).is_none() || self.fate(site) != Fate::Healthy {
            return;
        }
        let (owner, owned) = self.content_host(domain, index);
        let linked = (0..self.page_count(owner, owned).min(LINKED_PAGES)).map(Resource::Page);
        let unlinked = (0..self.params.sitemap_only_pages).map(Resource::Unlinked);
        out.extend(linked.chain(unlinked).map(|resource| Place { site, resource }));
    }

    /// Answers a request for a sitemap; `None` if the path is not one.
    pub(crate) fn sitemap_answer(
        &self,
        domain: u64,
        index: u32,
        path: &str,
        body: &mut Vec<u8>,
    ) -> Option<Answer> {
        let form = self.sitemap_form(domain, index)?;
        let site = Site::Host { domain, index };
        let mut places = Vec::new();
        self.listed(site, &mut places);
        let urls: Vec<String> =
            places.into_iter().map(|place| self.url(place).replace('&', "&amp;")).collect();
        let (first, second) = urls.split_at(urls.len() / 2);
        let (content_type, text) = match (form, path) {
            (Form::UrlSet, path) if path == form.path() => (XML, url_set(&urls)),
            (Form::Packed, path) if path == form.path() => {
                body.extend_from_slice(&gzip(url_set(&urls).as_bytes()));
                return Some(Answer::new(200, "application/gzip"));
            }
            (Form::Index, path) if path == form.path() => {
                let mut host = b"http://".to_vec();
                self.write_site(site, &mut host);
                let host = String::from_utf8(host).expect("names are ASCII");
                (XML, elements("sitemapindex", "sitemap", &PARTS.map(|part| format!("{host}{part}"))))
            }
            (Form::Index, path) if path == PARTS[0] => (XML, url_set(first)),
            (Form::Index, path) if path == PARTS[1] => (TEXT, lines(second)),
            (Form::Text, path) if path == form.path() => (TEXT, lines(&urls)),
            (Form::Feed, path) if path == form.path() => ("application/rss+xml", feed(&urls)),
            _ => return None,
        };
        body.extend_from_slice(text.as_bytes());
        Some(Answer::new(200, content_type))
    }
}

fn url_set(urls: &[String]) -> String {
    elements("urlset", "url", urls)
}

fn elements(root: &str, element: &str, urls: &[String]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
    );
    for url in urls {
        text.push_str(&format!("  <{element}>\n    <loc>{url}</loc>\n  </{element}>\n"));
    }
    text.push_str(&format!("</{root}>\n"));
    text
}

fn lines(urls: &[String]) -> String {
    urls.iter().map(|url| format!("{}\n", url.replace("&amp;", "&"))).collect()
}

fn feed(urls: &[String]) -> String {
    let items: String =
        urls.iter().map(|url| format!("<item><title>New</title><link>{url}</link></item>\n")).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Feed</title>\n{items}</channel></rss>\n"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a Vec takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::params::{Params, Preset};
    use std::collections::BTreeSet;

    /// Every form is there, is named by robots.txt, and lists what is said to be listed.
    #[test]
    fn sitemaps_list_what_the_truth_takes_from_them() {
        let world = World::new(Params { sitemap_hosts: 1.0, ..Params::preset(Preset::Small) }, 5);
        let mut forms = BTreeSet::new();
        for domain in 0..200 {
            let site = Site::Host { domain, index: 0 };
            let mut robots = Vec::new();
            world.write_sitemap_line(domain, 0, &mut robots);
            let robots = String::from_utf8(robots).unwrap();
            let mut expected = Vec::new();
            world.listed(site, &mut expected);
            if world.fate(site) != Fate::Healthy {
                continue;
            }
            let Some(url) = robots.trim_end().strip_prefix("Sitemap: ") else {
                assert!(expected.is_empty());
                continue;
            };
            let mut found = Vec::new();
            let mut waiting = vec![url.to_owned()];
            while let Some(url) = waiting.pop() {
                let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
                let path = format!("/{path}");
                let mut body = Vec::new();
                let request = Request { host, path_and_query: &path, ..Request::default() };
                let answer = world.answer(&request, 0, &mut body);
                assert_eq!(answer.status, 200, "{url}");
                let limits = mattock_robots::sitemap::Limits::default();
                let sitemap = mattock_robots::sitemap::parse(&body, Some(answer.content_type), &limits);
                forms.insert(path);
                found.extend(sitemap.entries.into_iter().map(|entry| entry.url));
                waiting.extend(sitemap.children);
            }
            found.sort();
            let mut expected: Vec<String> = expected.into_iter().map(|place| world.url(place)).collect();
            expected.sort();
            assert_eq!(found, expected, "{url}");
            assert!(expected.iter().any(|url| url.contains("/unlinked/")));
        }
        assert_eq!(forms.len(), 7, "five forms, one of them in three files: {forms:?}");
    }
}
