#![expect(clippy::disallowed_methods, reason = "the floor is what bare sockets cost")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for people")]
//! What a fetch costs: CPU microseconds per request of [`Client::fetch`] next to a bare client (tokio, httparse, rustls)
//! that knows no limits, over loopback, in turns.
//!
//! `cargo run --release -p mattock-fetch --example speed [REQUESTS] [ROUNDS]`

mod speed {
    pub(crate) mod floor;
    pub(crate) mod server;
}

use std::cell::Cell;
use std::io::Read;
use std::net::SocketAddr;
use std::rc::Rc;

use mattock_env::Env;
use mattock_fetch::decode::{Coding, decode_file};
use mattock_fetch::{AddressGuard, Client, ClientOptions, Connection, DecodeLimits, Identity, TlsOptions};
use mattock_weburl::WebUrl;
use speed::floor::Floor;
use speed::server::{Serving, start};

/// Requests under way at once.
const TASKS: usize = 64;
/// The same where connections are new and secured: a host gives few tickets for resumption, and a crawl asks it for one
/// page at a time.
const TASKS_SECURE_NEW: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    serving: Serving,
    keep_alive: bool,
}

const CASES: [Case; 5] = [
    Case { name: "http keep-alive", serving: Serving::Plain, keep_alive: true },
    Case { name: "http new", serving: Serving::Plain, keep_alive: false },
    Case { name: "https keep-alive", serving: Serving::Tls { resume: true }, keep_alive: true },
    Case { name: "https new, resumed", serving: Serving::Tls { resume: true }, keep_alive: false },
    Case { name: "https new, full", serving: Serving::Tls { resume: false }, keep_alive: false },
];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let requests = arguments.next().unwrap_or(20_000);
    let rounds = arguments.next().unwrap_or(5);
    println!(
        "{:20} {:>10} {:>10} {:>6}   CPU µs per request, median of {rounds} rounds",
        "", "floor", "client", "ratio"
    );
    let (bare, ours) = gunzip(requests);
    println!("{:20} {bare:10.2} {ours:10.2} {:6.3}", "gunzip", ours / bare);
    for case in CASES {
        let (address, root) = start(case.serving);
        let secure = matches!(case.serving, Serving::Tls { .. });
        // Handshakes are a hundred times as dear as the rest.
        let (requests, tasks) =
            if secure && !case.keep_alive { (requests / 10, TASKS_SECURE_NEW) } else { (requests, TASKS) };
        let floor = Rc::new(Floor::new(address, root.as_deref()));
        let client = Rc::new(client(root));
        let resumed: Left = Rc::default();
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            let a = measure(requests, tasks, || bare_task(floor.clone(), secure, case.keep_alive));
            let b = measure(requests, tasks, || {
                client_task(client.clone(), address, secure, case.keep_alive, resumed.clone())
            });
            // The first round warms up.
            if round > 0 {
                bare.push(a);
                ours.push(b);
            }
        }
        let (bare, ours) = (median(bare), median(ours));
        println!("{:20} {bare:10.2} {ours:10.2} {:6.3}", case.name, ours / bare);
        if let Serving::Tls { resume: true } = case.serving
            && !case.keep_alive
        {
            let share = resumed.get() as f64 / (requests * (rounds + 1)) as f64;
            println!("{:20} {:.1} % of them were resumed", "", share * 100.0);
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU microseconds to undo the gzip of 20 KB of text: the streaming library alone, and with our limits.
fn gunzip(times: usize) -> (f64, f64) {
    let words =
        ["crawl ", "store ", "study ", "the ", "<a href='/page/", "'>", "</a>\n", "Web ", "host ", "of "];
    let mut random = mattock_env::Random::from_seed(1);
    let mut text = String::new();
    while text.len() < speed::server::BODY_BYTES {
        text.push_str(words[random.below(words.len() as u64) as usize]);
        text.push_str(&random.below(1000).to_string());
    }
    let mut body = Vec::new();
    flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::default())
        .read_to_end(&mut body)
        .unwrap();
    let per_run = |work: &mut dyn FnMut() -> usize| {
        let before = mattock_env::thread_cpu_seconds();
        for _ in 0..times {
            assert_eq!(work(), text.len());
        }
        (mattock_env::thread_cpu_seconds() - before) * 1e6 / times as f64
    };
    let limits = DecodeLimits::default();
    let bare = per_run(&mut || {
        let mut out = Vec::with_capacity(text.len());
        flate2::bufread::GzDecoder::new(&body[..]).read_to_end(&mut out).unwrap()
    });
    let ours = per_run(&mut || decode_file(Coding::Gzip, &body, false, &limits).bytes.len());
    (bare, ours)
}

/// A counter that tasks take requests from.
type Left = Rc<Cell<usize>>;

fn take(left: &Left) -> bool {
    let count = left.get();
    left.set(count.saturating_sub(1));
    count > 0
}

/// CPU microseconds of this thread per request, with `tasks` tasks that take requests until none are left.
fn measure<F: Future<Output = ()> + 'static>(
    requests: usize,
    tasks: usize,
    task: impl Fn() -> Box<dyn FnOnce(Left) -> F>,
) -> f64 {
    let before = mattock_env::thread_cpu_seconds();
    mattock_env::run(async {
        let left: Left = Rc::new(Cell::new(requests));
        let tasks: Vec<_> = (0..tasks).map(|_| tokio::task::spawn_local(task()(left.clone()))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    (mattock_env::thread_cpu_seconds() - before) * 1e6 / requests as f64
}

fn bare_task(floor: Rc<Floor>, secure: bool, keep_alive: bool) -> Box<dyn FnOnce(Left) -> BareFuture> {
    Box::new(move |left| {
        Box::pin(async move {
            let mut buffer = Vec::new();
            let mut kept = None;
            while take(&left) {
                kept = floor.fetch(secure, kept.take(), keep_alive, &mut buffer).await;
            }
        })
    })
}

type BareFuture = std::pin::Pin<Box<dyn Future<Output = ()>>>;

fn client(root: Option<Vec<u8>>) -> Client {
    let identity = Identity { user_agent: "speed/1".to_owned(), from: None };
    let options = ClientOptions {
        guard: AddressGuard::allowing(vec!["127.0.0.0/8".parse().unwrap()]),
        tls: TlsOptions { enforce: true, extra_roots: root.into_iter().collect() },
        http2: false,
        ..ClientOptions::new(identity)
    };
    Client::new(&Env::real(), options)
}

fn client_task(
    client: Rc<Client>,
    address: SocketAddr,
    secure: bool,
    keep_alive: bool,
    resumed: Left,
) -> Box<dyn FnOnce(Left) -> BareFuture> {
    let scheme = if secure { "https" } else { "http" };
    let url = WebUrl::parse(&format!("{scheme}://{address}/page")).unwrap();
    Box::new(move |left| {
        Box::pin(async move {
            let mut kept: Option<Connection> = None;
            while take(&left) {
                let (exchange, connection) = client.fetch(&url, kept.take()).await;
                assert_eq!(exchange.outcome.status(), Some(200), "{}", exchange.outcome);
                assert_eq!(exchange.body().len(), speed::server::BODY_BYTES);
                if let Some(tls) = exchange.tls.as_ref().filter(|_| !keep_alive) {
                    resumed.set(resumed.get() + usize::from(tls.resumed));
                }
                kept = connection.filter(|_| keep_alive);
                client.recycle(exchange);
            }
        })
    })
}
