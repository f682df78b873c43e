//! TLS: handshakes within limits, certificates judged and recorded.
//!
//! An archive wants what the server says even where its certificate has expired; a test of other people's care is not
//! its business. So a certificate is always checked, the verdict is always recorded ([`TlsInfo`]), and only if the operator
//! says so, or the request has credentials in it, does a bad one end the fetch. The proof that the server holds the certificate's key is always demanded.
//!
//! The check is made after the handshake and before the first byte of a request, by our own clock, so that one
//! configuration (and with it one cache of sessions) serves all hosts and each connection still has its own verdict. A
//! resumed session takes over the verdict of the one it resumes, which is most of what resumption saves.
//!
//! Randomness and keys are the library's own: under simulation TLS is not repeatable byte for byte.

mod metered;
mod verifier;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Clock, Stream};
use mattock_weburl::WebUrl;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion, RootCertStore, SupportedCipherSuite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connection::Terms;
use crate::{ClientOptions, Failure};
pub(crate) use metered::{Allowance, Metered};
use verifier::{KeyHolder, judge};

/// Hosts whose sessions are kept for resumption (a few KB each), and whose verdicts are remembered for them.
const SESSIONS_MAX: usize = 1024;

/// How certificates are judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Whether a bad certificate ends the fetch. Otherwise it is only recorded.
    pub enforce: bool,
    /// Certificates (DER) of authorities that are trusted besides Mozilla's.
    pub extra_roots: Vec<Vec<u8>>,
}

/// How a connection was secured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// `tls/1.2` or `tls/1.3`.
    pub version: &'static str,
    /// The cipher suite's registered name, as in `WARC-Cipher-Suite`.
    pub cipher_suite: String,
    /// What was found about the certificate.
    pub verdict: Verdict,
    /// SHA-256 of the server's certificate.
    pub fingerprint: [u8; 32],
    /// Whether an earlier session was resumed; the verdict is then that session's.
    pub resumed: bool,
}

/// What was found about a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Issued by a trusted authority for this name, and valid now.
    Verified,
    /// Not so, and why.
    Unverified(Flaw),
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYetValid,
    /// It is for another name.
    WrongName,
    /// Nobody whom we trust has issued it; self-signed ones are among these.
    UnknownIssuer,
    /// It was revoked.
    Revoked,
    /// Its signature is wrong.
    BadSignature,
    /// It is not for servers.
    WrongPurpose,
    /// It cannot be read.
    Malformed,
    /// Something else.
    Other,
}

impl Flaw {
    /// The name that is stored, counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            Flaw::Expired => "expired",
            Flaw::NotYetValid => "not-yet-valid",
            Flaw::WrongName => "wrong-name",
            Flaw::UnknownIssuer => "unknown-issuer",
            Flaw::Revoked => "revoked",
            Flaw::BadSignature => "bad-signature",
            Flaw::WrongPurpose => "wrong-purpose",
            Flaw::Malformed => "malformed",
            Flaw::Other => "other",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Verified => out.write_str("verified"),
            Verdict::Unverified(flaw) => out.write_str(flaw.name()),
        }
    }
}

/// A certificate's SHA-256 and what was found about it.
type Judged = ([u8; 32], Verdict);

/// Secures connections. One per client.
pub(crate) struct Tls {
    connector: TlsConnector,
    verifier: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
    enforce: bool,
    /// Verdicts by host, for sessions that are resumed. Emptied when full: the sessions are bounded the same way.
    known: RefCell<HashMap<Box<str>, Judged>>,
}

fn provider() -> CryptoProvider {
    #[cfg(feature = "aws-lc-rs")]
    return rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "aws-lc-rs"))]
    rustls::crypto::ring::default_provider()
}

impl Tls {
    pub(crate) fn new(options: &ClientOptions) -> Tls {
        let provider = Arc::new(provider());
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let (_, ignored) = roots.add_parsable_certificates(
            options.tls.extra_roots.iter().map(|der| CertificateDer::from(&der[..])),
        );
        if ignored > 0 {
            tracing::warn!(ignored, "certificates of extra authorities cannot be read; they must be DER");
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .expect("there are roots and no revocation lists");
        let key_holder = KeyHolder::new(verifier.clone(), options.tls.enforce);
        let mut config = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .expect("the provider supports TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(key_holder))
            .with_no_client_auth();
        config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
        if cfg!(feature = "http2") && options.http2 {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        let connector = TlsConnector::from(Arc::new(config));
        Tls { connector, verifier, provider, enforce: options.tls.enforce, known: RefCell::default() }
    }

    /// Shakes hands with the server of `url`.
    pub(crate) async fn secure(
        &self,
        stream: Stream,
        url: &WebUrl,
        terms: &Terms<'_>,
    ) -> Result<(TlsStream<Metered>, TlsInfo), Failure> {
        let name = match url.ip() {
            Some(address) => ServerName::from(address),
            None => ServerName::try_from(url.host_name().to_owned()).map_err(|_| Failure::Tls)?,
        };
        let metered = Metered::new(stream, Allowance::new(terms.limits.handshake_bytes_max as u64));
        let handshake = self.connector.connect(name.clone(), metered);
        let stream = match terms.clock.timeout(terms.wait(terms.limits.handshake), handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, host = url.host_name(), "TLS handshake failed");
                let of_tls = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge);
                return Err(if of_tls { Failure::Tls } else { Failure::Disconnected });
            }
            Err(_) => return Err(Failure::TlsTimeout),
        };
        let info = self.info(&stream, url.host_name(), &name, terms.clock);
        match info.verdict {
            Verdict::Unverified(_) if self.enforce || terms.verified => Err(Failure::Certificate),
            _ => Ok((stream, info)),
        }
    }

    fn info(&self, stream: &TlsStream<Metered>, host: &str, name: &ServerName<'_>, clock: &Clock) -> TlsInfo {
        let connection = stream.get_ref().1;
        let chain = connection.peer_certificates().unwrap_or_default();
        let fingerprint = chain.first().map(|leaf| self.sha256(leaf)).unwrap_or_default();
        let resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        let mut known = self.known.borrow_mut();
        let remembered = known.get(host).filter(|(seen, _)| resumed && *seen == fingerprint);
        let verdict = match remembered {
            Some((_, verdict)) => verdict.clone(),
            None => {
                let now = Duration::from_secs(u64::try_from(clock.unix().as_seconds()).unwrap_or(0));
                let verdict = judge(&self.verifier, chain, name, now);
                if known.len() >= SESSIONS_MAX {
                    known.clear();
                }
                known.insert(host.into(), (fingerprint, verdict.clone()));
                verdict
            }
        };
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "tls/1.2",
            _ => "tls/1.3",
        };
        let cipher_suite = connection.negotiated_cipher_suite().map(suite_name).unwrap_or_default();
        TlsInfo { version, cipher_suite, verdict, fingerprint, resumed }
    }

    fn sha256(&self, bytes: &[u8]) -> [u8; 32] {
        let hash = self.provider.cipher_suites.iter().find_map(|suite| match suite {
            SupportedCipherSuite::Tls13(suite) => {
                Some(suite.common.hash_provider).filter(|hash| hash.output_len() == 32)
            }
            _ => None,
        });
        let digest = hash.map(|hash| hash.hash(bytes));
        digest.and_then(|digest| digest.as_ref().try_into().ok()).unwrap_or_default()
    }
}

/// The registered name: the library calls those of TLS 1.3 by a prefix of its own.
fn suite_name(suite: SupportedCipherSuite) -> String {
    let name = format!("{:?}", suite.suite());
    match name.strip_prefix("TLS13_") {
        Some(rest) => format!("TLS_{rest}"),
        None => name,
    }
}
