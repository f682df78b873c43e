//! What is no public address: IANA's special-purpose registries of both families as one table, and the addresses of cloud providers.
//!
//! <https://www.iana.org/assignments/iana-ipv4-special-registry>, <https://www.iana.org/assignments/iana-ipv6-special-registry>.
//!
//! - Ranges that the registries call globally reachable, such as those of AS112, are let pass for IPv4. Of 2001::/23 nothing is but Teredo:
//!   no Web server has an address there.
//! - In IPv6 only what IANA gives out, 2000::/3, is public at all, so that most of the table says a second time why. It is looked at in any
//!   case: what is given out may grow.
//! - A transition format ([`embedded`]) leads to the IPv4 address inside, hence that one must be public too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Cidr;

/// A range, and who may be found there instead of a public server.
type Special = (Cidr, &'static str);

const fn v4(octets: [u8; 4], prefix: u8) -> Cidr {
    let [a, b, c, d] = octets;
    Cidr { network: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
}

/// The first four groups and the last four.
const fn v6(first: [u16; 4], last: [u16; 4], prefix: u8) -> Cidr {
    let ([a, b, c, d], [e, f, g, h]) = (first, last);
    Cidr { network: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
}

const NONE: [u16; 4] = [0; 4];

pub(crate) const SPECIAL_V4: [Special; 21] = [
    (v4([0, 0, 0, 0], 8), "this network"),
    (v4([10, 0, 0, 0], 8), "private use"),
    (v4([100, 64, 0, 0], 10), "shared by carriers"),
    (v4([100, 100, 100, 200], 32), "metadata of Alibaba Cloud"),
    (v4([127, 0, 0, 0], 8), "loopback"),
    (v4([168, 63, 129, 16], 32), "platform of Azure"),
    (v4([169, 254, 0, 0], 16), "link-local"),
    (v4([169, 254, 0, 23], 32), "metadata of Tencent Cloud"),
    (v4([169, 254, 169, 254], 32), "metadata of AWS, Azure, Google Cloud and most others"),
    (v4([169, 254, 170, 2], 32), "credentials of containers at AWS"),
    (v4([172, 16, 0, 0], 12), "private use"),
    (v4([192, 0, 0, 0], 24), "protocol assignments"),
    (v4([192, 0, 0, 192], 32), "metadata of Oracle Cloud"),
    (v4([192, 0, 2, 0], 24), "documentation"),
    (v4([192, 88, 99, 0], 24), "6to4 relays, which are no more"),
    (v4([192, 168, 0, 0], 16), "private use"),
    (v4([198, 18, 0, 0], 15), "benchmarks"),
    (v4([198, 51, 100, 0], 24), "documentation"),
    (v4([203, 0, 113, 0], 24), "documentation"),
    (v4([224, 0, 0, 0], 4), "multicast"),
    (v4([240, 0, 0, 0], 4), "reserved, and broadcast"),
];

pub(crate) const SPECIAL_V6: [Special; 23] = [
    (v6(NONE, NONE, 96), "unspecified, loopback, and IPv4-compatible"),
    (v6(NONE, [0xffff, 0, 0, 0], 96), "IPv4-translated"),
    (v6([0x64, 0xff9b, 1, 0], NONE, 48), "NAT64 of a network's own"),
    (v6([0x100, 0, 0, 0], NONE, 64), "discarded"),
    (v6([0x100, 0, 0, 1], NONE, 64), "dummy prefix"),
    (v6([0x2001, 1, 0, 0], NONE, 32), "anycast of protocols"),
    (v6([0x2001, 2, 0, 0], NONE, 48), "benchmarks"),
    (v6([0x2001, 3, 0, 0], NONE, 32), "multicast tunnels"),
    (v6([0x2001, 4, 0x112, 0], NONE, 48), "AS112"),
    (v6([0x2001, 0x10, 0, 0], NONE, 28), "ORCHID"),
    (v6([0x2001, 0x20, 0, 0], NONE, 28), "ORCHIDv2"),
    (v6([0x2001, 0x30, 0, 0], NONE, 28), "identifiers of drones"),
    (v6([0x2001, 0xdb8, 0, 0], NONE, 32), "documentation"),
    (v6([0x3fff, 0, 0, 0], NONE, 20), "documentation"),
    (v6([0x5f00, 0, 0, 0], NONE, 16), "segment routing"),
    (v6([0xfc00, 0, 0, 0], NONE, 7), "private use (unique local)"),
    (v6([0xfd00, 0x42, 0, 0], [0, 0, 0, 0x42], 128), "metadata of Scaleway"),
    (v6([0xfd00, 0xec2, 0, 0], [0, 0, 0, 0x254], 128), "metadata of AWS"),
    (v6([0xfd20, 0xce, 0, 0], [0, 0, 0, 0x254], 128), "metadata of Google Cloud"),
    (v6([0xfe80, 0, 0, 0], NONE, 10), "link-local"),
    (v6([0xfec0, 0, 0, 0], NONE, 10), "site-local, which is no more"),
    (v6([0xff00, 0, 0, 0], NONE, 8), "multicast"),
    (PROTOCOLS, "protocol assignments"),
];

/// What IANA gives out as global unicast.
const GLOBAL: Cidr = v6([0x2000, 0, 0, 0], NONE, 3);
/// Protocol assignments, of which only Teredo can lead to a server.
const PROTOCOLS: Cidr = v6([0x2001, 0, 0, 0], NONE, 23);
const TEREDO: Cidr = v6([0x2001, 0, 0, 0], NONE, 32);
const SIX_TO_FOUR: Cidr = v6([0x2002, 0, 0, 0], NONE, 16);
const NAT64: Cidr = v6([0x64, 0xff9b, 0, 0], NONE, 96);
const MAPPED: Cidr = v6(NONE, [0, 0xffff, 0, 0], 96);

/// Whether an address is public, and so is every IPv4 address that it carries.
pub(crate) fn is_public(address: IpAddr) -> bool {
    let v4 = match address {
        IpAddr::V4(v4) => return is_public_v4(v4),
        IpAddr::V6(v6) => embedded(v6),
    };
    let is_in = |range: &Cidr| range.contains(address);
    let special = SPECIAL_V6.iter().any(|(range, _)| is_in(range)) && !is_in(&TEREDO);
    !special && [GLOBAL, NAT64, MAPPED].iter().any(is_in) && v4.into_iter().flatten().all(is_public_v4)
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(range, _)| range.contains(address.into()))
}

/// The IPv4 addresses that an IPv6 address carries inside: by its prefix (mapped, NAT64, 6to4; Teredo has two, its server and, inverted, its
/// client), and by its second half (ISATAP, RFC 5214 6.1, in any network).
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 3] {
    let [_, b, c, d, e, f, g, h] = address.segments();
    let join = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    let isatap = (matches!(e, 0 | 0x200) && f == 0x5efe).then(|| join(g, h)).flatten();
    let is_in = |range: Cidr| range.contains(address.into());
    match () {
        () if is_in(MAPPED) || is_in(NAT64) => [join(g, h), None, None],
        () if is_in(SIX_TO_FOUR) => [join(b, c), isatap, None],
        () if is_in(TEREDO) => [join(c, d), join(!g, !h), isatap],
        () => [isatap, None, None],
    }
}

#[cfg(test)]
mod tests;
