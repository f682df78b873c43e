//! How many 20-KB pages one core of the simulated Web serves, beside a static page of the same server and, where they
//! are installed, beside nginx as wrk sees it.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Stream, thread_cpu_seconds};
use mattock_simweb::{Answer, Request, Resolution, ServeError, ServeOptions, Web, serve};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use super::median;
use super::pages::{PAGE_BYTES, Target, targets, world};
use super::wrk::{Nginx, requests_per_second};

/// Connections that a client keeps open.
pub(super) const CONNECTIONS: usize = 64;
const ROUNDS: usize = 3;
const STATIC: (Ipv4Addr, &str, &str) = (Ipv4Addr::new(127, 64, 0, 1), "www.static-sim.com", "/page.html");

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The simulated Web could not be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The client could not talk to it.
    #[error("the client lost its server: {0}")]
    Client(#[from] std::io::Error),
}

/// What was measured: medians of several rounds taken in turns.
#[derive(Clone, Debug, Serialize)]
pub struct SimwebReport {
    /// Pages of the simulated Web a second, with a client that takes the other core.
    pub pages_per_second: f64,
    /// The same per CPU second of the server's thread.
    pub pages_per_cpu_second: f64,
    /// The same for one page that is ready in memory: what HTTP alone costs.
    pub static_pages_per_cpu_second: f64,
    /// CPU per page over that of the static page.
    pub ratio_to_static: f64,
    /// What wrk gets from the simulated Web a second, if it is installed.
    pub wrk_pages_per_second: Option<f64>,
    /// What wrk gets from nginx for a static file of the same size, if both are installed.
    pub wrk_nginx_per_second: Option<f64>,
}

impl fmt::Display for SimwebReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "simulated pages served    {:>9.0} a second", self.pages_per_second)?;
        writeln!(out, "  per CPU second          {:>9.0}", self.pages_per_cpu_second)?;
        writeln!(out, "static page, per CPU s    {:>9.0}", self.static_pages_per_cpu_second)?;
        writeln!(out, "CPU over the static page  {:>9.2} ×", self.ratio_to_static)?;
        let shown =
            |rate: Option<f64>| rate.map_or("not installed".into(), |rate| format!("{rate:.0} a second"));
        writeln!(out, "wrk, simulated page       {:>9}", shown(self.wrk_pages_per_second))?;
        write!(out, "wrk, nginx static file    {:>9}", shown(self.wrk_nginx_per_second))
    }
}

/// One page from memory.
struct StaticPage(Vec<u8>);

impl Web for StaticPage {
    fn resolve(&self, _: &str) -> Resolution {
        Resolution::Address(STATIC.0)
    }

    fn answer(&self, _: &Request<'_>, _: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        body.extend_from_slice(&self.0);
        Answer::new(200, "text/html")
    }
}

struct Round {
    pages_per_second: f64,
    pages_per_cpu_second: f64,
    wrk: Option<f64>,
}

/// Measures. Takes about eight times `round`, or five times where wrk or nginx is missing.
pub fn run(env: &Env, round: Duration) -> Result<SimwebReport, BenchError> {
    let world = Arc::new(world());
    let world_targets = targets(&world);
    let fixed = Arc::new(StaticPage(vec![b'x'; PAGE_BYTES]));
    let (address, host, path) = STATIC;
    let fixed_targets = vec![Target { address, host: host.into(), path: path.into() }];
    let (mut simulated, mut statics, mut nginx) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        statics.push(measure(env, fixed.clone(), &fixed_targets, round, false)?);
        simulated.push(measure(env, world.clone(), &world_targets, round, true)?);
        nginx.extend(measure_nginx(env, round));
    }
    let middle = |rounds: &[Round], value: fn(&Round) -> f64| median(rounds.iter().map(value).collect());
    let world_cpu = middle(&simulated, |round| round.pages_per_cpu_second);
    let static_cpu = middle(&statics, |round| round.pages_per_cpu_second);
    let wrk: Vec<f64> = simulated.iter().filter_map(|round| round.wrk).collect();
    Ok(SimwebReport {
        pages_per_second: middle(&simulated, |round| round.pages_per_second),
        pages_per_cpu_second: world_cpu,
        static_pages_per_cpu_second: static_cpu,
        ratio_to_static: static_cpu / world_cpu,
        wrk_pages_per_second: (!wrk.is_empty()).then(|| median(wrk)),
        wrk_nginx_per_second: (!nginx.is_empty()).then(|| median(nginx)),
    })
}

fn measure_nginx(env: &Env, round: Duration) -> Option<f64> {
    mattock_env::run(async {
        let nginx = Nginx::start(env).await?;
        requests_per_second(&nginx.url(), "127.0.0.1", round)
    })
}

/// One round: the server on a thread of its own, the clients on this one; then wrk, if it is wanted and there.
fn measure(
    env: &Env,
    web: Arc<impl Web + Send + Sync + 'static>,
    targets: &[Target],
    round: Duration,
    with_wrk: bool,
) -> Result<Round, BenchError> {
    let (port_sender, port) = oneshot::channel();
    let (mark, marked) = oneshot::channel::<()>();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        mattock_env::run(async move {
            let server = serve(&Env::real(), web, ServeOptions::default(), None).await?;
            let begun = thread_cpu_seconds();
            // A receiver that is gone is a client that failed; the waits below then end at once.
            let _ = port_sender.send(server.http_port());
            let _ = marked.await;
            let measured = (server.requests(), thread_cpu_seconds() - begun);
            let _ = stopped.await;
            server.stop().await?;
            Ok::<_, ServeError>(measured)
        })
    });
    let Ok(port) = mattock_env::run(port) else {
        let failed = server.join().expect("the server does not panic");
        return Err(failed.err().map_or_else(|| std::io::Error::other("no port").into(), BenchError::from));
    };
    let elapsed = mattock_env::run(clients(env, targets, port, round));
    drop(mark);
    let target = &targets[0];
    let url = format!("http://{}:{port}{}", target.address, target.path);
    let wrk = with_wrk.then(|| requests_per_second(&url, &target.host, round)).flatten();
    drop(stop);
    let (pages, cpu) = server.join().expect("the server does not panic")?;
    let pages = pages as f64;
    Ok(Round { pages_per_second: pages / elapsed?.as_secs_f64(), pages_per_cpu_second: pages / cpu, wrk })
}

/// Asks for pages over many connections for as long as the round lasts.
async fn clients(env: &Env, targets: &[Target], port: u16, round: Duration) -> Result<Duration, BenchError> {
    let begun = env.clock.now();
    let end = begun + round;
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CONNECTIONS {
        let env = env.clone();
        let first = targets[number * targets.len() / CONNECTIONS].clone();
        let pages: Vec<Target> = targets.iter().filter(|other| other.host == first.host).cloned().collect();
        clients.spawn_local(async move {
            let mut stream = env.net.connect((first.address, port).into()).await?;
            let mut input = vec![0; 64 * 1024];
            for page in pages.iter().cycle() {
                fetch(&mut stream, page, &mut input).await?;
                if env.clock.now() >= end {
                    break;
                }
            }
            Ok::<_, std::io::Error>(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client.expect("a client does not panic")?;
    }
    Ok(env.clock.now().since(begun))
}

async fn fetch(stream: &mut Stream, target: &Target, input: &mut [u8]) -> std::io::Result<()> {
    let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", target.path, target.host);
    stream.write_all(request.as_bytes()).await?;
    let mut filled = 0;
    let mut total = None;
    while total.is_none_or(|total| filled < total) {
        let count = stream.read(&mut input[filled..]).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        filled += count;
        if total.is_none() {
            total = response_len(&input[..filled]);
        }
    }
    Ok(())
}

/// Bytes of a response whose head is there; `None` until it is.
fn response_len(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let len = head.split("Content-Length: ").nth(1)?.split("\r\n").next()?;
    Some(end + len.parse::<usize>().ok()?)
}
