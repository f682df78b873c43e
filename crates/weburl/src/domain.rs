//! The pay-level domain of a host name: the public suffix and one label more.
//!
//! The *whole* public suffix list is used, its private section too: `alice.github.io` and `bob.github.io` are two
//! domains, because different people fill them, and a hoster's customers should not share one budget. The price: an
//! owner who gets a suffix into the private section has a budget for each name under it. Its maintainers review
//! every entry, which the buyer of cheap names does not go through.
//!
//! The list is compiled into the `psl` crate: a new release of it can move hosts to other domains. A crawl that goes
//! on across such a release sees them as new domains; nothing breaks.

/// The pay-level domain of a canonical host name (lower case, punycode, no trailing dot, no port).
///
/// Where there is none the whole name is the domain: for addresses (`127.0.0.1`, `[::1]`), for names of one label
/// (`localhost`), and for names that are public suffixes themselves (`co.uk`, `github.io`). A top-level domain
/// that is not on the list counts as a public suffix.
pub fn domain_of(host_name: &str) -> &str {
    if is_address(host_name) {
        return host_name;
    }
    psl::domain_str(host_name).unwrap_or(host_name)
}

/// Whether a canonical host name is an address. The last byte tells most names apart: a canonical IPv4 address ends
/// in a digit.
pub(crate) fn is_address(host_name: &str) -> bool {
    match host_name.as_bytes() {
        [b'[', ..] => true,
        [.., last] if last.is_ascii_digit() => host_name.parse::<std::net::Ipv4Addr>().is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::domain_of;

    #[test]
    fn domains() {
        for (host_name, domain) in [
            ("example.com", "example.com"),
            ("a.b.example.com", "example.com"),
            ("www.example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("com", "com"),
            ("localhost", "localhost"),
            ("a.b.unlisted", "b.unlisted"),
            ("alice.github.io", "alice.github.io"),
            ("x.alice.github.io", "alice.github.io"),
            ("github.io", "github.io"),
            ("city.kawasaki.jp", "city.kawasaki.jp"),
            ("www.city.kawasaki.jp", "city.kawasaki.jp"),
            ("a.b.other.kawasaki.jp", "b.other.kawasaki.jp"),
            ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
            ("127.0.0.1", "127.0.0.1"),
            ("[2001:db8::1]", "[2001:db8::1]"),
            ("web2.example.h4", "example.h4"),
        ] {
            assert_eq!(domain_of(host_name), domain, "{host_name}");
        }
    }
}
