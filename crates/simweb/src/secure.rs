//! TLS on the server's side: certificates, good and bad, and what is done to those who agree on HTTP/2.
//!
//! A [`Web`](crate::Web) says by address which servers have a [`Security`]; the connection hands the stream over when it
//! sees a greeting, and goes on with what comes back as if it was plain. All certificates but self-signed ones are issued
//! by one authority that is made anew in every process; whoever wants to verify them trusts [`authority`].
//!
//! Keys are the library's random ones: under simulation TLS is not repeatable byte for byte.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use mattock_env::{Clock, Stream};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::script::Script;

/// How long a peer may take for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// What a client of HTTP/2 begins with.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const HEADERS: u8 = 1;
/// A client that has sent so much without a request will send none.
const PRELUDE_BYTES_MAX: usize = 64 * 1024;

/// What is wrong with a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    Sound,
    Expired,
    SelfSigned,
    WrongName,
}

/// How a server secures its connections.
#[derive(Clone, Debug)]
pub struct Security {
    config: Arc<ServerConfig>,
    /// What becomes of a connection on which HTTP/2 was agreed, once a request has come.
    flood: Option<Arc<Script>>,
}

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

fn the_authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Authority of the simulated Web");
        (params.not_before, params.not_after) = (date_time_ymd(1990, 1, 1), date_time_ymd(2100, 1, 1));
        let key = KeyPair::generate().expect("the system has randomness");
        Authority { issuer: CertifiedIssuer::self_signed(params, key).expect("the key fits the certificate") }
    })
}

/// The certificate (DER) of the authority that issues the simulated servers' certificates in this process.
pub fn authority() -> Vec<u8> {
    the_authority().issuer.der().to_vec()
}

impl Security {
    /// A server with a certificate for `name`. With a `flood` it speaks HTTP/2 only.
    pub(crate) fn new(name: &str, certificate: Certificate, flood: Option<Script>) -> Security {
        let name =
            if certificate == Certificate::WrongName { format!("not-{name}") } else { name.to_owned() };
        let key = KeyPair::generate().expect("the system has randomness");
        let mut params = CertificateParams::new(vec![name]).expect("names are ASCII");
        let end = if certificate == Certificate::Expired { 2000 } else { 2100 };
        (params.not_before, params.not_after) = (date_time_ymd(1995, 1, 1), date_time_ymd(end, 1, 1));
        let signed = match certificate {
            Certificate::SelfSigned => params.self_signed(&key),
            _ => params.signed_by(&key, &the_authority().issuer),
        };
        let chain: Vec<CertificateDer<'static>> =
            vec![signed.expect("the key fits the certificate").der().clone()];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .expect("the provider has them")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("the key is the certificate's");
        config.alpn_protocols = vec![if flood.is_some() { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Security { config: Arc::new(config), flood: flood.map(Arc::new) }
    }

    /// Shakes hands on a stream of which `greeting` was read already. Where nothing comes back, nothing is left to do.
    pub(crate) async fn accept(
        &self,
        clock: &Clock,
        stream: Stream,
        greeting: Vec<u8>,
    ) -> Option<TlsStream<Replayed>> {
        let replayed = Replayed { stream, read: greeting, position: 0 };
        let shaking = TlsAcceptor::from(self.config.clone()).accept(replayed);
        let mut stream = clock.timeout(HANDSHAKE, shaking).await.ok()?.ok()?;
        let Some(flood) = &self.flood else { return Some(stream) };
        if clock.timeout(HANDSHAKE, await_request(&mut stream)).await.is_ok_and(|asked| asked.is_ok()) {
            // A peer that leaves is what is hoped for.
            let _ = flood.perform(clock, &mut stream).await;
        }
        None
    }
}

/// Reads frames of HTTP/2 up to the first request.
async fn await_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut at = PREFACE_BYTES;
    loop {
        while let Some(&[high, middle, low, kind, ..]) = bytes.get(at..at + FRAME_HEAD_BYTES) {
            if kind == HEADERS {
                return Ok(());
            }
            at += FRAME_HEAD_BYTES + u32::from_be_bytes([0, high, middle, low]) as usize;
        }
        if bytes.len() > PRELUDE_BYTES_MAX || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A stream whose first bytes were read by somebody else.
#[derive(Debug)]
pub(crate) struct Replayed {
    stream: Stream,
    read: Vec<u8>,
    position: usize,
}

impl AsyncRead for Replayed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = &self.read[self.position..];
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        self.position += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Replayed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
