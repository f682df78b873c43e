//! What `mattock bench path` says: CPU µs per page and their ratios, under names that scripts rely on.

use std::fmt;

use serde::Serialize;

/// What was measured: CPU µs per page, medians of rounds taken in turns, and their ratios.
#[derive(Clone, Debug, Serialize)]
pub struct PathReport {
    /// Ours over the floor, connections kept alive.
    pub ratio_to_floor_http_keepalive: f64,
    /// Ours over the floor, a new connection for each page.
    pub ratio_to_floor_http_new: f64,
    /// Ours over the floor over HTTPS, a new connection and a full handshake for each page.
    pub ratio_to_floor_https: f64,
    /// Ours over the floor over HTTPS, connections kept alive.
    pub ratio_to_floor_https_keepalive: f64,
    /// What TLS adds to our page on a new connection, over what rustls adds to the floor's.
    pub tls_ratio_to_rustls: f64,
    /// CPU µs per page.
    pub http_keepalive_us: f64,
    /// CPU µs per page.
    pub floor_http_keepalive_us: f64,
    /// CPU µs per page.
    pub http_new_us: f64,
    /// CPU µs per page.
    pub floor_http_new_us: f64,
    /// CPU µs per page.
    pub https_keepalive_us: f64,
    /// CPU µs per page.
    pub floor_https_keepalive_us: f64,
    /// CPU µs per page, each with a full handshake.
    pub https_new_us: f64,
    /// CPU µs per page, each with a full handshake.
    pub floor_https_new_us: f64,
    /// Handshakes apart.
    pub tls: Tls,
    /// The parts of ours with connections kept alive, CPU µs per page: what is done with a page once it is there.
    pub parts: Parts,
    /// Pages per round.
    pub pages: usize,
}

/// What handshakes cost.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Tls {
    /// What our page costs more over HTTPS than over HTTP, on a new connection with a full handshake.
    pub added_us: f64,
    /// The same of the floor, which calls rustls with nothing in between.
    pub rustls_added_us: f64,
    /// What the client's part of a full handshake costs rustls in memory: no socket, no system call, no page.
    pub rustls_handshake_us: f64,
    /// CPU µs per page of ours on a new connection, where the server lets sessions be resumed.
    pub https_resumed_us: f64,
    /// The share of those pages whose session was resumed: 0 if the client did not resume.
    pub resumed_share: f64,
}

/// CPU µs per page of the single steps, measured over the same pages in memory.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Parts {
    /// Finding the links.
    pub extract_us: f64,
    /// Joining them with the base and fingerprinting them.
    pub links_us: f64,
    /// Digests, compression and writing.
    pub archive_us: f64,
}

/// One kind of connection: CPU µs per page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) ours: f64,
    pub(super) floor: f64,
}

impl Pair {
    fn ratio(self) -> f64 {
        self.ours / self.floor
    }
}

impl PathReport {
    /// The kinds in this order: HTTP kept alive and new, HTTPS kept alive and new.
    pub(super) fn new(kinds: [Pair; 4], tls: Tls, parts: Parts, pages: usize) -> PathReport {
        let [http_keepalive, http_new, https_keepalive, https_new] = kinds;
        PathReport {
            ratio_to_floor_http_keepalive: http_keepalive.ratio(),
            ratio_to_floor_http_new: http_new.ratio(),
            ratio_to_floor_https: https_new.ratio(),
            ratio_to_floor_https_keepalive: https_keepalive.ratio(),
            tls_ratio_to_rustls: tls.added_us / tls.rustls_added_us,
            http_keepalive_us: http_keepalive.ours,
            floor_http_keepalive_us: http_keepalive.floor,
            http_new_us: http_new.ours,
            floor_http_new_us: http_new.floor,
            https_keepalive_us: https_keepalive.ours,
            floor_https_keepalive_us: https_keepalive.floor,
            https_new_us: https_new.ours,
            floor_https_new_us: https_new.floor,
            tls,
            parts,
            pages,
        }
    }
}

impl fmt::Display for PathReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "CPU µs per page            ours    floor    ratio")?;
        for (name, ours, floor) in [
            ("HTTP, kept alive", self.http_keepalive_us, self.floor_http_keepalive_us),
            ("HTTP, new connection", self.http_new_us, self.floor_http_new_us),
            ("HTTPS, kept alive", self.https_keepalive_us, self.floor_https_keepalive_us),
            ("HTTPS, full handshake", self.https_new_us, self.floor_https_new_us),
            ("what TLS adds", self.tls.added_us, self.tls.rustls_added_us),
        ] {
            writeln!(out, "{name:<23} {ours:>7.1} {floor:>8.1} {:>8.2}", ours / floor)?;
        }
        let Tls { rustls_handshake_us, https_resumed_us, resumed_share, .. } = self.tls;
        writeln!(out, "handshake in memory             {rustls_handshake_us:>9.1}")?;
        writeln!(
            out,
            "HTTPS, resumed          {https_resumed_us:>7.1}  ({:.0} % were)",
            resumed_share * 100.0
        )?;
        let Parts { extract_us, links_us, archive_us } = self.parts;
        write!(out, "of ours: extract {extract_us:.1}, links {links_us:.1}, archive {archive_us:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ratios() {
        let pair = |ours, floor| Pair { ours, floor };
        let tls = Tls { added_us: 220.0, rustls_added_us: 200.0, ..Tls::default() };
        let kinds = [pair(15.0, 10.0), pair(24.0, 20.0), pair(30.0, 25.0), pair(244.0, 200.0)];
        let report = PathReport::new(kinds, tls, Parts::default(), 100);
        let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}");
        close(report.ratio_to_floor_http_keepalive, 1.5);
        close(report.ratio_to_floor_http_new, 1.2);
        close(report.ratio_to_floor_https_keepalive, 1.2);
        close(report.ratio_to_floor_https, 1.22);
        close(report.tls_ratio_to_rustls, 1.1);
        assert!(report.to_string().contains("HTTPS, full handshake"), "{report}");
    }
}
