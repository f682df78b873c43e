//! Which addresses a host has, and what the guard makes of each.

use std::net::IpAddr;

use mattock_crawl::Config;
use mattock_env::Env;
use mattock_fetch::{AddressGuard, Failure, NameServers, Resolver};
use mattock_weburl::WebUrl;
use serde::Serialize;

use super::text::ms;

/// What was found out before anything was connected to.
#[derive(Debug, Serialize)]
pub(crate) struct Addresses {
    /// The proxy that everything goes through; it finds the addresses then.
    pub(crate) proxy: Option<String>,
    /// Whether they stand in the hosts file that was named.
    pub(crate) written: bool,
    /// Whom was asked; nobody if the URL has an address in it, or the hosts file does.
    pub(crate) name_servers: Vec<String>,
    pub(crate) found: Vec<Found>,
    /// Why none were found: the name of an outcome.
    pub(crate) failure: Option<&'static str>,
    /// How long that took.
    pub(crate) ms: f64,
}

/// One address.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) address: IpAddr,
    /// Whether it may be connected to.
    pub(crate) permitted: bool,
    /// Whether it is a public one; others are permitted only where the user opened them.
    pub(crate) public: bool,
}

/// Looks a host up, without a cache.
pub(crate) async fn find(env: &Env, config: &Config, url: &WebUrl) -> Addresses {
    let mut addresses = Addresses {
        proxy: None,
        written: false,
        name_servers: Vec::new(),
        found: Vec::new(),
        failure: None,
        ms: 0.0,
    };
    if let Some(proxy) = &config.proxy {
        addresses.proxy = Some(format!("{}:{}", proxy.host, proxy.port));
        return addresses;
    }
    let begun = env.clock.now();
    let found = match url.ip() {
        Some(address) => Ok(vec![address]),
        None => {
            let servers = config.name_servers.clone().unwrap_or_else(|| NameServers::of_system(&env.files));
            addresses.written = config.hosts.get(url.host_name(), config.families).is_some();
            if !addresses.written {
                addresses.name_servers = servers.0.iter().map(ToString::to_string).collect();
            }
            let resolver = Resolver::new(env, servers, config.families, 16).with_hosts(config.hosts.clone());
            match env.clock.timeout(config.limits.resolve, resolver.resolve(url.host_name())).await {
                Ok(answer) => answer.map(|found| found.to_vec()),
                Err(_) => Err(Failure::NameTimeout),
            }
        }
    };
    addresses.ms = ms(env.clock.now().since(begun));
    match found {
        Ok(found) => {
            let (guard, public) =
                (AddressGuard::allowing(config.allow_address.clone()), AddressGuard::default());
            addresses.found = found
                .into_iter()
                .map(|address| Found {
                    address,
                    permitted: guard.permits(address),
                    public: public.permits(address),
                })
                .collect();
        }
        Err(failure) => addresses.failure = Some(failure.name()),
    }
    addresses
}
