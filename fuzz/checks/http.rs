//! What must hold for any bytes that a server sends in answer to a request: through the client itself, over a simulated
//! network, once in one piece and once in pieces.

use std::net::SocketAddr;
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_fetch::{Client, ClientOptions, DecodeLimits, Exchange, Identity, Limits};
use mattock_weburl::WebUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SERVER: &str = "93.184.216.34:80";
const PAGE: &str = "http://93.184.216.34/page";
const HEAD_BYTES_MAX: usize = 1024;
const BODY_BYTES_MAX: usize = 512;
const DECODED_BYTES_MAX: usize = 4096;
/// A response comes in at most so many pieces: each costs a turn of the simulation.
const PIECES_MAX: usize = 40;

pub(crate) fn check(bytes: &[u8]) {
    let whole = fetch(bytes, bytes.len().max(1));
    inspect(bytes, &whole);
    // The sum of the bytes is a size that changes with each of them.
    let sum = bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    let size = (1 + sum % 17).max(bytes.len().div_ceil(PIECES_MAX));
    let pieces = fetch(bytes, size);
    inspect(bytes, &pieces);
    // How the bytes are cut on their way says nothing about what they mean.
    assert_eq!(whole.outcome, pieces.outcome);
    assert_eq!(whole.truncated, pieces.truncated);
    assert_eq!((whole.head_bytes(), whole.body()), (pieces.head_bytes(), pieces.body()));
}

/// Fetches from a server that sends `bytes` in pieces of this size and hangs up.
fn fetch(bytes: &[u8], size: usize) -> Exchange {
    let bytes = bytes.to_vec();
    Simulation::new(1).run(|env| async move {
        let address: SocketAddr = SERVER.parse().expect("an address");
        let mut listener = env.net.listen(address).await.expect("a free port");
        let clock = env.clock.clone();
        tokio::task::spawn_local(async move {
            let mut stream = listener.accept().await.expect("the client comes").stream;
            let _ = stream.read(&mut [0; 4096]).await;
            for piece in bytes.chunks(size) {
                // The client may have heard enough.
                if stream.write_all(piece).await.is_err() {
                    return;
                }
                clock.sleep(Duration::from_millis(1)).await;
            }
        });
        let limits =
            Limits { head_bytes_max: HEAD_BYTES_MAX, body_bytes_max: BODY_BYTES_MAX, ..Limits::default() };
        let identity = Identity { user_agent: "fuzz".to_owned(), from: None };
        let client = Client::new(&env, ClientOptions { limits, ..ClientOptions::new(identity) });
        client.fetch(&WebUrl::parse(PAGE).expect("a URL"), None).await.0
    })
}

fn inspect(bytes: &[u8], exchange: &Exchange) {
    let (head, body) = (exchange.head_bytes(), exchange.body());
    assert!(head.len() <= HEAD_BYTES_MAX && body.len() <= BODY_BYTES_MAX);
    assert!(exchange.finished.since(exchange.begun) < Duration::from_secs(60));
    let Some(status) = exchange.outcome.status() else { return };
    assert!((200..1000).contains(&status));
    let at = bytes.windows(head.len()).position(|window| window == head).expect("the head was sent");
    assert!(head.ends_with(b"\n\n") || head.ends_with(b"\n\r\n"));
    if exchange.fields("transfer-encoding").next().is_none() {
        assert!(bytes[at..].windows(body.len().max(1)).any(|window| window == body) || body.is_empty());
    }
    assert!(exchange.all_fields().all(|(name, _)| !name.is_empty() && name.is_ascii()));
    let limits = DecodeLimits { bytes_max: DECODED_BYTES_MAX, ..DecodeLimits::default() };
    assert!(exchange.decoded(&limits).bytes.len() <= DECODED_BYTES_MAX);
    let _ = exchange.redirect(&WebUrl::parse(PAGE).expect("a URL"));
    let _ = exchange.validators();
    assert!(exchange.retry_after().is_none_or(|wait| wait <= Duration::from_secs(86_400)));
}
