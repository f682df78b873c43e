//! From one text to one value: how each setting is written. Errors say how to write it better.

use std::net::{IpAddr, SocketAddr};

use data_encoding::BASE64;
use mattock_fetch::{Families, Field, Hosts, Ports, Proxy};
use mattock_secret::Secret;

const PEM_BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const PEM_END: &str = "-----END CERTIFICATE-----";

/// Text that can go into a header field as it is.
pub(super) fn header_text(text: &str) -> Result<String, String> {
    if text.is_empty() || text.chars().any(|c| !(' '..='~').contains(&c) || c == '(' || c == ')') {
        return Err(format!("{text:?} cannot stand in a header; use plain ASCII without brackets"));
    }
    Ok(text.to_owned())
}

/// `Name: value`. The value may be a secret that should not be here, so that no error has it.
pub(super) fn header(text: &str) -> Result<Field, String> {
    let Some((name, value)) = text.split_once(':') else {
        let shown =
            if text.contains([' ', '=']) { "a text without a colon".to_owned() } else { format!("{text:?}") };
        return Err(format!("{shown} is no header field; write it like \"Accept-Language: en\""));
    };
    Field::new(name.trim(), value).map_err(|error| error.to_string())
}

/// The address of a name server, with or without a port.
pub(super) fn server(text: &str) -> Result<SocketAddr, String> {
    let bare = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 53));
    text.parse().or(bare).map_err(|_| format!("{text:?} is not an address; write it like 192.0.2.1:53"))
}

/// `80=8080`
pub(super) fn port_pair(text: &str) -> Result<(u16, u16), String> {
    let ports = text.split_once('=').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ports.ok_or_else(|| format!("{text:?} is not a pair of ports; write it like 80=8080"))
}

/// `no-services`, `any`, `80,443`
pub(super) fn ports(text: &str) -> Result<Ports, String> {
    match text {
        "no-services" => Ok(Ports::NoServices),
        "any" => Ok(Ports::Any),
        list => {
            let ports: Result<Vec<u16>, _> = list.split(',').map(|port| port.trim().parse()).collect();
            ports.map(Ports::Only).map_err(|_| {
                format!("{text:?} says nothing about ports; write no-services, any, or a list like 80,443")
            })
        }
    }
}

/// `ipv4-first` and its like.
pub(super) fn families(text: &str) -> Result<Families, String> {
    match text {
        "ipv4-first" => Ok(Families::V4First),
        "ipv6-first" => Ok(Families::V6First),
        "ipv4" => Ok(Families::V4Only),
        "ipv6" => Ok(Families::V6Only),
        _ => Err(format!("{text:?} is no kind of addresses; use ipv4-first, ipv6-first, ipv4 or ipv6")),
    }
}

/// `http://name:password@proxy.example:3128`. Name and password are taken as they stand.
pub(super) fn proxy(text: &str) -> Result<Proxy, String> {
    let shown = if may_hold_password(text) { "the text".to_owned() } else { format!("{text:?}") };
    let wrong = || format!("{shown} is no HTTP proxy; write it like http://proxy.example:3128");
    let rest = match text.split_once("://") {
        Some(("http", rest)) => rest,
        Some(_) => return Err(wrong()),
        None => text,
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
    let port = port.parse().ok().filter(|&port| port > 0).ok_or_else(wrong)?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_address = host.parse::<IpAddr>().is_ok();
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if host.is_empty() || !is_address && !is_name {
        return Err(wrong());
    }
    let authorization = user.map(|user| Secret::new(format!("Basic {}", BASE64.encode(user.as_bytes()))));
    Ok(Proxy { host: host.to_owned(), port, authorization })
}

/// Whether a text that is meant as a proxy could have a password in it, were it written well or not.
fn may_hold_password(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let port = rest.split_once(':').map(|(_, port)| port);
    rest.contains('@') || port.is_some_and(|port| port.len() > 6 || port.contains(':'))
}

/// Whether the text is meant as certificates, and not as the name of a file of such.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains("-----BEGIN")
}

/// The certificates (DER) in a text (PEM): at least one. What stands between them is left out.
pub(crate) fn certificates(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, begun)) = rest.split_once(PEM_BEGIN) {
        let Some((body, after)) = begun.split_once(PEM_END) else {
            return Err(format!("a certificate does not end; it needs a line {PEM_END}"));
        };
        let body: String = body.split_whitespace().collect();
        let der = BASE64.decode(body.as_bytes()).ok().filter(|der| der.first() == Some(&0x30));
        found.push(der.ok_or_else(|| {
            format!("certificate {} is damaged: it is not base64 of a certificate", found.len() + 1)
        })?);
        rest = after;
    }
    if found.is_empty() {
        let shown: String = text.chars().take(40).collect();
        return Err(format!("{shown:?} holds no certificate; it needs a line {PEM_BEGIN}"));
    }
    Ok(found)
}

/// Whether this is what stands in a hosts file, and not its name.
pub(super) fn is_hosts(text: &str) -> bool {
    text.contains('\n')
}

/// Names with their addresses.
pub(super) fn hosts(text: &str) -> Result<Hosts, String> {
    Hosts::parse(text).map_err(|error| error.to_string())
}

/// The form of a certificate, without one inside.
#[cfg(test)]
pub(crate) const AUTHORITY: &str =
    "# ours\n-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_with_and_without_a_password() {
        let plain = proxy("http://proxy.example:3128/").unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.authorization), ("proxy.example", 3128, None));
        let six = proxy("http://a:b@c@[::1]:8080").unwrap();
        assert_eq!((six.host.as_str(), six.port), ("::1", 8080));
        assert_eq!(six.authorization, Some(Secret::new("Basic YTpiQGM=")));
        for bad in
            ["", "proxy.example", "https://p:1", "http://:1", "http://p:0", "http://p:x", "http://p q:1"]
        {
            assert!(proxy(bad).unwrap_err().contains("http://proxy.example:3128"), "{bad}");
        }
    }

    #[test]
    fn ports_are_a_word_or_a_list() {
        assert_eq!(ports("any"), Ok(Ports::Any));
        assert_eq!(ports("no-services"), Ok(Ports::NoServices));
        assert_eq!(ports("80, 443"), Ok(Ports::Only(vec![80, 443])));
        for bad in ["", "80,", "80-90", "70000"] {
            assert!(ports(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn certificates_are_found_among_other_text() {
        let two = format!("{AUTHORITY}and\n{AUTHORITY}");
        assert_eq!(certificates(&two), Ok(vec![vec![0x30, 3, 2, 1, 1]; 2]));
        assert!(certificates("").unwrap_err().contains(PEM_BEGIN));
        assert!(certificates(&AUTHORITY.replace("END", "ENDE")).unwrap_err().contains(PEM_END));
        assert!(certificates(&AUTHORITY.replace("MAMC", "!!!!")).unwrap_err().contains("damaged"));
    }
}
