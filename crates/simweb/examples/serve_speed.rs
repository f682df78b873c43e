//! How fast one thread serves 20-KB pages over loopback, and what a page costs it.
//!
//! ```text
//! serve_speed [SECONDS]      the server on one thread, 64 keep-alive connections on another; a static page, a world, with its log
//! serve_speed world PORT     only the server, for another client (prints what to ask for)
//! serve_speed static PORT    the same with one page from memory
//! ```
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Random, Stream, cpu_seconds};
use mattock_simweb::{
    Answer, AuditHeader, AuditLog, Behaviour, Params, Preset, Request, Resolution, ServeOptions, Web, World,
    serve,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

const CONNECTIONS: usize = 64;
const PAGE_BYTES: std::ops::Range<usize> = 19_000..21_000;
const STATIC_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 64, 0, 1);

/// A web of one page, already made: what is left is the server's own cost.
struct StaticPage(Vec<u8>);

impl Web for StaticPage {
    fn resolve(&self, _: &str) -> Resolution {
        Resolution::Address(STATIC_ADDRESS)
    }

    fn answer(&self, _: &Request<'_>, _: u64, body: &mut Vec<u8>) -> Answer {
        body.clear();
        body.extend_from_slice(&self.0);
        Answer {
            status: 200,
            content_type: "text/html",
            location: None,
            retry_after_s: None,
            etag: None,
            last_modified_s: None,
            delay_ms: 0,
            behaviour: Behaviour::Respond,
        }
    }
}

fn static_page() -> Arc<StaticPage> {
    Arc::new(StaticPage(vec![b'x'; 20_000]))
}

fn world() -> Arc<World> {
    Arc::new(World::new(Params::preset(Preset::Small), 1))
}

/// One page that the benchmark asks for.
#[derive(Clone)]
struct Target {
    address: Ipv4Addr,
    host: String,
    path: String,
}

/// Pages of about 20 KB that are answered at once, of all hosts.
fn targets(world: &World) -> Vec<Target> {
    let truth = world.truth(1_000_000).expect("a world of 50,000 pages is within the limit");
    let mut body = Vec::new();
    let mut targets = Vec::new();
    for url in truth.pages.iter().step_by(5) {
        let Some(rest) = url.strip_prefix("http://") else { continue };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let request = Request { host, path_and_query: path, ..Request::default() };
        let answer = world.answer(&request, 0, &mut body);
        if let Resolution::Address(address) = world.resolve(host)
            && answer.delay_ms == 0
            && PAGE_BYTES.contains(&body.len())
        {
            targets.push(Target { address, host: host.to_owned(), path: path.to_owned() });
        }
    }
    targets
}

/// CPU seconds of this thread.
#[expect(clippy::disallowed_methods, reason = "the system tells a thread's CPU time only through this file")]
fn thread_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

struct Measured {
    pages: u64,
    bytes: u64,
    seconds: f64,
    server_cpu: f64,
    process_cpu: f64,
}

fn measure(
    web: Arc<impl Web + Send + Sync + 'static>,
    targets: Vec<Target>,
    seconds: f64,
    audit: Option<PathBuf>,
) -> Measured {
    let (port_sender, port) = oneshot::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        mattock_env::run(async {
            let env = Env::real();
            let header = AuditHeader { seed: 1, delay_ms: None, params: Params::preset(Preset::Small) };
            let log = audit
                .as_ref()
                .map(|path| AuditLog::create(&env, path, &header).expect("the log can be written"));
            let server = serve(&env, web, ServeOptions::default(), log).await.expect("any port will do");
            let start = thread_cpu_seconds();
            port_sender.send(server.http_port()).expect("the client waits for it");
            // The client's end is the end, also if it panicked.
            let _ = stopped.await;
            let measured = (server.requests(), server.bytes(), thread_cpu_seconds() - start);
            server.stop().await.expect("the log is whole");
            if let Some(path) = &audit {
                env.files.remove_file(path).expect("it was made above");
            }
            measured
        })
    });
    let cpu_start = cpu_seconds();
    let elapsed = mattock_env::run(async {
        let env = Env::real();
        let port = port.await.expect("the server sends its port");
        let targets = Arc::new(targets);
        let start = env.clock.now();
        let end = start + Duration::from_secs_f64(seconds);
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CONNECTIONS {
            let (env, targets) = (env.clone(), targets.clone());
            clients.spawn_local(async move {
                let first = number * targets.len() / CONNECTIONS;
                let target = &targets[first];
                let mut stream =
                    env.net.connect((target.address, port).into()).await.expect("the server listens");
                let mine: Vec<_> = targets.iter().filter(|other| other.host == target.host).collect();
                let mut input = vec![0; 64 * 1024];
                for page in mine.iter().cycle() {
                    fetch(&mut stream, page, &mut input).await;
                    if env.clock.now() >= end {
                        break;
                    }
                }
            });
        }
        while clients.join_next().await.is_some() {}
        env.clock.now().since(start)
    });
    drop(stop);
    let (pages, bytes, server_cpu) = server.join().expect("the server does not panic");
    let process_cpu = cpu_seconds().unwrap_or(0.0) - cpu_start.unwrap_or(0.0);
    Measured { pages, bytes, seconds: elapsed.as_secs_f64(), server_cpu, process_cpu }
}

async fn fetch(stream: &mut Stream, target: &Target, input: &mut [u8]) {
    let request =
        format!("GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bench\r\n\r\n", target.path, target.host);
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut filled = 0;
    let mut total = usize::MAX;
    while filled < total {
        let count = stream.read(&mut input[filled..]).await.expect("the server answers");
        assert_ne!(count, 0, "the server left");
        filled += count;
        if total == usize::MAX
            && let Some(end) = input[..filled].windows(4).position(|bytes| bytes == b"\r\n\r\n")
        {
            let head = std::str::from_utf8(&input[..end]).expect("heads are ASCII");
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let len = head.split("Content-Length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
            total = end + 4 + len.and_then(|len| len.parse::<usize>().ok()).expect("a length");
        }
    }
}

fn report(name: &str, measured: &Measured) {
    let pages = measured.pages as f64;
    println!(
        "{name:<8} {:>8.0} pages/s  {:>6.2} µs of the server's thread a page = {:>7.0} pages per core second  \
         {:>6.0} bytes a page  (client {:.2} µs a page)",
        pages / measured.seconds,
        measured.server_cpu / pages * 1e6,
        pages / measured.server_cpu,
        measured.bytes as f64 / pages,
        (measured.process_cpu - measured.server_cpu) / pages * 1e6,
    );
}

fn listen(web: Arc<impl Web + 'static>, target: &Target, port: &str) {
    let http_port = port.parse().expect("PORT is a number");
    mattock_env::run(async {
        let env = Env::real();
        let options = ServeOptions { http_port, ..ServeOptions::default() };
        match serve(&env, web, options, None).await {
            Ok(server) => {
                let port = server.http_port();
                println!("-H 'Host: {}' http://{}:{port}{}", target.host, target.address, target.path);
                std::future::pending::<()>().await;
            }
            Err(error) => println!("{error}"),
        }
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let page =
        Target { address: STATIC_ADDRESS, host: "www.static-sim.com".into(), path: "/page.html".into() };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["world", port] => {
            let world = world();
            let target = targets(&world)[0].clone();
            listen(world, &target, port);
        }
        ["static", port] => listen(static_page(), &page, port),
        ref rest => {
            let seconds = rest.first().and_then(|seconds| seconds.parse().ok()).unwrap_or(5.0);
            let world = world();
            let targets = targets(&world);
            report("static", &measure(static_page(), vec![page; CONNECTIONS], seconds, None));
            report("world", &measure(world.clone(), targets.clone(), seconds, None));
            let name = format!("mattock-serve-speed-{:016x}.log", Random::from_entropy().next_u64());
            report("audited", &measure(world, targets, seconds, Some(std::env::temp_dir().join(name))));
        }
    }
}
