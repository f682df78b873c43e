//! SURT prefixes: parts of the Web by their place in the tree of names and paths.
//!
//! The longest prefix that a URL's SURT key begins with decides, so an exception stands beside its rule:
//! `com,example)/docs/` is denied and `com,example)/docs/public/` allowed. Prefixes are sorted, and each knows the longest other
//! that it begins with; a lookup is one binary search and a walk up that chain. A URL costs one key.

use super::RuleError;
use super::written::keys_of;

/// What a prefix says of the URLs below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Allowed,
    Denied,
}

#[derive(Clone, Debug)]
struct Prefix {
    key: Box<str>,
    ruling: Ruling,
    /// The longest other prefix that this one begins with.
    parent: Option<u32>,
}

/// Allowed and denied prefixes.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    /// In order of their keys, which are different.
    sorted: Vec<Prefix>,
    pub(super) any_allowed: bool,
}

impl Prefixes {
    pub(super) fn new(allowed: &[String], denied: &[String]) -> Result<Prefixes, RuleError> {
        let mut keys: Vec<(Box<str>, Ruling)> = Vec::new();
        for (texts, ruling) in [(allowed, Ruling::Allowed), (denied, Ruling::Denied)] {
            for text in texts {
                keys.extend(keys_of(text)?.into_iter().map(|key| (key, ruling)));
            }
        }
        // Where both lists have a prefix, the later list is kept: denied.
        keys.sort_by(|one, other| one.0.cmp(&other.0).then((one.1 as u8).cmp(&(other.1 as u8)).reverse()));
        keys.dedup_by(|later, earlier| later.0 == earlier.0);
        let mut sorted: Vec<Prefix> = Vec::with_capacity(keys.len());
        for (key, ruling) in keys {
            let parent = ancestor(&sorted, sorted.len().checked_sub(1), &key);
            sorted.push(Prefix { key, ruling, parent: parent.map(index) });
        }
        Ok(Prefixes { sorted, any_allowed: !allowed.is_empty() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// What the longest prefix of the key says.
    pub(super) fn ruling(&self, key: &str) -> Option<Ruling> {
        let before = self.sorted.partition_point(|prefix| &*prefix.key <= key);
        ancestor(&self.sorted, before.checked_sub(1), key).map(|at| self.sorted[at].ruling)
    }
}

/// The longest prefix of the key among those at `start` and up its chain. Whatever lies between a prefix of the key and the
/// key begins with that prefix too, so no other chain can have it.
fn ancestor(sorted: &[Prefix], start: Option<usize>, key: &str) -> Option<usize> {
    let mut at = start;
    while let Some(current) = at {
        let prefix = &sorted[current];
        if key.starts_with(&*prefix.key) {
            break;
        }
        at = prefix.parent.map(|parent| parent as usize);
    }
    at
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("nobody writes four thousand million prefixes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(rules: &[(String, Ruling)], key: &str) -> Option<Ruling> {
        let matching = rules.iter().filter(|(prefix, _)| key.starts_with(prefix.as_str()));
        let longest = matching.clone().map(|(prefix, _)| prefix.len()).max()?;
        let mut rulings = matching.filter(|(prefix, _)| prefix.len() == longest);
        Some(if rulings.any(|(_, ruling)| *ruling == Ruling::Denied) {
            Ruling::Denied
        } else {
            Ruling::Allowed
        })
    }

    proptest! {
        #[test]
        fn the_longest_prefix_decides(
            allowed in proptest::collection::vec("a,b\\)/[ab/]{0,4}", 0..6),
            denied in proptest::collection::vec("a,b\\)/[ab/]{0,4}", 0..6),
            keys in proptest::collection::vec("a,b\\)/[ab/]{0,6}", 1..20),
        ) {
            let prefixes = Prefixes::new(&allowed, &denied).unwrap();
            let rules: Vec<_> = allowed.iter().map(|text| (text.clone(), Ruling::Allowed))
                .chain(denied.iter().map(|text| (text.clone(), Ruling::Denied)))
                .collect();
            for key in keys {
                prop_assert_eq!(prefixes.ruling(&key), naive(&rules, &key), "{}", key);
            }
        }
    }
}
