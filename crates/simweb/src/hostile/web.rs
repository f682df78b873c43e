//! The catalogue as a web that can be served, around a web that is not hostile.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use xxhash_rust::xxh3::xxh3_64;

use super::{Ask, DOMAIN, HealthyWeb, Hostility, NameAsk, catalogue, reply};
use crate::answer::{HTML, NameAnswer, NameData, TEXT};
use crate::web::Web;
use crate::world::{Answer, Behaviour, Request, Resolution};
use crate::{Script, Security, answer};

/// Names whose questions are counted; a flood must not fill the server's memory either.
const NAMES_COUNTED_MAX: usize = 100_000;
/// Copies of a host that have an address of their own.
const COPIES_MAX: u32 = 250;

/// Hostile hosts among those of another web.
#[derive(Debug, Default)]
pub struct HostileWeb<W = HealthyWeb> {
    around: W,
    asked: Mutex<BTreeMap<String, u64>>,
    /// Made when they are first needed; a server keeps its certificate.
    securities: Mutex<BTreeMap<Ipv4Addr, Security>>,
}

/// A hostile host that a name stands for.
struct Known<'a> {
    entry: &'static Hostility,
    /// Place in the catalogue.
    index: usize,
    copy: u32,
    host: &'a str,
    below: &'a str,
}

impl<W: Web> HostileWeb<W> {
    /// The whole catalogue, and this web beside it.
    pub fn new(around: W) -> HostileWeb<W> {
        HostileWeb { around, asked: Mutex::default(), securities: Mutex::default() }
    }

    /// The web that is not hostile.
    pub fn around(&self) -> &W {
        &self.around
    }

    /// How often a hostile name was asked for.
    pub fn asked(&self, name: &str) -> u64 {
        self.counts().get(name).copied().unwrap_or_default()
    }

    /// How many hostile names were asked for.
    pub fn names_asked(&self) -> usize {
        self.counts().len()
    }

    /// The address of a hostile host; `None` if there is no such name.
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        known(name).map(|known| known.address())
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        self.asked.lock().expect("no code panics while it holds the counts")
    }
}

/// Takes a name apart: what is below, the id, and the copy.
fn known(name: &str) -> Option<Known<'_>> {
    let labels = name.strip_suffix(DOMAIN)?;
    let (below, label) = labels.rsplit_once('.').unwrap_or(("", labels));
    let (id, copy) = match label.split_once('-') {
        Some((id, copy)) => (id, copy.parse().ok().filter(|copy| (1..COPIES_MAX).contains(copy))?),
        None => (label, 0),
    };
    let (index, entry) = catalogue().enumerate().find(|(_, entry)| entry.id.eq_ignore_ascii_case(id))?;
    let host = if below.is_empty() { name } else { &name[below.len() + 1..] };
    Some(Known { entry, index, copy, host, below })
}

impl Known<'_> {
    /// Hosts below have servers of their own, except where one server for all is the point.
    fn address(&self) -> Ipv4Addr {
        if self.below.is_empty() || self.entry.names.is_some() {
            return Ipv4Addr::new(127, 200, self.index as u8, self.copy as u8 + 1);
        }
        let hash = xxh3_64(format!("{}.{}", self.below, self.host).as_bytes()).to_le_bytes();
        Ipv4Addr::new(127, 204 + hash[0] % 8, hash[1], hash[2])
    }

    fn name_answer(&self, asked: u64) -> NameAnswer {
        let address = self.address();
        match self.entry.names {
            Some(names) => names(&NameAsk { host: self.host, below: self.below, address, asked }),
            None => NameAnswer::Plain(Resolution::Address(address)),
        }
    }

    fn robots_txt(&self) -> String {
        "User-agent: *\nDisallow: /never/\n".to_owned()
    }

    fn home(&self) -> String {
        let links: Vec<String> =
            self.entry.links.iter().map(|link| link.replace("{host}", self.host)).collect();
        reply::page(self.entry.name, &links)
    }
}

impl<W: Web> Web for HostileWeb<W> {
    fn resolve(&self, name: &str) -> Resolution {
        let Some(known) = known(name) else { return self.around.resolve(name) };
        match known.name_answer(0) {
            NameAnswer::Plain(resolution) => resolution,
            NameAnswer::Silence => Resolution::Failure,
            NameAnswer::Records { records, .. } => records
                .iter()
                .find_map(|record| match record.data {
                    NameData::A(address) => Some(Resolution::Address(address)),
                    _ => None,
                })
                .unwrap_or(Resolution::NoSuchName),
        }
    }

    fn name_answer(&self, name: &str) -> NameAnswer {
        let Some(known) = known(name) else { return self.around.name_answer(name) };
        let mut counts = self.counts();
        let asked = match counts.get_mut(name) {
            Some(count) => {
                *count += 1;
                *count - 1
            }
            None => {
                if counts.len() < NAMES_COUNTED_MAX {
                    counts.insert(name.to_owned(), 1);
                }
                0
            }
        };
        drop(counts);
        known.name_answer(asked)
    }

    fn lives_at(&self, name: &str, server: Ipv4Addr) -> bool {
        match known(name) {
            Some(known) => server == known.address() || super::names::is_one_of_many(server),
            None => self.around.lives_at(name, server),
        }
    }

    fn handshake(&self, server: Ipv4Addr) -> Option<Arc<Script>> {
        match server.octets() {
            [127, 200, index, last] => {
                let entry = catalogue().nth(usize::from(index))?;
                entry.handshake.map(|handshake| Arc::new(handshake(u32::from(last.saturating_sub(1)))))
            }
            _ => self.around.handshake(server),
        }
    }

    fn security(&self, server: Ipv4Addr) -> Option<Security> {
        let [127, 200, index, last] = server.octets() else { return self.around.security(server) };
        let (entry, copy) = (catalogue().nth(usize::from(index))?, u32::from(last.checked_sub(1)?));
        let make = entry.security?;
        let mut made = self.securities.lock().expect("no code panics while it holds them");
        Some(made.entry(server).or_insert_with(|| make(copy, &entry.host(copy))).clone())
    }

    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        let Some(known) = known(request.host) else { return self.around.answer(request, time_s, body) };
        body.clear();
        let path = request.path_and_query;
        let ask = Ask { host: known.host, below: known.below, path, time_s };
        if let Some(script) = (known.entry.answer)(&ask) {
            return Answer { behaviour: Behaviour::Script(Arc::new(script)), ..Answer::new(200, HTML) };
        }
        match path {
            "/robots.txt" => {
                body.extend_from_slice(known.robots_txt().as_bytes());
                Answer::new(200, TEXT)
            }
            "/" => {
                body.extend_from_slice(known.home().as_bytes());
                Answer::new(200, HTML)
            }
            _ => answer::Answer::status(404, body),
        }
    }

    fn forbidden(&self, host: &str, path_and_query: &str) -> bool {
        known(host).is_none() && self.around.forbidden(host, path_and_query)
    }

    fn crawl_delay_ms(&self, host: &str) -> Option<u64> {
        known(host).map_or_else(|| self.around.crawl_delay_ms(host), |_| None)
    }
}
