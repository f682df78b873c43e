//! `URLseen`: each URL passes once.
//!
//! Filled with every link in scope, emptied never. Here a plain set of fingerprints in RAM.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use mattock_weburl::Fingerprint;

use crate::Link;

/// Fingerprints are hashes already; hashing them again would be waste.
#[derive(Debug, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only fingerprints are stored, and they hash as one u64")
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// The set of URLs that were ever let through.
#[derive(Debug, Default)]
pub struct UrlSeen {
    fingerprints: HashSet<u64, BuildHasherDefault<Identity>>,
}

impl UrlSeen {
    /// Keeps only the links that were never seen before, in their order, and remembers them.
    pub fn check_update(&mut self, links: &mut Vec<Link>) {
        links.retain(|link| self.insert(link.url.fingerprint()));
    }

    /// Remembers a fingerprint; whether it is new.
    pub fn insert(&mut self, fingerprint: Fingerprint) -> bool {
        self.fingerprints.insert(fingerprint.0)
    }

    /// How many were seen.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// All fingerprints, sorted.
    pub fn sorted(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.fingerprints.iter().copied().collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_weburl::WebUrl;

    #[test]
    fn each_url_passes_once_and_in_order() {
        let link = |path: &str| Link::page(WebUrl::parse(&format!("http://a.com/{path}")).unwrap(), 0);
        let mut seen = UrlSeen::default();
        let mut links = vec![link("b"), link("a"), link("b"), link("c")];
        seen.check_update(&mut links);
        assert_eq!(links, [link("b"), link("a"), link("c")]);
        seen.check_update(&mut links);
        assert!(links.is_empty());
        assert_eq!(seen.len(), 3);
    }
}
