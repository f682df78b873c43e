//! Servers that follow a script.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_env::{Clock, Env, Stream};
use mattock_fetch::{Client, ClientOptions, Connection, Exchange, Identity};
use mattock_weburl::WebUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A public address: the guard is on in these tests.
pub(crate) const SERVER: &str = "93.184.216.34:80";
pub(crate) const PAGE: &str = "http://93.184.216.34/page";

/// One step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Reads up to the empty line after a request's head.
    Request,
    Send(Vec<u8>),
    /// Sends these bytes again and again until the client goes away.
    Forever(Vec<u8>),
    /// Sends these bytes one at a time, with a pause before each.
    Drip(Vec<u8>, Duration),
    Wait(Duration),
    /// Ends the connection in order.
    Close,
    /// Ends it the rude way.
    Reset,
    /// Says nothing for ever.
    Hang,
}

pub(crate) fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

/// What a server saw.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) connections: usize,
    pub(crate) requests: Vec<String>,
    pub(crate) bytes_sent: usize,
    /// Whether a script came to its end or the client went away.
    pub(crate) ended: usize,
}

pub(crate) type Shared = Rc<RefCell<Log>>;

/// Listens at `address`; the nth connection follows the nth script, further ones the last.
pub(crate) async fn listen(env: &Env, address: &str, scripts: Vec<Vec<Act>>) -> Shared {
    let log = Shared::default();
    let mut listener = env.net.listen(address.parse::<SocketAddr>().unwrap()).await.unwrap();
    let (clock, shared) = (env.clock.clone(), log.clone());
    tokio::task::spawn_local(async move {
        while let Ok(accepted) = listener.accept().await {
            let number = shared.borrow().connections;
            shared.borrow_mut().connections += 1;
            let script = scripts[number.min(scripts.len() - 1)].clone();
            let (clock, log) = (clock.clone(), shared.clone());
            tokio::task::spawn_local(async move {
                let _ = follow(accepted.stream, script, clock, &log).await;
                log.borrow_mut().ended += 1;
            });
        }
    });
    log
}

async fn follow(mut stream: Stream, script: Vec<Act>, clock: Clock, log: &Shared) -> std::io::Result<()> {
    for act in script {
        match act {
            Act::Request => {
                let request = read_head(&mut stream).await?;
                log.borrow_mut().requests.push(request);
            }
            Act::Send(bytes) => {
                stream.write_all(&bytes).await?;
                log.borrow_mut().bytes_sent += bytes.len();
            }
            Act::Forever(bytes) => loop {
                stream.write_all(&bytes).await?;
                log.borrow_mut().bytes_sent += bytes.len();
                // A server that never pauses would be one endless poll.
                tokio::task::yield_now().await;
            },
            Act::Drip(bytes, pause) => {
                for byte in bytes {
                    clock.sleep(pause).await;
                    stream.write_all(&[byte]).await?;
                    log.borrow_mut().bytes_sent += 1;
                }
            }
            Act::Wait(time) => clock.sleep(time).await,
            Act::Close => return Ok(()),
            Act::Reset => {
                stream.reset();
                return Ok(());
            }
            Act::Hang => {
                // Ends when the client closes.
                while stream.read(&mut [0; 64]).await? > 0 {}
                return Ok(());
            }
        }
    }
    Ok(())
}

pub(crate) async fn read_head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8(head).unwrap())
}

pub(crate) fn options() -> ClientOptions {
    let identity = Identity { user_agent: "digger/1 (+http://digger.example)".to_owned(), from: None };
    ClientOptions::new(identity)
}

pub(crate) fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

/// What one fetch gave, how long it took, and what the server saw.
pub(crate) struct Seen {
    pub(crate) exchange: Exchange,
    pub(crate) connection: Option<Connection>,
    pub(crate) took: Duration,
    pub(crate) log: Shared,
}

impl Seen {
    pub(crate) fn outcome(&self) -> String {
        self.exchange.outcome.to_string()
    }

    pub(crate) fn truncated(&self) -> Option<String> {
        self.exchange.truncated.map(|truncation| truncation.to_string())
    }
}

/// Fetches the page from a server with this script for every connection, in a world without faults.
pub(crate) fn fetch(script: &[Act]) -> Seen {
    fetch_with(script, options())
}

pub(crate) fn fetch_with(script: &[Act], options: ClientOptions) -> Seen {
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![script.to_vec()]).await;
        let client = Client::new(&env, options);
        let (exchange, connection) = client.fetch(&url(PAGE), None).await;
        let took = exchange.finished.since(exchange.begun);
        if connection.is_none() {
            // Nothing may be left hanging at the server: a slot that leaks here leaks there.
            env.clock.sleep(Duration::from_secs(600)).await;
            let log = log.borrow();
            assert_eq!(log.ended, log.connections, "a connection is still open");
        }
        Seen { exchange, connection, took, log }
    })
}
