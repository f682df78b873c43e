//! robots.txt files in the archive, which no ledger lists.

use std::collections::{BTreeSet, VecDeque};

use mattock_weburl::WebUrl;

use super::archive::head_bytes;

/// Knows which responses are robots.txt files: those by that name, and where they redirect to.
#[derive(Default)]
pub(super) struct Robots {
    expected: BTreeSet<String>,
    /// The same in order of arrival.
    order: VecDeque<String>,
}

impl Robots {
    /// Redirects that are remembered.
    const MAX: usize = 1 << 14;

    /// Whether a response is one.
    pub(super) fn takes(&mut self, url: &str, block: &[u8]) -> bool {
        let Ok(parsed) = WebUrl::parse(url) else { return false };
        if parsed.path_and_query() != "/robots.txt" && !self.expected.contains(url) {
            return false;
        }
        for line in block[..head_bytes(block)].split(|byte| *byte == b'\n') {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            if !line[..colon].trim_ascii().eq_ignore_ascii_case(b"location") {
                continue;
            }
            let location = std::str::from_utf8(line[colon + 1..].trim_ascii()).ok();
            if let Some(target) = location.and_then(|location| parsed.join(location).ok()) {
                self.expect(target.as_str());
            }
        }
        true
    }

    fn expect(&mut self, url: &str) {
        if !self.expected.insert(url.to_owned()) {
            return;
        }
        self.order.push_back(url.to_owned());
        if self.order.len() > Robots::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.expected.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_may_move() {
        let mut robots = Robots::default();
        assert!(!robots.takes("http://a.com/rules.txt", b"HTTP/1.1 200 OK\r\n\r\n"));
        assert!(robots.takes("http://a.com/robots.txt", b"HTTP/1.1 301 X\r\nlocation: /rules.txt\r\n\r\n"));
        assert!(robots.takes("http://a.com/rules.txt", b"HTTP/1.1 200 OK\r\n\r\n"));
        assert!(!robots.takes("http://a.com/robots.txt?x", b"HTTP/1.1 200 OK\r\n\r\n"));
    }
}
