//! HTTP/2: agreed on by ALPN, and T20.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mattock_env::sim::Simulation;
use mattock_env::{Env, Stream};
use mattock_fetch::{ClientOptions, Limits, Protocol};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::secure::{Authority, PAGE, SERVER, client, trusting};
use crate::server::url;

/// Accepts connections that agree on HTTP/2 and hands them to `serve`.
async fn listen<F, S>(env: &Env, authority: &Authority, serve: F)
where
    F: Fn(TlsStream<Stream>) -> S + Clone + 'static,
    S: Future<Output = ()> + 'static,
{
    let mut config = authority.server("site.example", (2005, 2010), 0);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut listener = env.net.listen(SERVER.parse::<SocketAddr>().unwrap()).await.unwrap();
    tokio::task::spawn_local(async move {
        while let Ok(accepted) = listener.accept().await {
            let (acceptor, serve) = (acceptor.clone(), serve.clone());
            tokio::task::spawn_local(async move {
                if let Ok(stream) = acceptor.accept(accepted.stream).await {
                    serve(stream).await;
                }
            });
        }
    });
}

/// A well-behaved server: a body of so many bytes for every request.
async fn polite(stream: TlsStream<Stream>, body_bytes: usize) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        assert_eq!(request.uri().to_string(), PAGE);
        assert!(request.headers().contains_key("user-agent") && !request.headers().contains_key("host"));
        let response =
            http::Response::builder().header("content-type", "text/html").header("x", "1").body(());
        let mut body = respond.send_response(response.unwrap(), false).unwrap();
        tokio::task::spawn_local(async move {
            let mut left = body_bytes;
            while left > 0 {
                body.reserve_capacity(left.min(16_384));
                let Some(Ok(room)) = std::future::poll_fn(|cx| body.poll_capacity(cx)).await else { return };
                let count = room.min(left);
                if body.send_data(Bytes::from(vec![b'x'; count]), false).is_err() {
                    return;
                }
                left -= count;
            }
            let _ = body.send_data(Bytes::new(), true);
        });
    }
}

#[test]
fn http_2_is_spoken_where_it_is_agreed_on() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        listen(&env, &authority, |stream| polite(stream, 100_000)).await;
        let client = client(&env, trusting(&authority, true)).await;
        let mut connection = None;
        for turn in 0..3 {
            let (exchange, kept) = client.fetch(&url(PAGE), connection).await;
            assert_eq!(exchange.outcome.to_string(), "200");
            assert_eq!((exchange.protocol, exchange.reused), (Protocol::Http2, turn > 0));
            assert_eq!((exchange.body().len(), exchange.truncated), (100_000, None));
            let head = String::from_utf8(exchange.head_bytes().to_vec()).unwrap();
            assert_eq!(head, "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx: 1\r\n\r\n");
            assert_eq!(exchange.field("Content-Type"), Some("text/html"));
            connection = kept;
            assert!(connection.is_some());
            env.clock.sleep(Duration::from_secs(5)).await;
        }
    });
}

#[test]
fn without_the_offer_there_is_no_http_2() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        listen(&env, &authority, |stream| polite(stream, 10)).await;
        let options = ClientOptions { http2: false, ..trusting(&authority, true) };
        let (exchange, _) = client(&env, options).await.fetch(&url(PAGE), None).await;
        assert_eq!(exchange.outcome.to_string(), "protocol", "this server speaks nothing else");
    });
}

#[test]
fn bodies_are_cut_at_the_limit() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        listen(&env, &authority, |stream| polite(stream, 3_000_000)).await;
        let limits = Limits { body_bytes_max: 1_000_000, ..Limits::default() };
        let options = ClientOptions { limits, ..trusting(&authority, true) };
        let (exchange, connection) = client(&env, options).await.fetch(&url(PAGE), None).await;
        assert_eq!(exchange.truncated.unwrap().to_string(), "length");
        assert_eq!(exchange.body().len(), 1_000_000);
        assert!(connection.is_none());
    });
}

#[test]
fn a_server_that_went_away_is_asked_anew() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        // One request per connection, then a polite good-bye.
        listen(&env, &authority, |stream| async move {
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            if let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut body = respond.send_response(http::Response::new(()), false).unwrap();
                body.send_data(Bytes::from_static(b"hi"), true).unwrap();
                connection.graceful_shutdown();
                while connection.accept().await.is_some() {}
            }
        })
        .await;
        let client = client(&env, trusting(&authority, true)).await;
        let mut connection = None;
        for _ in 0..3 {
            let (exchange, kept) = client.fetch(&url(PAGE), connection).await;
            assert_eq!((exchange.outcome.to_string().as_str(), exchange.body()), ("200", &b"hi"[..]));
            connection = kept;
            env.clock.sleep(Duration::from_secs(5)).await;
        }
    });
}

/// A frame: length, type, flags, stream, payload.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// What a fetch comes to if the server says hello, waits for the request, sends `first` and then `flood` for ever.
fn flooded(first: Vec<u8>, flood: Vec<u8>) -> (String, Option<String>, Duration, u64) {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        let sent = std::rc::Rc::new(std::cell::Cell::new(0_u64));
        let count = sent.clone();
        listen(&env, &authority, move |mut stream| {
            let (first, flood, count) = (first.clone(), flood.clone(), count.clone());
            async move {
                let hello = frame(4, 0, 0, &[]);
                let mut buffer = [0; 4096];
                if stream.write_all(&hello).await.is_err() || stream.read(&mut buffer).await.is_err() {
                    return;
                }
                if stream.write_all(&first).await.is_err() {
                    return;
                }
                let flood = flood.repeat(100);
                while stream.write_all(&flood).await.is_ok() {
                    count.set(count.get() + flood.len() as u64);
                    tokio::task::yield_now().await;
                }
            }
        })
        .await;
        let client = client(&env, trusting(&authority, true)).await;
        let (exchange, connection) = client.fetch(&url(PAGE), None).await;
        assert!(connection.is_none());
        let took = exchange.finished.since(exchange.begun);
        (exchange.outcome.to_string(), exchange.truncated.map(|cut| cut.to_string()), took, sent.get())
    })
}

#[test]
fn t20_floods_end_soon() {
    // HPACK: 0x88 is ":status: 200".
    let head = frame(1, 4, 1, &[0x88]);
    let literal = b"\x00\x01a\x01b".repeat(20);
    for (name, first, flood) in [
        ("continuation", frame(1, 0, 1, &[0x88]), frame(9, 0, 1, &literal)),
        ("reset", Vec::new(), frame(3, 0, 1, &[0, 0, 0, 8])),
        ("ping", Vec::new(), frame(6, 0, 0, &[7; 8])),
        ("settings", Vec::new(), frame(4, 0, 0, &[])),
        ("empty data", head.clone(), frame(0, 0, 1, &[])),
        ("window update", head.clone(), frame(8, 0, 0, &[0, 0, 0, 1])),
        ("priority", head, frame(2, 0, 3, &[0, 0, 0, 0, 1])),
    ] {
        let (outcome, truncated, took, sent) = flooded(first, flood);
        assert!(took < Duration::from_secs(21), "{name}: {took:?}");
        assert!(sent < 4 * 1024 * 1024, "{name}: {sent} bytes");
        // Where every frame wants an answer, a server that reads none of them stops itself; then time runs out.
        let failed = matches!(outcome.as_str(), "protocol" | "disconnected" | "first-byte-timeout");
        assert!(failed || truncated.as_deref() == Some("disconnect"), "{name}: {outcome} {truncated:?}");
    }
}

#[test]
fn a_large_body_waits_in_a_file_and_comes_back() {
    Simulation::new(1).run(|env| async move {
        let authority = Authority::new("the authority");
        listen(&env, &authority, |stream| polite(stream, 1_000_000)).await;
        let spill = Some(std::path::PathBuf::from("/state/spill"));
        let client = client(&env, ClientOptions { spill, ..trusting(&authority, true) }).await;
        let (mut exchange, kept) = client.fetch(&url(PAGE), None).await;
        assert_eq!((exchange.protocol, exchange.truncated), (Protocol::Http2, None));
        assert!(env.files.entry(std::path::Path::new("/state/spill")).unwrap().is_some(), "it was needed");
        exchange.restore().unwrap();
        assert!(kept.is_some() && exchange.body().len() == 1_000_000);
        assert!(exchange.body().iter().all(|byte| *byte == b'x'));
        assert_eq!(exchange.field("x"), Some("1"));
    });
}
