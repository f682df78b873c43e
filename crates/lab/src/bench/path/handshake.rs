//! What a handshake costs rustls itself: client and server in memory, no socket, no runtime; only the client's CPU counts.

use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

use super::secure::Certificates;

/// The plainest client that checks certificates.
pub(super) fn client_config(root: &[u8]) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(root))?;
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(rustls::ALL_VERSIONS)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// CPU µs of the client per full handshake with `host`, the mean of so many.
pub(super) fn measure(certificates: &Certificates, host: &str, handshakes: usize) -> io::Result<f64> {
    let failed = io::Error::other::<rustls::Error>;
    let client = client_config(&certificates.root).map_err(failed)?;
    let server = Arc::new(certificates.server_config(false).map_err(failed)?);
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut spent = 0.0;
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    for _ in 0..handshakes {
        let mut far = ServerConnection::new(server.clone()).map_err(failed)?;
        let mut near: Option<ClientConnection> = None;
        loop {
            let begun = mattock_env::thread_cpu_seconds();
            let near = match &mut near {
                Some(near) => near,
                None => near.insert(ClientConnection::new(client.clone(), name.clone()).map_err(failed)?),
            };
            let mut input = &to_client[..];
            while !input.is_empty() {
                near.read_tls(&mut input)?;
                near.process_new_packets().map_err(failed)?;
            }
            to_server.clear();
            while near.wants_write() {
                near.write_tls(&mut to_server)?;
            }
            spent += mattock_env::thread_cpu_seconds() - begun;
            let mut input = &to_server[..];
            while !input.is_empty() {
                far.read_tls(&mut input)?;
                far.process_new_packets().map_err(failed)?;
            }
            to_client.clear();
            while far.wants_write() {
                far.write_tls(&mut to_client)?;
            }
            if !near.is_handshaking() && !far.is_handshaking() {
                break;
            }
        }
        to_client.clear();
    }
    Ok(spent * 1e6 / handshakes as f64)
}
