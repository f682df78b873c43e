//! A Web for benchmarks: every page is nothing but links, and all answer alike and at once, so that what varies is the crawler.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mattock_simweb::{Answer, Request, Resolution, Web};
use xxhash_rust::xxh3::xxh3_64;

/// Where to begin.
pub(super) const SEED: &str = "http://h0-sim.com/0";

const HOSTS: u64 = 4000;
/// Paragraphs of a page.
const PARAGRAPHS: u64 = 200;

/// A Web that is nothing but links.
pub(super) struct Thicket {
    pages: u64,
    links: u64,
    asked: Arc<AtomicU64>,
}

impl Thicket {
    /// Of so many pages, of which every paragraph is a link; counts what is asked of it.
    pub(super) fn new(pages: u64, asked: Arc<AtomicU64>) -> Thicket {
        Thicket { pages, links: PARAGRAPHS, asked }
    }

    /// Of so many pages with so few links that a crawl hardly sorts and merges: it does the same all the time.
    pub(super) fn sparse(pages: u64, links: u64) -> Thicket {
        Thicket { pages, links, asked: Arc::default() }
    }
}

impl Web for Thicket {
    fn resolve(&self, name: &str) -> Resolution {
        let hash = xxh3_64(name.as_bytes());
        Resolution::Address(Ipv4Addr::new(127, 210, (hash >> 8) as u8, hash as u8))
    }

    fn answer(&self, request: &Request<'_>, _: u64, body: &mut Vec<u8>) -> Answer {
        if request.path_and_query == "/robots.txt" {
            body.clear();
            return Answer::new(404, "text/plain");
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        body.clear();
        body.extend_from_slice(b"<!DOCTYPE html><title>A thicket</title>");
        let mut state = xxh3_64(request.path_and_query.as_bytes()) ^ xxh3_64(request.host.as_bytes());
        for paragraph in 0..PARAGRAPHS {
            state = xxh3_64(&state.to_le_bytes());
            let page = state % self.pages;
            let text = if paragraph < self.links {
                format!("<p>{state:x} <a href=http://h{}-sim.com/{page}>{page}</a>\n", page % HOSTS)
            } else {
                format!("<p>{state:x} <b title=http.//h{}-sim.com/{page}>{page}</b>\n", page % HOSTS)
            };
            body.extend_from_slice(text.as_bytes());
        }
        Answer::new(200, "text/html")
    }
}
