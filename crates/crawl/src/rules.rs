//! Which of the links that were found are taken at all, wherever they lead.
//!
//! Filled by [`page`](crate::page) and [`sitemap`](crate::sitemap) with what they find, emptied into the frontier, whose
//! scope then says what the crawl is about and what looks like a trap. Here stands what depends on how a link was found: links
//! that do something when they are asked for, redirects and sitemaps without end. Every refusal has a name that is counted.
//!
//! Nothing is kept between two pages: what a rule needs to know travels with the link. A link costs one look at its text.

use std::collections::BTreeMap;

use mattock_frontier::Link;
use mattock_robots::sitemap;
use mattock_weburl::WebUrl;

/// The limits on links. One field is one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRules {
    /// Redirects that are followed one after the other.
    pub redirects_max: u8,
    /// Names of query parameters that make a link do something. Such links are not followed.
    pub acting_parameters: Vec<String>,
    /// Limits on sitemaps.
    pub sitemaps: SitemapRules,
}

/// The limits on sitemaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapRules {
    /// Whether they are read at all.
    pub read: bool,
    /// Sitemaps that one robots.txt can lead to, indexes included.
    pub files_max: u16,
    /// Sitemaps on the way from robots.txt to a page, one index naming the next.
    pub levels_max: u8,
    /// How much of each is read.
    pub limits: sitemap::Limits,
}

/// What shops call the parameters that change a cart or a list.
const ACTING_PARAMETERS: [&str; 11] = [
    "add-to-cart",
    "add_to_cart",
    "addtocart",
    "add-to-compare",
    "add_to_compare",
    "add-to-wishlist",
    "add_to_wishlist",
    "empty-cart",
    "empty_cart",
    "remove_item",
    "undo_item",
];

impl Default for LinkRules {
    fn default() -> LinkRules {
        LinkRules {
            redirects_max: 10,
            acting_parameters: ACTING_PARAMETERS.map(str::to_owned).to_vec(),
            sitemaps: SitemapRules::default(),
        }
    }
}

impl Default for SitemapRules {
    fn default() -> SitemapRules {
        SitemapRules {
            read: true,
            files_max: 1_000,
            levels_max: sitemap::DEPTH_MAX,
            limits: sitemap::Limits::default(),
        }
    }
}

/// Why a link is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Untaken {
    TooManyRedirects,
    Acts,
    SitemapElsewhere,
    SitemapTooDeep,
    TooManySitemaps,
}

impl Untaken {
    /// The name that is counted and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Untaken::TooManyRedirects => "too-many-redirects",
            Untaken::Acts => "acting-link",
            Untaken::SitemapElsewhere => "sitemap-elsewhere",
            Untaken::SitemapTooDeep => "sitemap-too-deep",
            Untaken::TooManySitemaps => "too-many-sitemaps",
        }
    }
}

impl LinkRules {
    pub(crate) fn refuses(&self, link: &Link) -> Option<Untaken> {
        if link.redirects > self.redirects_max {
            return Some(Untaken::TooManyRedirects);
        }
        self.acts(&link.url).then_some(Untaken::Acts)
    }

    fn acts(&self, url: &WebUrl) -> bool {
        url.query().into_iter().flat_map(|query| query.split('&')).any(|parameter| {
            let name = parameter.split('=').next().unwrap_or_default();
            self.acting_parameters.iter().any(|acting| acting.eq_ignore_ascii_case(name))
        })
    }
}

/// The links of one answer that are taken, and the others counted.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub(crate) links: Vec<Link>,
    pub(crate) untaken: BTreeMap<Untaken, u64>,
}

impl Harvest {
    /// Takes a link, or counts it.
    pub(crate) fn offer(&mut self, link: Link, rules: &LinkRules) {
        match rules.refuses(&link) {
            None => self.links.push(link),
            Some(reason) => self.leave(reason, 1),
        }
    }

    /// Counts links that were left for this reason.
    pub(crate) fn leave(&mut self, reason: Untaken, count: u64) {
        if count > 0 {
            *self.untaken.entry(reason).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str) -> Option<Untaken> {
        let url = WebUrl::parse(&format!("http://a.com{path}")).unwrap();
        LinkRules::default().refuses(&Link::page(url, 0))
    }

    #[test]
    fn links_that_act_are_left_and_their_neighbours_taken() {
        for (path, acts) in [
            ("/shop?add_to_cart=1", true),
            ("/shop?page=2&Add-To-Cart=7", true),
            ("/shop?remove_item", true),
            ("/shop?q=add_to_cart", false),
            ("/shop?do_not_add_to_cart=1", false),
            ("/add_to_cart/1", false),
        ] {
            assert_eq!(verdict(path) == Some(Untaken::Acts), acts, "{path}");
        }
    }

    #[test]
    fn redirects_end() {
        let url = WebUrl::parse("http://a.com/").unwrap();
        let rules = LinkRules { redirects_max: 3, ..LinkRules::default() };
        let mut harvest = Harvest::default();
        for redirects in 0..10 {
            harvest.offer(Link { redirects, ..Link::page(url.clone(), 0) }, &rules);
        }
        assert_eq!(harvest.links.len(), 4);
        assert_eq!(harvest.untaken, BTreeMap::from([(Untaken::TooManyRedirects, 6)]));
    }
}
