//! What the crawl is about: which URLs are wanted at all.
//!
//! Filled once, with rules and seeds; asked for every link before anything is remembered of it, and again with the content
//! type when the head of a response is there. A link is wanted if all of this holds:
//!
//! 1. It lies where the [`ScopeRule`] says: anywhere, in a seed's domain, or on a seed's host. A host is a name and a port here;
//!    `http` and `https` on their own ports are the same, since nearly every site redirects from one to the other.
//! 2. The longest SURT prefix that it begins with is not a denied one; if any are allowed, it begins with an allowed one.
//! 3. No denied expression matches it; if any are allowed, one of them does.
//! 4. It is not too many links away from a seed.
//!
//! What the operator named is wanted for its links even where it matches nothing that is allowed: at depth 0 only denials
//! count. Every refusal has its reason.
//!
//! Costs: a hash and a lookup by rule 1, a key and a binary search by rule 2, one pass over the URL per list by rule 3; what is
//! not used costs nothing.

mod content;
mod error;
mod patterns;
mod prefixes;
mod written;

use std::collections::BTreeSet;

use mattock_weburl::{Fingerprint, WebUrl};

pub use content::ContentTypes;
pub use error::RuleError;
pub(crate) use patterns::{Patterns, wildcard};
use prefixes::{Prefixes, Ruling};

use crate::{Link, Refusal};

/// How far the crawl may go from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeRule {
    /// Anywhere.
    Any,
    /// The seeds' domains: all hosts under the same pay-level domain.
    #[default]
    Domain,
    /// The seeds' hosts only, by `http` and `https`.
    Host,
}

/// Judges links. Filled by [`Scope::include`] with the seeds.
#[derive(Clone, Debug)]
pub struct Scope {
    rule: ScopeRule,
    depth_max: Option<u32>,
    /// Fingerprints of the seeds' hosts or domains, by the rule.
    included: BTreeSet<Fingerprint>,
    prefixes: Prefixes,
    allowed: Patterns,
    denied: Patterns,
    stored: ContentTypes,
    followed: ContentTypes,
}

impl Scope {
    /// A scope without seeds: with any rule but `Any` it refuses everything.
    pub fn new(rule: ScopeRule, depth_max: Option<u32>) -> Scope {
        Scope {
            rule,
            depth_max,
            included: BTreeSet::new(),
            prefixes: Prefixes::default(),
            allowed: Patterns::default(),
            denied: Patterns::default(),
            stored: ContentTypes::default(),
            followed: ContentTypes::default(),
        }
    }

    /// With these SURT prefixes, written as keys (`com,example)/docs/`; `com,example` alone is the host and all below it) or as
    /// URLs. They replace those that were given before.
    pub fn with_prefixes(mut self, allowed: &[String], denied: &[String]) -> Result<Scope, RuleError> {
        self.prefixes = Prefixes::new(allowed, denied)?;
        Ok(self)
    }

    /// With these regular expressions on the whole URL, which match anywhere in it unless anchored. They replace those that were
    /// given before.
    pub fn with_patterns(mut self, allowed: &[String], denied: &[String]) -> Result<Scope, RuleError> {
        self.allowed = Patterns::new(allowed.iter().map(String::as_str))?;
        self.denied = Patterns::new(denied.iter().map(String::as_str))?;
        Ok(self)
    }

    /// With these content types: what is stored, and where links are looked for.
    pub fn with_content(mut self, stored: ContentTypes, followed: ContentTypes) -> Scope {
        self.stored = stored;
        self.followed = followed;
        self
    }

    /// Makes a seed's surroundings part of the scope.
    pub fn include(&mut self, seed: &WebUrl) {
        if let Some(place) = self.place(seed) {
            self.included.insert(place);
        }
    }

    /// The host or domain, by the rule. A canonical authority has no default port.
    fn place(&self, url: &WebUrl) -> Option<Fingerprint> {
        match self.rule {
            ScopeRule::Any => None,
            ScopeRule::Domain => Some(url.domain_fingerprint()),
            ScopeRule::Host => Some(Fingerprint::of(url.authority())),
        }
    }

    /// Why a link is not wanted; `None` if it is.
    pub fn refuses(&self, link: &Link) -> Option<Refusal> {
        let url = &link.url;
        if self.place(url).is_some_and(|place| !self.included.contains(&place)) {
            return Some(Refusal::Scope);
        }
        if self.depth_max.is_some_and(|limit| link.depth > limit) {
            return Some(Refusal::Depth);
        }
        let named = link.depth == 0;
        if !self.prefixes.is_empty() {
            match self.prefixes.ruling(&url.surt()) {
                Some(Ruling::Denied) => return Some(Refusal::DeniedPrefix),
                None if self.prefixes.any_allowed && !named => return Some(Refusal::Scope),
                Some(Ruling::Allowed) | None => {}
            }
        }
        if self.denied.matches(url.as_str()) {
            return Some(Refusal::DeniedPattern);
        }
        let allowed = named || self.allowed.is_empty() || self.allowed.matches(url.as_str());
        (!allowed).then_some(Refusal::Scope)
    }

    /// Why a response is not stored; `None` if it is. `content_type` is the header's text.
    pub fn refuses_content(&self, content_type: Option<&str>) -> Option<Refusal> {
        self.stored.refuses(content_type)
    }

    /// Whether links are looked for in a response.
    pub fn follows(&self, content_type: Option<&str>) -> bool {
        self.followed.takes(content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str, depth: u32) -> Link {
        Link::page(WebUrl::parse(text).unwrap(), depth)
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_rule_decides_what_belongs_to_a_seed() {
        let judge = |rule, text: &str| {
            let mut scope = Scope::new(rule, Some(3));
            scope.include(&WebUrl::parse("http://www.example.co.uk/").unwrap());
            scope.refuses(&link(text, 1))
        };
        for (text, host, domain) in [
            ("http://www.example.co.uk/a", None, None),
            ("https://www.example.co.uk/a", None, None),
            ("https://www.example.co.uk:80/a", Some(Refusal::Scope), None),
            ("http://news.example.co.uk/a", Some(Refusal::Scope), None),
            ("http://www.example.co.uk:8080/", Some(Refusal::Scope), None),
            ("http://other.co.uk/", Some(Refusal::Scope), Some(Refusal::Scope)),
        ] {
            assert_eq!(judge(ScopeRule::Host, text), host, "{text}");
            assert_eq!(judge(ScopeRule::Domain, text), domain, "{text}");
            assert_eq!(judge(ScopeRule::Any, text), None, "{text}");
        }
        let scope = Scope::new(ScopeRule::Any, Some(3));
        assert_eq!(scope.refuses(&link("http://a.com/", 3)), None);
        assert_eq!(scope.refuses(&link("http://a.com/", 4)), Some(Refusal::Depth));
    }

    #[test]
    fn a_seed_on_its_own_port_includes_that_port_only() {
        let mut scope = Scope::new(ScopeRule::Host, None);
        scope.include(&WebUrl::parse("https://a.com:8443/").unwrap());
        assert_eq!(scope.refuses(&link("https://a.com:8443/x", 1)), None);
        assert_eq!(scope.refuses(&link("https://a.com/x", 1)), Some(Refusal::Scope));
    }

    #[test]
    fn prefixes_of_heritrix_deny_what_they_name() {
        for (prefix, denied, allowed) in [
            ("http://(net,example,)/", "http://example.net/a", "http://www.example.net/a"),
            ("http://(net,example,", "http://www.example.net/a", "http://example.net.org/"),
            ("http://(net,example,", "https://example.net/", "http://examples.net/"),
            ("https://(net,example,www,)/docs", "http://www.example.net/docs/x", "http://www.example.net/"),
        ] {
            let scope = Scope::new(ScopeRule::Any, None).with_prefixes(&[], &[prefix.to_owned()]).unwrap();
            let refuses = |url: &str| scope.refuses(&Link::page(WebUrl::parse(url).unwrap(), 1)).is_some();
            assert_eq!((refuses(denied), refuses(allowed)), (true, false), "{prefix}");
        }
    }

    #[test]
    fn prefixes_narrow_the_rule_and_the_longest_decides() {
        let scope = Scope::new(ScopeRule::Any, None)
            .with_prefixes(
                &owned(&["https://a.com/docs/", "org,b,", "com,a)/docs/old/kept"]),
                &owned(&["com,a)/docs/old/"]),
            )
            .unwrap();
        for (text, refusal) in [
            ("http://a.com/docs/new", None),
            ("http://a.com/DOCS/new", None),
            ("http://a.com/docs/old/x", Some(Refusal::DeniedPrefix)),
            ("http://a.com/docs/old/kept/x", None),
            ("http://a.com/other", Some(Refusal::Scope)),
            ("http://www.b.org/", None),
            ("http://b.org/", Some(Refusal::Scope)),
        ] {
            assert_eq!(scope.refuses(&link(text, 1)), refusal, "{text}");
        }
        assert_eq!(scope.refuses(&link("http://a.com/", 0)), None, "the operator named it");
        assert_eq!(scope.refuses(&link("http://a.com/docs/old/", 0)), Some(Refusal::DeniedPrefix));
    }

    #[test]
    fn expressions_allow_and_deny() {
        let scope = Scope::new(ScopeRule::Any, None)
            .with_patterns(&owned(&[r"/articles?/\d+", r"^https://b\.com/"]), &owned(&[r"[?&]print="]))
            .unwrap();
        for (text, refusal) in [
            ("http://a.com/article/7", None),
            ("http://a.com/articles/7?page=2", None),
            ("http://a.com/articles/7?print=1", Some(Refusal::DeniedPattern)),
            ("http://a.com/articles/x", Some(Refusal::Scope)),
            ("https://b.com/", None),
            ("http://b.com/", Some(Refusal::Scope)),
        ] {
            assert_eq!(scope.refuses(&link(text, 1)), refusal, "{text}");
        }
        assert_eq!(scope.refuses(&link("http://a.com/", 0)), None);
        assert_eq!(scope.refuses(&link("http://a.com/?print=1", 0)), Some(Refusal::DeniedPattern));
        assert!(Scope::new(ScopeRule::Any, None).with_patterns(&owned(&["("]), &[]).is_err());
    }

    #[test]
    fn content_is_judged_by_its_type() {
        let html = ContentTypes::new(&owned(&["text/html"]), &[]).unwrap();
        let no_video = ContentTypes::new(&[], &owned(&["video/*"])).unwrap();
        let scope = Scope::new(ScopeRule::Any, None).with_content(no_video, html);
        assert_eq!(scope.refuses_content(Some("video/mp4")), Some(Refusal::ContentType));
        assert_eq!(scope.refuses_content(Some("image/png")), None);
        assert!(scope.follows(Some("text/html; charset=utf-8")) && !scope.follows(Some("image/png")));
    }
}
