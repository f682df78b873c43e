//! A small web in which nothing goes wrong: what stands beside the hostile hosts.

use std::net::Ipv4Addr;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::reply;
use crate::answer::{HTML, TEXT};
use crate::web::Web;
use crate::world::{Answer, Request, Resolution};

const DOMAIN: &str = "-healthy-sim.com";
/// Paragraphs that make a page about 20 KB.
const PARAGRAPHS: u64 = 200;

/// `www0-healthy-sim.com`, `www1…`: each with pages from `/` to `/page/N`, all linked from the home page.
#[derive(Clone, Copy, Debug, Default)]
pub struct HealthyWeb {
    hosts: u32,
    pages: u32,
}

impl HealthyWeb {
    /// So many hosts (65,000 at most), with so many pages each beside their home pages.
    pub fn new(hosts: u32, pages: u32) -> HealthyWeb {
        HealthyWeb { hosts: hosts.min(65_000), pages }
    }

    /// Where a crawl begins: the hosts do not link to each other.
    pub fn seeds(&self) -> Vec<String> {
        (0..self.hosts).map(|host| format!("http://www{host}{DOMAIN}/")).collect()
    }

    /// The truth: the URLs of all pages.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        let pages = self.pages;
        self.seeds().into_iter().flat_map(move |home| {
            let others = (1..=pages).map({
                let home = home.clone();
                move |page| format!("{home}page/{page}")
            });
            std::iter::once(home).chain(others)
        })
    }

    fn host(&self, name: &str) -> Option<u32> {
        let number = name.strip_suffix(DOMAIN)?.strip_prefix("www")?;
        number.parse().ok().filter(|host| *host < self.hosts)
    }
}

impl Web for HealthyWeb {
    fn resolve(&self, name: &str) -> Resolution {
        self.host(name).map_or(Resolution::NoSuchName, |host| {
            Resolution::Address(Ipv4Addr::new(127, 203, (host >> 8) as u8, host as u8))
        })
    }

    fn answer(&self, request: &Request<'_>, _: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        match request.path_and_query {
            "/robots.txt" => {
                body.extend_from_slice(b"User-agent: *\nDisallow:\n");
                return Answer::new(200, TEXT);
            }
            "/" => {
                let links: Vec<String> = (1..=self.pages).map(|page| format!("/page/{page}")).collect();
                body.extend_from_slice(reply::page("A healthy host", &links).as_bytes());
            }
            path => {
                let page = path.strip_prefix("/page/").and_then(|page| page.parse::<u32>().ok());
                if !page.is_some_and(|page| (1..=self.pages).contains(&page)) {
                    return Answer::status(404, body);
                }
                body.extend_from_slice(reply::page(path, &["/".to_owned()]).as_bytes());
                // No two pages say the same, or a crawler that looks for news would find none.
                let page = xxh3_64_with_seed(path.as_bytes(), xxh3_64(request.host.as_bytes()));
                for paragraph in 0..PARAGRAPHS {
                    body.extend_from_slice(b"<p>");
                    reply::spell(page.wrapping_mul(2 * paragraph + 1), body);
                    body.push(b'\n');
                }
            }
        }
        Answer::new(200, HTML)
    }
}
