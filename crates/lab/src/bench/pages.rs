//! Pages of the simulated Web that benchmarks ask for: about 20 KB, about 60 links, answered at once.

use std::net::Ipv4Addr;

use mattock_simweb::{Params, Preset, Request, Resolution, World};

/// Bytes of a page, about.
pub(super) const PAGE_BYTES: usize = 20_000;

/// One page that is asked for.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: Ipv4Addr,
    pub(super) host: String,
    pub(super) path: String,
}

impl Target {
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    pub(super) fn secure_url(&self) -> String {
        format!("https://{}{}", self.host, self.path)
    }
}

/// The world that benchmarks use.
pub(super) fn world() -> World {
    World::new(Params::preset(Preset::Small), 1)
}

/// Pages of many hosts.
pub(super) fn targets(world: &World) -> Vec<Target> {
    let truth = world.truth(1_000_000).expect("a world of 50,000 pages is within the limit");
    let mut body = Vec::new();
    let mut targets = Vec::new();
    for url in truth.pages.iter().step_by(5) {
        let Some(rest) = url.strip_prefix("http://") else { continue };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let request = Request { host, path_and_query: path, ..Request::default() };
        let answer = world.answer(&request, 0, &mut body);
        if let Resolution::Address(address) = world.resolve(host)
            && answer.delay_ms == 0
            && answer.content_type.starts_with("text/html")
            && body.len().abs_diff(PAGE_BYTES) < PAGE_BYTES / 20
        {
            targets.push(Target { address, host: host.to_owned(), path: path.to_owned() });
        }
    }
    targets
}
