//! `mattock fetch` over TLS: the certificate is shown, whether it is enforced or not.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use data_encoding::BASE64;
use mattock_env::Env;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::process::Scratch;

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\
    X-Robots-Tag: noindex\r\n\r\n<title>S</title>";

/// A server with a certificate of an authority that nobody knows.
struct Secured {
    url: String,
    authority: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Secured {
    fn start() -> Secured {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "Our Authority");
        let authority_key = KeyPair::generate().expect("there is randomness");
        let authority_certificate = authority.self_signed(&authority_key).expect("the key fits");
        let mut leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address is a name");
        leaf.distinguished_name.push(DnType::CommonName, "Our Server");
        let key = KeyPair::generate().expect("there is randomness");
        let certificate = leaf.signed_by(&key, &Issuer::new(authority, authority_key)).expect("the key fits");
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(rustls::ALL_VERSIONS)
                .expect("a fixed choice that the provider has")
                .with_no_client_auth()
                .with_single_cert(
                    vec![certificate.der().clone()],
                    PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())),
                )
                .expect("a fixed choice that the provider has");
        let (ready, address) = channel();
        let (stop, mut stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            mattock_env::run(async move {
                let mut listener = Env::real()
                    .net
                    .listen(SocketAddr::from(([127, 0, 0, 1], 0)))
                    .await
                    .expect("a free port is found");
                ready.send(listener.address().expect("it listens")).expect("awaited");
                let acceptor = TlsAcceptor::from(Arc::new(config));
                loop {
                    let accepted = tokio::select! {
                        accepted = listener.accept() => accepted.expect("peers come and go one by one"),
                        _ = &mut stopped => return,
                    };
                    // A client that only looks sends no request, and one that is shocked ends the handshake.
                    if let Ok(mut stream) = acceptor.accept(accepted.stream).await {
                        let mut request = [0; 4096];
                        if stream.read(&mut request).await.is_ok_and(|len| len > 0) {
                            let missing = request.starts_with(b"GET /robots.txt");
                            let missing =
                                missing.then_some(&b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"[..]);
                            let _ = stream.write_all(missing.unwrap_or(RESPONSE)).await;
                        }
                        let _ = stream.shutdown().await;
                    }
                }
            });
        });
        let address = address.recv().expect("the server says where it is");
        Secured {
            url: format!("https://{address}/"),
            authority: format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                BASE64.encode(authority_certificate.der())
            ),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn fetch(&self, scratch: &Scratch, more: &[&str]) -> (Option<i32>, Value) {
        let own = ["fetch", "--json", "--allow-address", "127.0.0.1", &self.url];
        let output = scratch.mattock(&[&own[..], more].concat());
        (output.status.code(), serde_json::from_slice(&output.stdout).expect("one object"))
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn certificates_are_shown_enforced_and_trusted() {
    let scratch = Scratch::new("secured");
    let server = Secured::start();

    let (code, report) = server.fetch(&scratch, &[]);
    assert_eq!((code, &report["fetch"]["outcome"]["name"]), (Some(0), &Value::from("200")), "{report}");
    let tls = &report["fetch"]["tls"];
    assert_eq!((&tls["version"], &tls["verdict"]), (&Value::from("tls/1.3"), &Value::from("unknown-issuer")));
    assert!(report["fetch"]["timings_ms"]["tls"].is_number(), "{report}");
    let shown = &tls["handshake"];
    assert_eq!((&shown["verified"], &shown["flaw"]), (&Value::from(false), &Value::from("UnknownIssuer")));
    let certificate = &shown["certificate"];
    assert!(certificate["subject"].as_str().unwrap().contains("CN=Our Server"), "{certificate}");
    assert!(certificate["issuer"].as_str().unwrap().contains("CN=Our Authority"), "{certificate}");
    assert_eq!(certificate["names"][0], "127.0.0.1");
    assert_eq!(report["page"]["noindex"], true);

    // Enforced, not even robots.txt is asked for; the certificate is still shown.
    let (code, report) = server.fetch(&scratch, &["--verify", "--no-robots"]);
    assert_eq!(
        (code, &report["fetch"]["outcome"]["name"]),
        (Some(1), &Value::from("certificate")),
        "{report}"
    );
    assert_eq!(report["robots"]["allowed"], false);
    assert!(report["fetch"]["status_line"].is_null());
    assert_eq!(report["fetch"]["tls"]["handshake"]["flaw"], "UnknownIssuer");

    // Enforced, with an authority that is known.
    scratch.write("ours.pem", &server.authority);
    scratch.write("ours.toml", "[tls]\nverify = true\nextra_roots = [\"ours.pem\"]\n");
    let (code, report) = server.fetch(&scratch, &["--config", "ours.toml"]);
    assert_eq!((code, &report["fetch"]["tls"]["verdict"]), (Some(0), &Value::from("verified")), "{report}");
    assert_eq!(report["fetch"]["tls"]["handshake"]["verified"], true);
}
