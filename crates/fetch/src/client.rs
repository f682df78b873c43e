//! The client: from a URL to an [`Exchange`].
//!
//! Who calls it: the crawl's fetch stage, one task per URL in flight. Connections are handed in and out, so that the
//! stage that knows the hosts keeps them; nothing is pooled here but buffers.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};

use mattock_env::{Env, Time, UnixTime};
use mattock_weburl::{Scheme, WebUrl};

use crate::connection::{Connection, Response, Terms};
use crate::http::{Head, Truncation};
use crate::{AddressGuard, Failure, FetchOutcome, Limits, NameServers, Resolver};

/// How many names the resolver's cache holds per generation.
const CACHE_NAMES_MAX: usize = 50_000;
/// Buffers that are kept for reuse, and the size above which one is not worth keeping.
const BUFFERS_KEPT_MAX: usize = 256;
const BUFFER_KEPT_BYTES_MAX: usize = 256 * 1024;

/// Who we say we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `User-Agent` field: product token, version, and where to complain.
    pub user_agent: String,
    /// The `From` field: an e-mail address.
    pub from: Option<String>,
}

/// Everything a client needs to know.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Who we say we are.
    pub identity: Identity,
    /// What a server may cost.
    pub limits: Limits,
    /// Where we connect to.
    pub guard: AddressGuard,
    /// Whom to ask for addresses; the machine's own servers if `None`.
    pub name_servers: Option<NameServers>,
    /// Ports to connect to instead of those in the URL: for laboratories that cannot listen on port 80.
    pub connect_ports: Vec<(u16, u16)>,
}

/// Fetches URLs. One per partition.
pub struct Client {
    env: Env,
    options: ClientOptions,
    resolver: Resolver,
    buffers: RefCell<Vec<Vec<u8>>>,
}

/// One request and what came of it.
#[derive(Debug)]
pub struct Exchange {
    /// How it ended.
    pub outcome: FetchOutcome,
    /// Whom we talked to; `None` if it did not come to a connection.
    pub address: Option<IpAddr>,
    /// The request's head, as sent.
    pub request: Vec<u8>,
    /// Why the body is not whole.
    pub truncated: Option<Truncation>,
    /// When the request was begun, for gaps.
    pub begun: Time,
    /// When the request was begun, for the record.
    pub begun_unix: UnixTime,
    /// When the last byte was in.
    pub finished: Time,
    head: Option<Head>,
    bytes: Vec<u8>,
}

impl Exchange {
    /// The response's head as received, without chunking undone.
    pub fn head_bytes(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| &self.bytes[..head.len])
    }

    /// The response's body, chunking undone.
    pub fn body(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| &self.bytes[head.len..])
    }

    /// The first value of a response field.
    pub fn field<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.head.as_ref().and_then(|head| head.value(&self.bytes, name))
    }

    /// All values of a response field, in order.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.head.iter().flat_map(move |head| head.values(&self.bytes, name))
    }

    /// Bytes received.
    pub fn bytes_received(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl Client {
    /// A client in this world.
    pub fn new(env: &Env, options: ClientOptions) -> Client {
        let servers = options.name_servers.clone().unwrap_or_else(|| NameServers::of_system(&env.files));
        let resolver = Resolver::new(env, servers, CACHE_NAMES_MAX);
        Client { env: env.clone(), options, resolver, buffers: RefCell::default() }
    }

    /// Fetches a URL, over `connection` if that is still open. Returns the connection if it can be used again.
    pub async fn fetch(
        &self,
        url: &WebUrl,
        connection: Option<Connection>,
    ) -> (Exchange, Option<Connection>) {
        let begun = self.env.clock.now();
        let mut exchange = Exchange {
            outcome: FetchOutcome::Failed(Failure::Unreachable),
            address: None,
            request: self.request(url),
            truncated: None,
            begun,
            begun_unix: self.env.clock.unix(),
            finished: begun,
            head: None,
            bytes: self.buffers.borrow_mut().pop().unwrap_or_default(),
        };
        let deadline = begun + self.options.limits.total;
        let terms = Terms { clock: &self.env.clock, limits: &self.options.limits, deadline };
        let result = self.attempt(url, connection, &mut exchange, &terms).await;
        exchange.finished = self.env.clock.now();
        let kept = match result {
            Ok((response, connection)) => {
                exchange.outcome = FetchOutcome::Answered(response.head.status);
                exchange.truncated = response.truncated;
                exchange.head = Some(response.head);
                response.reusable.then_some(connection)
            }
            Err(failure) => {
                exchange.outcome = FetchOutcome::Failed(failure);
                None
            }
        };
        (exchange, kept)
    }

    /// Gives an exchange's buffer back when nobody needs it any more.
    pub fn recycle(&self, exchange: Exchange) {
        let mut buffers = self.buffers.borrow_mut();
        if buffers.len() < BUFFERS_KEPT_MAX && exchange.bytes.capacity() <= BUFFER_KEPT_BYTES_MAX {
            buffers.push(exchange.bytes);
        }
    }

    async fn attempt(
        &self,
        url: &WebUrl,
        connection: Option<Connection>,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<(Response, Connection), Failure> {
        if let Some(mut connection) = connection {
            exchange.address = Some(connection.address);
            match connection.exchange(&exchange.request, &mut exchange.bytes, terms).await {
                Ok(response) => return Ok((response, connection)),
                // A server may close an idle connection at any time; only then is it right to ask again at once.
                Err(Failure::Disconnected) if exchange.bytes.is_empty() => {}
                Err(failure) => return Err(failure),
            }
        }
        let mut connection = self.connect(url, exchange, terms).await?;
        let response = connection.exchange(&exchange.request, &mut exchange.bytes, terms).await?;
        Ok((response, connection))
    }

    async fn connect(
        &self,
        url: &WebUrl,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<Connection, Failure> {
        if url.scheme() != Scheme::Http {
            return Err(Failure::UnsupportedScheme);
        }
        let addresses = match url.ip() {
            Some(address) => vec![address],
            None => self.resolver.resolve(url.host_name()).await?,
        };
        // A name that mixes public and private addresses is a trick; refuse it whole.
        if !addresses.iter().all(|&address| self.options.guard.permits(address)) {
            return Err(Failure::ForbiddenAddress);
        }
        let address = *addresses.first().ok_or(Failure::NoSuchName)?;
        exchange.address = Some(address);
        Connection::open(&self.env.net, SocketAddr::new(address, self.port(url)), terms).await
    }

    fn port(&self, url: &WebUrl) -> u16 {
        let asked = url.port();
        self.options.connect_ports.iter().find(|(from, _)| *from == asked).map_or(asked, |(_, to)| *to)
    }

    fn request(&self, url: &WebUrl) -> Vec<u8> {
        let identity = &self.options.identity;
        let mut request = Vec::with_capacity(256);
        let mut push =
            |parts: &[&str]| parts.iter().for_each(|part| request.extend_from_slice(part.as_bytes()));
        push(&["GET ", url.path_and_query(), " HTTP/1.1\r\nHost: ", url.authority()]);
        push(&["\r\nUser-Agent: ", &identity.user_agent]);
        if let Some(from) = &identity.from {
            push(&["\r\nFrom: ", from]);
        }
        push(&["\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\n\r\n"]);
        request
    }
}
