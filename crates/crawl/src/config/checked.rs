//! The configuration as the crawl uses it.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use mattock_fetch::{AddressGuard, Cidr, ClientOptions, Identity, Limits, NameServers};
use mattock_frontier::{Politeness, ScopeRule};
use mattock_repository::WriterOptions;
use mattock_weburl::WebUrl;

use super::{ConfigError, RawConfig, RawScope};
use crate::units::{parse_duration, parse_size};

/// A configuration without open questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where to begin.
    pub seeds: Vec<WebUrl>,
    /// How far links are followed.
    pub scope: ScopeRule,
    /// Stop after so many pages.
    pub max_pages: Option<u64>,
    /// Follow links at most so many steps.
    pub max_depth: Option<u32>,
    /// How gently.
    pub politeness: Politeness,
    /// Our name in robots.txt.
    pub product: String,
    /// Who we say we are.
    pub identity: Identity,
    /// Connections open at once.
    pub connections: usize,
    /// Limits on one fetch.
    pub limits: Limits,
    /// Name servers; the machine's if `None`.
    pub name_servers: Option<NameServers>,
    /// Address ranges beside the public ones.
    pub allow_address: Vec<Cidr>,
    /// Ports to connect to instead.
    pub connect_ports: Vec<(u16, u16)>,
    /// How WARC files are named.
    pub archive_prefix: String,
    /// When a new WARC file is begun.
    pub archive_file_bytes: u64,
    /// Compression level of WARC files.
    pub archive_level: i32,
}

fn wrong(key: &'static str) -> impl Fn(String) -> ConfigError {
    move |message| ConfigError::Value { key, message }
}

fn duration(key: &'static str, text: &Option<String>, default: Duration) -> Result<Duration, ConfigError> {
    text.as_deref().map_or(Ok(default), |text| parse_duration(text).map_err(wrong(key)))
}

fn list<T>(
    key: &'static str,
    texts: &Option<Vec<String>>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, ConfigError> {
    texts.iter().flatten().map(|text| parse(text).map_err(wrong(key))).collect()
}

impl Config {
    pub(super) fn new(raw: &RawConfig) -> Result<Config, ConfigError> {
        let RawConfig { crawl, politeness, identity, fetch, network, archive } = raw;
        let gentle = Politeness::default();
        let limits = Limits::default();
        let writer = WriterOptions::default();
        let product = identity.product.clone().unwrap_or_else(|| "mattock".into());
        check_product(&product)?;
        let dns = list("network.dns", &network.dns, parse_server)?;
        Ok(Config {
            seeds: list("crawl.seeds", &crawl.seeds, |text| {
                WebUrl::parse(text).map_err(|error| format!("{text:?} is not a URL to begin with: {error}"))
            })?,
            scope: match crawl.scope {
                Some(RawScope::Any) => ScopeRule::Any,
                Some(RawScope::Host) => ScopeRule::Host,
                Some(RawScope::Domain) | None => ScopeRule::Domain,
            },
            max_pages: crawl.max_pages,
            max_depth: crawl.max_depth,
            politeness: Politeness {
                delay: duration("politeness.delay", &politeness.delay, gentle.delay)?,
                crawl_delay_max: duration(
                    "politeness.crawl_delay_max",
                    &politeness.crawl_delay_max,
                    gentle.crawl_delay_max,
                )?,
                retries_max: politeness.retries.unwrap_or(gentle.retries_max),
                ..gentle
            },
            identity: Identity {
                user_agent: user_agent(&product, identity.contact.as_deref())?,
                from: identity.from.as_deref().map(|from| header_text("identity.from", from)).transpose()?,
            },
            product,
            connections: match fetch.connections {
                Some(0) => return Err(wrong("fetch.connections")("it must be at least 1".into())),
                given => given.unwrap_or(256),
            },
            limits: Limits {
                connect: duration("fetch.connect_timeout", &fetch.connect_timeout, limits.connect)?,
                first_byte: duration(
                    "fetch.first_byte_timeout",
                    &fetch.first_byte_timeout,
                    limits.first_byte,
                )?,
                idle: duration("fetch.idle_timeout", &fetch.idle_timeout, limits.idle)?,
                total: duration("fetch.total_timeout", &fetch.total_timeout, limits.total)?,
                body_bytes_max: size("fetch.body_max", &fetch.body_max, limits.body_bytes_max as u64)?
                    as usize,
                ..limits
            },
            name_servers: (!dns.is_empty()).then_some(NameServers(dns)),
            allow_address: list("network.allow_address", &network.allow_address, |text| {
                Cidr::from_str(text).map_err(|error| error.to_string())
            })?,
            connect_ports: list("network.connect_port", &network.connect_port, parse_ports)?,
            archive_prefix: archive.prefix.clone().unwrap_or(writer.prefix),
            archive_file_bytes: size("archive.file_size", &archive.file_size, writer.file_bytes_max)?,
            archive_level: match archive.level {
                Some(level) if !(1..=12).contains(&level) => {
                    return Err(wrong("archive.level")(format!(
                        "{level} is no level; use 1 (fast) to 12 (small)"
                    )));
                }
                given => given.unwrap_or(writer.level),
            },
        })
    }

    /// What the fetch client needs of it.
    pub(crate) fn client_options(&self) -> ClientOptions {
        ClientOptions {
            limits: self.limits.clone(),
            guard: AddressGuard::allowing(self.allow_address.clone()),
            name_servers: self.name_servers.clone(),
            connect_ports: self.connect_ports.clone(),
            ..ClientOptions::new(self.identity.clone())
        }
    }

    /// What the WARC writer needs of it.
    pub(crate) fn writer_options(&self) -> WriterOptions {
        let field = |name: &str, value: String| (name.to_owned(), value);
        let mut warcinfo = vec![
            field("software", concat!("Mattock/", env!("CARGO_PKG_VERSION")).to_owned()),
            field("format", "WARC File Format 1.1".to_owned()),
            field("robots", "obey".to_owned()),
            field("http-header-user-agent", self.identity.user_agent.clone()),
        ];
        warcinfo.extend(self.identity.from.clone().map(|from| field("http-header-from", from)));
        WriterOptions {
            prefix: self.archive_prefix.clone(),
            level: self.archive_level,
            file_bytes_max: self.archive_file_bytes,
            warcinfo,
            ..WriterOptions::default()
        }
    }
}

fn size(key: &'static str, text: &Option<String>, default: u64) -> Result<u64, ConfigError> {
    text.as_deref().map_or(Ok(default), |text| parse_size(text).map_err(wrong(key)))
}

/// RFC 9309 allows letters, `-` and `_` in a product token; digits are common and harmless.
fn check_product(product: &str) -> Result<(), ConfigError> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if product.is_empty() || !product.bytes().all(good) {
        let message = format!("{product:?} cannot be a product token; use letters, digits, `-` and `_`");
        return Err(wrong("identity.product")(message));
    }
    Ok(())
}

fn user_agent(product: &str, contact: Option<&str>) -> Result<String, ConfigError> {
    let version = env!("CARGO_PKG_VERSION");
    match contact {
        None => Ok(format!("{product}/{version}")),
        Some(contact) => {
            let contact = header_text("identity.contact", contact)?;
            let plus = if contact.starts_with("http") { "+" } else { "" };
            Ok(format!("{product}/{version} ({plus}{contact})"))
        }
    }
}

/// Text that can go into a header field as it is.
fn header_text(key: &'static str, text: &str) -> Result<String, ConfigError> {
    if text.is_empty() || text.chars().any(|c| !(' '..='~').contains(&c) || c == '(' || c == ')') {
        return Err(wrong(key)(format!(
            "{text:?} cannot stand in a header; use plain ASCII without brackets"
        )));
    }
    Ok(text.to_owned())
}

fn parse_server(text: &str) -> Result<SocketAddr, String> {
    let bare = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 53));
    text.parse().or(bare).map_err(|_| format!("{text:?} is not an address; write it like 192.0.2.1:53"))
}

fn parse_ports(text: &str) -> Result<(u16, u16), String> {
    let ports = text.split_once('=').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ports.ok_or_else(|| format!("{text:?} is not a pair of ports; write it like 80=8080"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_are_named_with_their_key_and_a_way_to_write_them() {
        for (text, key, hint) in [
            ("[politeness]\ndelay = '5'", "politeness.delay", "500ms"),
            ("[fetch]\nbody_max = 'big'", "fetch.body_max", "64MiB"),
            ("[network]\ndns = ['localhost']", "network.dns", "192.0.2.1:53"),
            ("[network]\nallow_address = ['loopback']", "network.allow_address", "127.0.0.0/8"),
            ("[network]\nconnect_port = ['80']", "network.connect_port", "80=8080"),
            ("[crawl]\nseeds = ['example.com']", "crawl.seeds", "http://example.com/"),
            ("[identity]\nproduct = 'my bot'", "identity.product", "letters"),
            ("[identity]\ncontact = \"a\\r\\nX: b\"", "identity.contact", "ASCII"),
            ("[fetch]\nconnections = 0", "fetch.connections", "at least 1"),
            ("[archive]\nlevel = 99", "archive.level", "1 (fast) to 12"),
        ] {
            let error = RawConfig::parse(text, "file").unwrap().check().unwrap_err().to_string();
            assert!(error.starts_with(key) && error.contains(hint), "{error}");
        }
    }

    #[test]
    fn the_user_agent_says_where_to_complain() {
        let agent = |text: &str| RawConfig::parse(text, "file").unwrap().check().unwrap().identity.user_agent;
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(agent(""), format!("mattock/{version}"));
        let named = agent("[identity]\nproduct = 'ourbot'\ncontact = 'https://example.com/bot'");
        assert_eq!(named, format!("ourbot/{version} (+https://example.com/bot)"));
    }
}
