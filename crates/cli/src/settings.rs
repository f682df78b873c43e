//! From flags and files to one configuration, for all commands that make requests.

use std::path::Path;

use anyhow::Result;
use mattock_crawl::RawConfig;
use mattock_crawl::config::{RawFetch, RawIdentity, RawNetwork, RawTls};
use mattock_env::Env;

use crate::args::network::NetworkArgs;
use crate::exit::{Usage, read_named};

/// What the flags say, and below them the file that they name.
pub(crate) fn asked(env: &Env, flags: RawConfig, network: &NetworkArgs) -> Result<RawConfig> {
    let flags = flags.or(network_flags(network));
    Ok(match &network.config {
        Some(path) => flags.or(read_config(env, path)?),
        None => flags,
    })
}

/// The configuration in a file, with what the files say that it names.
pub(crate) fn read_config(env: &Env, path: &Path) -> Result<RawConfig> {
    let place = path.display().to_string();
    let mut config = RawConfig::parse(&read_named(env, path)?, &place)?;
    config.read_files(&env.files, path.parent().unwrap_or(Path::new("")), &place)?;
    Ok(config)
}

fn network_flags(args: &NetworkArgs) -> RawConfig {
    RawConfig {
        identity: RawIdentity { contact: args.contact.clone(), ..Default::default() },
        fetch: RawFetch { headers: some(&args.headers), ..Default::default() },
        network: RawNetwork {
            dns: some(&args.dns),
            allow_address: some(&args.allow_address),
            connect_port: some(&args.connect_port),
            proxy: args.proxy.clone(),
            ..Default::default()
        },
        tls: RawTls { verify: args.verify.then_some(true), ..Default::default() },
        ..RawConfig::default()
    }
}

/// A list, unless it is empty: then nothing was said.
pub(crate) fn some(list: &[String]) -> Option<Vec<String>> {
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
