//! What the servers and the auditor need to know of a web.
//!
//! [`World`] is the web that is served. The trait is there so that a benchmark can serve one page from memory, to tell
//! the server's cost from the world's, and so that tests can have a host that behaves as they wish.

#[cfg(test)]
pub(crate) mod fake;

use std::net::Ipv4Addr;
use std::sync::Arc;

use crate::answer::NameAnswer;
use crate::place::Site;
use crate::robots_txt::RobotsKind;
use crate::world::{Answer, Request, Resolution, World};
use crate::{Script, Security};

/// A web that can be served.
pub trait Web {
    /// What a name (lower case, no dot at its end) stands for.
    fn resolve(&self, name: &str) -> Resolution;

    /// What the name server says of a name. By default what [`Web::resolve`] says.
    fn name_answer(&self, name: &str) -> NameAnswer {
        NameAnswer::Plain(self.resolve(name))
    }

    /// Whether a host is served at an address of the simulation. By default at the one that it resolves to.
    fn lives_at(&self, name: &str, server: Ipv4Addr) -> bool {
        self.resolve(name) == Resolution::Address(server)
    }

    /// What a server does to a peer that begins with a TLS handshake. By default it is told that this is no HTTP.
    fn handshake(&self, _server: Ipv4Addr) -> Option<Arc<Script>> {
        None
    }

    /// How a server secures connections that begin with a TLS handshake. By default it does not.
    fn security(&self, _server: Ipv4Addr) -> Option<Security> {
        None
    }

    /// Answers a request; `body` is cleared and filled.
    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer;

    /// Whether robots.txt forbids a path. By default nothing is.
    fn forbidden(&self, _host: &str, _path_and_query: &str) -> bool {
        false
    }

    /// The delay that a host's robots.txt asks for. By default none does.
    fn crawl_delay_ms(&self, _host: &str) -> Option<u64> {
        None
    }
}

impl Web for World {
    fn resolve(&self, name: &str) -> Resolution {
        World::resolve(self, name)
    }

    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        World::answer(self, request, time_s, body)
    }

    fn forbidden(&self, host: &str, path_and_query: &str) -> bool {
        World::forbidden(self, host, path_and_query)
    }

    fn crawl_delay_ms(&self, host: &str) -> Option<u64> {
        // An alias only redirects; whether its robots.txt binds it is the crawler's choice.
        let Some(Site::Host { domain, index }) = self.site_named(host) else { return None };
        let asks = self.robots_kind(domain, index) == RobotsKind::Delay;
        asks.then(|| (self.params().crawl_delay_s * 1000.0).round() as u64)
    }
}
