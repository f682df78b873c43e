//! A web of four names for tests: what a path is called is how it behaves.

use std::net::Ipv4Addr;

use super::Web;
use crate::world::{Answer, Behaviour, EntityTag, Request, Resolution};

/// Where `www.one-sim.com` and `www.two-sim.com` live.
pub(crate) const ONE: Ipv4Addr = Ipv4Addr::new(127, 64, 0, 1);
/// Where `slow.three-sim.com` lives.
pub(crate) const THREE: Ipv4Addr = Ipv4Addr::new(127, 64, 0, 3);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct FakeWeb;

impl Web for FakeWeb {
    fn resolve(&self, name: &str) -> Resolution {
        match name {
            "www.one-sim.com" | "www.two-sim.com" => Resolution::Address(ONE),
            "slow.three-sim.com" => Resolution::Address(THREE),
            "www.failing-sim.com" => Resolution::Failure,
            _ => Resolution::NoSuchName,
        }
    }

    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        let mut answer = Answer {
            status: 200,
            content_type: "text/html",
            location: None,
            retry_after_s: None,
            etag: None,
            last_modified_s: None,
            delay_ms: if request.host == "slow.three-sim.com" { 5_000 } else { 0 },
            behaviour: Behaviour::Respond,
        };
        match request.path_and_query {
            "/reset" => answer.behaviour = Behaviour::Reset,
            "/silent" => answer.behaviour = Behaviour::Silent,
            "/big" => body.resize(1_000_000, b'x'),
            "/moved" => {
                answer.status = 301;
                answer.location = Some("http://www.two-sim.com/".to_owned());
            }
            "/busy" => {
                answer.status = 503;
                answer.retry_after_s = Some(120);
            }
            "/tagged" if request.if_none_match == Some("\"0000000000000042\"") => answer.status = 304,
            "/tagged" if request.if_modified_since_s.is_some_and(|since_s| since_s >= 86_400) => {
                answer.status = 304
            }
            "/tagged" => {
                answer.etag = Some(EntityTag(0x42));
                answer.last_modified_s = Some(86_400);
                body.extend_from_slice(b"tagged");
            }
            path => {
                let text = format!("{} {} for {} at {time_s}", request.host, path, request.user_agent);
                body.extend_from_slice(text.as_bytes());
            }
        }
        answer
    }

    fn forbidden(&self, _host: &str, path: &str) -> bool {
        path.starts_with("/private/")
    }

    fn crawl_delay_ms(&self, host: &str) -> Option<u64> {
        (host == "slow.three-sim.com").then_some(2_000)
    }
}
