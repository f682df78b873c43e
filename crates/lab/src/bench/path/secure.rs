//! The pages of the simulated Web over HTTPS, on a thread of its own: what a Web server with one certificate per host does.
//!
//! One authority, made at the start and trusted by nobody else; a certificate for each host, chosen by the name that the
//! client asks for; keys on P-256, as most of the Web has them. It listens on two ports: one gives no tickets, so that every
//! handshake is a full one; the other lets sessions be resumed.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use mattock_env::{Env, Listener};
use mattock_simweb::{Request, World};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::Target;
use crate::bench::pages::world;

/// Bytes of the longest request that is read.
const REQUEST_BYTES_MAX: usize = 8 * 1024;

/// A running server; dropping it ends it.
pub(super) struct Secured {
    pub(super) full_port: u16,
    pub(super) resuming_port: u16,
    pub(super) certificates: Certificates,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An authority and what it issued.
#[derive(Clone, Debug)]
pub(super) struct Certificates {
    /// The authority's own certificate (DER).
    pub(super) root: Vec<u8>,
    by_host: Arc<ByHost>,
}

#[derive(Debug)]
struct ByHost(BTreeMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for ByHost {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get(hello.server_name()?).cloned()
    }
}

impl Certificates {
    /// Issues one for each host.
    fn issue<'a>(hosts: impl Iterator<Item = &'a str>) -> Result<Certificates, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let signing =
            PrivateKeyDer::try_from(key.serialize_der()).map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        let signing = rustls::crypto::ring::sign::any_supported_type(&signing)
            .map_err(|_| rcgen::Error::UnsupportedSignatureAlgorithm)?;
        let mut by_host = BTreeMap::new();
        for host in hosts {
            if !by_host.contains_key(host) {
                let leaf = CertificateParams::new(vec![host.to_owned()])?.signed_by(&key, &authority)?;
                let certified = CertifiedKey::new(vec![leaf.der().clone()], signing.clone());
                by_host.insert(host.to_owned(), Arc::new(certified));
            }
        }
        Ok(Certificates { root: authority.der().to_vec(), by_host: Arc::new(ByHost(by_host)) })
    }

    /// How a server uses them.
    pub(super) fn server_config(&self, resume: bool) -> Result<ServerConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(rustls::ALL_VERSIONS)?
            .with_no_client_auth()
            .with_cert_resolver(self.by_host.clone());
        if !resume {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }
}

impl Secured {
    /// Serves the hosts of these targets on free ports of the loopback addresses.
    pub(super) fn start(targets: &[Target]) -> io::Result<Secured> {
        let certificates =
            Certificates::issue(targets.iter().map(|target| &*target.host)).map_err(io::Error::other)?;
        let full = certificates.server_config(false).map_err(io::Error::other)?;
        let resuming = certificates.server_config(true).map_err(io::Error::other)?;
        let (ready, when_ready) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            mattock_env::run(async move {
                let bound = async {
                    let env = Env::real();
                    let pair = (env.net.listen_loopback(0).await?, env.net.listen_loopback(0).await?);
                    Ok::<_, io::Error>((pair.0.address()?, pair.1.address()?, pair))
                };
                match bound.await {
                    // Nobody listening means that the caller is gone, and so is the sender of `stop`.
                    Err(error) => drop(ready.send(Err(error))),
                    Ok((first, second, listeners)) => {
                        let _ = ready.send(Ok((first, second)));
                        let world = Rc::new(world());
                        tokio::task::spawn_local(accept(listeners.0, full, world.clone()));
                        tokio::task::spawn_local(accept(listeners.1, resuming, world));
                        let _ = stopped.await;
                    }
                }
            });
        });
        let (full, resuming): (SocketAddr, SocketAddr) =
            when_ready.recv().expect("the thread answers before it ends")?;
        Ok(Secured {
            full_port: full.port(),
            resuming_port: resuming.port(),
            certificates,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so on stderr; there is nothing to add.
            let _ = thread.join();
        }
    }
}

async fn accept(mut listener: Listener, config: ServerConfig, world: Rc<World>) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    while let Ok(accepted) = listener.accept().await {
        let (acceptor, world) = (acceptor.clone(), world.clone());
        tokio::task::spawn_local(async move {
            // A client that goes away is none of its business.
            if let Ok(stream) = acceptor.accept(accepted.stream).await {
                let _ = serve(stream, &world).await;
            }
        });
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, world: &World) -> io::Result<()> {
    let (mut input, mut body, mut output) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        input.clear();
        while !input.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut input).await? == 0 || input.len() > REQUEST_BYTES_MAX {
                return Ok(());
            }
        }
        let Some((host, path)) = std::str::from_utf8(&input).ok().and_then(parse) else { return Ok(()) };
        let answer =
            world.answer(&Request { host, path_and_query: path, ..Request::default() }, 0, &mut body);
        output.clear();
        let head = format!(
            "HTTP/1.1 {} OK\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
            answer.status,
            answer.content_type,
            body.len()
        );
        output.extend_from_slice(head.as_bytes());
        output.extend_from_slice(&body);
        stream.write_all(&output).await?;
        stream.flush().await?;
    }
}

/// Host and path of a request.
fn parse(request: &str) -> Option<(&str, &str)> {
    let path = request.strip_prefix("GET ")?.split(' ').next()?;
    let host = request.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    })?;
    Some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let request = "GET /a?b HTTP/1.1\r\nUser-Agent: x\r\nhost: www.example.com\r\n\r\n";
        assert_eq!(parse(request), Some(("www.example.com", "/a?b")));
        assert_eq!(parse("POST / HTTP/1.1\r\nHost: x\r\n\r\n"), None);
        assert_eq!(parse("GET / HTTP/1.1\r\n\r\n"), None);
    }
}
