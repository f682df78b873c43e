//! A host name taken apart as Common Crawl's columns want it.
//!
//! Rows of a part are in the order of their keys, so that a host's rows follow each other: its name is taken apart once for all of them.

use std::net::Ipv4Addr;
use std::ops::Range;

/// The columns that begin with `url_host_`. All of them but one lie in the name itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostParts {
    name: String,
    labels: [Option<Range<usize>>; LABELS],
    registry_suffix: Option<usize>,
    registered_domain: Option<usize>,
    private_suffix: Option<usize>,
    private_domain: Option<usize>,
    reversed: Option<String>,
}

/// So many labels have columns of their own.
pub(crate) const LABELS: usize = 5;

impl HostParts {
    /// Takes a name apart.
    pub(crate) fn of(name: &str) -> HostParts {
        let mut parts = HostParts { name: name.to_owned(), ..HostParts::default() };
        if name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok() {
            return parts;
        }
        let mut end = name.len();
        for (place, label) in parts.labels.iter_mut().zip(name.rsplit('.')) {
            *place = Some(end - label.len()..end);
            end = (end - label.len()).saturating_sub(1);
        }
        let reversed: Vec<&str> = name.rsplit('.').collect();
        parts.reversed = Some(reversed.join("."));
        let private = suffix(name, true);
        let registry = suffix(name, false);
        let start = |end: &str| name.len() - end.len();
        parts.private_suffix = private.map(start);
        parts.registry_suffix = registry.map(start);
        parts.private_domain = private.and_then(|suffix| below(name, suffix)).map(start);
        parts.registered_domain = registry.and_then(|suffix| below(name, suffix)).map(start);
        parts
    }

    /// Host name or address.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A label, counted from the last one; none of an address.
    pub(crate) fn label(&self, place: usize) -> Option<&str> {
        self.labels[place].clone().map(|range| &self.name[range])
    }

    /// The suffix under which names are registered, as registries have it: `com`, `co.uk`.
    pub(crate) fn registry_suffix(&self) -> Option<&str> {
        self.registry_suffix.map(|start| &self.name[start..])
    }

    /// The name below it.
    pub(crate) fn registered_domain(&self) -> Option<&str> {
        self.registered_domain.map(|start| &self.name[start..])
    }

    /// The suffix with those that companies give names under: `github.io`.
    pub(crate) fn private_suffix(&self) -> Option<&str> {
        self.private_suffix.map(|start| &self.name[start..])
    }

    /// The name below that.
    pub(crate) fn private_domain(&self) -> Option<&str> {
        self.private_domain.map(|start| &self.name[start..])
    }

    /// The labels the other way round: `com.example.www`.
    pub(crate) fn reversed(&self) -> Option<&str> {
        self.reversed.as_deref()
    }
}

/// The public suffix that ends the host name; without those of companies unless `private`.
fn suffix(host: &str, private: bool) -> Option<&str> {
    let mut name = host;
    loop {
        let suffix = psl::suffix(name.as_bytes())?;
        let text = &name[name.len() - suffix.as_bytes().len()..];
        match suffix.typ() {
            Some(psl::Type::Private) if !private => name = text.split_once('.')?.1,
            Some(_) => return Some(text),
            // A name that no list has.
            None => return None,
        }
    }
}

/// The name one label longer than the suffix.
fn below<'a>(host: &'a str, suffix: &str) -> Option<&'a str> {
    let before = host.len().checked_sub(suffix.len() + 1)?;
    let start = host[..before].rfind('.').map_or(0, |dot| dot + 1);
    Some(&host[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_as_common_crawl_has_them() {
        let parts = HostParts::of("www.example.co.uk");
        let labels: Vec<_> = (0..LABELS).map(|place| parts.label(place)).collect();
        assert_eq!(labels, [Some("uk"), Some("co"), Some("example"), Some("www"), None]);
        assert_eq!(
            (parts.registry_suffix(), parts.registered_domain()),
            (Some("co.uk"), Some("example.co.uk"))
        );
        assert_eq!(parts.reversed(), Some("uk.co.example.www"));
        let parts = HostParts::of("user.github.io");
        assert_eq!((parts.registry_suffix(), parts.registered_domain()), (Some("io"), Some("github.io")));
        assert_eq!(
            (parts.private_suffix(), parts.private_domain()),
            (Some("github.io"), Some("user.github.io"))
        );
        for address in ["192.0.2.7", "[2001:db8::1]"] {
            let parts = HostParts::of(address);
            assert_eq!((parts.label(0), parts.reversed(), parts.private_domain()), (None, None, None));
            assert_eq!(parts.name(), address);
        }
        assert_eq!(HostParts::of("co.uk").registered_domain(), None);
        let parts = HostParts::of("f.e..c.b.a.");
        let labels: Vec<_> = (0..LABELS).map(|place| parts.label(place)).collect();
        assert_eq!(labels, [Some(""), Some("a"), Some("b"), Some("c"), Some("")]);
    }
}
