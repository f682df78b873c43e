//! Ranges of addresses, merged and sorted: one binary search, however many there are.
//!
//! IPv4 addresses are kept in their place among IPv6 ones (`::ffff:0:0/96`). An IPv6 address that only carries an IPv4 one, by
//! NAT64 or 6to4, is in a range if that one is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::scope::RuleError;

/// First and last address of a range.
pub(super) type Range = (u128, u128);

/// Addresses that lie in at least one of the ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Sorted; they neither overlap nor touch.
    merged: Vec<Range>,
}

impl Ranges {
    /// Takes ranges in order.
    pub(super) fn new(sorted: impl IntoIterator<Item = Range>) -> Ranges {
        let mut merged: Vec<Range> = Vec::new();
        for (first, last) in sorted {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Ranges { merged }
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        if self.merged.is_empty() {
            return false;
        }
        let bits = number(address);
        self.holds(bits)
            || carried(Ipv6Addr::from_bits(bits)).is_some_and(|inner| self.holds(number(inner.into())))
    }

    fn holds(&self, bits: u128) -> bool {
        let after = self.merged.partition_point(|(first, _)| *first <= bits);
        after > 0 && self.merged[after - 1].1 >= bits
    }
}

/// Reads `192.0.2.0/24`, `2001:db8::/32` or a single address.
pub(super) fn parse(text: &str) -> Result<Range, RuleError> {
    let bad = || RuleError::Range { text: text.to_owned() };
    let (network, length) = text.split_once('/').map_or((text, None), |(net, length)| (net, Some(length)));
    let network: IpAddr = network.trim_matches(['[', ']']).parse().map_err(|_| bad())?;
    let longest: u32 = if network.is_ipv4() { 32 } else { 128 };
    let length: u32 = length.map_or(Ok(longest), str::parse).map_err(|_| bad())?;
    let free = longest.checked_sub(length).ok_or_else(bad)?;
    let below = 1u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    let first = number(network) & !below;
    Ok((first, first | below))
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// The IPv4 address inside an address of NAT64 or 6to4.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, _, _, _, g, h] = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match (a, b) {
        (0x64, 0xff9b) => Some(join(g, h)),
        (0x2002, _) => Some(join(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_read_and_asked() {
        let texts = ["192.0.2.0/24", "192.0.3.0/24", "10.1.2.3", "2001:db8::/32", "192.0.2.128/25"];
        let mut parsed: Vec<Range> = texts.iter().map(|text| parse(text).unwrap()).collect();
        parsed.sort_unstable();
        let ranges = Ranges::new(parsed);
        assert_eq!(ranges.merged.len(), 3);
        for (address, inside) in [
            ("192.0.2.0", true),
            ("192.0.3.255", true),
            ("192.0.4.0", false),
            ("10.1.2.3", true),
            ("10.1.2.4", false),
            ("::ffff:10.1.2.3", true),
            ("64:ff9b::10.1.2.3", true),
            ("2002:0a01:0203::1", true),
            ("2001:db8:ffff::1", true),
            ("2001:db9::", false),
        ] {
            assert_eq!(ranges.contains(address.parse().unwrap()), inside, "{address}");
        }
        assert!(Ranges::new([parse("::/0").unwrap()]).contains("8.8.8.8".parse().unwrap()));
        assert!(!Ranges::new([parse("0.0.0.0/0").unwrap()]).contains("2600::1".parse().unwrap()));
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "a.com"] {
            assert_eq!(parse(text), Err(RuleError::Range { text: text.into() }), "{text}");
        }
    }

    proptest! {
        #[test]
        fn merging_changes_nothing(
            given in proptest::collection::vec((0u8..64, 26u32..=32), 0..12),
            asked in 0u8..80,
        ) {
            let texts: Vec<String> = given.iter().map(|(last, length)| format!("10.0.0.{last}/{length}")).collect();
            let mut parsed: Vec<Range> = texts.iter().map(|text| parse(text).unwrap()).collect();
            let address = IpAddr::from([10, 0, 0, asked]);
            let naive = parsed.iter().any(|(first, last)| (*first..=*last).contains(&number(address)));
            parsed.sort_unstable();
            prop_assert_eq!(Ranges::new(parsed).contains(address), naive);
        }
    }
}
