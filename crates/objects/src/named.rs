//! Servers that the user has named: these may be asked wherever their names lead.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::address::{Address, Kind};

/// Origins of HTTP URLs. Others have endpoints that the environment names.
#[derive(Debug, Default)]
pub(crate) struct Named(Mutex<BTreeSet<String>>);

impl Named {
    /// The user has named this URL.
    pub(crate) fn add(&self, url: &str) {
        if let Some(origin) = origin(url) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(origin);
        }
    }

    /// Whether the server of a URL is one of them.
    #[cfg(feature = "network")]
    pub(crate) fn has(&self, url: &str) -> bool {
        let named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        origin(url).is_some_and(|origin| named.contains(&origin))
    }
}

/// Scheme, host and port of an HTTP URL, in one spelling. What is spelled in two ways and does not come out as one is a server that
/// nobody has named.
fn origin(url: &str) -> Option<String> {
    let address = Address::parse(url).ok().filter(|address| address.kind == Kind::Http)?;
    let origin = address.store.to_ascii_lowercase();
    let usual = if origin.starts_with("https:") { ":443" } else { ":80" };
    Some(origin.strip_suffix(usual).map(str::to_owned).unwrap_or(origin))
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_scheme_name_and_port() {
        let named = Named::default();
        named.add("http://A.example/web");
        named.add("https://b.example:8443/x");
        named.add("s3://c.example/x");
        for url in ["http://a.example", "http://a.example:80/other", "https://b.example:8443"] {
            assert!(named.has(url), "{url}");
        }
        for url in [
            "https://a.example",
            "http://a.example:8080",
            "https://b.example",
            "http://x.a.example",
            "http://a.example@127.0.0.1",
            "http://c.example",
            "s3://c.example",
        ] {
            assert!(!named.has(url), "{url}");
        }
    }
}
