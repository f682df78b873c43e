//! From flags and files to one configuration, for all commands that make requests.

use std::path::Path;

use anyhow::Result;
use mattock_crawl::RawConfig;
use mattock_crawl::config::{RawCredential, RawFetch, RawHeader, RawIdentity, RawNetwork, RawSecret, RawTls};
use mattock_env::Env;
use mattock_fetch::{Site, is_credential_name};
use mattock_secret::Source;
use mattock_weburl::WebUrl;

use crate::args::network::NetworkArgs;
use crate::exit::{Usage, read_named};
use crate::places;

/// The variable that stands for `--proxy`.
const PROXY_VARIABLE: &str = "MATTOCK_PROXY";

/// Flags, with the contents of files that they name, above the configuration that they name, with its secrets. `only` is the URL that is asked for, if it is but one.
pub(crate) fn asked(flags: RawConfig, network: &NetworkArgs, only: Option<&WebUrl>) -> Result<RawConfig> {
    let mut flags = flags.or(network_flags(network, only));
    flags.read_files(&places::named(), Path::new(""), "")?;
    let mut asked = match &network.config {
        Some(path) => flags.or(read_config(path)?),
        None => flags,
    };
    asked.fetch_secrets(&places::named())?;
    Ok(asked)
}

/// The configuration in a file, with what the files say that it names. Its secrets are not fetched.
pub(crate) fn read_config(path: &Path) -> Result<RawConfig> {
    let (place, files) = (path.display().to_string(), places::named());
    let mut config = RawConfig::parse(&read_named(path)?, &place)?;
    config.read_files(&files, path.parent().unwrap_or(Path::new("")), &place)?;
    if config.holds_secret() && !files.is_private(path).unwrap_or(true) {
        say!(
            "warning: a secret stands in {place}, which others on this machine can read; `chmod 600 {place}`"
        );
    }
    Ok(config)
}

/// Says so if a secret stands on the command line, where `ps` shows it to everybody on this machine.
pub(crate) fn warn_if_visible(flag: &str, secret: &str, instead: &str) {
    if is_visible(secret) {
        say!("warning: others on this machine can see what follows {flag} on the command line; {instead}");
    }
}

fn is_visible(secret: &str) -> bool {
    std::env::args_os().skip(1).any(|argument| argument.to_string_lossy().contains(secret))
}

/// The proxy that a flag or its variable names. One with a password is remembered by the variable, not by itself.
fn proxy(text: &str) -> RawSecret {
    if !text.contains('@') {
        return text.into();
    }
    let instead =
        "put it into MATTOCK_PROXY, or name its place in the configuration: proxy = { file = \"PATH\" }";
    warn_if_visible("--proxy", text, instead);
    match std::env::var(PROXY_VARIABLE).is_ok_and(|value| value == text) {
        true => RawSecret::new(Source::Env(PROXY_VARIABLE.to_owned())),
        false => text.into(),
    }
}

/// A request field that a flag names. One of credentials is for the one URL that is asked for, if it is but one.
fn header(line: &str, only: Option<&WebUrl>) -> RawHeader {
    let credential = line.split_once(':').filter(|(name, _)| is_credential_name(name.trim()));
    if let Some((_, value)) = credential {
        let instead =
            "put it into MATTOCK_HEADER, or name its place in the configuration: value = { file = \"PATH\" }";
        warn_if_visible("--header", value.trim(), instead);
    }
    match (credential, only.and_then(|url| Site::of(url).ok())) {
        (Some((name, value)), Some(site)) => RawHeader::Secret(RawCredential {
            name: name.trim().to_owned(),
            value: value.trim().into(),
            hosts: vec![site.to_string()],
        }),
        _ => RawHeader::Line(line.to_owned()),
    }
}

fn network_flags(args: &NetworkArgs, only: Option<&WebUrl>) -> RawConfig {
    let headers: Vec<RawHeader> = args.headers.iter().map(|line| header(line, only)).collect();
    RawConfig {
        identity: RawIdentity { contact: args.contact.clone(), ..Default::default() },
        fetch: RawFetch { headers: some(&headers), ..Default::default() },
        network: RawNetwork {
            dns: some(&args.dns),
            hosts: args.hosts.clone(),
            allow_address: some(&args.allow_address),
            connect_port: some(&args.connect_port),
            proxy: args.proxy.as_deref().map(proxy),
            ..Default::default()
        },
        tls: RawTls { verify: args.verify.then_some(true), ..Default::default() },
        ..RawConfig::default()
    }
}

/// A list, unless it is empty: then nothing was said.
pub(crate) fn some<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// Refuses a directory that cannot be made because a file is in the way, and names the file.
pub(crate) fn check_directory(env: &Env, directory: &Path) -> Result<()> {
    let in_the_way = directory.ancestors().filter(|path| !path.as_os_str().is_empty()).find(|path| {
        // What cannot be looked at is told by whoever needs it.
        env.files.entry(path).ok().flatten().is_some_and(|entry| !entry.is_dir)
    });
    match in_the_way {
        None => Ok(()),
        Some(file) if file == directory => {
            Err(Usage(format!("{} is a file; name a directory with --out", file.display())).into())
        }
        Some(file) => Err(Usage(format!(
            "{} is a file, so there is no directory {}; name another with --out",
            file.display(),
            directory.display()
        ))
        .into()),
    }
}
