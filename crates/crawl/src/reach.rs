//! Settings that reach beyond the crawl's directory: they hold for the user who set them, on the machine where that was.
//!
//! A directory can be anybody's. Whoever goes on with somebody else's crawl must not run a command, ask a proxy or name server, connect to
//! addresses of their own network, or read a file of theirs, because a configuration that they have not written says so. `mattock_env`'s
//! [`Trusted`] remembers who has set what; a new crawl, a flag or a named file is the word of whoever gives it.

use std::path::{Path, PathBuf};

use mattock_env::{Env, Reach, Trusted};
use sha2::{Digest as _, Sha256};

use crate::config::AnalyzerOptions;
use crate::{CrawlError, RawConfig};

/// All that a configuration asks for beyond its directory.
pub(crate) fn of(config: &RawConfig, root: &Path) -> Vec<Reach> {
    let mut reaches = Vec::new();
    let mut add = |kind, what: &str| reaches.push(Reach::new(kind, what));
    for command in config.watch.on_alert.iter().filter(|command| !command.trim().is_empty()) {
        add("watch.on_alert", command);
    }
    for (key, place, _) in config.secret_places() {
        add(key, &place);
    }
    for server in config.network.dns.iter().flatten() {
        add("network.dns", server);
    }
    for hosts in config.network.hosts.iter().filter(|hosts| !hosts.trim().is_empty()) {
        add("network.hosts", &format!("a list of names with the checksum {}", checksum(hosts.as_bytes())));
    }
    for range in config.network.allow_address.iter().flatten() {
        add("network.allow_address", range);
    }
    for name in config.network.allow_name.iter().flatten() {
        add("network.allow_name", name);
    }
    for authority in config.tls.extra_roots.iter().flatten() {
        add("tls.extra_roots", &fingerprint(authority));
    }
    let elsewhere = config.links.blocklist.iter().filter(|path| !is_within(root, path));
    reaches.extend(elsewhere.map(|path| blocklist(path)));
    reaches
}

/// Files elsewhere that whoever looks at a crawl needs, as far as this user stands for them: its blocklist.
pub(crate) fn readable(env: &Env, root: &Path, config: &RawConfig) -> Option<PathBuf> {
    let path = config.links.blocklist.as_ref().filter(|path| !is_within(root, path))?;
    Trusted::read(&env.user, &env.files, root).covers(&blocklist(path)).then(|| PathBuf::from(path))
}

fn blocklist(path: &str) -> Reach {
    Reach::new("links.blocklist", path)
}

/// An authority by its certificates, whatever text stands around them.
fn fingerprint(authority: &str) -> String {
    let certificates = crate::config::certificates(authority).unwrap_or_default();
    certificates.iter().map(|certificate| checksum(certificate)).collect::<Vec<_>>().join(" ")
}

fn checksum(bytes: &[u8]) -> String {
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&Sha256::digest(bytes)))
}

fn is_within(root: &Path, path: impl AsRef<Path>) -> bool {
    let is_below = |root: &Path| path.as_ref().strip_prefix(root).is_ok();
    is_below(root) || std::path::absolute(root).is_ok_and(|root| is_below(&root))
}

/// What of it whoever asks the crawl later will need: limits of analyzers above the defaults, and analyzers that lie elsewhere.
fn of_analyzers(options: &AnalyzerOptions, root: &Path) -> Vec<Reach> {
    let elsewhere = options.modules.iter().filter(|path| !is_within(root, path));
    let mut reaches: Vec<Reach> = elsewhere.map(|path| module(path)).collect();
    if options.exceed_defaults() {
        reaches.push(limits(options));
    }
    reaches
}

fn module(path: &Path) -> Reach {
    Reach::new("analyzers.modules", path.display().to_string())
}

fn limits(options: &AnalyzerOptions) -> Reach {
    Reach::new("analyzers", format!("fuel {}, memory {}", options.fuel, options.memory_bytes))
}

/// What of a crawl's configuration its user stands for.
pub(crate) struct Standing {
    trusted: Trusted,
    wanted: Vec<Reach>,
}

impl Standing {
    /// Refuses a configuration that asks for more than what this user has `asked` for now, has set here before, or confirms.
    pub(crate) fn of(
        env: &Env,
        root: &Path,
        asked: &RawConfig,
        merged: &RawConfig,
    ) -> Result<Standing, CrawlError> {
        let trusted = Trusted::read(&env.user, &env.files, root);
        let (own, mut wanted) = (of(asked, root), of(merged, root));
        let foreign = trusted.uncovered(wanted.iter().filter(|reach| !own.contains(reach)));
        if !foreign.is_empty() {
            return Err(CrawlError::Untrusted { path: root.to_path_buf(), reaches: foreign });
        }
        // A crawl itself has no use for these.
        let own = of_analyzers(&asked.check_saved()?.analyzers, root);
        let known = of_analyzers(&merged.check_saved()?.analyzers, root).into_iter();
        wanted.extend(known.filter(|reach| own.contains(reach) || trusted.covers(reach)));
        Ok(Standing { trusted, wanted })
    }

    /// Files elsewhere that it names, and that can be read.
    pub(crate) fn outside(&self, config: &RawConfig) -> Vec<PathBuf> {
        let secrets = config.secret_places().into_iter().filter_map(|(_, _, file)| file);
        secrets.chain(config.links.blocklist.as_ref().map(PathBuf::from)).collect()
    }

    /// Remembers it for the next run. Where that is not possible the next one asks.
    pub(crate) fn keep(mut self) {
        if let Err(error) = self.trusted.confirm(&self.wanted) {
            let message = "who has set the commands, proxies and addresses of this crawl cannot be remembered; the next run asks for --trust";
            tracing::warn!(%error, message);
        }
    }
}

/// The analyzers of a crawl's configuration, as far as whoever asks the crawl stands for them.
#[derive(Clone, Debug, Default)]
pub struct GrantedAnalyzers {
    /// As configured, but with no limit above the defaults that this user does not stand for.
    pub options: AnalyzerOptions,
    /// Modules elsewhere that this user stands for: these can be read.
    pub elsewhere: Vec<PathBuf>,
    /// Whether limits were lowered.
    pub lowered: bool,
}

impl GrantedAnalyzers {
    /// Those of a configuration that the user has named.
    pub fn named(options: AnalyzerOptions) -> GrantedAnalyzers {
        GrantedAnalyzers { elsewhere: options.modules.clone(), options, lowered: false }
    }

    pub(crate) fn of(env: &Env, root: &Path, mut options: AnalyzerOptions) -> GrantedAnalyzers {
        let mut trusted = Trusted::read(&env.user, &env.files, root);
        if env.user.confirms() {
            // Where it cannot be remembered it holds all the same, this once.
            let _ = trusted.confirm(&of_analyzers(&options, root));
        }
        let lowered = options.exceed_defaults() && !trusted.covers(&limits(&options));
        if lowered {
            options.lower_to_defaults();
        }
        let is_granted = |path: &&PathBuf| !is_within(root, path) && trusted.covers(&module(path));
        let elsewhere = options.modules.iter().filter(is_granted).cloned().collect();
        GrantedAnalyzers { options, elsewhere, lowered }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{KNOWN_AUTHORITY, every_key};

    /// Keys whose values lead out of the directory, or let something out that stays otherwise. Limits of analyzers are looked at apart.
    const REACHING: [&str; 9] = [
        "fetch.headers",
        "links.blocklist",
        "network.allow_address",
        "network.allow_name",
        "network.dns",
        "network.hosts",
        "network.proxy",
        "tls.extra_roots",
        "watch.on_alert",
    ];

    /// Sections that decide about the crawl alone: what is asked of public servers and how fast, what is kept, and what that may cost.
    const HARMLESS: [&str; 8] =
        ["archive", "checkpoint", "crawl", "identity", "log", "politeness", "schedule", "speed"];

    /// Likewise, keys of sections that have others too.
    const HARMLESS_KEYS: [&str; 45] = [
        "analyzers.fuel",
        "analyzers.memory_max",
        "analyzers.modules",
        "fetch.body_max",
        "fetch.codings_max",
        "fetch.compressed",
        "fetch.connect_timeout",
        "fetch.connections",
        "fetch.decode_ratio_max",
        "fetch.decoded_max",
        "fetch.first_byte_timeout",
        "fetch.handshake_max",
        "fetch.handshake_timeout",
        "fetch.head_max",
        "fetch.head_timeout",
        "fetch.http2",
        "fetch.idle_timeout",
        "fetch.interim_max",
        "fetch.redirects_max",
        "fetch.resolve_timeout",
        "fetch.speed_grace",
        "fetch.speed_min",
        "fetch.total_timeout",
        "links.acting_parameters",
        "links.allow_patterns",
        "links.allow_prefixes",
        "links.deny_patterns",
        "links.deny_prefixes",
        "links.drop_types",
        "links.parameters_max",
        "links.path_segments_max",
        "links.segment_count_max",
        "links.sitemap_files_max",
        "links.sitemaps",
        "links.store_types",
        "links.url_bytes_max",
        "network.connect_port",
        "network.families",
        "network.ports",
        "tls.verify",
        "watch.disk_free_min",
        "watch.dns_failures",
        "watch.errors_factor",
        "watch.memory_max",
        "watch.stall",
    ];

    #[test]
    fn a_new_key_is_looked_at() {
        let is_harmless =
            |key: &String| key.split_once('.').is_some_and(|(section, _)| HARMLESS.contains(&section));
        let known: BTreeSet<String> = every_key().into_iter().filter(|key| !is_harmless(key)).collect();
        let judged = REACHING.iter().chain(&HARMLESS_KEYS).map(|key| (*key).to_owned());
        let judged: BTreeSet<String> = judged.collect();
        assert_eq!(
            known, judged,
            "a key that leads out of the directory belongs into `of`, and every key here"
        );
    }

    #[test]
    fn what_leads_out_of_the_directory_is_known() {
        let text = format!(
            "[watch]\non_alert = 'mail us'\n[fetch]\nheaders = [{{ name = 'Cookie', value = {{ env = 'C' }}, hosts = ['a.example'] }}]\n\
             [network]\nproxy = {{ file = 'p.secret' }}\ndns = ['192.0.2.1']\nhosts = '''192.0.2.7 a.example\n'''\nallow_address = ['10.0.0.0/8']\nallow_name = ['wiki']\n\
             [links]\nblocklist = '/elsewhere/list'\n[tls]\nextra_roots = ['''{KNOWN_AUTHORITY}''']"
        );
        let config = RawConfig::parse(&text, "crawl.toml").unwrap();
        let reaches = of(&config, Path::new("crawl"));
        let kinds: BTreeSet<&str> = reaches.iter().map(|reach| reach.kind).collect();
        assert_eq!(kinds, REACHING.into_iter().collect(), "{reaches:?}");
        let authority = reaches.iter().find(|reach| reach.kind == "tls.extra_roots").unwrap();
        assert!(authority.what.starts_with("sha256:") && authority.what.len() == 71, "{authority}");
    }
}
