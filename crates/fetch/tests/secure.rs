//! TLS: T21, T22, T23, resumption, and tunnels through a proxy.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_fetch::tls::{Flaw, Verdict};
use mattock_fetch::{Client, ClientOptions, Credential, Exchange, Protocol, Proxy, TlsOptions};
use mattock_secret::Secret;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::server::{Act, listen, options, read_head, send, url};

pub(crate) const SERVER: &str = "93.184.216.34:443";
pub(crate) const PAGE: &str = "https://site.example/page";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// The simulated world begins on 9 June 2007.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 1);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Authority { issuer }
    }

    pub(crate) fn der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    /// A server's configuration with a certificate for `name` that holds for these years, and `extra` certificates after it.
    pub(crate) fn server(&self, name: &str, years: (i32, i32), extra: usize) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let mut chain = vec![leaf.der().clone()];
        chain.extend(std::iter::repeat_n(CertificateDer::from(self.der()), extra));
        config(chain, key)
    }
}

pub(crate) fn config(chain: Vec<CertificateDer<'static>>, key: KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(rustls::ALL_VERSIONS)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap()
}

/// Answers every request over TLS with the same page, and ends each connection after `requests` of them.
async fn serve(env: &Env, config: ServerConfig, requests: usize) -> Rc<std::cell::Cell<usize>> {
    serve_text(env, config, requests, OK, true).await
}

/// The same with any response; `says_so`: whether the end of the stream is announced.
async fn serve_text(
    env: &Env,
    config: ServerConfig,
    requests: usize,
    response: &'static str,
    says_so: bool,
) -> Rc<std::cell::Cell<usize>> {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut listener = env.net.listen(SERVER.parse::<SocketAddr>().unwrap()).await.unwrap();
    let connections = Rc::new(std::cell::Cell::new(0));
    let count = connections.clone();
    tokio::task::spawn_local(async move {
        while let Ok(accepted) = listener.accept().await {
            count.set(count.get() + 1);
            let acceptor = acceptor.clone();
            tokio::task::spawn_local(async move {
                let Ok(mut stream) = acceptor.accept(accepted.stream).await else { return };
                for _ in 0..requests {
                    if read_head(&mut stream).await.is_err() {
                        return;
                    }
                    stream.write_all(response.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                }
                if says_so {
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    connections
}

pub(crate) fn trusting(authority: &Authority, enforce: bool) -> ClientOptions {
    let tls = TlsOptions { enforce, extra_roots: vec![authority.der()] };
    ClientOptions { tls, ..options() }
}

/// One fetch over a stream that leads straight to the server, whatever the name: through a proxy that is a pipe.
async fn fetch(env: &Env, options: ClientOptions) -> Exchange {
    client(env, options).await.fetch(&url(PAGE), None).await.0
}

/// A client whose proxy tunnels everything to [`SERVER`].
pub(crate) async fn client(env: &Env, options: ClientOptions) -> Client {
    let address: SocketAddr = "10.0.0.1:3128".parse().unwrap();
    if let Ok(mut listener) = env.net.listen(address).await {
        let net = env.net.clone();
        tokio::task::spawn_local(async move {
            while let Ok(mut accepted) = listener.accept().await {
                let net = net.clone();
                tokio::task::spawn_local(async move {
                    let request = read_head(&mut accepted.stream).await.unwrap();
                    assert!(request.starts_with("CONNECT "), "{request}");
                    let mut server = net.connect(SERVER.parse().unwrap()).await.unwrap();
                    accepted.stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut accepted.stream, &mut server).await;
                });
            }
        });
    }
    let proxy = Some(Proxy { host: "10.0.0.1".to_owned(), port: 3128, authorization: None });
    Client::new(env, ClientOptions { proxy, ..options })
}

fn verdict(exchange: &Exchange) -> Verdict {
    exchange.tls.as_ref().expect("it was secured").verdict.clone()
}

#[test]
fn a_good_certificate_is_verified_and_recorded() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        serve(&env, authority.server("site.example", (2005, 2010), 0), 1).await;
        let exchange = fetch(&env, trusting(&authority, true)).await;
        assert_eq!((exchange.outcome.to_string().as_str(), exchange.body()), ("200", &b"hi"[..]));
        assert_eq!((verdict(&exchange), exchange.protocol), (Verdict::Verified, Protocol::Http1));
        let tls = exchange.tls.as_ref().unwrap();
        assert_eq!((tls.version, tls.resumed), ("tls/1.3", false));
        assert!(tls.cipher_suite.starts_with("TLS_"), "{}", tls.cipher_suite);
        assert_ne!(tls.fingerprint, [0; 32]);
        assert!(exchange.timings.secured >= exchange.timings.connected);
    });
}

#[test]
fn t21_bad_certificates_are_recorded_or_refused() {
    let other = Authority::new("another authority");
    let authority = Authority::new("the authority");
    let self_signed = || {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["site.example".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2005, 1, 1);
        config(vec![params.self_signed(&key).unwrap().der().clone()], key)
    };
    for (server, flaw) in [
        (authority.server("site.example", (2005, 2006), 0), Flaw::Expired),
        (authority.server("site.example", (2008, 2010), 0), Flaw::NotYetValid),
        (authority.server("elsewhere.example", (2005, 2010), 0), Flaw::WrongName),
        (other.server("site.example", (2005, 2010), 1), Flaw::UnknownIssuer),
        (self_signed(), Flaw::UnknownIssuer),
    ] {
        let authority = &authority;
        Simulation::new(1).run(|env| async move {
            serve(&env, server, 1).await;
            let exchange = fetch(&env, trusting(authority, false)).await;
            assert_eq!(exchange.outcome.to_string(), "200", "{flaw:?}");
            assert_eq!(verdict(&exchange), Verdict::Unverified(flaw));
            let exchange = fetch(&env, trusting(authority, true)).await;
            assert_eq!(exchange.outcome.to_string(), "certificate", "{flaw:?}");
        });
    }
}

#[test]
fn tls_1_2_is_spoken_too() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["site.example".to_owned()]).unwrap();
        let leaf = params.signed_by(&key, &authority.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS12])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        serve(&env, config, 1).await;
        let exchange = fetch(&env, trusting(&authority, true)).await;
        assert_eq!(exchange.outcome.to_string(), "200");
        assert_eq!(exchange.tls.unwrap().version, "tls/1.2");
    });
}

#[test]
fn sessions_are_resumed_with_their_verdict_and_connections_reused() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        let connections = serve(&env, authority.server("elsewhere.example", (2005, 2010), 0), 2).await;
        let client = client(&env, trusting(&authority, false)).await;
        let mut connection = None;
        let mut seen = Vec::new();
        for _ in 0..4 {
            let (exchange, kept) = client.fetch(&url(PAGE), connection).await;
            assert_eq!(exchange.body(), b"hi");
            seen.push((exchange.reused, exchange.tls.as_ref().unwrap().resumed));
            assert_eq!(verdict(&exchange), Verdict::Unverified(Flaw::WrongName));
            connection = kept;
            env.clock.sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(seen, [(false, false), (true, false), (false, true), (true, true)]);
        assert_eq!(connections.get(), 2);
    });
}

#[test]
fn the_end_of_a_secured_stream_need_not_be_announced() {
    for (response, truncated) in [
        ("HTTP/1.1 200 OK\r\n\r\nhi", None),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", Some("disconnect".to_owned())),
    ] {
        for says_so in [true, false] {
            let truncated = truncated.clone();
            Simulation::new(1).run(|env| async move {
                let authority = Authority::new("the authority");
                let config = authority.server("site.example", (2005, 2010), 0);
                serve_text(&env, config, 1, response, says_so).await;
                let exchange = fetch(&env, trusting(&authority, true)).await;
                assert_eq!(exchange.body(), b"hi", "{response}");
                assert_eq!(exchange.truncated.map(|cut| cut.to_string()), truncated, "{response} {says_so}");
            });
        }
    }
}

#[test]
fn t22_a_stalled_handshake_ends_in_time() {
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![vec![Act::Hang]]).await;
        let (exchange, _) = client(&env, options()).await.fetch(&url(PAGE), None).await;
        assert_eq!(exchange.outcome.to_string(), "tls-timeout");
        assert!(exchange.finished.since(exchange.begun) <= Duration::from_secs(11));
        env.clock.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.borrow().ended, 1);
    });
}

#[test]
fn t22_a_giant_chain_is_refused() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        serve(&env, authority.server("site.example", (2005, 2010), 300), 1).await;
        let exchange = fetch(&env, trusting(&authority, false)).await;
        assert_eq!(exchange.outcome.to_string(), "tls");
        assert_eq!(exchange.outcome.consequence().retries, 0);
    });
}

#[test]
fn t22_an_endless_handshake_is_refused() {
    Simulation::new(1).run(|env| async move {
        // Records of one byte of a handshake message that claims to be long.
        let record = b"\x16\x03\x03\x00\x01\x02".to_vec();
        let log = listen(&env, SERVER, vec![vec![Act::Forever(record.repeat(100))]]).await;
        let (exchange, _) = client(&env, options()).await.fetch(&url(PAGE), None).await;
        assert_eq!(exchange.outcome.to_string(), "tls");
        assert!(log.borrow().bytes_sent < 1024 * 1024);
    });
}

#[test]
fn t23_plain_text_where_tls_was_expected() {
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![vec![send("HTTP/1.1 400 Bad Request\r\n\r\n"), Act::Hang]]).await;
        let (exchange, _) = client(&env, options()).await.fetch(&url(PAGE), None).await;
        assert_eq!(exchange.outcome.to_string(), "tls");
        env.clock.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.borrow().connections, 1);
    });
}

#[test]
fn an_address_can_be_fetched_over_tls() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        serve(&env, authority.server("93.184.216.34", (2005, 2010), 0), 1).await;
        let client = Client::new(&env, trusting(&authority, true));
        let (exchange, _) = client.fetch(&url("https://93.184.216.34/"), None).await;
        assert_eq!(exchange.outcome.to_string(), "200");
        assert_eq!(exchange.address, Some("93.184.216.34".parse().unwrap()));
    });
}

/// Whoever asks without credentials gets an answer from the same server, whose connection is of no use to who has some.
#[test]
fn credentials_are_sent_over_verified_connections_only() {
    let authority = Authority::new("the authority");
    let with_key = |site: &str| {
        let key = Credential::new("X-Api-Key", &Secret::new("k3y"), vec![site.parse().unwrap()]);
        ClientOptions { credentials: vec![key.unwrap()], ..trusting(&authority, false) }
    };
    for (name, site, outcome) in [
        ("site.example", "site.example", "200"),
        ("elsewhere.example", "site.example", "certificate"),
        ("elsewhere.example", "other.example", "200"),
    ] {
        let (server, options) = (authority.server(name, (2005, 2010), 0), with_key(site));
        Simulation::new(1).run(|env| async move {
            let connections = serve(&env, server, 2).await;
            let plain = client(&env, ClientOptions { credentials: Vec::new(), ..options.clone() }).await;
            let (_, kept) = plain.fetch(&url(PAGE), None).await;
            assert!(kept.is_some());
            let (exchange, _) = client(&env, options).await.fetch(&url(PAGE), kept).await;
            assert_eq!(exchange.outcome.to_string(), outcome, "{name}, {site}");
            assert_eq!(exchange.reused, outcome == "200");
            assert_eq!(connections.get(), 1 + usize::from(outcome != "200"));
        });
    }
}
