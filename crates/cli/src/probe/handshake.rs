//! The certificate of a host, looked at in a handshake of its own.
//!
//! The fetch itself keeps of a certificate what an archive needs: its digest and a verdict. Who debugs a host wants to read
//! it, also where the fetch ended because of it. So after the fetch one more connection is made to the address that
//! the fetch used, hands are shaken, every certificate is let through and looked at, and the connection is closed.
//! Nothing is sent over it, so whether the server holds the key matters not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::Config;
use mattock_env::Env;
use mattock_weburl::WebUrl;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use serde::Serialize;
use tokio_rustls::TlsConnector;

use super::certificate::Certificate;
use super::text::printable;

/// What the handshake showed.
#[derive(Debug, Serialize)]
pub(crate) struct Handshake {
    /// Why it failed.
    pub(crate) failure: Option<String>,
    /// The protocol that was agreed on, such as `h2`.
    pub(crate) alpn: Option<String>,
    /// The server's certificate; none if it cannot be read.
    pub(crate) certificate: Option<Certificate>,
    /// Certificates that it sent.
    pub(crate) chain: usize,
    /// Whether the certificate is valid for this host now.
    pub(crate) verified: bool,
    /// Why not.
    pub(crate) flaw: Option<String>,
}

/// Shakes hands with the server at `address`.
pub(crate) async fn look(env: &Env, config: &Config, url: &WebUrl, address: SocketAddr) -> Handshake {
    let mut seen =
        Handshake { failure: None, alpn: None, certificate: None, chain: 0, verified: false, flaw: None };
    let shaken = env.clock.timeout(
        config.limits.connect + config.limits.handshake,
        shake(env, config, url, address, &mut seen),
    );
    match shaken.await {
        Ok(Ok(())) => {}
        Ok(Err(message)) => seen.failure = Some(printable(message.as_bytes())),
        Err(_) => seen.failure = Some("it did not end in time".into()),
    }
    seen
}

async fn shake(
    env: &Env,
    config: &Config,
    url: &WebUrl,
    address: SocketAddr,
    seen: &mut Handshake,
) -> Result<(), String> {
    let name = match url.ip() {
        Some(address) => ServerName::from(address),
        None => ServerName::try_from(url.host_name().to_owned()).map_err(|error| error.to_string())?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let stream = env.net.connect(address).await.map_err(|error| error.to_string())?;
    let mut tls = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Onlooker(provider.clone())))
        .with_no_client_auth();
    if config.http2 {
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    }
    let stream = TlsConnector::from(Arc::new(tls))
        .connect(name.clone(), stream)
        .await
        .map_err(|error| error.to_string())?;
    let connection = stream.get_ref().1;
    seen.alpn = connection.alpn_protocol().map(printable);
    let chain = connection.peer_certificates().unwrap_or_default();
    seen.chain = chain.len();
    seen.certificate = chain.first().and_then(|leaf| Certificate::read(leaf));
    let now = Duration::from_secs(u64::try_from(env.clock.unix().as_seconds()).unwrap_or(0));
    match judge(config, provider, chain, &name, UnixTime::since_unix_epoch(now)) {
        Ok(()) => seen.verified = true,
        Err(flaw) => seen.flaw = Some(printable(flaw.as_bytes())),
    }
    Ok(())
}

/// Judges as the fetch does; the library's own words say more than the fetch keeps.
fn judge(
    config: &Config,
    provider: Arc<CryptoProvider>,
    chain: &[CertificateDer<'_>],
    name: &ServerName<'_>,
    now: UnixTime,
) -> Result<(), String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(
        config.tls.extra_roots.iter().map(|der| CertificateDer::from(der.as_slice())),
    );
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| error.to_string())?;
    let (leaf, others) = chain.split_first().ok_or("there is none")?;
    match verifier.verify_server_cert(leaf, others, name, &[], now) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            Err(text.strip_prefix("invalid peer certificate: ").unwrap_or(&text).to_owned())
        }
    }
}

/// Lets everything through: nothing is sent to whom it lets through.
#[derive(Debug)]
struct Onlooker(Arc<CryptoProvider>);

impl ServerCertVerifier for Onlooker {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
