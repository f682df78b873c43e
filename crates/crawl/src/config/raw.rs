//! What stands in a file or comes from flags: strings and numbers, all optional.

use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, unknown};

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    }
}

section! {
    /// `[politeness]`
    RawPoliteness {
        /// Time between two requests to a host.
        delay: String,
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
        /// Bytes of a body.
        body_max: String,
    }
}

section! {
    /// `[network]`
    RawNetwork {
        /// Name servers.
        dns: Vec<String>,
        /// Address ranges beside the public ones.
        allow_address: Vec<String>,
        /// Ports to connect to instead.
        connect_port: Vec<String>,
    }
}

section! {
    /// `[archive]`
    RawArchive {
        /// How file names begin.
        prefix: String,
        /// When a new file is begun.
        file_size: String,
        /// Compression level.
        level: i32,
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

/// A whole configuration, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawConfig {
    /// What to crawl.
    pub crawl: RawCrawl,
    /// How gently.
    pub politeness: RawPoliteness,
    /// As whom.
    pub identity: RawIdentity,
    /// Within which limits.
    pub fetch: RawFetch,
    /// Over which network.
    pub network: RawNetwork,
    /// Into which files.
    pub archive: RawArchive,
}

impl RawConfig {
    /// Reads TOML. `place` names it in errors.
    pub fn parse(text: &str, place: &str) -> Result<RawConfig, ConfigError> {
        let syntax = |error: toml::de::Error| ConfigError::Syntax {
            place: place.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        };
        let table: toml::Table = text.parse().map_err(syntax)?;
        if let Some((key, suggestion)) = unknown::find(&table) {
            return Err(ConfigError::UnknownKey { place: place.to_owned(), key, suggestion });
        }
        toml::from_str(text).map_err(syntax)
    }

    /// Writes TOML that [`RawConfig::parse`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("strings, numbers and lists always have a TOML form")
    }

    /// This configuration where it says something, `other` where it does not.
    pub fn or(self, other: RawConfig) -> RawConfig {
        RawConfig {
            crawl: self.crawl.or(other.crawl),
            politeness: self.politeness.or(other.politeness),
            identity: self.identity.or(other.identity),
            fetch: self.fetch.or(other.fetch),
            network: self.network.or(other.network),
            archive: self.archive.or(other.archive),
        }
    }

    /// Turns it into something that can be run.
    pub fn check(&self) -> Result<Config, ConfigError> {
        Config::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::EXAMPLE;
    use super::super::example::{known_keys, with_all_keys};
    use super::*;

    #[test]
    fn the_example_shows_the_defaults_and_every_key() {
        let example = RawConfig::parse(EXAMPLE, "example").unwrap();
        assert_eq!(example.check().unwrap(), RawConfig::default().check().unwrap());
        let all = RawConfig::parse(&with_all_keys(), "example").unwrap();
        all.check().unwrap();
        // A field that the example does not show would be missing here.
        let shown: toml::Table = all.to_toml().parse().unwrap();
        let count: usize = shown.values().map(|section| section.as_table().unwrap().len()).sum();
        assert_eq!(count, known_keys().len());
        let RawConfig { crawl, politeness, identity, fetch, network, archive } = all;
        let empty = RawConfig::default();
        for (section, left) in [
            (
                "crawl",
                crawl.seeds.is_none()
                    || crawl.scope.is_none()
                    || crawl.max_pages.is_none()
                    || crawl.max_depth.is_none(),
            ),
            (
                "politeness",
                politeness.delay.is_none()
                    || politeness.crawl_delay_max.is_none()
                    || politeness.retries.is_none(),
            ),
            ("identity", identity.product.is_none() || identity.contact.is_none() || identity.from.is_none()),
            ("fetch", fetch.body_max.is_none() || fetch == empty.fetch),
            (
                "network",
                network.dns.is_none() || network.allow_address.is_none() || network.connect_port.is_none(),
            ),
            ("archive", archive.prefix.is_none() || archive.file_size.is_none() || archive.level.is_none()),
        ] {
            assert!(!left, "[{section}] of the example lacks a key");
        }
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
        let all = RawConfig::parse(&with_all_keys(), "example").unwrap();
        assert_eq!(RawConfig::parse(&all.to_toml(), "again").unwrap(), all);
    }
}
