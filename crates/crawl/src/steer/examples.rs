//! The last few URLs of every kind of failure, for whoever wonders what stands behind a number.
//!
//! Filled by the partitions when a URL is given up, under one lock: failures only, so that what works costs nothing. Bounded: so many
//! kinds, and so many of each.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// Of each kind.
const EACH_MAX: usize = 20;
/// Kinds; servers choose among a thousand statuses.
const KINDS_MAX: usize = 128;
/// Longer ones are cut.
const URL_BYTES_MAX: usize = 2000;

/// A URL that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The URL.
    pub url: String,
    /// When it was given up: microseconds since 1970.
    pub unix_micros: i64,
    /// What is known besides: how often it was tried, how long it took.
    pub detail: String,
}

/// The last examples, by outcome.
#[derive(Debug, Default)]
pub struct Examples {
    kinds: Mutex<BTreeMap<String, VecDeque<Example>>>,
}

impl Examples {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<Example>>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, outcome: String, url: &str, unix_micros: i64, detail: String) {
        let mut kinds = self.lock();
        if kinds.len() >= KINDS_MAX && !kinds.contains_key(&outcome) {
            return;
        }
        let examples = kinds.entry(outcome).or_default();
        if examples.len() == EACH_MAX {
            examples.pop_front();
        }
        let url = url[..url.floor_char_boundary(URL_BYTES_MAX)].to_owned();
        examples.push_back(Example { url, unix_micros, detail });
    }

    /// Those of one outcome, latest first.
    pub fn of(&self, outcome: &str) -> Vec<Example> {
        self.lock().get(outcome).into_iter().flatten().rev().cloned().collect()
    }

    /// All, latest first.
    pub fn all(&self) -> BTreeMap<String, Vec<Example>> {
        let kinds = self.lock();
        kinds
            .iter()
            .map(|(name, examples)| (name.clone(), examples.iter().rev().cloned().collect()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_of_each_kind_stay() {
        let examples = Examples::default();
        for number in 0..100 {
            examples.add("404".into(), &format!("http://a.com/{number}"), number, String::new());
        }
        examples.add("refused".into(), &"x".repeat(3000), 1, "3 tries".into());
        let of: Vec<i64> = examples.of("404").iter().map(|example| example.unix_micros).collect();
        assert_eq!(of, (80..100).rev().collect::<Vec<_>>());
        assert_eq!(examples.of("refused")[0].url.len(), URL_BYTES_MAX);
        assert!(examples.of("500").is_empty());
        for status in 0..500 {
            examples.add(status.to_string(), "http://a.com/", 0, String::new());
        }
        assert_eq!(examples.all().len(), KINDS_MAX);
    }
}
