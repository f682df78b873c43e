//! Which name servers are asked.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use mattock_env::Files;

/// Servers beyond these are not asked: each costs its time limit when names fail.
const SERVERS_MAX: usize = 3;

/// Where to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServers(pub Vec<SocketAddr>);

impl NameServers {
    /// Those of the machine (`/etc/resolv.conf`, the first three), or the local one if there are none.
    pub fn of_system(files: &Files) -> NameServers {
        let text = files.read(Path::new("/etc/resolv.conf")).unwrap_or_default();
        NameServers::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> NameServers {
        let servers: Vec<SocketAddr> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("nameserver"))
            .filter_map(|address| address.trim().parse::<IpAddr>().ok())
            .map(|address| SocketAddr::new(address, 53))
            .take(SERVERS_MAX)
            .collect();
        if servers.is_empty() {
            return NameServers(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 53))]);
        }
        NameServers(servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_servers_are_read() {
        let parse = |text| NameServers::parse(text).0.iter().map(SocketAddr::to_string).collect::<Vec<_>>();
        let text = "# us\nsearch example.org\nnameserver 9.9.9.9\n nameserver ::1\nnameserver nonsense\n";
        assert_eq!(parse(text), ["9.9.9.9:53", "[::1]:53"]);
        assert_eq!(parse(""), ["127.0.0.1:53"]);
        assert_eq!(parse(&"nameserver 1.1.1.1\n".repeat(9)).len(), SERVERS_MAX);
    }
}
