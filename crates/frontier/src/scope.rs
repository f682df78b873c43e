//! What the crawl is about: which URLs are wanted at all.

use std::collections::BTreeSet;

use mattock_weburl::{Fingerprint, WebUrl};

use crate::{Link, Refusal};

/// How far the crawl may go from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeRule {
    /// Anywhere.
    Any,
    /// The seeds' domains: all hosts under the same pay-level domain.
    #[default]
    Domain,
    /// The seeds' hosts only.
    Host,
}

/// Judges links. Filled by [`Scope::include`] with the seeds.
#[derive(Clone, Debug)]
pub struct Scope {
    rule: ScopeRule,
    depth_max: Option<u32>,
    /// Fingerprints of the seeds' hosts or domains, by the rule.
    included: BTreeSet<Fingerprint>,
}

impl Scope {
    /// A scope without seeds: with any rule but `Any` it refuses everything.
    pub fn new(rule: ScopeRule, depth_max: Option<u32>) -> Scope {
        Scope { rule, depth_max, included: BTreeSet::new() }
    }

    /// Makes a seed's surroundings part of the scope.
    pub fn include(&mut self, seed: &WebUrl) {
        match self.rule {
            ScopeRule::Any => {}
            ScopeRule::Domain => drop(self.included.insert(seed.domain_fingerprint())),
            ScopeRule::Host => drop(self.included.insert(seed.host_fingerprint())),
        }
    }

    /// Why a link is not wanted; `None` if it is.
    pub fn refuses(&self, link: &Link) -> Option<Refusal> {
        let included = match self.rule {
            ScopeRule::Any => true,
            ScopeRule::Domain => self.included.contains(&link.url.domain_fingerprint()),
            ScopeRule::Host => self.included.contains(&link.url.host_fingerprint()),
        };
        if !included {
            return Some(Refusal::Scope);
        }
        self.depth_max.filter(|&limit| link.depth > limit).map(|_| Refusal::Depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_decides_what_belongs_to_a_seed() {
        let link = |text: &str, depth| Link::page(WebUrl::parse(text).unwrap(), depth);
        let judge = |rule, text: &str| {
            let mut scope = Scope::new(rule, Some(3));
            scope.include(&WebUrl::parse("http://www.example.co.uk/").unwrap());
            scope.refuses(&link(text, 1))
        };
        for (text, host, domain) in [
            ("http://www.example.co.uk/a", None, None),
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
}
