//! A server on a thread of its own that sends the same page to everybody.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::NoServerSessionStorage;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

pub(crate) const BODY_BYTES: usize = 20 * 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Serving {
    Plain,
    Tls {
        /// Whether sessions can be resumed.
        resume: bool,
    },
}

/// Starts a server; returns where it listens and the certificate to trust.
pub(crate) fn start(serving: Serving) -> (SocketAddr, Option<Vec<u8>>) {
    let (config, root) = match serving {
        Serving::Plain => (None, None),
        Serving::Tls { resume } => {
            let (config, root) = secured(resume);
            (Some(config), Some(root))
        }
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        mattock_env::run(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            let acceptor = config.map(|config| TlsAcceptor::from(Arc::new(config)));
            let page: Arc<[u8]> = page().into();
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let _ = stream.set_nodelay(true);
                let (acceptor, page) = (acceptor.clone(), page.clone());
                tokio::task::spawn_local(async move {
                    match acceptor {
                        None => serve(stream, &page).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, &page).await;
                            }
                        }
                    }
                });
            }
        });
    });
    (receiver.recv().unwrap(), root)
}

fn page() -> Vec<u8> {
    let mut page = format!(
        "HTTP/1.1 200 OK\r\nDate: Sat, 09 Jun 2007 00:00:00 GMT\r\nServer: speed\r\n\
         Content-Type: text/html; charset=utf-8\r\nLast-Modified: Fri, 08 Jun 2007 00:00:00 GMT\r\n\
         ETag: \"abcdef\"\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
    )
    .into_bytes();
    page.resize(page.len() + BODY_BYTES, b'x');
    page
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, page: &[u8]) {
    let mut buffer = [0; 4096];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(0) | Err(_) => return,
            Ok(count) => filled += count,
        }
        if buffer[..filled].ends_with(b"\r\n\r\n") {
            filled = 0;
            if stream.write_all(page).await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
    }
}

fn secured(resume: bool) -> (ServerConfig, Vec<u8>) {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    if resume {
        config.ticketer = rustls::crypto::ring::Ticketer::new().unwrap();
    } else {
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    (config, certificate.der().to_vec())
}
