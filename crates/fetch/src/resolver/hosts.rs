//! Names whose addresses the operator has written down: a file as `/etc/hosts` is one.
//!
//! Filled from the configuration, once; asked by the [`Resolver`](super::Resolver) before any cache or name server. A name that stands here has
//! these addresses and no others, whatever name servers say. The address guard judges them as it judges all others.
//!
//! A line has an address and names, `#` begins a comment, and what stands for one name in several lines is joined, in their order. Unlike
//! the system, which leaves out what it does not understand, a line that is none is an error: a crawl that means another host than the operator
//! is worse than one that does not begin. Addresses with a zone (`fe80::1%eth0`), which system files have, are left out.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use mattock_weburl::WebUrl;

use super::Families;

/// A file that is longer was not written by hand.
const BYTES_MAX: usize = 1 << 20;

/// Addresses by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(Arc<BTreeMap<Box<str>, Vec<IpAddr>>>);

/// What is wrong with a hosts file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsError {
    /// A line that is none.
    #[error("line {line}: {text:?} is not an address and names; write it like `192.0.2.7 www.example.com`")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its text, or the beginning of it.
        text: String,
    },
    /// It is too long.
    #[error("it has {0} bytes, and {BYTES_MAX} at most can be taken")]
    Long(usize),
}

impl Hosts {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Hosts, HostsError> {
        if text.len() > BYTES_MAX {
            return Err(HostsError::Long(text.len()));
        }
        let mut hosts: BTreeMap<Box<str>, Vec<IpAddr>> = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
            let Some(address) = words.next() else { continue };
            if address.contains('%') {
                continue;
            }
            let wrong =
                || HostsError::Line { line: number + 1, text: line.trim().chars().take(80).collect() };
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let mut names = words.peekable();
            names.peek().ok_or_else(wrong)?;
            for name in names {
                let addresses = hosts.entry(canonical(name).ok_or_else(wrong)?).or_default();
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        Ok(Hosts(Arc::new(hosts)))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The addresses of a name, those first that are preferred; `None` if it does not stand here, and none if it has none of these families.
    pub fn get(&self, name: &str, families: Families) -> Option<Rc<[IpAddr]>> {
        let known = self.0.get(name.trim_end_matches('.'))?;
        let of = |is_v4: bool| known.iter().copied().filter(move |address| address.is_ipv4() == is_v4);
        let first = of(matches!(families, Families::V4First | Families::V4Only));
        let found: Vec<IpAddr> = match families {
            Families::V4Only | Families::V6Only => first.collect(),
            Families::V4First => first.chain(of(false)).collect(),
            Families::V6First => first.chain(of(true)).collect(),
        };
        Some(found.into())
    }

    /// The names with their addresses, in order: the same for files that mean the same.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[IpAddr])> {
        self.0.iter().map(|(name, addresses)| (&**name, &**addresses))
    }
}

/// A name as URLs have it: in lower case, and names of other scripts in their ASCII form.
fn canonical(name: &str) -> Option<Box<str>> {
    let is_bare = !name.contains([':', '/', '?', '@', '\\']);
    let url = WebUrl::parse(&format!("http://{name}/")).ok().filter(|url| is_bare && url.ip().is_none())?;
    Some(url.host_name().trim_end_matches('.').into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(hosts: &Hosts, name: &str, families: Families) -> Vec<String> {
        hosts.get(name, families).map_or(Vec::new(), |found| found.iter().map(IpAddr::to_string).collect())
    }

    #[test]
    fn a_file_is_read_as_systems_have_them() {
        let text = "# ours\n\n127.0.0.1\tlocalhost\n 10.0.0.7  Wiki  wiki.Example.com # both\n::1 localhost ip6-localhost\n\
                    fe80::1%lo0 localhost\n10.0.0.8 wiki\n10.0.0.7 wiki\n10.0.0.9 b\u{fc}cher.example x_y.example\n";
        let hosts = Hosts::parse(text).unwrap();
        assert_eq!(hosts.len(), 6);
        assert_eq!(addresses(&hosts, "wiki", Families::V4First), ["10.0.0.7", "10.0.0.8"]);
        assert_eq!(addresses(&hosts, "wiki.example.com.", Families::V4First), ["10.0.0.7"]);
        assert_eq!(addresses(&hosts, "xn--bcher-kva.example", Families::V4First), ["10.0.0.9"]);
        assert_eq!(addresses(&hosts, "localhost", Families::V4First), ["127.0.0.1", "::1"]);
        assert_eq!(addresses(&hosts, "localhost", Families::V6First), ["::1", "127.0.0.1"]);
        assert_eq!(addresses(&hosts, "localhost", Families::V6Only), ["::1"]);
        assert_eq!(hosts.get("wiki", Families::V6Only).as_deref(), Some(&[][..]));
        assert_eq!(hosts.get("other.example", Families::V4First), None);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (text, line) in [
            ("10.0.0.7", 1),
            ("\nwiki 10.0.0.7", 2),
            ("10.0.0.7 a/b", 1),
            ("10.0.0.7 a:80", 1),
            ("10.0.0.7 10.0.0.8", 1),
            ("10.0.0 wiki", 1),
            ("{\"hosts\": []}", 1),
        ] {
            let error = Hosts::parse(text).unwrap_err();
            assert!(
                matches!(error, HostsError::Line { line: found, .. } if found == line),
                "{text}: {error}"
            );
        }
        assert_eq!(Hosts::parse(&"#".repeat(BYTES_MAX + 1)), Err(HostsError::Long(BYTES_MAX + 1)));
        assert!(Hosts::parse("# nothing\n").unwrap().is_empty());
    }
}
