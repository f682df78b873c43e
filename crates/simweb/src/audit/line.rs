//! One line of the log, read back.

use std::net::Ipv4Addr;

/// A request as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) nanos: u64,
    pub(super) server: Ipv4Addr,
    pub(super) host: &'a str,
    pub(super) path: &'a str,
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) is_head: bool,
    pub(super) is_robots: bool,
}

impl<'a> Line<'a> {
    /// Takes a line (without its end) apart; the error says what is wrong with it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Line<'a>, &'static str> {
        let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8")?;
        let mut columns = text.split('\t');
        let mut next = || columns.next().ok_or("fewer than 8 columns");
        let line = Line {
            nanos: next()?.parse().map_err(|_| "the time is not a number")?,
            server: next()?.parse().map_err(|_| "the server is not an IPv4 address")?,
            host: next()?,
            path: next()?,
            status: next()?.parse().map_err(|_| "the status is not a number")?,
            bytes: next()?.parse().map_err(|_| "the size is not a number")?,
            is_head: match next()? {
                "GET" => false,
                "HEAD" => true,
                _ => return Err("the method is neither GET nor HEAD"),
            },
            is_robots: match next()? {
                "page" => false,
                "robots" => true,
                _ => return Err("the kind is neither page nor robots"),
            },
        };
        if columns.next().is_some() {
            return Err("more than 8 columns");
        }
        if line.host.is_empty() || line.path.is_empty() {
            return Err("the host or the path is empty");
        }
        Ok(line)
    }

    /// Whether the request could be read at all, so that its host is known.
    pub(super) fn has_host(&self) -> bool {
        self.host != "-"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "17\t127.64.0.1\ta-sim.com\t/x?y\t200\t4096\tGET\tpage";

    #[test]
    fn a_line_is_taken_apart() {
        let line = Line::parse(GOOD.as_bytes()).unwrap();
        assert_eq!((line.nanos, line.server), (17, Ipv4Addr::new(127, 64, 0, 1)));
        assert_eq!((line.host, line.path, line.status, line.bytes), ("a-sim.com", "/x?y", 200, 4096));
        assert!(!line.is_head && !line.is_robots && line.has_host());
    }

    #[test]
    fn every_broken_column_is_named() {
        for (column, bad, problem) in [
            (0, "x", "the time is not a number"),
            (1, "::1", "the server is not an IPv4 address"),
            (2, "", "the host or the path is empty"),
            (4, "70000", "the status is not a number"),
            (5, "", "the size is not a number"),
            (6, "PUT", "the method is neither GET nor HEAD"),
            (7, "", "the kind is neither page nor robots"),
            (7, "page\t", "more than 8 columns"),
        ] {
            let mut columns: Vec<&str> = GOOD.split('\t').collect();
            columns[column] = bad;
            assert_eq!(Line::parse(columns.join("\t").as_bytes()), Err(problem));
        }
        assert_eq!(Line::parse(b"17\t127.64.0.1"), Err("fewer than 8 columns"));
        assert_eq!(Line::parse(b"\xff"), Err("not UTF-8"));
    }
}
