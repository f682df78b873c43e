//! The simulated Web on the network: an HTTP server on all of 127.0.0.0/8 and a name server beside it.
//!
//! [`serve`] binds both and starts local tasks; the [`Server`] it returns counts and stops them. The same code serves
//! real sockets and the simulated network: it only knows [`Env`]. Everything runs on the caller's thread, inside
//! [`mattock_env::run`] or [`Simulation::run`](mattock_env::sim::Simulation::run).
//!
//! A host is asked for at the address that it resolves to; at any other address of the simulation it is not known
//! (421), so a crawler that mixes up addresses is found out.

use std::cell::Cell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Clock, Datagrams, Env, Listener};
use tokio::task::JoinSet;

use crate::audit::{AuditLog, FLUSH_INTERVAL};
use crate::connection::{self, Service, WorldTime};
use crate::dns;
use crate::web::Web;

/// Pause after a connection could not be accepted (too many open files, as a rule).
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// How often another free port is looked for.
const NAME_PORT_TRIES: u32 = 16;

/// How a world is served.
#[derive(Clone, Debug, PartialEq)]
pub struct ServeOptions {
    /// TCP port of the HTTP server on every address of 127.0.0.0/8; 0 takes any free one.
    pub http_port: u16,
    /// UDP and TCP port of the name server on 127.0.0.1; 0 takes any free one.
    pub dns_port: u16,
    /// How many seconds of the world pass in one second of the clock. The world's time is 0 when serving starts.
    pub time_scale: f64,
    /// For how long resolvers may keep an address.
    pub dns_ttl_s: u32,
}

impl Default for ServeOptions {
    /// Any free ports, the clock's own pace, addresses good for an hour.
    fn default() -> ServeOptions {
        ServeOptions { http_port: 0, dns_port: 0, time_scale: 1.0, dns_ttl_s: 3600 }
    }
}

/// Why a world cannot be served, or its log not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody else has the port.
    #[error(
        "{what} port {port} is in use; choose another one with {option}, or let {option} 0 take any free one"
    )]
    PortInUse {
        /// HTTP or DNS.
        what: &'static str,
        /// The port that was asked for.
        port: u16,
        /// The command line's name of the option to change.
        option: &'static str,
    },
    /// The port cannot be had for another reason.
    #[error("cannot listen on {what} port {port}: {source}; choose another one with {option}")]
    Port {
        /// HTTP or DNS.
        what: &'static str,
        /// The port that was asked for.
        port: u16,
        /// The command line's name of the option to change.
        option: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The factor must be a number above 0.
    #[error("time scale {0} makes no sense; it must be a positive number")]
    TimeScale(f64),
    /// The audit log cannot be made or written; it is incomplete.
    #[error("cannot write the audit log {path}: {source}")]
    Audit {
        /// The log's file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A world that is being served. Dropping it ends that, but only [`Server::stop`] tells whether the log is whole.
#[derive(Debug)]
pub struct Server {
    http_port: u16,
    dns_address: SocketAddr,
    requests: Rc<Cell<u64>>,
    bytes: Rc<Cell<u64>>,
    audit: Option<AuditLog>,
    /// Acceptor, name servers, log writer; dropping the set ends them, and the acceptor's end that of its connections.
    tasks: JoinSet<()>,
}

impl Server {
    /// The port that the HTTP server listens on.
    pub fn http_port(&self) -> u16 {
        self.http_port
    }

    /// Where the name server is.
    pub fn dns_address(&self) -> SocketAddr {
        self.dns_address
    }

    /// HTTP requests so far, refused ones included.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Bytes of answers so far, heads included.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Ends all connections and completes the audit log.
    pub async fn stop(mut self) -> Result<(), ServeError> {
        self.tasks.shutdown().await;
        self.audit.as_ref().map_or(Ok(()), AuditLog::finish)
    }
}

/// Serves `web` until the returned handle is stopped or dropped; every request goes to `audit` if there is one.
///
/// Must be called within a `LocalSet`, as [`mattock_env::run`] provides.
pub async fn serve<W: Web + 'static>(
    env: &Env,
    web: Arc<W>,
    options: ServeOptions,
    audit: Option<AuditLog>,
) -> Result<Server, ServeError> {
    if !(options.time_scale > 0.0 && options.time_scale.is_finite()) {
        return Err(ServeError::TimeScale(options.time_scale));
    }
    let port = options.http_port;
    let http_error = |source| port_error("HTTP", port, "--http-port", source);
    let listener = env.net.listen_loopback(port).await.map_err(http_error)?;
    let http_port = listener.address().map_err(http_error)?.port();

    let port = options.dns_port;
    let dns_error = |source| port_error("DNS", port, "--dns-port", source);
    let (datagrams, streams) = name_sockets(env, port).await.map_err(dns_error)?;
    let dns_address = datagrams.address().map_err(dns_error)?;

    let time = WorldTime { start: env.clock.now(), scale: options.time_scale };
    let mut tasks = JoinSet::new();
    let (names, clock) = (web.clone(), env.clock.clone());
    tasks.spawn_local(async move { dns::serve(datagrams, &*names, &clock, options.dns_ttl_s).await });
    tasks.spawn_local(dns::tcp::serve(streams, web.clone(), env.clock.clone(), options.dns_ttl_s));
    if let Some(audit) = audit.clone() {
        tasks.spawn_local(flush(audit, env.clock.clone()));
    }
    let service = Rc::new(Service::new(web, env.clock.clone(), time, audit.clone()));
    let (requests, bytes) = (service.requests.clone(), service.bytes.clone());
    tasks.spawn_local(accept(listener, service));
    Ok(Server { http_port, dns_address, requests, bytes, audit, tasks })
}

/// The name server's sockets: UDP and TCP at the same port.
async fn name_sockets(env: &Env, port: u16) -> io::Result<(Datagrams, Listener)> {
    let mut tries = if port == 0 { NAME_PORT_TRIES } else { 1 };
    loop {
        tries -= 1;
        let datagrams = env.net.datagrams((Ipv4Addr::LOCALHOST, port).into()).await?;
        match env.net.listen(datagrams.address()?).await {
            Ok(listener) => return Ok((datagrams, listener)),
            // What is free for UDP may be taken for TCP.
            Err(_) if tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

fn port_error(what: &'static str, port: u16, option: &'static str, source: io::Error) -> ServeError {
    match source.kind() {
        io::ErrorKind::AddrInUse => ServeError::PortInUse { what, port, option },
        _ => ServeError::Port { what, port, option, source },
    }
}

async fn accept<W: Web + 'static>(mut listener: Listener, service: Rc<Service<W>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(accepted) => {
                    let local = accepted.local.ip();
                    connections.spawn_local(connection::run(service.clone(), accepted.stream, local));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    service.clock.sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

/// Writes the log's buffer out within [`FLUSH_INTERVAL`] of the first line in it. Sleeps without a timer while there is
/// none, or virtual time would creep.
async fn flush(audit: AuditLog, clock: Clock) {
    loop {
        audit.filled().await;
        clock.sleep(FLUSH_INTERVAL).await;
        audit.flush();
    }
}

#[cfg(test)]
mod tests;
