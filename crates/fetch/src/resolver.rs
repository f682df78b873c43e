//! Names to addresses: a stub resolver with its own bounded cache.
//!
//! Who asks: [`Client`](crate::Client), once per new connection. Each query goes from a fresh port with a random id to
//! the configured name servers in turn; what does not match id, server and question is ignored. Answers are kept for
//! their TTL, clamped to a minute at least and a day at most; names that do not exist for five minutes.
//!
//! Costs: one datagram each way per name and TTL; the cache holds two generations of `cache_names_max` names each
//! (about 100 bytes a name), so that a full cache forgets the half that was not asked for lately.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use mattock_env::{Env, Files, Random, Time};

use crate::Failure;

const TTL_MIN: Duration = Duration::from_secs(60);
const TTL_MAX: Duration = Duration::from_secs(24 * 3600);
const TTL_NEGATIVE: Duration = Duration::from_secs(300);
const TRIES: u32 = 2;
const TRY_TIMEOUT: Duration = Duration::from_secs(5);
/// Addresses of one name that are looked at; a hostile answer may hold thousands.
const ADDRESSES_MAX: usize = 16;
const ALIASES_MAX: usize = 8;

/// Where to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServers(pub Vec<SocketAddr>);

impl NameServers {
    /// Those of the machine (`/etc/resolv.conf`), or the local one if there are none.
    pub fn of_system(files: &Files) -> NameServers {
        let text = files.read(Path::new("/etc/resolv.conf")).unwrap_or_default();
        let servers: Vec<SocketAddr> = String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| line.trim().strip_prefix("nameserver"))
            .filter_map(|address| address.trim().parse::<IpAddr>().ok())
            .map(|address| SocketAddr::new(address, 53))
            .collect();
        if servers.is_empty() {
            return NameServers(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 53))]);
        }
        NameServers(servers)
    }
}

type Answer = Result<Vec<IpAddr>, Failure>;

struct Cached {
    answer: Answer,
    expires: Time,
}

/// Resolves names. One per partition; not shared between threads.
pub struct Resolver {
    env: Env,
    servers: NameServers,
    state: RefCell<State>,
}

struct State {
    random: Random,
    young: HashMap<Box<str>, Cached>,
    old: HashMap<Box<str>, Cached>,
    cache_names_max: usize,
}

impl Resolver {
    /// A resolver that asks these servers and remembers up to twice `cache_names_max` names.
    pub fn new(env: &Env, servers: NameServers, cache_names_max: usize) -> Resolver {
        let random = env.random.fork("resolver");
        let state = State { random, young: HashMap::new(), old: HashMap::new(), cache_names_max };
        Resolver { env: env.clone(), servers, state: RefCell::new(state) }
    }

    /// The addresses of a name, IPv4 first; never empty.
    pub async fn resolve(&self, name: &str) -> Answer {
        if let Some(answer) = self.state.borrow_mut().cached(name, self.env.clock.now()) {
            return answer;
        }
        let (answer, ttl) = self.ask(name).await;
        let expires = self.env.clock.now() + ttl;
        if !ttl.is_zero() {
            self.state.borrow_mut().remember(name.into(), Cached { answer: answer.clone(), expires });
        }
        answer
    }

    async fn ask(&self, name: &str) -> (Answer, Duration) {
        let Ok(name) = Name::from_ascii(format!("{}.", name.trim_end_matches('.'))) else {
            return (Err(Failure::NoSuchName), TTL_NEGATIVE);
        };
        let mut answer = (Err(Failure::NameTimeout), Duration::ZERO);
        for record_type in [RecordType::A, RecordType::AAAA] {
            answer = self.ask_for(&name, record_type).await;
            // Only a name that exists without an A record is worth a second question.
            if !matches!(&answer.0, Ok(addresses) if addresses.is_empty()) {
                return answer;
            }
        }
        if answer.0.as_ref().is_ok_and(Vec::is_empty) {
            return (Err(Failure::NoSuchName), TTL_NEGATIVE);
        }
        answer
    }

    async fn ask_for(&self, name: &Name, record_type: RecordType) -> (Answer, Duration) {
        let mut failure = Failure::NameTimeout;
        for _ in 0..TRIES {
            for &server in &self.servers.0 {
                match self.env.clock.timeout(TRY_TIMEOUT, self.exchange(server, name, record_type)).await {
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

    async fn exchange(
        &self,
        server: SocketAddr,
        name: &Name,
        record_type: RecordType,
    ) -> io::Result<Message> {
        let any: IpAddr =
            if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = self.env.net.datagrams(SocketAddr::new(any, 0)).await?;
        let mut query = Message::query();
        query.metadata.id = self.state.borrow_mut().random.next_u64() as u16;
        query.metadata.recursion_desired = true;
        query.add_query(Query::query(name.clone(), record_type));
        let bytes = query.to_vec().map_err(io::Error::other)?;
        socket.send_to(&bytes, server).await?;
        let mut buffer = [0; 4096];
        loop {
            let (count, from) = socket.receive_from(&mut buffer).await?;
            // A forged or late answer is not an error: the real one may still come.
            let Ok(message) = Message::from_vec(&buffer[..count]) else { continue };
            if from == server && message.metadata.id == query.metadata.id && message.queries == query.queries
            {
                return Ok(message);
            }
        }
    }
}

impl State {
    fn cached(&mut self, name: &str, now: Time) -> Option<Answer> {
        if let Some(cached) = self.young.get(name) {
            return (cached.expires > now).then(|| cached.answer.clone());
        }
        let (name, cached) = self.old.remove_entry(name)?;
        if cached.expires <= now {
            return None;
        }
        let answer = cached.answer.clone();
        self.remember(name, cached);
        Some(answer)
    }

    fn remember(&mut self, name: Box<str>, cached: Cached) {
        if self.young.len() >= self.cache_names_max {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, cached);
    }
}

/// The addresses in an answer, following aliases within it, and how long they hold.
fn addresses(message: &Message, name: &Name) -> (Answer, Duration) {
    let mut current = name.clone();
    let mut ttl = TTL_MAX;
    for _ in 0..ALIASES_MAX {
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
        }
        found.truncate(ADDRESSES_MAX);
        match alias {
            Some(target) if found.is_empty() => current = target,
            _ => return (Ok(found), ttl.max(TTL_MIN)),
        }
    }
    (Err(Failure::NameServer), TTL_NEGATIVE)
}
