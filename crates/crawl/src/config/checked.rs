//! The configuration as the crawl uses it.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use mattock_fetch::{
    AddressGuard, Cidr, ClientOptions, Credential, DecodeLimits, Families, Field, Hosts, Identity, Limits,
    NamePattern, NameServers, Ports, Proxy, TlsOptions,
};
use mattock_frontier::{
    Application, BreadthFirst, BudgetPolicy, FrontierOptions, Politeness, Scope, ScopeRule, ShortPathsFirst,
    traps,
};
use mattock_repository::{Dictionary, WriterOptions};
use mattock_weburl::WebUrl;

use super::links::{self, LinkConfig};
use super::{
    AnalyzerOptions, CheckpointOptions, ConfigError, RawBudget, RawConfig, RawFetch, RawOrder, RawScope,
    secrets, steering, values,
};
use crate::LinkRules;
use crate::steer::log::LogOptions;
use crate::steer::{Schedule, SpeedLimit, WatchOptions};
use crate::units::{parse_duration, parse_size};

/// Redirects that are followed one after the other.
const REDIRECTS_MAX: u8 = 10;

/// The delay of hosts in a broad crawl, if nothing is said.
const BROAD_DELAY: Duration = Duration::from_secs(10);
/// Pages per pass and domain, if nothing is said.
const BUDGET_PAGES: u32 = 10;
/// Memory for the frontier, if nothing is said.
const MEMORY_BYTES: u64 = 512 << 20;

/// A configuration without open questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where to begin.
    pub seeds: Vec<WebUrl>,
    /// How far links are followed.
    pub scope: ScopeRule,
    /// Stop after so many pages.
    pub max_pages: Option<u64>,
    /// Follow links at most so many steps.
    pub max_depth: Option<u32>,
    /// Which links are followed.
    pub links: LinkConfig,
    /// What links look like that lead into places without end.
    pub traps: traps::Limits,
    /// What depends on how a link was found.
    pub rules: LinkRules,
    /// In which order.
    pub order: RawOrder,
    /// How gently.
    pub politeness: Politeness,
    /// What domains may have.
    pub budget: BudgetPolicy,
    /// Partitions, each on a core of its own.
    pub partitions: usize,
    /// Memory for the frontier.
    pub memory_bytes: u64,
    /// Our name in robots.txt.
    pub product: String,
    /// Who we say we are.
    pub identity: Identity,
    /// Where people find out who crawls; part of the identity too.
    pub contact: Option<String>,
    /// Connections open at once.
    pub connections: usize,
    /// Limits on one fetch.
    pub limits: Limits,
    /// Name servers; the machine's if `None`.
    pub name_servers: Option<NameServers>,
    /// Names with addresses of the operator's own.
    pub hosts: Hosts,
    /// Address ranges beside the public ones.
    pub allow_address: Vec<Cidr>,
    /// Local names that a proxy may be asked for.
    pub allow_name: Vec<NamePattern>,
    /// Ports to connect to instead.
    pub connect_ports: Vec<(u16, u16)>,
    /// Which ports of URLs are connected to.
    pub ports: Ports,
    /// IPv4, IPv6, and which of them first.
    pub families: Families,
    /// The proxy that everything goes through.
    pub proxy: Option<Proxy>,
    /// How certificates are judged.
    pub tls: TlsOptions,
    /// Whether HTTP/2 is offered.
    pub http2: bool,
    /// Whether compressed content is asked for.
    pub compressed: bool,
    /// Sent with every request.
    pub headers: Vec<Field>,
    /// Sent to the sites that they are for.
    pub credentials: Vec<Credential>,
    /// How WARC files are named.
    pub archive_prefix: String,
    /// When a new WARC file is begun.
    pub archive_file_bytes: u64,
    /// What WARC files are compressed with.
    pub archive_compression: mattock_repository::Compression,
    /// Whether Zstandard files have a dictionary.
    pub archive_dictionary: bool,
    /// Payloads that are remembered, for those that come again to become revisits.
    pub archive_revisits: usize,
    /// Whether languages of pages are looked for as they come.
    pub archive_languages: bool,
    /// Columns of one's own, for queries.
    pub analyzers: AnalyzerOptions,
    /// When the state is saved.
    pub checkpoint: CheckpointOptions,
    /// How fast, if nobody says otherwise.
    pub speed: SpeedLimit,
    /// How fast at which time of day.
    pub schedule: Schedule,
    /// Of what somebody must hear.
    pub watch: WatchOptions,
    /// What is written down.
    pub log: LogOptions,
}

pub(super) fn wrong(key: &'static str) -> impl Fn(String) -> ConfigError {
    move |message| ConfigError::Value { place: None, key, message }
}

/// Whether the files that a configuration names were read into it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Read,
    Unread,
    /// Nor will they be, as nothing is fetched; and what was right in an earlier version is.
    Saved,
}

pub(super) fn duration(
    key: &'static str,
    text: &Option<String>,
    default: Duration,
) -> Result<Duration, ConfigError> {
    text.as_deref().map_or(Ok(default), |text| parse_duration(text).map_err(wrong(key)))
}

fn budget(rule: Option<RawBudget>, pages: Option<u32>) -> Result<BudgetPolicy, ConfigError> {
    let pages = match pages {
        Some(0) => return Err(wrong("crawl.budget_pages")("it must be at least 1".into())),
        given => given.unwrap_or(BUDGET_PAGES),
    };
    Ok(match rule {
        None | Some(RawBudget::Unlimited) => BudgetPolicy::Unlimited,
        Some(RawBudget::Equal) => BudgetPolicy::Equal { pages },
        Some(RawBudget::Broad) => match BudgetPolicy::broad() {
            BudgetPolicy::Broad { top, most, .. } => BudgetPolicy::Broad { top, least: pages, most },
            other => other,
        },
        Some(RawBudget::PopularOnly) => BudgetPolicy::popular_only(pages),
    })
}

pub(super) fn factor(
    key: &'static str,
    given: Option<f64>,
    default: f64,
    allowed: RangeInclusive<f64>,
) -> Result<f64, ConfigError> {
    match given {
        Some(factor) if !allowed.contains(&factor) => {
            Err(wrong(key)(format!("it must be between {} and {}", allowed.start(), allowed.end())))
        }
        given => Ok(given.unwrap_or(default)),
    }
}

fn list<T>(
    key: &'static str,
    texts: &Option<Vec<String>>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, ConfigError> {
    texts.iter().flatten().map(|text| parse(text).map_err(wrong(key))).collect()
}

impl Config {
    pub(super) fn new(raw: &RawConfig, files: Files) -> Result<Config, ConfigError> {
        let RawConfig { crawl, links, politeness, identity, fetch, network, tls, archive, .. } = raw;
        let RawConfig { analyzers, checkpoint, speed, schedule, watch, log, .. } = raw;
        // Who crawls the whole Web has enough other hosts to turn to.
        let gentle = match crawl.budget {
            Some(RawBudget::Broad) => BROAD_DELAY,
            _ => Politeness::default().delay,
        };
        let delay = duration("politeness.delay", &politeness.delay, gentle)?;
        let gentle = Politeness::with_delay(delay);
        let writer = WriterOptions::default();
        let product = identity.product.clone().unwrap_or_else(|| "mattock".into());
        check_product(&product)?;
        let dns = list("network.dns", &network.dns, values::server)?;
        let (headers, credentials) = secrets::headers(fetch.headers.as_deref(), files)?;
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
            links: LinkConfig::new(links)?,
            traps: links::traps(links)?,
            rules: links::rules(links, fetch.redirects_max.unwrap_or(REDIRECTS_MAX)),
            order: crawl.order.unwrap_or_default(),
            politeness: Politeness {
                server_delay: duration(
                    "politeness.server_delay",
                    &politeness.server_delay,
                    gentle.server_delay,
                )?,
                domain_delay: duration(
                    "politeness.domain_delay",
                    &politeness.domain_delay,
                    gentle.domain_delay,
                )?,
                duration_factor: factor(
                    "politeness.duration_factor",
                    politeness.duration_factor,
                    gentle.duration_factor,
                    0.0..=1000.0,
                )?,
                stale_factor_max: factor(
                    "politeness.stale_factor_max",
                    politeness.stale_factor_max,
                    gentle.stale_factor_max,
                    1.0..=1000.0,
                )?,
                crawl_delay_max: duration(
                    "politeness.crawl_delay_max",
                    &politeness.crawl_delay_max,
                    gentle.crawl_delay_max,
                )?,
                retries_max: politeness.retries.unwrap_or(gentle.retries_max),
                ..gentle
            },
            budget: budget(crawl.budget, crawl.budget_pages)?,
            partitions: match crawl.partitions {
                Some(0 | 1025..) => {
                    return Err(wrong("crawl.partitions")("it must be between 1 and 1024".into()));
                }
                given => given.unwrap_or(1),
            },
            memory_bytes: match size("crawl.memory", &crawl.memory, MEMORY_BYTES)? {
                ..FrontierOptions::MEMORY_BYTES_MIN => {
                    return Err(wrong("crawl.memory")("it must be at least 64MiB".into()));
                }
                given
                    if given / (crawl.partitions.unwrap_or(1) as u64) < FrontierOptions::MEMORY_BYTES_MIN =>
                {
                    let message = "it must be at least 64MiB for each of the crawl.partitions";
                    return Err(wrong("crawl.memory")(message.into()));
                }
                given => given,
            },
            identity: Identity {
                user_agent: user_agent(&product, identity.contact.as_deref())?,
                from: one("identity.from", &identity.from, values::header_text)?,
            },
            contact: identity.contact.clone(),
            product,
            connections: match fetch.connections {
                Some(0) => return Err(wrong("fetch.connections")("it must be at least 1".into())),
                given => given.unwrap_or(256),
            },
            limits: limits(fetch)?,
            name_servers: (!dns.is_empty()).then_some(NameServers(dns)),
            hosts: one("network.hosts", &network.hosts, |text| match files {
                Files::Unread | Files::Saved if !values::is_hosts(text) => Ok(Hosts::default()),
                _ if !values::is_hosts(text) => Err(format!(
                    "{text:?} is the name of a file, and those are read where a configuration is begun with"
                )),
                _ => values::hosts(text),
            })?
            .unwrap_or_default(),
            allow_address: list("network.allow_address", &network.allow_address, |text| {
                Cidr::from_str(text).map_err(|error| error.to_string())
            })?,
            allow_name: list("network.allow_name", &network.allow_name, |text| {
                NamePattern::from_str(text).map_err(|error| error.to_string())
            })?,
            connect_ports: list("network.connect_port", &network.connect_port, values::port_pair)?,
            ports: one("network.ports", &network.ports, values::ports)?.unwrap_or_default(),
            families: one("network.families", &network.families, values::families)?.unwrap_or_default(),
            proxy: secrets::proxy(network.proxy.as_ref(), files)?,
            tls: TlsOptions {
                enforce: tls.verify.unwrap_or_default(),
                extra_roots: list("tls.extra_roots", &tls.extra_roots, |text| match files {
                    Files::Unread | Files::Saved if !values::is_pem(text) => Ok(Vec::new()),
                    _ => values::certificates(text),
                })?
                .concat(),
            },
            http2: fetch.http2.unwrap_or(true),
            compressed: fetch.compressed.unwrap_or(true),
            headers,
            credentials,
            archive_prefix: archive.prefix.clone().unwrap_or(writer.prefix),
            archive_file_bytes: super::archive::file_bytes(archive, writer.file_bytes_max)?,
            archive_compression: super::archive::compression(archive)?,
            archive_dictionary: super::archive::dictionary(archive)?,
            archive_revisits: super::archive::revisits(archive)?,
            archive_languages: archive.languages.unwrap_or(true),
            analyzers: super::analyzers::analyzers(analyzers)?,
            checkpoint: super::checkpoint::checkpoint(checkpoint)?,
            speed: steering::speed(speed)?,
            schedule: steering::schedule(schedule)?,
            watch: steering::watch(watch, size("crawl.memory", &crawl.memory, MEMORY_BYTES)?)?,
            log: steering::log(log)?,
        })
    }

    /// The scope, without its seeds.
    pub fn scope(&self) -> Scope {
        self.links.scope(self.scope, self.max_depth).expect("its rules were checked")
    }

    /// What the crawl is for.
    pub(crate) fn application(&self) -> Box<dyn Application> {
        match self.order {
            RawOrder::BreadthFirst => Box::new(BreadthFirst),
            RawOrder::ShortPathsFirst => Box::new(ShortPathsFirst),
        }
    }

    /// What the fetch client needs of it.
    pub fn client_options(&self) -> ClientOptions {
        ClientOptions {
            limits: self.limits.clone(),
            guard: AddressGuard::allowing(self.allow_address.clone()).with_names(self.allow_name.clone()),
            ports: self.ports.clone(),
            name_servers: self.name_servers.clone(),
            hosts: self.hosts.clone(),
            families: self.families,
            connect_ports: self.connect_ports.clone(),
            tls: self.tls.clone(),
            http2: self.http2,
            compressed: self.compressed,
            fields: self.headers.clone(),
            credentials: self.credentials.clone(),
            proxy: self.proxy.clone(),
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
            compression: self.archive_compression,
            file_bytes_max: self.archive_file_bytes,
            dictionary: if self.archive_dictionary { Dictionary::Trained } else { Dictionary::None },
            revisit_payloads: self.archive_revisits,
            warcinfo,
            ..WriterOptions::default()
        }
    }
}

fn limits(fetch: &RawFetch) -> Result<Limits, ConfigError> {
    let default = Limits::default();
    let bytes = |key, text: &Option<String>, default: usize| {
        size(key, text, default as u64).map(|size| size as usize)
    };
    let at_least_one = |key, given: Option<usize>, default| match given {
        Some(0) => Err(wrong(key)("it must be at least 1".into())),
        given => Ok(given.unwrap_or(default)),
    };
    Ok(Limits {
        resolve: duration("fetch.resolve_timeout", &fetch.resolve_timeout, default.resolve)?,
        connect: duration("fetch.connect_timeout", &fetch.connect_timeout, default.connect)?,
        handshake: duration("fetch.handshake_timeout", &fetch.handshake_timeout, default.handshake)?,
        first_byte: duration("fetch.first_byte_timeout", &fetch.first_byte_timeout, default.first_byte)?,
        head: duration("fetch.head_timeout", &fetch.head_timeout, default.head)?,
        idle: duration("fetch.idle_timeout", &fetch.idle_timeout, default.idle)?,
        total: duration("fetch.total_timeout", &fetch.total_timeout, default.total)?,
        head_bytes_max: bytes("fetch.head_max", &fetch.head_max, default.head_bytes_max)?,
        body_bytes_max: bytes("fetch.body_max", &fetch.body_max, default.body_bytes_max)?,
        interim_max: fetch.interim_max.unwrap_or(default.interim_max),
        handshake_bytes_max: bytes("fetch.handshake_max", &fetch.handshake_max, default.handshake_bytes_max)?,
        speed_min: size("fetch.speed_min", &fetch.speed_min, default.speed_min)?,
        speed_grace: duration("fetch.speed_grace", &fetch.speed_grace, default.speed_grace)?,
        decode: DecodeLimits {
            bytes_max: bytes("fetch.decoded_max", &fetch.decoded_max, default.decode.bytes_max)?,
            ratio_max: at_least_one(
                "fetch.decode_ratio_max",
                fetch.decode_ratio_max,
                default.decode.ratio_max,
            )?,
            codings_max: fetch.codings_max.unwrap_or(default.decode.codings_max),
        },
    })
}

fn one<T>(
    key: &'static str,
    text: &Option<String>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, ConfigError> {
    text.as_deref().map(|text| parse(text).map_err(wrong(key))).transpose()
}

pub(super) fn size(key: &'static str, text: &Option<String>, default: u64) -> Result<u64, ConfigError> {
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
            let contact = values::header_text(contact).map_err(wrong("identity.contact"))?;
            let plus = if contact.starts_with("http") { "+" } else { "" };
            Ok(format!("{product}/{version} ({plus}{contact})"))
        }
    }
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
            ("[fetch]\nhead_timeout = '1'", "fetch.head_timeout", "500ms"),
            ("[fetch]\nspeed_min = 'slow'", "fetch.speed_min", "500KB"),
            ("[fetch]\ndecode_ratio_max = 0", "fetch.decode_ratio_max", "at least 1"),
            ("[fetch]\nheaders = ['X']", "fetch.headers", "Accept-Language: en"),
            ("[fetch]\nheaders = ['Host: b']", "fetch.headers", "leave it out"),
            ("[network]\nports = 'web'", "network.ports", "no-services"),
            ("[network]\nports = '80,99999'", "network.ports", "80,443"),
            ("[network]\nfamilies = 'ipv5'", "network.families", "ipv4-first"),
            ("[network]\nproxy = 'socks5://p:1'", "network.proxy", "http://proxy.example:3128"),
            ("[tls]\nextra_roots = ['-----BEGIN nothing']", "tls.extra_roots", "BEGIN CERTIFICATE"),
        ] {
            let error = RawConfig::parse(text, "ours.toml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("ours.toml: {key}: ")) && error.contains(hint), "{error}");
        }
    }

    #[test]
    fn a_broad_crawl_leaves_hosts_alone_for_longer() {
        let delay = |text: &str| RawConfig::parse(text, "file").unwrap().check().unwrap().politeness.delay;
        assert_eq!(delay("[crawl]\nbudget = 'broad'"), Duration::from_secs(10));
        assert_eq!(delay("[crawl]\nbudget = 'equal'"), Duration::from_secs(2));
        assert_eq!(delay("[crawl]\nbudget = 'broad'\n[politeness]\ndelay = '1s'"), Duration::from_secs(1));
    }

    #[test]
    fn the_user_agent_says_where_to_complain() {
        let agent = |text: &str| RawConfig::parse(text, "file").unwrap().check().unwrap().identity.user_agent;
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(agent(""), format!("mattock/{version}"));
        let named = agent("[identity]\nproduct = 'ourbot'\ncontact = 'https://example.com/bot'");
        assert_eq!(named, format!("ourbot/{version} (+https://example.com/bot)"));
    }

    #[test]
    fn everything_that_can_be_set_reaches_the_client() {
        let text = "[fetch]\nhttp2 = false\ncompressed = false\nheaders = ['Accept-Language: en']\nspeed_min = '0'\n\
                    decoded_max = '1MiB'\nredirects_max = 3\n\
                    [network]\nports = '80, 8080'\nfamilies = 'ipv6'\nproxy = 'http://a:b@p.example:3128'\n\
                    [tls]\nverify = true";
        let config = RawConfig::parse(text, "file").unwrap().check().unwrap();
        assert_eq!(config.rules.redirects_max, 3);
        let options = config.client_options();
        assert!(!options.http2 && !options.compressed && options.tls.enforce);
        assert_eq!(options.fields, [Field::new("Accept-Language", "en").unwrap()]);
        assert_eq!((options.limits.speed_min, options.limits.decode.bytes_max), (0, 1 << 20));
        assert_eq!(options.ports, Ports::Only(vec![80, 8080]));
        assert_eq!(options.families, Families::V6Only);
        assert_eq!(options.proxy.map(|proxy| (proxy.host, proxy.port)), Some(("p.example".into(), 3128)));
    }
}
