//! The configuration: one TOML file, commented, with unknown keys refused.
//!
//! [`RawConfig`] is what stands in a file or comes from flags, every field optional. Raw configs are laid over each
//! other ([`RawConfig::or`]: flags over environment over file over what the crawl was begun with) and then checked
//! once, by [`RawConfig::check`], into a [`Config`] whose fields need no further questions.

mod analyzers;
mod archive;
mod checked;
mod checkpoint;
mod example;
mod links;
mod raw;
mod secrets;
mod steering;
mod unknown;
mod values;

pub use analyzers::AnalyzerOptions;
pub(crate) use archive::REVISITS_MAX;
pub use archive::RawCompression;
pub use checked::Config;
pub use checkpoint::CheckpointOptions;
pub use example::EXAMPLE;
pub use links::LinkConfig;
pub use raw::{
    RawAnalyzers, RawArchive, RawBudget, RawCheckpoint, RawConfig, RawCrawl, RawFetch, RawIdentity, RawLinks,
    RawLog, RawNetwork, RawOrder, RawPoliteness, RawScope, RawSpeed, RawTls, RawWatch,
};
pub use secrets::{RawCredential, RawHeader, RawSecret};
pub use steering::RawSchedule;
pub use unknown::nearest;
pub(crate) use values::certificates;

#[cfg(test)]
pub(crate) use {example::known_keys as every_key, values::AUTHORITY as KNOWN_AUTHORITY};

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// The file, or where else it came from.
        place: String,
        /// What the parser says, with line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: unknown key `{key}`{}", suggestion.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?")))]
    UnknownKey {
        /// The file, or where else it came from.
        place: String,
        /// The key with its section.
        key: String,
        /// The known key that is most like it.
        suggestion: Option<String>,
    },
    /// A value that means nothing.
    #[error("{}{key}: {message}", place.as_ref().map_or(String::new(), |place| format!("{place}: ")))]
    Value {
        /// The file, if it came from one.
        place: Option<String>,
        /// The key with its section.
        key: &'static str,
        /// What is wrong with it and how to write it.
        message: String,
    },
}

impl ConfigError {
    /// The same, with the place it comes from.
    fn at(mut self, name: &str) -> ConfigError {
        if let ConfigError::Value { place, .. } = &mut self {
            *place = Some(name.to_owned());
        }
        self
    }
}
