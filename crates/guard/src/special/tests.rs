use super::*;

/// First and last address of a range, the one before it and the one behind it, and whether those two are public.
type Edges = (&'static str, &'static str, (&'static str, bool), (&'static str, bool));

const EDGES_V4: [Edges; 21] = [
    ("0.0.0.0", "0.255.255.255", ("255.255.255.255", false), ("1.0.0.0", true)),
    ("10.0.0.0", "10.255.255.255", ("9.255.255.255", true), ("11.0.0.0", true)),
    ("100.64.0.0", "100.127.255.255", ("100.63.255.255", true), ("100.128.0.0", true)),
    ("100.100.100.200", "100.100.100.200", ("100.100.100.199", false), ("100.100.100.201", false)),
    ("127.0.0.0", "127.255.255.255", ("126.255.255.255", true), ("128.0.0.0", true)),
    ("168.63.129.16", "168.63.129.16", ("168.63.129.15", true), ("168.63.129.17", true)),
    ("169.254.0.0", "169.254.255.255", ("169.253.255.255", true), ("169.255.0.0", true)),
    ("169.254.0.23", "169.254.0.23", ("169.254.0.22", false), ("169.254.0.24", false)),
    ("169.254.169.254", "169.254.169.254", ("169.254.169.253", false), ("169.254.169.255", false)),
    ("169.254.170.2", "169.254.170.2", ("169.254.170.1", false), ("169.254.170.3", false)),
    ("172.16.0.0", "172.31.255.255", ("172.15.255.255", true), ("172.32.0.0", true)),
    ("192.0.0.0", "192.0.0.255", ("191.255.255.255", true), ("192.0.1.0", true)),
    ("192.0.0.192", "192.0.0.192", ("192.0.0.191", false), ("192.0.0.193", false)),
    ("192.0.2.0", "192.0.2.255", ("192.0.1.255", true), ("192.0.3.0", true)),
    ("192.88.99.0", "192.88.99.255", ("192.88.98.255", true), ("192.88.100.0", true)),
    ("192.168.0.0", "192.168.255.255", ("192.167.255.255", true), ("192.169.0.0", true)),
    ("198.18.0.0", "198.19.255.255", ("198.17.255.255", true), ("198.20.0.0", true)),
    ("198.51.100.0", "198.51.100.255", ("198.51.99.255", true), ("198.51.101.0", true)),
    ("203.0.113.0", "203.0.113.255", ("203.0.112.255", true), ("203.0.114.0", true)),
    ("224.0.0.0", "239.255.255.255", ("223.255.255.255", true), ("240.0.0.0", false)),
    ("240.0.0.0", "255.255.255.255", ("239.255.255.255", false), ("0.0.0.0", false)),
];

/// Outside of 2000::/3 nothing is public, so what lies beside such ranges is not either.
const EDGES_V6: [Edges; 23] = [
    ("::", "::ffff:ffff", ("ffff::ffff", false), ("::1:0:0", false)),
    ("::ffff:0:0:0", "::ffff:0:ffff:ffff", ("::fffe:ffff:ffff:ffff", false), ("::ffff:1:0:0", false)),
    (
        "64:ff9b:1::",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        ("64:ff9b:0:ffff::", false),
        ("64:ff9b:2::", false),
    ),
    ("100::", "100::ffff:ffff:ffff:ffff", ("ff:ffff::", false), ("100:0:0:1::", false)),
    (
        "100:0:0:1::",
        "100:0:0:1:ffff:ffff:ffff:ffff",
        ("100::ffff:ffff:ffff:ffff", false),
        ("100:0:0:2::", false),
    ),
    (
        "2001:1::",
        "2001:1:ffff:ffff:ffff:ffff:ffff:ffff",
        ("2001:0:808:808::f7f7:f7f7", true),
        ("2001:2::", false),
    ),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", ("2001:1:ffff::", false), ("2001:2:1::", false)),
    ("2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", ("2001:2:ffff::", false), ("2001:4::", false)),
    ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", ("2001:4:111::", false), ("2001:4:113::", false)),
    ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", ("2001:f:ffff::", false), ("2001:20::", false)),
    ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", ("2001:1f:ffff::", false), ("2001:30::", false)),
    ("2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", ("2001:2f:ffff::", false), ("2001:40::", false)),
    (
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", true),
        ("2001:db9::", true),
    ),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", ("3ffe:ffff::", true), ("3fff:1000::", true)),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ("5eff:ffff::", false), ("5f01::", false)),
    ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ("fbff:ffff::", false), ("fe00::", false)),
    ("fd00:42::42", "fd00:42::42", ("fd00:42::41", false), ("fd00:42::43", false)),
    ("fd00:ec2::254", "fd00:ec2::254", ("fd00:ec2::253", false), ("fd00:ec2::255", false)),
    ("fd20:ce::254", "fd20:ce::254", ("fd20:ce::253", false), ("fd20:ce::255", false)),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ("fe7f:ffff::", false), ("fec0::", false)),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ("febf:ffff::", false), ("ff00::", false)),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ("feff:ffff::", false), ("::", false)),
    (
        "2001::",
        "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        ("2001:200::", true),
    ),
];

fn passes(text: &str) -> bool {
    is_public(text.parse().unwrap_or_else(|_| panic!("{text}")))
}

/// The last address of a range.
fn last(range: &Cidr) -> IpAddr {
    match range.network {
        IpAddr::V4(v4) => {
            Ipv4Addr::from_bits(v4.to_bits() | u32::MAX.checked_shr(range.prefix.into()).unwrap_or(0)).into()
        }
        IpAddr::V6(v6) => {
            Ipv6Addr::from_bits(v6.to_bits() | u128::MAX.checked_shr(range.prefix.into()).unwrap_or(0)).into()
        }
    }
}

#[test]
fn every_range_has_its_edges() {
    let ranges = SPECIAL_V4.iter().chain(&SPECIAL_V6);
    for ((range, who), (first, end, before, behind)) in ranges.zip(EDGES_V4.iter().chain(&EDGES_V6)) {
        assert_eq!(range.network, first.parse::<IpAddr>().unwrap(), "{who}");
        assert_eq!(last(range), end.parse::<IpAddr>().unwrap(), "{who}");
        assert!(!passes(first) && !passes(end), "{range}, {who}");
        for (beside, public) in [before, behind] {
            assert_eq!(passes(beside), *public, "{beside}, beside {range}, {who}");
        }
    }
}

#[test]
fn public_addresses_pass() {
    for public in [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.216.34",
        "100.128.0.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "223.255.255.255",
        "2600::1",
        "2606:4700::1111",
        "2a00:1450:4001:800::200e",
        "3ffe::1",
        "2620:4f:8000::1",
    ] {
        assert!(passes(public), "{public}");
    }
    // IANA has given out nothing there.
    for unassigned in ["1::", "1fff:ffff::", "4000::", "5eff::", "fbff::", "fe00::"] {
        assert!(!passes(unassigned), "{unassigned}");
    }
}

/// Every way to write an IPv4 address inside of an IPv6 address; whether it can be reached at all.
fn forms(address: Ipv4Addr) -> Vec<(Ipv6Addr, bool)> {
    let v4 = u128::from(address.to_bits());
    let at = |network: &str, shift: u32, bits: u128| {
        Ipv6Addr::from_bits(network.parse::<Ipv6Addr>().unwrap().to_bits() | bits << shift)
    };
    vec![
        (at("::", 0, v4), false),
        (at("::ffff:0:0", 0, v4), true),
        (at("::ffff:0:0:0", 0, v4), false),
        (at("64:ff9b::", 0, v4), true),
        (at("64:ff9b:1::", 0, v4), false),
        (at("2002::", 80, v4), true),
        (at("2002:808:808::5efe:0:0", 0, v4), true),
        // A Teredo server, and a client behind a public one: its bits are inverted.
        (at("2001::f7f7:f7f7", 64, v4), true),
        (at("2001:0:808:808::", 0, !v4 & 0xffff_ffff), true),
        (at("2600:1:2:3:0:5efe::", 0, v4), true),
        (at("2600:1:2:3:200:5efe::", 0, v4), true),
        (at("fe80::5efe:0:0", 0, v4), false),
    ]
}

#[test]
fn the_address_inside_counts_in_every_form() {
    for (first, end, ..) in EDGES_V4 {
        for inside in [first, end] {
            for (form, _) in forms(inside.parse().unwrap()) {
                assert!(!is_public(form.into()), "{form}, which is {inside}");
            }
        }
    }
    for (form, reachable) in forms(Ipv4Addr::new(8, 8, 8, 8)) {
        assert_eq!(is_public(form.into()), reachable, "{form}");
    }
}
