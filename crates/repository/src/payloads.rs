//! Payloads that were written lately, by their digests: a page that brings one of them again becomes a revisit record.
//!
//! Filled and asked by the writer. Memory is bounded by a number of payloads: there are two generations, the younger one takes what is
//! new or found again, and when it has half of the number, it becomes the older one and the older one is forgotten. Some 130 bytes
//! and a URL each. Nothing of it is kept over a restart, so that a revisit never refers to what a crash has taken.

use std::collections::BTreeMap;

use mattock_env::UnixTime;

use crate::record::{Digest, RecordId, RefersTo};

/// The first record with a payload.
#[derive(Clone, Debug)]
struct Original {
    id: RecordId,
    url: Box<str>,
    date: UnixTime,
}

pub(crate) struct Payloads {
    count_max: usize,
    young: BTreeMap<Digest, Original>,
    old: BTreeMap<Digest, Original>,
}

impl Payloads {
    /// Remembers so many payloads; none with 0.
    pub(crate) fn new(count_max: usize) -> Payloads {
        Payloads { count_max, young: BTreeMap::new(), old: BTreeMap::new() }
    }

    /// The record that has this payload already.
    pub(crate) fn find(&mut self, digest: &Digest) -> Option<RefersTo<'_>> {
        if !self.young.contains_key(digest) {
            let original = self.old.remove(digest)?;
            self.insert(*digest, original);
        }
        self.young.get(digest).map(|original| RefersTo {
            id: Some(original.id),
            target_uri: &original.url,
            date: original.date,
        })
    }

    /// A record with a new payload was written.
    pub(crate) fn add(&mut self, digest: Digest, id: RecordId, url: &str, date: UnixTime) {
        if self.count_max > 0 {
            self.insert(digest, Original { id, url: url.into(), date });
        }
    }

    /// Records are lost, and nobody knows which.
    pub(crate) fn forget(&mut self) {
        (self.young, self.old) = (BTreeMap::new(), BTreeMap::new());
    }

    fn insert(&mut self, digest: Digest, original: Original) {
        if self.young.len() >= self.count_max.div_ceil(2) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, original);
    }
}

#[cfg(test)]
mod tests {
    use mattock_env::Random;

    use super::*;

    #[test]
    fn what_is_met_again_stays_and_the_rest_goes() {
        let mut random = Random::from_seed(1);
        let mut payloads = Payloads::new(10);
        let digest = |number: u32| Digest::of(&[&number.to_le_bytes()]);
        for number in 0..100 {
            let url = format!("http://example.org/{number}");
            payloads.add(digest(number), RecordId::new(&mut random), &url, UnixTime::default());
            assert!(
                payloads
                    .find(&digest(0))
                    .is_some_and(|original| original.target_uri == "http://example.org/0")
            );
            assert!(payloads.young.len() + payloads.old.len() <= 10);
        }
        assert!(payloads.find(&digest(99)).is_some() && payloads.find(&digest(50)).is_none());
        payloads.forget();
        assert!(payloads.find(&digest(99)).is_none());
    }

    #[test]
    fn none_are_none() {
        let mut payloads = Payloads::new(0);
        let digest = Digest::of(&[b"a"]);
        payloads.add(
            digest,
            RecordId::new(&mut Random::from_seed(1)),
            "http://example.org/",
            UnixTime::default(),
        );
        assert!(payloads.find(&digest).is_none());
    }
}
