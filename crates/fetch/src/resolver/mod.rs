//! Names to addresses: a stub resolver with its own bounded cache.
//!
//! Who asks: [`Client`](crate::Client), once per new connection. Each query goes from a fresh port with a random id to
//! the configured name servers in turn; what does not match id, server and question is ignored; an answer that did not
//! fit into a datagram is asked for again over TCP. Answers are kept for their TTL, clamped to a minute at least and a day
//! at most; names that do not exist for five minutes, apart from the others, so that a flood of them drives out nothing.
//! Any number of names can be asked for at once; whoever asks for one that is being asked for waits for that answer.
//!
//! Why not a resolver of somebody else's: this one runs on the capabilities of `env` and so on virtual time and a
//! simulated network, starts no task or thread, and is small enough to bound what it holds. The message format is
//! `hickory-proto`'s. `/etc/hosts`, search domains and multicast DNS are not consulted: a crawl means the Web's names,
//! and must not mean something else on another machine. [`Hosts`] that the operator names are asked first.
//!
//! Costs: one datagram each way per name and TTL; each cache holds two generations of names (about 100 bytes a name),
//! so that a full cache forgets the half that was not asked for lately.

mod cache;
mod hosts;
mod question;
mod servers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use mattock_env::{Env, Random};
use tokio::sync::Notify;

use crate::Failure;
use cache::Generations;
pub use hosts::{Hosts, HostsError};
pub use servers::NameServers;

const TTL_MIN: Duration = Duration::from_secs(60);
const TTL_MAX: Duration = Duration::from_secs(24 * 3600);
const TTL_NEGATIVE: Duration = Duration::from_secs(300);
const TRIES: u32 = 2;
const TRY_TIMEOUT: Duration = Duration::from_secs(5);
/// Addresses of one name that are looked at; a hostile answer may hold thousands.
const ADDRESSES_MAX: usize = 16;
const ALIASES_MAX: usize = 8;
/// The share of names that do not exist, among those remembered.
const NEGATIVE_SHARE: usize = 4;

/// Which kinds of addresses are looked for. The second kind is asked for only where there is none of the first: for
/// most of the Web that halves the queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Families {
    /// IPv4, or IPv6 where there is none.
    #[default]
    V4First,
    /// IPv6, or IPv4 where there is none.
    V6First,
    /// IPv4.
    V4Only,
    /// IPv6.
    V6Only,
}

impl Families {
    fn record_types(self) -> &'static [RecordType] {
        match self {
            Families::V4First => &[RecordType::A, RecordType::AAAA],
            Families::V6First => &[RecordType::AAAA, RecordType::A],
            Families::V4Only => &[RecordType::A],
            Families::V6Only => &[RecordType::AAAA],
        }
    }
}

type Answer = Result<Rc<[IpAddr]>, Failure>;

/// Resolves names. One per partition; not shared between threads.
pub struct Resolver {
    env: Env,
    servers: NameServers,
    families: Families,
    hosts: Hosts,
    state: RefCell<State>,
}

struct State {
    random: Random,
    known: Generations<Rc<[IpAddr]>>,
    /// Names that do not exist, or whose aliases make no sense.
    unknown: Generations<Failure>,
    /// Names that are being asked for.
    asked: HashMap<Box<str>, Rc<Asked>>,
}

/// A question under way.
#[derive(Default)]
struct Asked {
    over: Notify,
    /// What came of it; nothing if whoever asked gave up.
    answer: RefCell<Option<Answer>>,
}

/// Ends a question, also if the asking task is dropped: those who wait then ask themselves.
struct Asking<'a> {
    resolver: &'a Resolver,
    name: &'a str,
    asked: Rc<Asked>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.resolver.state.borrow_mut().asked.remove(self.name);
        self.asked.over.notify_waiters();
    }
}

impl Resolver {
    /// A resolver that asks these servers and remembers up to twice `cache_names_max` names.
    pub fn new(env: &Env, servers: NameServers, families: Families, cache_names_max: usize) -> Resolver {
        let state = State {
            random: env.random.fork("resolver"),
            known: Generations::new(cache_names_max),
            unknown: Generations::new(cache_names_max / NEGATIVE_SHARE),
            asked: HashMap::new(),
        };
        let hosts = Hosts::default();
        Resolver { env: env.clone(), servers, families, hosts, state: RefCell::new(state) }
    }

    /// These names have these addresses, whatever name servers say.
    pub fn with_hosts(mut self, hosts: Hosts) -> Resolver {
        self.hosts = hosts;
        self
    }

    /// The addresses of a name; never empty.
    pub async fn resolve(&self, name: &str) -> Answer {
        if let Some(addresses) = self.hosts.get(name, self.families) {
            return if addresses.is_empty() { Err(Failure::NoSuchName) } else { Ok(addresses) };
        }
        loop {
            if let Some(answer) = self.remembered(name) {
                return answer;
            }
            let under_way = self.state.borrow().asked.get(name).cloned();
            match under_way {
                Some(asked) => {
                    asked.over.notified().await;
                    if let Some(answer) = asked.answer.borrow().clone() {
                        return answer;
                    }
                }
                None => return self.lead(name).await,
            }
        }
    }

    fn remembered(&self, name: &str) -> Option<Answer> {
        let now = self.env.clock.now();
        let state = &mut *self.state.borrow_mut();
        match state.known.get(name, now) {
            Some(addresses) => Some(Ok(addresses)),
            None => state.unknown.get(name, now).map(Err),
        }
    }

    async fn lead(&self, name: &str) -> Answer {
        let asked = Rc::new(Asked::default());
        self.state.borrow_mut().asked.insert(name.into(), asked.clone());
        let asking = Asking { resolver: self, name, asked };
        let (answer, ttl) = self.ask(name).await;
        if !ttl.is_zero() {
            let expires = self.env.clock.now() + ttl;
            let state = &mut *self.state.borrow_mut();
            match &answer {
                Ok(addresses) => state.known.put(name.into(), addresses.clone(), expires),
                Err(failure) => state.unknown.put(name.into(), *failure, expires),
            }
        }
        *asking.asked.answer.borrow_mut() = Some(answer.clone());
        answer
    }

    async fn ask(&self, name: &str) -> (Answer, Duration) {
        let Ok(name) = Name::from_ascii(format!("{}.", name.trim_end_matches('.'))) else {
            return (Err(Failure::NoSuchName), TTL_NEGATIVE);
        };
        for &record_type in self.families.record_types() {
            match self.ask_for(&name, record_type).await {
                // Only a name that exists without such a record is worth a second question.
                (Ok(addresses), _) if addresses.is_empty() => {}
                (answer, ttl) => return (answer.map(Rc::from), ttl),
            }
        }
        (Err(Failure::NoSuchName), TTL_NEGATIVE)
    }

    async fn ask_for(
        &self,
        name: &Name,
        record_type: RecordType,
    ) -> (Result<Vec<IpAddr>, Failure>, Duration) {
        let mut failure = Failure::NameTimeout;
        for _ in 0..TRIES {
            for &server in &self.servers.0 {
                let id = self.state.borrow_mut().random.next_u64() as u16;
                let asked = question::ask(&self.env.net, server, name, record_type, id);
                match self.env.clock.timeout(TRY_TIMEOUT, asked).await {
                    Ok(Ok(message)) => match message.metadata.response_code {
                        ResponseCode::NoError => return addresses(&message, name),
                        ResponseCode::NXDomain => return (Err(Failure::NoSuchName), TTL_NEGATIVE),
                        _ => failure = Failure::NameServer,
                    },
                    Ok(Err(_)) => failure = Failure::NameServer,
                    Err(_) => {}
                }
            }
        }
        (Err(failure), Duration::ZERO)
    }
}

/// The addresses in an answer, following aliases within it, and how long they hold.
fn addresses(message: &Message, name: &Name) -> (Result<Vec<IpAddr>, Failure>, Duration) {
    let mut current = name.clone();
    let mut ttl = TTL_MAX;
    for _ in 0..=ALIASES_MAX {
        let mut found = Vec::new();
        let mut alias = None;
        for record in message.answers.iter().filter(|record| record.name == current) {
            match &record.data {
                RData::A(address) => found.push(IpAddr::V4(address.0)),
                RData::AAAA(address) => found.push(IpAddr::V6(address.0)),
                RData::CNAME(target) => alias = Some(target.0.clone()),
                _ => continue,
            }
            ttl = ttl.min(Duration::from_secs(u64::from(record.ttl)));
            if found.len() == ADDRESSES_MAX {
                break;
            }
        }
        match alias {
            Some(target) if found.is_empty() => current = target,
            _ => return (Ok(found), ttl.max(TTL_MIN)),
        }
    }
    (Err(Failure::NameServer), TTL_NEGATIVE)
}
