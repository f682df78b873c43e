//! Ranges of addresses, as operators write them and as the table of special ones has them.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses, `10.0.0.0/8` or `fc00::/7`; a bare address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    pub(crate) network: IpAddr,
    pub(crate) prefix: u8,
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

#[cfg(test)]
mod tests {
    use super::*;

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
