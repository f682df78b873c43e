//! Whether a domain may have more of its URLs fetched now.
//!
//! The plain frontier has one budget, `unlimited`: whoever crawls a few chosen sites wants all of them. Requests pass in
//! the order in which they came, and are numbered here.

use crate::{Link, Request};

/// The stage between `seen` and `robots`.
#[derive(Debug, Default)]
pub struct Budget {
    number_next: u64,
}

impl Budget {
    /// Turns links into requests.
    pub fn admit(&mut self, link: Link) -> Request {
        let number = self.number_next;
        self.number_next += 1;
        let Link { url, depth, redirects, target } = link;
        Request { url, depth, redirects, target, attempt: 0, number }
    }
}
