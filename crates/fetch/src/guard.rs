//! Which addresses may be connected to.
//!
//! On by default: nothing that is not a public unicast address, in whatever form it is written. Addresses that carry an
//! IPv4 address inside (mapped, NAT64, 6to4, Teredo) are judged by that one too. The check is made on the address
//! that is then connected to, so a name that changes its mind between check and use gains nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of addresses, `10.0.0.0/8` or `fc00::/7`; a bare address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    network: IpAddr,
    prefix: u8,
}

/// Text that is not a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a range of addresses; write it like 127.0.0.0/8 or fd00::/8")]
pub struct CidrError(String);

impl Cidr {
    /// Whether the address lies in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Cidr, CidrError> {
        let bad = || CidrError(text.to_owned());
        let (network, prefix) = text.split_once('/').map_or((text, None), |(net, len)| (net, Some(len)));
        let network: IpAddr = network.parse().map_err(|_| bad())?;
        let longest = if network.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(longest), str::parse).map_err(|_| bad())?;
        if prefix > longest {
            return Err(bad());
        }
        Ok(Cidr { network, prefix })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.network, self.prefix)
    }
}

/// Decides about addresses: public ones, and what the operator opened by name.
#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    allowed: Vec<Cidr>,
}

impl AddressGuard {
    /// Public addresses, and these ranges.
    pub fn allowing(allowed: Vec<Cidr>) -> AddressGuard {
        AddressGuard { allowed }
    }

    /// Whether a connection may be made to this address.
    pub fn permits(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(address)) || is_public(address)
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6) && embedded_v4(v6).is_none_or(is_public_v4),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = a == 0                                  // "this network"
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()                        // cloud metadata lives here
        || (a == 100 && (64..128).contains(&b))           // shared by carriers
        || (a == 192 && b == 0 && c == 0)                 // protocol assignments
        || (a == 192 && b == 88 && c == 99)               // 6to4 relays
        || (a == 198 && (b == 18 || b == 19))             // benchmarks
        || address.is_documentation()
        || a >= 224; // multicast, reserved, broadcast
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let nat64 = a == 0x64 && b == 0xff9b;
    // Global unicast is 2000::/3; the rest is loopback, link-local, unique local, multicast or not assigned.
    let global = (a & 0xe000) == 0x2000;
    let documentation = (a == 0x2001 && b == 0xdb8) || (a == 0x3fff && b < 0x1000);
    (global && !documentation) || nat64 || address.to_ipv4_mapped().is_some()
}

/// The IPv4 address that an IPv6 address carries inside.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, _, _, _, g, h] = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match (a, b) {
        _ if address.to_ipv4_mapped().is_some() => address.to_ipv4_mapped(),
        (0x64, 0xff9b) => Some(join(g, h)),
        (0x2002, _) => Some(join(b, c)),
        (0x2001, 0) => Some(join(!g, !h)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_pass() {
        let guard = AddressGuard::default();
        let permits = |text: &str| guard.permits(text.parse().unwrap());
        for public in ["8.8.8.8", "100.128.0.1", "2600::1", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(permits(public), "{public}");
        }
        for special in [
            "0.0.0.0",
            "10.1.2.3",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.2.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::",
            "2001:0:0:0:0:0:80ff:fffe",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!permits(special), "{special}");
        }
    }

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
    fn ranges_are_parsed_or_refused_with_an_example() {
        assert_eq!("0.0.0.0/0".parse::<Cidr>().unwrap().to_string(), "0.0.0.0/0");
        assert!("0.0.0.0/0".parse::<Cidr>().unwrap().contains("9.9.9.9".parse().unwrap()));
        assert_eq!("::1".parse::<Cidr>().unwrap().to_string(), "::1/128");
        for bad in ["", "localhost", "1.2.3/8", "1.2.3.4/33", "::/129", "1.2.3.4/-1"] {
            assert!(bad.parse::<Cidr>().unwrap_err().to_string().contains("127.0.0.0/8"), "{bad}");
        }
    }
}
