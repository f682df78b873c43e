//! T20 and T21 as a client of the TLS library sees them, on virtual time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Stream};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{HealthyWeb, HostileWeb};
use crate::server::{ServeOptions, Server, serve};

/// The server's certificates are judged by the machine's clock, and hold for this century.
async fn shake(
    env: &Env,
    server: &Server,
    host: &str,
    name: &str,
    protocol: &str,
) -> io::Result<TlsStream<Stream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(crate::authority())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let address = HostileWeb::<HealthyWeb>::default().address(host).unwrap();
    let stream = env.net.connect((address, server.http_port()).into()).await?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

async fn served(env: &Env) -> Server {
    let web = Arc::new(HostileWeb::new(HealthyWeb::new(1, 2)));
    serve(env, web, ServeOptions::default(), None).await.unwrap()
}

#[test]
fn t21_each_copy_has_another_flaw() {
    Simulation::new(1).run(|env| async move {
        let server = served(&env).await;
        let flaw = async |host: &str| {
            let error = shake(&env, &server, host, host, "http/1.1").await.unwrap_err();
            let inner = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
            match inner {
                Some(rustls::Error::InvalidCertificate(error)) => error.clone(),
                other => panic!("{host}: {other:?}"),
            }
        };
        let expired = flaw("t21-hostile-sim.com").await;
        assert!(matches!(expired, CertificateError::ExpiredContext { .. }), "{expired:?}");
        assert_eq!(flaw("t21-1-hostile-sim.com").await, CertificateError::UnknownIssuer);
        let name = flaw("t21-2-hostile-sim.com").await;
        assert!(matches!(name, CertificateError::NotValidForNameContext { .. }), "{name:?}");
    });
}

#[test]
fn t21_what_is_said_over_a_secured_connection_is_as_over_a_plain_one() {
    Simulation::new(2).run(|env| async move {
        let server = served(&env).await;
        let host = "t21-2-hostile-sim.com";
        let name = format!("not-{host}");
        let mut stream = shake(&env, &server, host, &name, "http/1.1").await.unwrap();
        let request = |path: &str, end: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: {end}\r\n\r\n")
        };
        stream.write_all(request("/secured", "keep-alive").as_bytes()).await.unwrap();
        stream.write_all(request("/robots.txt", "close").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains("secured") && answer.contains("Disallow: /never/"), "{answer}");
    });
}

#[test]
fn t20_each_copy_floods_with_other_frames() {
    Simulation::new(3).run(|env| async move {
        let server = served(&env).await;
        for (host, kind) in [("t20", 9), ("t20-1", 3), ("t20-2", 0)] {
            let host = format!("{host}-hostile-sim.com");
            let mut stream = shake(&env, &server, &host, &host, "h2").await.unwrap();
            let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
            bytes.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
            stream.write_all(&bytes).await.unwrap();
            let mut frames = Vec::new();
            let silent = env.clock.timeout(Duration::from_secs(5), stream.read_buf(&mut frames)).await;
            assert!(silent.is_err(), "{host}: nothing comes before a request");
            // A request: end of head and of stream, GET / in HPACK.
            stream.write_all(&[0, 0, 3, 1, 5, 0, 0, 0, 1, 0x82, 0x84, 0x86]).await.unwrap();
            while frames.len() < 1 << 20 {
                assert!(stream.read_buf(&mut frames).await.unwrap() > 0, "{host}");
            }
            let mut at = 0;
            let mut last = 0;
            while let Some(&[high, middle, low, kind, ..]) = frames.get(at..at + 9) {
                at += 9 + u32::from_be_bytes([0, high, middle, low]) as usize;
                last = kind;
            }
            assert_eq!(last, kind, "{host}");
        }
    });
}
