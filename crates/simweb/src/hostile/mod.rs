//! The hostile Web: what servers, name servers and pages do to crawlers, one entry per behaviour.
//!
//! The [`catalogue`] is the table: id, short name, what the server does, what is expected of a crawler, and the code
//! that does it. A [`HostileWeb`] serves it around another web whose hosts stay healthy, so that a crawl can be held to
//! both: each hostile host comes to its expected end, and everything healthy is fetched.
//!
//! A behaviour lives on hosts named by its id: `t07-hostile-sim.com`, and numbered copies `t07-3-hostile-sim.com` so that
//! many can run at once. Each has an address of its own, a healthy robots.txt that forbids `/never/` (unless robots.txt is
//! the behaviour), and a home page that links to what is hostile. Some have hosts below, like `mixed.d05-hostile-sim.com`.
//!
//! | file | ids |
//! |---|---|
//! | `transport` | T01–T19: connections and HTTP/1.1 |
//! | `tls` | T20–T23 |
//! | `coding` | C01–C08 |
//! | `redirects` | R01–R08 |
//! | `names` | D01–D15: DNS and addresses |
//! | `robots` | B01–B15 |
//! | `traps` | S01–S09 |
//! | `content` | P01–P20 |
//!
//! Costs: bombs are made once and are small; endless bodies are made while they are sent. The only state is how often
//! each name was asked for, and that is bounded.

mod coding;
mod content;
mod healthy;
mod names;
mod redirects;
mod reply;
mod robots;
mod tls;
mod transport;
mod traps;
mod web;

#[cfg(test)]
mod secured_tests;
#[cfg(test)]
mod tests;

pub use healthy::HealthyWeb;
pub use web::HostileWeb;

use std::net::Ipv4Addr;

use crate::answer::NameAnswer;
use crate::{Script, Security};

/// The domain that all hostile hosts are under.
/// Every behaviour, and every copy of it, is a domain of its own.
const DOMAIN: &str = "-hostile-sim.com";
/// An address that a crawler must not connect to, whatever else it was allowed.
const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// One behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Hostility {
    /// Its id: a letter for the group, and a number.
    pub id: &'static str,
    /// A few words.
    pub name: &'static str,
    /// What the server does.
    pub does: &'static str,
    /// What a crawler should make of it.
    pub expected: &'static str,
    /// What the home page links to; `{host}` stands for the host's name.
    links: &'static [&'static str],
    /// What is not answered here is answered in the ordinary way.
    answer: fn(&Ask<'_>) -> Option<Script>,
    /// What the name server says of the host and of the names below it.
    names: Option<fn(&NameAsk<'_>) -> NameAnswer>,
    /// What becomes of a TLS handshake with this copy of the host.
    handshake: Option<fn(u32) -> Script>,
    /// How this copy of the host, of this name, secures its connections.
    security: Option<fn(u32, &str) -> Security>,
}

/// A request to a hostile host.
#[derive(Clone, Copy, Debug)]
struct Ask<'a> {
    /// The host's name without what is before its id: `d05-2-hostile-sim.com`.
    host: &'a str,
    /// What is before: `mixed` in `mixed.d05-2-hostile-sim.com`, and empty as a rule.
    below: &'a str,
    path: &'a str,
    time_s: u64,
}

/// A question for a hostile name.
#[derive(Clone, Copy, Debug)]
struct NameAsk<'a> {
    host: &'a str,
    below: &'a str,
    /// Where the host is.
    address: Ipv4Addr,
    /// How often the name was asked for before.
    asked: u64,
}

impl Hostility {
    const fn new(
        id: &'static str,
        name: &'static str,
        does: &'static str,
        expected: &'static str,
        links: &'static [&'static str],
        answer: fn(&Ask<'_>) -> Option<Script>,
    ) -> Hostility {
        Hostility { id, name, does, expected, links, answer, names: None, handshake: None, security: None }
    }

    const fn with_names(mut self, names: fn(&NameAsk<'_>) -> NameAnswer) -> Hostility {
        self.names = Some(names);
        self
    }

    const fn with_handshake(mut self, handshake: fn(u32) -> Script) -> Hostility {
        self.handshake = Some(handshake);
        self
    }

    const fn with_security(mut self, security: fn(u32, &str) -> Security) -> Hostility {
        self.security = Some(security);
        self
    }

    /// The name of a host that behaves like this; copies count from 0.
    pub fn host(&self, copy: u32) -> String {
        let id = self.id.to_ascii_lowercase();
        if copy == 0 { format!("{id}{DOMAIN}") } else { format!("{id}-{copy}{DOMAIN}") }
    }

    /// Where a crawl of that host begins.
    pub fn seed(&self, copy: u32) -> String {
        format!("http://{}/", self.host(copy))
    }
}

const GROUPS: [&[Hostility]; 8] = [
    &transport::TABLE,
    &tls::TABLE,
    &coding::TABLE,
    &redirects::TABLE,
    &names::TABLE,
    &robots::TABLE,
    &traps::TABLE,
    &content::TABLE,
];

/// All behaviours in the order of the groups.
pub fn catalogue() -> impl Iterator<Item = &'static Hostility> {
    GROUPS.into_iter().flatten()
}

/// The behaviour with this id, in upper or lower case.
pub fn hostility(id: &str) -> Option<&'static Hostility> {
    catalogue().find(|entry| entry.id.eq_ignore_ascii_case(id))
}

/// Nothing but the ordinary answers.
fn ordinary(_: &Ask<'_>) -> Option<Script> {
    None
}
