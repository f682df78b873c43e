//! The floor: the least that a client on tokio can do. It sends the same request, reads into one buffer, parses the head
//! and looks for `Content-Length` and `Connection`; it has no limits and no clock.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) struct Floor {
    address: SocketAddr,
    connector: TlsConnector,
    request: Vec<u8>,
}

pub(crate) enum Open {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Floor {
    pub(crate) fn new(address: SocketAddr, root: Option<&[u8]>) -> Floor {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(root.map(CertificateDer::from));
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(rustls::ALL_VERSIONS)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let request = format!(
            "GET /page HTTP/1.1\r\nHost: {address}\r\nUser-Agent: speed/1\r\n\
             Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        );
        Floor { address, connector: TlsConnector::from(Arc::new(config)), request: request.into_bytes() }
    }

    pub(crate) async fn fetch(
        &self,
        secure: bool,
        kept: Option<Open>,
        keep_alive: bool,
        buffer: &mut Vec<u8>,
    ) -> Option<Open> {
        let mut open = match kept {
            Some(open) => open,
            None => {
                let stream = TcpStream::connect(self.address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                match secure {
                    false => Open::Plain(stream),
                    true => {
                        let name = ServerName::from(self.address.ip());
                        Open::Tls(Box::new(self.connector.connect(name, stream).await.unwrap()))
                    }
                }
            }
        };
        match &mut open {
            Open::Plain(stream) => exchange(stream, &self.request, buffer).await,
            Open::Tls(stream) => exchange(stream, &self.request, buffer).await,
        }
        keep_alive.then_some(open)
    }
}

async fn exchange(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &[u8], buffer: &mut Vec<u8>) {
    buffer.clear();
    stream.write_all(request).await.unwrap();
    stream.flush().await.unwrap();
    let mut end = usize::MAX;
    while buffer.len() < end {
        buffer.reserve(32 * 1024);
        assert!(stream.read_buf(buffer).await.unwrap() > 0, "the server went away");
        if end == usize::MAX {
            let mut fields = [httparse::EMPTY_HEADER; 64];
            let mut response = httparse::Response::new(&mut fields);
            if let httparse::Status::Complete(head) = response.parse(buffer).unwrap() {
                let value = |name: &str| {
                    response
                        .headers
                        .iter()
                        .find(|field| field.name.eq_ignore_ascii_case(name))
                        .map(|field| field.value)
                };
                let length = std::str::from_utf8(value("content-length").unwrap()).unwrap();
                assert!(value("connection").is_none());
                end = head + length.parse::<usize>().unwrap();
            }
        }
    }
}
