//! The client: from a URL to an [`Exchange`].
//!
//! Who calls it: the crawl's fetch stage, one task per URL in flight. Connections are handed in and out, so that the
//! stage that knows the hosts keeps them (and bounds how many there are); nothing is pooled here but buffers.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};

use mattock_env::{Env, Stream};
use mattock_weburl::{Scheme, WebUrl};

use crate::connection::{Connection, Response, Terms, Transport, tunnel};
use crate::exchange::{Exchange, Protocol, Timings};
use crate::options::{ClientOptions, Proxy};
use crate::request::{RequestHead, RequestWriter, Validators};
use crate::spill::{Spill, Spills};
use crate::tls::Tls;
use crate::{Failure, FetchOutcome, NameServers, Resolver};

/// How many names the resolver's cache holds per generation.
const CACHE_NAMES_MAX: usize = 50_000;
/// Bytes of all buffers that are kept for reuse, and the size above which one is not worth keeping.
const BUFFERS_KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;
const BUFFER_KEPT_BYTES_MAX: usize = 256 * 1024;
/// Addresses of one name that are tried before it counts as out of reach.
const ADDRESSES_TRIED_MAX: usize = 2;

/// Fetches URLs. One per partition.
pub struct Client {
    env: Env,
    options: ClientOptions,
    resolver: Resolver,
    requests: RequestWriter,
    tls: Tls,
    spills: Option<Spills>,
    buffers: RefCell<Buffers>,
}

/// Empty buffers.
#[derive(Default)]
struct Buffers {
    kept: Vec<Vec<u8>>,
    /// What they can hold together.
    bytes: usize,
}

impl Buffers {
    fn take(&mut self) -> Vec<u8> {
        let buffer = self.kept.pop().unwrap_or_default();
        self.bytes -= buffer.capacity();
        buffer
    }

    fn keep(&mut self, buffer: Vec<u8>) {
        let bytes = buffer.capacity();
        if bytes <= BUFFER_KEPT_BYTES_MAX && self.bytes + bytes <= BUFFERS_KEPT_BYTES_MAX {
            self.bytes += bytes;
            self.kept.push(buffer);
        }
    }
}

/// What is particular about one fetch.
struct Asking<'a> {
    validators: Option<&'a Validators>,
    server: Option<IpAddr>,
    body_bytes_max: usize,
}

impl Default for Asking<'_> {
    fn default() -> Self {
        Asking { validators: None, server: None, body_bytes_max: usize::MAX }
    }
}

impl Client {
    /// A client in this world.
    pub fn new(env: &Env, options: ClientOptions) -> Client {
        let servers = options.name_servers.clone().unwrap_or_else(|| NameServers::of_system(&env.files));
        let resolver =
            Resolver::new(env, servers, options.families, CACHE_NAMES_MAX).with_hosts(options.hosts.clone());
        let (requests, tls) = (RequestWriter::new(&options), Tls::new(&options));
        let spills = options.spill.clone().map(|dir| Spills::new(&env.files, dir));
        Client { env: env.clone(), options, resolver, requests, tls, spills, buffers: RefCell::default() }
    }

    /// Fetches a URL, over `connection` if that is still open. Returns the connection if it can be used again. A server
    /// sees at most one request per call.
    pub async fn fetch(
        &self,
        url: &WebUrl,
        connection: Option<Connection>,
    ) -> (Exchange, Option<Connection>) {
        self.run(url, Asking::default(), connection).await
    }

    /// Fetches a URL from this server and no other, as [`locate`](Client::locate) found it.
    pub async fn fetch_at(
        &self,
        url: &WebUrl,
        server: Option<IpAddr>,
        connection: Option<Connection>,
    ) -> (Exchange, Option<Connection>) {
        self.fetch_beginning(url, server, connection, usize::MAX).await
    }

    /// The same, but no more of the body than this: the rest is cut off and marked, as what is beyond the limits is.
    pub async fn fetch_beginning(
        &self,
        url: &WebUrl,
        server: Option<IpAddr>,
        connection: Option<Connection>,
        body_bytes_max: usize,
    ) -> (Exchange, Option<Connection>) {
        // A connection to where the host was before is of no use.
        let connection = connection.filter(|kept| server.is_none() || kept.address == server);
        self.run(url, Asking { server, body_bytes_max, ..Asking::default() }, connection).await
    }

    /// Where a URL's host is: one of its addresses, another one with every `turn`. `None` where a proxy finds that out.
    pub async fn locate(&self, url: &WebUrl, turn: usize) -> Result<Option<IpAddr>, Failure> {
        if self.options.proxy.is_some() {
            return Ok(None);
        }
        if let Some(address) = url.ip() {
            return Ok(Some(address));
        }
        let asked = self.resolver.resolve(url.host_name());
        let addresses = match self.env.clock.timeout(self.options.limits.resolve, asked).await {
            Ok(answer) => answer?,
            Err(_) => return Err(Failure::NameTimeout),
        };
        // A name that mixes public and private addresses is a trick; refuse it whole.
        if !addresses.iter().all(|&address| self.options.guard.permits(address)) {
            return Err(Failure::ForbiddenAddress);
        }
        Ok(addresses.get(turn % addresses.len().max(1)).copied())
    }

    /// Fetches a URL if it changed since the response that had these validators; the outcome is 304 if it did not.
    pub async fn fetch_if_changed(
        &self,
        url: &WebUrl,
        validators: &Validators,
        connection: Option<Connection>,
    ) -> (Exchange, Option<Connection>) {
        let validators = Some(validators).filter(|validators| !validators.is_empty());
        self.run(url, Asking { validators, ..Asking::default() }, connection).await
    }

    async fn run(
        &self,
        url: &WebUrl,
        Asking { validators, server, body_bytes_max }: Asking<'_>,
        connection: Option<Connection>,
    ) -> (Exchange, Option<Connection>) {
        let begun = self.env.clock.now();
        let RequestHead { recorded, secret, has_credentials } = self.requests.get(url, validators);
        let mut exchange = Exchange {
            outcome: FetchOutcome::Failed(Failure::Unreachable),
            address: None,
            request: recorded,
            truncated: None,
            begun,
            begun_unix: self.env.clock.unix(),
            finished: begun,
            timings: Timings::default(),
            reused: false,
            protocol: Protocol::Http1,
            tls: None,
            head: None,
            bytes: self.buffers.borrow_mut().take(),
            spill: Spill::default(),
        };
        let deadline = begun + self.options.limits.total;
        let limits = &self.options.limits;
        let body_bytes_max = body_bytes_max.min(limits.body_bytes_max);
        let spills = self.spills.as_ref();
        let terms = Terms {
            clock: &self.env.clock,
            limits,
            body_bytes_max,
            deadline,
            spills,
            secret: secret.as_ref().map(|bytes| &bytes[..]),
            verified: has_credentials,
        };
        let result = self.attempt(url, server, connection, &mut exchange, &terms).await;
        exchange.finished = self.env.clock.now();
        match result {
            Ok((response, _)) if response.head.status == 304 && validators.is_none() => {
                exchange.outcome = FetchOutcome::Failed(Failure::UnaskedNotModified);
                (exchange, None)
            }
            Ok((response, connection)) => {
                exchange.outcome = FetchOutcome::Answered(response.head.status);
                exchange.truncated = response.truncated;
                exchange.head = Some(response.head);
                (exchange, response.reusable.then_some(connection))
            }
            Err(failure) => {
                exchange.outcome = FetchOutcome::Failed(failure);
                (exchange, None)
            }
        }
    }

    /// Gives an exchange's buffer back when nobody needs it any more.
    pub fn recycle(&self, mut exchange: Exchange) {
        // What is left in it must not look like the next exchange's bytes, should that fail early.
        exchange.bytes.clear();
        self.buffers.borrow_mut().keep(exchange.bytes);
    }

    async fn attempt(
        &self,
        url: &WebUrl,
        server: Option<IpAddr>,
        connection: Option<Connection>,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<(Response, Connection), Failure> {
        // A server may close an idle connection at any time; that shows before the request is sent. One that dies under
        // the request has seen it, and to send it again at once would be two requests within the host's delay: that
        // failure waits its turn like others.
        let mut kept = connection;
        if let Some(connection) = &mut kept
            && (connection.is_stale().await || terms.verified && connection.is_unverified())
        {
            kept = None;
        }
        exchange.reused = kept.is_some();
        let mut connection = match kept {
            Some(connection) => connection,
            // What is done once per host has its state elsewhere, or every fetch would carry it around.
            None => Box::pin(self.connect(url, server, exchange, terms)).await?,
        };
        let response = self.over(&mut connection, exchange, terms).await?;
        Ok((response, connection))
    }

    async fn over(
        &self,
        connection: &mut Connection,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<Response, Failure> {
        exchange.address = connection.address;
        exchange.tls = connection.tls.clone();
        exchange.protocol = connection.protocol();
        let Exchange { request, bytes, spill, timings, .. } = exchange;
        connection.exchange(terms.secret.unwrap_or(request), bytes, spill, terms, timings).await
    }

    async fn connect(
        &self,
        url: &WebUrl,
        server: Option<IpAddr>,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<Connection, Failure> {
        if !self.options.ports.permit(url.port()) {
            return Err(Failure::ForbiddenPort);
        }
        let stream = match &self.options.proxy {
            Some(proxy) => self.through(proxy, url, exchange, terms).await?,
            None => self.directly(url, server, exchange, terms).await?,
        };
        exchange.timings.connected = Some(self.env.clock.now());
        let address = exchange.address;
        if url.scheme() == Scheme::Http {
            return Ok(Connection::plain(stream, address));
        }
        let (stream, info) = self.tls.secure(stream, url, terms).await?;
        exchange.timings.secured = Some(self.env.clock.now());
        Connection::secured(Transport::Tls(Box::new(stream)), info, address, terms).await
    }

    /// Opens a stream to the URL's host. The addresses that were vetted are the ones that are connected to.
    async fn directly(
        &self,
        url: &WebUrl,
        server: Option<IpAddr>,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<Stream, Failure> {
        let resolved;
        let known = url.ip().or(server);
        let addresses: &[IpAddr] = match &known {
            Some(address) => std::slice::from_ref(address),
            None => {
                resolved = self.resolve(url.host_name(), exchange, terms).await?;
                &resolved
            }
        };
        // A name that mixes public and private addresses is a trick; refuse it whole.
        if !addresses.iter().all(|&address| self.options.guard.permits(address)) {
            return Err(Failure::ForbiddenAddress);
        }
        let asked = url.port();
        let mapped = self.options.connect_ports.iter().find(|(from, _)| *from == asked);
        let port = mapped.map_or(asked, |(_, to)| *to);
        self.first_of(addresses, port, Some(exchange), terms).await
    }

    /// Opens a stream to the proxy, and for `https` a tunnel through it.
    async fn through(
        &self,
        proxy: &Proxy,
        url: &WebUrl,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<Stream, Failure> {
        let guard = &self.options.guard;
        let permitted = match url.ip() {
            Some(address) => guard.permits(address),
            None => guard.permits_name(url.host_name()),
        };
        if !permitted {
            return Err(Failure::ForbiddenAddress);
        }
        let found = match proxy.host.parse::<IpAddr>() {
            Ok(address) => self.first_of(&[address], proxy.port, None, terms).await,
            Err(_) => match self.resolve(&proxy.host, exchange, terms).await {
                Ok(addresses) => self.first_of(&addresses, proxy.port, None, terms).await,
                Err(failure) => Err(failure),
            },
        };
        // The proxy being out of reach says nothing about the host.
        let stream = found.map_err(|_| Failure::Proxy)?;
        match url.scheme() {
            Scheme::Http => Ok(stream),
            Scheme::Https => tunnel(stream, &self.requests.tunnel(url), terms).await,
        }
    }

    async fn resolve(
        &self,
        name: &str,
        exchange: &mut Exchange,
        terms: &Terms<'_>,
    ) -> Result<std::rc::Rc<[IpAddr]>, Failure> {
        let asked = self.resolver.resolve(name);
        let addresses = match terms.clock.timeout(terms.wait(terms.limits.resolve), asked).await {
            Ok(answer) => answer?,
            Err(_) => return Err(Failure::NameTimeout),
        };
        exchange.timings.resolved = Some(self.env.clock.now());
        Ok(addresses)
    }

    /// The first of a few addresses that can be connected to.
    async fn first_of(
        &self,
        addresses: &[IpAddr],
        port: u16,
        mut exchange: Option<&mut Exchange>,
        terms: &Terms<'_>,
    ) -> Result<Stream, Failure> {
        let mut result = Err(Failure::NoSuchName);
        for &address in addresses.iter().take(ADDRESSES_TRIED_MAX) {
            if let Some(exchange) = exchange.as_deref_mut() {
                exchange.address = Some(address);
            }
            result = Connection::open(&self.env.net, SocketAddr::new(address, port), terms).await;
            if result.is_ok() {
                break;
            }
        }
        result
    }
}
