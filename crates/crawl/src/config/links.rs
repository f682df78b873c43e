//! `[links]`: which links are followed, as the crawl uses it.

use std::path::PathBuf;

use mattock_frontier::scope::{ContentTypes, RuleError};
use mattock_frontier::traps::Limits;
use mattock_frontier::{Scope, ScopeRule};

use super::checked::wrong;
use super::{ConfigError, RawLinks};
use crate::rules::{LinkRules, SitemapRules};

/// Which links are followed, beside the rule on hosts and domains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// SURT prefixes of what is wanted; everything if empty.
    pub allow_prefixes: Vec<String>,
    /// SURT prefixes of what is not.
    pub deny_prefixes: Vec<String>,
    /// Expressions for what is wanted; everything if empty.
    pub allow_patterns: Vec<String>,
    /// Expressions for what is not.
    pub deny_patterns: Vec<String>,
    /// Content types that are stored; all if empty.
    pub store_types: Vec<String>,
    /// Content types that are not.
    pub drop_types: Vec<String>,
    /// A file of what must not be touched, read again when it changes.
    pub blocklist: Option<PathBuf>,
}

impl LinkConfig {
    pub(super) fn new(raw: &RawLinks) -> Result<LinkConfig, ConfigError> {
        let list = |texts: &Option<Vec<String>>| texts.clone().unwrap_or_default();
        let config = LinkConfig {
            allow_prefixes: list(&raw.allow_prefixes),
            deny_prefixes: list(&raw.deny_prefixes),
            allow_patterns: list(&raw.allow_patterns),
            deny_patterns: list(&raw.deny_patterns),
            store_types: list(&raw.store_types),
            drop_types: list(&raw.drop_types),
            blocklist: raw.blocklist.as_ref().map(PathBuf::from),
        };
        let any = || Scope::new(ScopeRule::Any, None);
        let say = |key| move |error: RuleError| wrong(key)(error.to_string());
        any().with_prefixes(&config.allow_prefixes, &[]).map_err(say("links.allow_prefixes"))?;
        any().with_prefixes(&[], &config.deny_prefixes).map_err(say("links.deny_prefixes"))?;
        any().with_patterns(&config.allow_patterns, &[]).map_err(say("links.allow_patterns"))?;
        any().with_patterns(&[], &config.deny_patterns).map_err(say("links.deny_patterns"))?;
        ContentTypes::new(&config.store_types, &[]).map_err(say("links.store_types"))?;
        ContentTypes::new(&[], &config.drop_types).map_err(say("links.drop_types"))?;
        config.scope(ScopeRule::Any, None).map_err(say("links.allow_prefixes"))?;
        Ok(config)
    }

    /// The scope of a crawl by this rule, without its seeds.
    pub fn scope(&self, rule: ScopeRule, depth_max: Option<u32>) -> Result<Scope, RuleError> {
        let stored = ContentTypes::new(&self.store_types, &self.drop_types)?;
        let scope = Scope::new(rule, depth_max)
            .with_prefixes(&self.allow_prefixes, &self.deny_prefixes)?
            .with_patterns(&self.allow_patterns, &self.deny_patterns)?;
        Ok(scope.with_content(stored, ContentTypes::default()))
    }
}

/// What links look like that lead into places without end.
pub(super) fn traps(raw: &RawLinks) -> Result<Limits, ConfigError> {
    let default = Limits::default();
    let at_least_one = |key, given: Option<usize>, default| match given {
        Some(0) => Err(wrong(key)("it must be at least 1".into())),
        given => Ok(given.unwrap_or(default)),
    };
    let key = "links.path_segments_max";
    let path_segments_max = at_least_one(key, raw.path_segments_max, default.path_segments_max)?;
    if path_segments_max > 64 {
        return Err(wrong(key)("it must be at most 64".into()));
    }
    Ok(Limits {
        url_bytes_max: at_least_one("links.url_bytes_max", raw.url_bytes_max, default.url_bytes_max)?,
        path_segments_max,
        segment_count_max: at_least_one(
            "links.segment_count_max",
            raw.segment_count_max,
            default.segment_count_max,
        )?,
        parameters_max: raw.parameters_max.unwrap_or(default.parameters_max),
        ..default
    })
}

/// What depends on how a link was found.
pub(super) fn rules(raw: &RawLinks, redirects_max: u8) -> LinkRules {
    let default = LinkRules::default();
    let sitemaps = default.sitemaps;
    LinkRules {
        redirects_max,
        acting_parameters: raw.acting_parameters.clone().unwrap_or(default.acting_parameters),
        sitemaps: SitemapRules {
            read: raw.sitemaps.unwrap_or(sitemaps.read),
            files_max: raw.sitemap_files_max.unwrap_or(sitemaps.files_max),
            ..sitemaps
        },
    }
}
