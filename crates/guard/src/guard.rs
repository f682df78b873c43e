//! The decision about one address, or about one name that a proxy is asked for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{Cidr, NamePattern, local, special};

/// Decides about addresses: public ones, and what the operator opened by name.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    allowed: Vec<Cidr>,
    names: Vec<NamePattern>,
}

impl AddressGuard {
    /// Public addresses, and these ranges.
    pub fn allowing(allowed: Vec<Cidr>) -> AddressGuard {
        AddressGuard { allowed, names: Vec::new() }
    }

    /// A proxy may be asked for these names too, local ones though they are.
    pub fn with_names(self, names: Vec<NamePattern>) -> AddressGuard {
        AddressGuard { names, ..self }
    }

    /// Whether a connection may be made to this address.
    pub fn permits(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(address)) || special::is_public(address)
    }

    /// Whether a proxy may be asked to find this name. Names of this machine count as its loopback addresses.
    pub fn permits_name(&self, name: &str) -> bool {
        let loopback = || [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        !local::is_local(name)
            || self.names.iter().any(|pattern| pattern.matches(name))
            || local::is_this_machine(name) && loopback().into_iter().any(|address| self.permits(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_can_open_ranges() {
        let guard =
            AddressGuard::allowing(vec!["127.64.0.0/10".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        assert!(guard.permits("127.100.1.1".parse().unwrap()));
        assert!(!guard.permits("127.0.0.1".parse().unwrap()));
        assert!(guard.permits("fd12::1".parse().unwrap()));
        assert!(!guard.permits("fc12::1".parse().unwrap()));
    }

    #[test]
    fn local_names_are_no_matter_for_a_proxy_unless_the_operator_says_so() {
        let guard = AddressGuard::default();
        for local in ["localhost", "a.localhost", "printer.local", "metadata.google.internal", "intranet"] {
            assert!(!guard.permits_name(local), "{local}");
        }
        assert!(guard.permits_name("www.example.com"));
        let loopback = AddressGuard::allowing(vec!["127.0.0.0/8".parse().unwrap()]);
        assert!(loopback.permits_name("localhost") && loopback.permits_name("a.localhost"));
        assert!(!loopback.permits_name("intranet"));
        let named = guard.with_names(vec!["intranet".parse().unwrap(), ".corp.internal".parse().unwrap()]);
        assert!(named.permits_name("intranet") && named.permits_name("wiki.corp.internal"));
        assert!(!named.permits_name("metadata.google.internal") && !named.permits_name("localhost"));
    }
}
