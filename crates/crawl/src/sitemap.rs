//! Sitemaps as sources of links.
//!
//! Filled from two sides: [`named`] takes what a robots.txt names as sitemaps, [`links`] what a sitemap holds. Both end in a
//! [`Harvest`] for the frontier. A sitemap is a request like any other: it waits its turn at its host, keeps to robots.txt,
//! is asked for once, and is archived.
//!
//! What bounds it, without any count kept per host: a robots.txt has an allowance of files, which is divided among the
//! sitemaps it names; an index divides what is left of its own among its children. An index may name sitemaps of its own
//! name only, whereas a robots.txt may name them anywhere in scope: its host has said so.

use mattock_frontier::{Link, Request, Sitemaps, Target};
use mattock_robots::sitemap::{Kind, Sitemap};
use mattock_weburl::{Base, Fingerprint, WebUrl};

use crate::rules::{Harvest, LinkRules, Untaken};

/// Links to the sitemaps that a robots.txt names. They lie as deep as the first page of the host.
pub(crate) fn named(sitemaps: &Sitemaps, rules: &LinkRules) -> Harvest {
    let mut harvest = Harvest::default();
    let Ok(robots_txt) = WebUrl::parse(&format!("{}/robots.txt", sitemaps.host)) else { return harvest };
    let base = Base::new(&robots_txt);
    let urls: Vec<WebUrl> = sitemaps.urls.iter().filter_map(|text| base.join(text).ok()).collect();
    let via = robots_txt.fingerprint();
    divide(urls, via, 0, sitemaps.depth, rules.sitemaps.files_max, rules, &mut harvest);
    harvest
}

/// Links to the pages that a sitemap lists, or to the sitemaps that an index names.
pub(crate) fn links(
    request: &Request,
    level: u8,
    allowance: u16,
    sitemap: &Sitemap,
    rules: &LinkRules,
) -> Harvest {
    let mut harvest = Harvest::default();
    let base = Base::new(&request.url);
    let via = request.url.fingerprint();
    for entry in &sitemap.entries {
        if let Ok(url) = base.join(&entry.url) {
            harvest.offer(Link { via: Some(via), ..Link::page(url, request.depth + 1) }, rules);
        }
    }
    if level + 1 >= rules.sitemaps.levels_max {
        harvest.leave(Untaken::SitemapTooDeep, sitemap.children.len() as u64);
        return harvest;
    }
    let mut children: Vec<WebUrl> = sitemap.children.iter().filter_map(|text| base.join(text).ok()).collect();
    let before = children.len();
    children.retain(|url| url.host_name() == request.url.host_name());
    harvest.leave(Untaken::SitemapElsewhere, (before - children.len()) as u64);
    divide(children, via, level + 1, request.depth, allowance, rules, &mut harvest);
    harvest
}

/// Gives each of these sitemaps its share of the allowance; those behind the last that has one are left. `via` names them.
fn divide(
    mut urls: Vec<WebUrl>,
    via: Fingerprint,
    level: u8,
    depth: u32,
    allowance: u16,
    rules: &LinkRules,
    harvest: &mut Harvest,
) {
    let count = urls.len().min(usize::from(allowance));
    harvest.leave(Untaken::TooManySitemaps, (urls.len() - count) as u64);
    urls.truncate(count);
    let count = count as u16;
    let share = (allowance - count).checked_div(count).unwrap_or_default();
    for url in urls {
        let target = Target::Sitemap { level, allowance: share };
        harvest.offer(Link { target, via: Some(via), ..Link::page(url, depth) }, rules);
    }
}

/// The name under which what a sitemap turned out to be is counted.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Unknown => "not-a-sitemap",
        Kind::UrlSet => "url-set",
        Kind::Index => "index",
        Kind::Text => "text",
        Kind::Rss => "rss",
        Kind::Atom => "atom",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::SitemapRules;
    use mattock_robots::sitemap::Entry;

    fn rules(files_max: u16) -> LinkRules {
        LinkRules { sitemaps: SitemapRules { files_max, ..SitemapRules::default() }, ..LinkRules::default() }
    }

    fn request(url: &str) -> Request {
        Request {
            url: WebUrl::parse(url).unwrap(),
            depth: 2,
            redirects: 0,
            target: Target::Page,
            via: None,
            band: 0,
            attempt: 0,
            budget: 0,
            number: 0,
        }
    }

    #[test]
    fn robots_txt_may_name_sitemaps_anywhere() {
        let urls = ["/a.xml", "http://b.com/b.xml", "http://", "ftp://c.com/c.xml"].map(str::to_owned);
        let named =
            named(&Sitemaps { host: "http://a.com".into(), depth: 3, urls: urls.to_vec() }, &rules(8));
        let found: Vec<(&str, u32, Target)> =
            named.links.iter().map(|link| (link.url.as_str(), link.depth, link.target)).collect();
        let target = Target::Sitemap { level: 0, allowance: 3 };
        assert_eq!(found, [("http://a.com/a.xml", 3, target), ("http://b.com/b.xml", 3, target)]);
        let robots_txt = Some(Fingerprint::of("http://a.com/robots.txt"));
        assert!(named.links.iter().all(|link| link.via == robots_txt));
    }

    #[test]
    fn an_index_names_its_own_hosts_sitemaps_as_far_as_its_allowance_goes() {
        let mut children: Vec<String> = (0..5).map(|number| format!("/{number}.xml")).collect();
        children.insert(1, "http://b.com/x.xml".to_owned());
        let index = Sitemap { kind: Kind::Index, children, ..Sitemap::default() };
        let request = request("https://a.com/index.xml");
        let found = links(&request, 0, 11, &index, &rules(99));
        assert_eq!(found.links.len(), 5);
        assert!(found.links.iter().all(|link| link.target == Target::Sitemap { level: 1, allowance: 1 }));
        assert!(found.links.iter().all(|link| link.via == Some(request.url.fingerprint())));
        assert_eq!(found.untaken[&Untaken::SitemapElsewhere], 1);
        let found = links(&request, 0, 2, &index, &rules(99));
        assert_eq!((found.links.len(), found.untaken[&Untaken::TooManySitemaps]), (2, 3));
        assert!(links(&request, 0, 0, &index, &rules(99)).links.is_empty());
        let found = links(&request, 2, 99, &index, &rules(99));
        assert_eq!((found.links.len(), found.untaken[&Untaken::SitemapTooDeep]), (0, 6));
    }

    #[test]
    fn pages_are_one_step_deeper_than_their_sitemap() {
        let entry = |url: &str| Entry { url: url.to_owned(), lastmod: None };
        let entries =
            vec![entry("/1"), entry("http://b.com/2"), entry("mailto:x@y"), entry("/c?remove_item=1")];
        let sitemap = Sitemap { kind: Kind::UrlSet, entries, ..Sitemap::default() };
        let found = links(&request("http://a.com/s.xml"), 0, 0, &sitemap, &rules(1));
        let urls: Vec<(&str, u32)> = found.links.iter().map(|link| (link.url.as_str(), link.depth)).collect();
        assert_eq!(urls, [("http://a.com/1", 3), ("http://b.com/2", 3)]);
        let sitemap = Some(Fingerprint::of("http://a.com/s.xml"));
        assert!(found.links.iter().all(|link| link.via == sitemap));
        assert_eq!(found.untaken[&Untaken::Acts], 1);
    }

    /// Whatever indexes name, a robots.txt leads to no more files than it may.
    #[test]
    fn the_allowance_bounds_the_whole_tree() {
        for (names, children, files_max) in [(1, 3, 10), (3, 7, 100), (50, 50, 1000), (1, 1, 2), (9, 1, 4)] {
            let rules = rules(files_max);
            let urls = (0..names).map(|number| format!("/{number}")).collect();
            let mut wave = named(&Sitemaps { host: "http://a.com".into(), depth: 0, urls }, &rules).links;
            let index = Sitemap {
                kind: Kind::Index,
                children: (0..children).map(|number| format!("/c{number}")).collect(),
                ..Sitemap::default()
            };
            let mut files = 0;
            while !wave.is_empty() {
                files += wave.len();
                wave = wave
                    .iter()
                    .flat_map(|link| match link.target {
                        Target::Sitemap { level, allowance } => {
                            links(&request(link.url.as_str()), level, allowance, &index, &rules).links
                        }
                        Target::Page => panic!("an index has no pages"),
                    })
                    .collect();
            }
            assert!((1..=usize::from(files_max)).contains(&files), "{names} {children}: {files}");
        }
    }
}
