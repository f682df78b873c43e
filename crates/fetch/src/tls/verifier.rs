//! Who is judged when: the key in the handshake, the certificate after it.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::{Flaw, Verdict};

/// Lets every certificate through the handshake, but demands that the server holds its key.
#[derive(Debug)]
pub(super) struct KeyHolder {
    verifier: Arc<WebPkiServerVerifier>,
    enforce: bool,
}

impl KeyHolder {
    pub(super) fn new(verifier: Arc<WebPkiServerVerifier>, enforce: bool) -> KeyHolder {
        KeyHolder { verifier, enforce }
    }

    /// A signature that is wrong is always refused. One that cannot be checked, because the certificate is of a kind
    /// the library does not read (version 1, odd keys), is refused only if certificates are enforced; the verdict
    /// after the handshake says so then.
    fn tolerate(
        &self,
        result: Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        match result {
            Err(Error::InvalidCertificate(
                CertificateError::BadEncoding
                | CertificateError::UnhandledCriticalExtension
                | CertificateError::Other(_),
            )) if !self.enforce => Ok(HandshakeSignatureValid::assertion()),
            result => result,
        }
    }
}

impl ServerCertVerifier for KeyHolder {
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
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tolerate(self.verifier.verify_tls12_signature(message, cert, signature))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.tolerate(self.verifier.verify_tls13_signature(message, cert, signature))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Judges a chain of certificates, the server's own first.
pub(super) fn judge(
    verifier: &WebPkiServerVerifier,
    chain: &[CertificateDer<'_>],
    name: &ServerName<'_>,
    now: Duration,
) -> Verdict {
    let Some((leaf, intermediates)) = chain.split_first() else {
        return Verdict::Unverified(Flaw::Malformed);
    };
    match verifier.verify_server_cert(leaf, intermediates, name, &[], UnixTime::since_unix_epoch(now)) {
        Ok(_) => Verdict::Verified,
        Err(Error::InvalidCertificate(error)) => Verdict::Unverified(flaw(&error)),
        Err(_) => Verdict::Unverified(Flaw::Other),
    }
}

fn flaw(error: &CertificateError) -> Flaw {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => Flaw::Expired,
        E::NotValidYet | E::NotValidYetContext { .. } => Flaw::NotYetValid,
        E::NotValidForName | E::NotValidForNameContext { .. } => Flaw::WrongName,
        E::UnknownIssuer => Flaw::UnknownIssuer,
        E::Revoked => Flaw::Revoked,
        E::BadSignature => Flaw::BadSignature,
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => Flaw::WrongPurpose,
        E::BadEncoding => Flaw::Malformed,
        _ => Flaw::Other,
    }
}
