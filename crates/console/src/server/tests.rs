//! Connections that take their time, on virtual time: what is told is who was answered while who was still there.

use mattock_env::sim::Simulation;
use mattock_env::{NetFaults, Random, Stream, Time};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::bind::Access;
use crate::places::{STRANGERS_MAX, STRANGERS_OF_A_PEER_MAX};

const TOKEN: &str = "correct horse battery";

/// Near enough for a thousand connections to be made in a second or two.
fn world() -> Simulation {
    Simulation::new(1).network(NetFaults { latency_ms: 1..=1, ..NetFaults::NONE })
}

/// A console that serves in the background, with a token or for everybody.
struct Served {
    env: Env,
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Served {
    async fn begin(env: Env, token: &str) -> Served {
        let access = Access::asked(Some(token), &mut Random::from_seed(1)).unwrap();
        let bind = Bind::parse("127.0.0.1:0", access).unwrap();
        env.files.create_dir_all(Path::new("/crawl")).unwrap();
        let desk = Arc::new(Desk::stopped(&env, Path::new("/crawl")));
        let listeners = Listeners::open(&env, Some(bind), None).await.unwrap();
        let (address, (stop, stopped)) = (listeners.address().unwrap(), oneshot::channel());
        let world = env.clone();
        tokio::task::spawn_local(async move { listeners.serve(&world, desk, stopped).await });
        Served { env, address, _stop: stop }
    }

    /// Opens a connection and sends so much of a request.
    async fn open(&self, text: &str) -> Stream {
        let mut stream = self.env.net.connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    fn head(&self, line: &str, more: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address)
    }

    fn with_token(&self, line: &str, more: &str) -> String {
        self.head(line, &format!("Authorization: Bearer {TOKEN}\r\n{more}"))
    }

    async fn many_slow(&self, count: usize) -> Vec<Stream> {
        let mut slow = Vec::new();
        for _ in 0..count {
            slow.push(self.open("GET / HTTP/1.1\r\nX-Slow: ").await);
        }
        slow
    }

    fn now(&self) -> Time {
        self.env.clock.now()
    }
}

/// The status of the next answer; 0 at the connection's end.
async fn status(stream: &mut Stream) -> u16 {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return 0,
        }
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).await.unwrap();
    head[9..12].parse().unwrap()
}

/// How many have not been closed.
async fn still_there(env: &Env, streams: &mut [Stream]) -> usize {
    let mut count = 0;
    for stream in streams {
        let read = env.clock.timeout(Duration::from_micros(1), stream.read_u8()).await;
        count += usize::from(read.is_err());
    }
    count
}

#[test]
fn who_has_the_token_is_answered_whoever_else_is_there() {
    for token in [TOKEN, "none"] {
        world().run(|env| async move {
            let served = Served::begin(env.clone(), token).await;
            let ask = match token {
                TOKEN => served.with_token("GET /healthz", ""),
                _ => served.head("GET /healthz", ""),
            };
            let mut early = served.open(&ask).await;
            assert_eq!(status(&mut early).await, 200);
            let begun = served.now();
            let mut slow = served.many_slow(1000).await;
            let mut late = served.open(&ask).await;
            assert_eq!(status(&mut late).await, 200);
            early.write_all(ask.as_bytes()).await.unwrap();
            assert_eq!(status(&mut early).await, 200, "a connection of somebody who is known stays");
            assert!(
                served.now().since(begun) < HEAD_TIMEOUT,
                "none of the slow ones had to give up for that"
            );
            assert_eq!(still_there(&env, &mut slow).await, STRANGERS_OF_A_PEER_MAX - 1);
            assert_eq!(still_there(&env, &mut slow[..900]).await, 0, "the oldest have made way");
            const { assert!(STRANGERS_OF_A_PEER_MAX < STRANGERS_MAX) };
        });
    }
}

#[test]
fn who_shows_nothing_is_no_reason_to_wait() {
    world().run(|env| async move {
        let served = Served::begin(env.clone(), TOKEN).await;
        // Refused, or given what everybody may have, and still a stranger.
        let mut refused = served.open(&served.head("GET /api/v1/snapshot", "")).await;
        assert_eq!(status(&mut refused).await, 401);
        let mut pages = served.open(&served.head("GET /", "")).await;
        assert_eq!(status(&mut pages).await, 200);
        let _slow = served.many_slow(STRANGERS_OF_A_PEER_MAX).await;
        let mut dropped = [refused, pages];
        assert_eq!(still_there(&env, &mut dropped).await, 0);
    });
}

#[test]
fn heads_bodies_and_pauses_have_limits() {
    world().run(|env| async move {
        let served = Served::begin(env.clone(), TOKEN).await;
        // A byte a second, for ever.
        let (mut slow, begun) = (served.open("GET / HTTP/1.1\r\nX-Slow: ").await, served.now());
        while slow.write_all(b"x").await.is_ok() {
            env.clock.sleep(Duration::from_secs(1)).await;
        }
        let took = served.now().since(begun);
        assert!(took >= HEAD_TIMEOUT && took <= HEAD_TIMEOUT * 2, "a head: {took:?}");
        // Known, and idle after an answer.
        let mut idle = served.open(&served.with_token("GET /healthz", "")).await;
        let begun = served.now();
        assert_eq!((status(&mut idle).await, status(&mut idle).await), (200, 0));
        let took = served.now().since(begun);
        assert!(took >= HEAD_TIMEOUT && took <= HEAD_TIMEOUT * 2, "a pause: {took:?}");
        // A body that does not come.
        let head = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
        let mut slow = served.open(&served.with_token("POST /api/v1/pause", head)).await;
        let begun = served.now();
        assert_eq!((status(&mut slow).await, status(&mut slow).await), (400, 0));
        let took = served.now().since(begun);
        assert!(took >= Duration::from_secs(10) && took <= Duration::from_secs(30), "a body: {took:?}");
        // Nobody waits for the body of who may not ask.
        let mut stranger = served.open(&served.head("POST /api/v1/pause", head)).await;
        let begun = served.now();
        assert_eq!((status(&mut stranger).await, status(&mut stranger).await), (401, 0));
        assert!(served.now().since(begun) < Duration::from_secs(1));
    });
}
