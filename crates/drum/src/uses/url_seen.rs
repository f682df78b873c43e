//! `URLseen`: each URL passes once.

use super::{Drum, cover};
use crate::{Deliver, Result};

/// Filled with every link in scope; lets out the first link to each URL, in order of arrival.
pub struct UrlSeen {
    drum: Drum<()>,
}

cover!(UrlSeen, ());

impl UrlSeen {
    const DELIVER: Deliver = Deliver::Unique;

    /// Submits links: fingerprints of URLs, and the bytes of each link, which come back if its URL is new.
    pub fn submit_links<'a>(&mut self, fingerprints: &[u64], link: impl Fn(usize) -> &'a [u8]) -> Result<()> {
        self.drum.check_update_all(fingerprints, &(), link)
    }

    /// Hands out up to `limit` links to new URLs; how many there were.
    pub fn new_links(&mut self, limit: usize, mut sink: impl FnMut(&[u8])) -> Result<usize> {
        self.drum.deliver(limit, |outcome| sink(outcome.aux))
    }

    /// The same, without waiting for the disk: fewer than `limit` may also mean that the next ones are being read.
    pub fn new_links_ready(&mut self, limit: usize, mut sink: impl FnMut(&[u8])) -> Result<usize> {
        self.drum.deliver_ready(limit, |outcome| sink(outcome.aux))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{key, simulate};
    use super::*;
    use crate::Options;
    use std::path::Path;

    #[test]
    fn each_url_passes_once_also_after_a_restart() {
        simulate(|env| {
            let links: Vec<String> =
                (0..3000).map(|number| format!("https://example.com/{}", number % 1000)).collect();
            let keys: Vec<u64> = (0..3000).map(|number| key(number % 1000)).collect();
            let mut out = Vec::new();
            for _life in 0..2 {
                let mut seen = UrlSeen::open(env, Path::new("/seen"), Options::new(16 << 20)).unwrap();
                seen.submit_links(&keys, |index| links[index].as_bytes()).unwrap();
                seen.new_links(usize::MAX, |link| out.push(String::from_utf8(link.to_vec()).unwrap()))
                    .unwrap();
                assert_eq!(out, links[..1000]);
                seen.checkpoint().unwrap();
            }
        });
    }
}
