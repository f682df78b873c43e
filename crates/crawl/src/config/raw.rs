//! What stands in a file or comes from flags: strings and numbers, all optional.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::archive::RawCompression;
use super::checked::Files;
use super::{Config, ConfigError, RawHeader, RawSchedule, RawSecret, unknown, values};

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }

        impl $name {
            fn or(self, other: $name) -> $name {
                $name { $($field: self.$field.or(other.$field),)* }
            }
        }
    };
}

section! {
    /// `[crawl]`
    RawCrawl {
        /// Where to begin.
        seeds: Vec<String>,
        /// How far links are followed.
        scope: RawScope,
        /// Stop after so many pages.
        max_pages: u64,
        /// Follow links at most so many steps.
        max_depth: u32,
        /// What domains may have.
        budget: RawBudget,
        /// Pages per pass and domain.
        budget_pages: u32,
        /// In which order.
        order: RawOrder,
        /// Partitions, each on a core.
        partitions: usize,
        /// Memory for the frontier.
        memory: String,
    }
}

section! {
    /// `[links]`
    RawLinks {
        /// SURT prefixes of what is wanted.
        allow_prefixes: Vec<String>,
        /// SURT prefixes of what is not.
        deny_prefixes: Vec<String>,
        /// Expressions for what is wanted.
        allow_patterns: Vec<String>,
        /// Expressions for what is not.
        deny_patterns: Vec<String>,
        /// A file of what must not be touched.
        blocklist: String,
        /// Content types that are stored.
        store_types: Vec<String>,
        /// Content types that are not.
        drop_types: Vec<String>,
        /// Bytes of a URL.
        url_bytes_max: usize,
        /// Segments of a path.
        path_segments_max: usize,
        /// How often a segment may be in a path.
        segment_count_max: usize,
        /// Parameters of a query.
        parameters_max: usize,
        /// Parameters of links that do something.
        acting_parameters: Vec<String>,
        /// Whether sitemaps are read.
        sitemaps: bool,
        /// Sitemaps that one robots.txt can lead to.
        sitemap_files_max: u16,
    }
}

section! {
    /// `[politeness]`
    RawPoliteness {
        /// Time between two requests to a host.
        delay: String,
        /// Time between two requests to a server.
        server_delay: String,
        /// Time between two requests to a domain.
        domain_delay: String,
        /// How many times as long as its last answer took a host is left alone.
        duration_factor: f64,
        /// How much more rarely a host without news is visited.
        stale_factor_max: f64,
        /// The longest Crawl-delay that is obeyed.
        crawl_delay_max: String,
        /// Retries at most.
        retries: u8,
    }
}

section! {
    /// `[identity]`
    RawIdentity {
        /// The product token.
        product: String,
        /// Where people find out who crawls.
        contact: String,
        /// The From field.
        from: String,
    }
}

section! {
    /// `[fetch]`
    RawFetch {
        /// Connections at once.
        connections: usize,
        /// Time to connect.
        connect_timeout: String,
        /// Time to the first byte.
        first_byte_timeout: String,
        /// Time between reads.
        idle_timeout: String,
        /// Time for everything.
        total_timeout: String,
        /// Time to find an address.
        resolve_timeout: String,
        /// Time for the TLS handshake.
        handshake_timeout: String,
        /// Time for the head of a response.
        head_timeout: String,
        /// Bytes a second that a body must bring.
        speed_min: String,
        /// How long a body may be slower.
        speed_grace: String,
        /// Bytes of a body.
        body_max: String,
        /// Bytes of a head.
        head_max: String,
        /// Bytes of a handshake.
        handshake_max: String,
        /// Interim responses.
        interim_max: u32,
        /// Bytes of a decoded body.
        decoded_max: String,
        /// Bytes out for each byte in.
        decode_ratio_max: usize,
        /// Codings on top of each other.
        codings_max: usize,
        /// Redirects in a row.
        redirects_max: u8,
        /// Whether HTTP/2 is offered.
        http2: bool,
        /// Whether compressed content is asked for.
        compressed: bool,
        /// Request fields of the user's own.
        headers: Vec<RawHeader>,
    }
}

section! {
    /// `[network]`
    RawNetwork {
        /// Name servers.
        dns: Vec<String>,
        /// Names with their addresses: a file, or what stands in it.
        hosts: String,
        /// Address ranges beside the public ones.
        allow_address: Vec<String>,
        /// Ports to connect to instead.
        connect_port: Vec<String>,
        /// Which ports of URLs are connected to.
        ports: String,
        /// IPv4, IPv6, and which of them first.
        families: String,
        /// Local names that a proxy may be asked for.
        allow_name: Vec<String>,
        /// The proxy that everything goes through.
        proxy: RawSecret,
    }
}

section! {
    /// `[tls]`
    RawTls {
        /// Whether a bad certificate ends the fetch.
        verify: bool,
        /// Authorities that are trusted besides Mozilla's: files, or the certificates themselves.
        extra_roots: Vec<String>,
    }
}

section! {
    /// `[checkpoint]`
    RawCheckpoint {
        /// At the latest after this time.
        every: String,
        /// And after so many pages.
        pages: u64,
        /// Free space that is left alone.
        disk_reserve: String,
    }
}

section! {
    /// `[speed]`
    RawSpeed {
        /// Requests a second.
        pages_per_s: f64,
        /// Megabits a second.
        mbit_per_s: f64,
    }
}

section! {
    /// `[watch]`
    RawWatch {
        /// Free space that should be there.
        disk_free_min: String,
        /// How long nothing may come in.
        stall: String,
        /// The share of look-ups that may fail.
        dns_failures: f64,
        /// How many times more requests than before may fail.
        errors_factor: f64,
        /// Memory that the process may have.
        memory_max: String,
        /// What is run at an alert.
        on_alert: String,
    }
}

section! {
    /// `[log]`
    RawLog {
        /// Nothing below this.
        level: String,
        /// How lines are written.
        format: String,
        /// Bytes of a file.
        file_size: String,
        /// Files that are kept.
        files: usize,
    }
}

section! {
    /// `[archive]`
    RawArchive {
        /// How file names begin.
        prefix: String,
        /// When a new file is begun.
        file_size: String,
        /// What files are compressed with.
        compression: RawCompression,
        /// Compression level.
        level: i32,
        /// Whether Zstandard files have a dictionary.
        dictionary: bool,
        /// Payloads that are remembered.
        revisits: usize,
        /// Whether languages are looked for.
        languages: bool,
    }
}

section! {
    /// `[analyzers]`
    RawAnalyzers {
        /// Files of columns that are not built in.
        modules: Vec<String>,
        /// Steps that one of them may take for a document.
        fuel: u64,
        /// Memory that it may have.
        memory_max: String,
    }
}

/// How far links are followed, in a file's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RawScope {
    /// Anywhere.
    Any,
    /// The seeds' domains.
    Domain,
    /// The seeds' hosts.
    Host,
}

/// What domains may have, in a file's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawBudget {
    /// Everything.
    Unlimited,
    /// The same for each.
    Equal,
    /// More for those that more domains link to.
    Broad,
    /// Nothing for those that few domains link to.
    PopularOnly,
}

/// In which order pages are fetched, in a file's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RawOrder {
    /// In the order in which they were found.
    #[default]
    BreadthFirst,
    /// Those with the shortest paths first.
    ShortPathsFirst,
}

/// A whole configuration, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawConfig {
    /// What to crawl.
    pub crawl: RawCrawl,
    /// By which links.
    pub links: RawLinks,
    /// How gently.
    pub politeness: RawPoliteness,
    /// As whom.
    pub identity: RawIdentity,
    /// Within which limits.
    pub fetch: RawFetch,
    /// Over which network.
    pub network: RawNetwork,
    /// Trusting whom.
    pub tls: RawTls,
    /// Into which files.
    pub archive: RawArchive,
    /// With which columns of one's own.
    pub analyzers: RawAnalyzers,
    /// When the state is saved.
    pub checkpoint: RawCheckpoint,
    /// How fast.
    pub speed: RawSpeed,
    /// Of what somebody must hear.
    pub watch: RawWatch,
    /// What is written down.
    pub log: RawLog,
    /// How fast at which time of day.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<RawSchedule>,
}

impl RawConfig {
    /// Reads TOML, and tries its values, so that an error can name the `place` it comes from.
    pub fn parse(text: &str, place: &str) -> Result<RawConfig, ConfigError> {
        RawConfig::parse_for(text, place, Files::Unread)
    }

    /// Reads what a crawl has kept, which may be of an earlier version that allowed more; to go on with it, it must [hold](RawConfig::check).
    pub(crate) fn parse_saved(text: &str, place: &str) -> Result<RawConfig, ConfigError> {
        RawConfig::parse_for(text, place, Files::Saved)
    }

    fn parse_for(text: &str, place: &str, files: Files) -> Result<RawConfig, ConfigError> {
        let syntax = |error: toml::de::Error| ConfigError::Syntax {
            place: place.to_owned(),
            message: super::secrets::explained(&error, text),
        };
        let table: toml::Table = text.parse().map_err(syntax)?;
        if let Some((key, suggestion)) = unknown::find(&table) {
            return Err(ConfigError::UnknownKey { place: place.to_owned(), key, suggestion });
        }
        let raw: RawConfig = toml::from_str(text).map_err(syntax)?;
        match Config::new(&raw, files) {
            Err(error) => Err(error.at(place)),
            Ok(_) => Ok(raw),
        }
    }

    /// Puts the contents of the files that it names in their place, so that a crawl keeps what it needs and does not
    /// depend on where it is run. Names are relative to `directory`; flags mean the current one (an empty path).
    pub fn read_files(
        &mut self,
        files: &mattock_env::Files,
        directory: &Path,
        place: &str,
    ) -> Result<(), ConfigError> {
        // These are read again and again: while the crawl runs, and by later runs and queries from elsewhere.
        let modules = self.analyzers.modules.iter_mut().flatten();
        for named in self.links.blocklist.iter_mut().chain(modules) {
            let path = directory.join(&*named);
            *named = std::path::absolute(&path).unwrap_or(path).display().to_string();
        }
        self.secrets().for_each(|(_, secret)| secret.source_mut().absolute(directory));
        let read = |key: &'static str, named: &mut String, check: &dyn Fn(&str) -> Result<(), String>| {
            let path = directory.join(&*named);
            let unread = |message: String| ConfigError::Value {
                place: Some(place.to_owned()).filter(|place| !place.is_empty()),
                key,
                message,
            };
            let bytes = files
                .read(&path)
                .map_err(|error| unread(format!("cannot read {}: {error}", path.display())))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            check(&text).map_err(|message| unread(format!("{}: {message}", path.display())))?;
            *named = text;
            Ok(())
        };
        for root in self.tls.extra_roots.iter_mut().flatten().filter(|root| !values::is_pem(root)) {
            read("tls.extra_roots", root, &|text| values::certificates(text).map(drop))?;
        }
        for hosts in self.network.hosts.iter_mut().filter(|hosts| !values::is_hosts(hosts)) {
            read("network.hosts", hosts, &|text| values::hosts(text).map(drop))?;
            // An empty one says that there are none, and must not be taken for a name.
            if !values::is_hosts(hosts) {
                hosts.push('\n');
            }
        }
        Ok(())
    }

    /// Writes TOML that [`RawConfig::parse`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("strings, numbers and lists always have a TOML form")
    }

    /// This configuration where it says something, `other` where it does not.
    pub fn or(self, other: RawConfig) -> RawConfig {
        RawConfig {
            crawl: self.crawl.or(other.crawl),
            links: self.links.or(other.links),
            politeness: self.politeness.or(other.politeness),
            identity: self.identity.or(other.identity),
            fetch: self.fetch.or(other.fetch),
            network: self.network.or(other.network),
            tls: self.tls.or(other.tls),
            archive: self.archive.or(other.archive),
            analyzers: self.analyzers.or(other.analyzers),
            checkpoint: self.checkpoint.or(other.checkpoint),
            speed: self.speed.or(other.speed),
            watch: self.watch.or(other.watch),
            log: self.log.or(other.log),
            schedule: if self.schedule.is_empty() { other.schedule } else { self.schedule },
        }
    }

    /// Turns it into something that can be run.
    pub fn check(&self) -> Result<Config, ConfigError> {
        Config::new(self, Files::Read)
    }

    /// Turns it into something that can be looked at, for those who fetch nothing: without its secrets it leads nowhere.
    pub fn check_saved(&self) -> Result<Config, ConfigError> {
        Config::new(self, Files::Saved)
    }
}

#[cfg(test)]
mod tests {
    use super::super::EXAMPLE;
    use super::super::example::{known_keys, with_all_keys};
    use super::*;

    /// The example with every key switched on and its file replaced by what could be in it.
    fn all() -> RawConfig {
        let mut all = RawConfig::parse(&with_all_keys(), "example").unwrap();
        all.tls.extra_roots = Some(vec![values::AUTHORITY.to_owned()]);
        all.network.hosts = Some("192.0.2.7 www.example.com\n".to_owned());
        all
    }

    #[test]
    fn the_example_shows_the_defaults_and_every_key() {
        let example = RawConfig::parse(EXAMPLE, "example").unwrap();
        assert_eq!(example.check().unwrap(), RawConfig::default().check().unwrap());
        let all = all();
        all.check().unwrap();
        // A key that the example shows and no field takes would have been refused; a field that the example does not
        // show would be missing among those that are set.
        let shown: toml::Table = all.to_toml().parse().unwrap();
        let keys = |section: &toml::Value| match section {
            toml::Value::Array(entries) => entries[0].as_table().unwrap().len(),
            section => section.as_table().unwrap().len(),
        };
        let count: usize = shown.values().map(keys).sum();
        assert_eq!(count, known_keys().len());
        let debug = format!("{all:?}");
        assert!(!debug.contains(": None"), "the example lacks a key: {debug}");
    }

    #[test]
    fn the_first_that_says_something_counts() {
        let flags = RawConfig::parse("[politeness]\ndelay = '0s'", "flags").unwrap();
        let file = RawConfig::parse("[politeness]\ndelay = '9s'\nretries = 5", "file").unwrap();
        let merged = flags.or(file).check().unwrap();
        assert_eq!(merged.politeness.delay, std::time::Duration::ZERO);
        assert_eq!(merged.politeness.retries_max, 5);
    }

    #[test]
    fn it_is_read_back_as_written() {
        let all = all();
        assert_eq!(RawConfig::parse(&all.to_toml(), "again").unwrap(), all);
    }

    #[test]
    fn files_are_read_into_the_configuration() {
        let files =
            mattock_env::Files::simulated(mattock_env::SimFiles::new(mattock_env::Random::from_seed(1)));
        let text = "[tls]\nextra_roots = ['ours.pem']";
        let mut raw = RawConfig::parse(text, "mattock.toml").unwrap();
        let error = raw.check().unwrap_err().to_string();
        assert!(error.starts_with("tls.extra_roots: \"ours.pem\""), "a name is no certificate: {error}");
        let missing = raw.read_files(&files, Path::new("/etc"), "mattock.toml").unwrap_err().to_string();
        assert!(missing.starts_with("mattock.toml: tls.extra_roots: cannot read /etc/ours.pem"), "{missing}");
        files.create_dir_all(Path::new("/etc")).unwrap();
        files.write_atomic(Path::new("/etc/ours.pem"), b"hello").unwrap();
        let wrong = raw.read_files(&files, Path::new("/etc"), "").unwrap_err().to_string();
        assert!(wrong.starts_with("tls.extra_roots: /etc/ours.pem"), "{wrong}");
        files.write_atomic(Path::new("/etc/ours.pem"), values::AUTHORITY.as_bytes()).unwrap();
        raw.read_files(&files, Path::new("/etc"), "").unwrap();
        assert_eq!(raw.check().unwrap().tls.extra_roots.len(), 1);
        assert_eq!(RawConfig::parse(&raw.to_toml(), "saved").unwrap(), raw);
        for (text, names) in [("192.0.2.7 a.example b.example", 2), ("", 0), ("# none", 0)] {
            let mut raw = RawConfig::parse("[network]\nhosts = 'hosts'", "mattock.toml").unwrap();
            files.write_atomic(Path::new("/etc/hosts"), text.as_bytes()).unwrap();
            raw.read_files(&files, Path::new("/etc"), "").unwrap();
            let saved = RawConfig::parse(&raw.to_toml(), "saved").unwrap();
            assert_eq!((saved.check().unwrap().hosts.len(), &saved), (names, &raw), "{text}");
        }
        let mut raw = RawConfig::parse("[network]\nhosts = 'hosts'", "mattock.toml").unwrap();
        files.write_atomic(Path::new("/etc/hosts"), b"192.0.2.7 a.example\na.example").unwrap();
        let wrong = raw.read_files(&files, Path::new("/etc"), "").unwrap_err().to_string();
        assert!(wrong.starts_with("network.hosts: /etc/hosts: line 2: \"a.example\" is not"), "{wrong}");
        let unread = raw.check().unwrap_err().to_string();
        assert!(unread.starts_with("network.hosts: \"hosts\" is the name of a file"), "{unread}");
    }
}
