//! Which ports may be connected to.
//!
//! A URL can name any port, and a request sent to a mail server or a database is an attack that somebody else planned.
//! By default all ports are open but those that the Fetch standard forbids browsers ("bad ports") and those of well-known
//! databases and control interfaces that answer plain text.

/// The ports that the Fetch standard forbids.
const BROWSERS_REFUSE: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Databases, queues and control interfaces: Docker, etcd, MySQL, PostgreSQL, CouchDB, Redis, Cassandra, Elasticsearch,
/// the kubelet, Memcached, MongoDB and neighbours.
const SERVICES: [u16; 17] =
    [445, 1433, 1521, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5900, 6379, 9042, 9300, 10250, 11211, 27017];

/// Decides about ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ports {
    /// All but those of well-known services that are not the Web's.
    #[default]
    NoServices,
    /// These and no others.
    Only(Vec<u16>),
    /// All.
    Any,
}

impl Ports {
    /// Whether a connection may be made to this port.
    pub fn permit(&self, port: u16) -> bool {
        match self {
            Ports::NoServices => {
                BROWSERS_REFUSE.binary_search(&port).is_err() && SERVICES.binary_search(&port).is_err()
            }
            Ports::Only(ports) => ports.contains(&port),
            Ports::Any => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_refused_and_the_web_is_not() {
        assert!(BROWSERS_REFUSE.is_sorted() && SERVICES.is_sorted(), "they are searched by halves");
        let ports = Ports::default();
        for service in [0, 22, 25, 587, 3306, 6379, 6667, 10080, 11211, 27017] {
            assert!(!ports.permit(service), "{service}");
        }
        for web in [80, 443, 591, 3000, 5000, 8000, 8080, 8443, 9200, 32_768, 65_535] {
            assert!(ports.permit(web), "{web}");
        }
    }

    #[test]
    fn the_operator_can_open_or_close_them() {
        assert!(Ports::Any.permit(22));
        let only = Ports::Only(vec![80, 443]);
        assert!(only.permit(443) && !only.permit(8080));
    }
}
