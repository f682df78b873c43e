//! The server before a tiny client, on the simulated network and on real loopback sockets.

use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_env::{Files, OpenMode, Random, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::audit::AuditHeader;
use crate::web::fake::{FakeWeb, ONE, THREE};
use crate::{Params, Preset, Resolution, World};

struct Client {
    stream: Stream,
    read: Vec<u8>,
}

#[derive(Debug, PartialEq)]
struct Response {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| *found == name).map(|(_, value)| value).next()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    async fn connect(env: &Env, server: &Server, address: Ipv4Addr) -> Client {
        let stream = env.net.connect((address, server.http_port()).into()).await.unwrap();
        Client { stream, read: Vec::new() }
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads one response; `None` at an orderly end, an error at a reset.
    async fn receive(&mut self, with_body: bool) -> io::Result<Option<Response>> {
        let head_end = loop {
            if let Some(at) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                assert!(self.read.is_empty(), "half a response");
                return Ok(None);
            }
        };
        let head = String::from_utf8(self.read[..head_end].to_vec()).unwrap();
        let status = head[9..12].parse().unwrap();
        let mut response = Response { status, head, body: Vec::new() };
        let len = response.header("Content-Length").map_or(0, |len| len.parse().unwrap());
        let body_end = head_end + if with_body { len } else { 0 };
        while self.read.len() < body_end {
            assert_ne!(self.stream.read_buf(&mut self.read).await?, 0, "half a body");
        }
        response.body = self.read[head_end..body_end].to_vec();
        self.read.drain(..body_end);
        Ok(Some(response))
    }

    async fn get(&mut self, host: &str, path: &str) -> Response {
        self.send(&request("GET", host, path, "")).await;
        self.receive(true).await.unwrap().expect("an answer")
    }
}

fn request(method: &str, host: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: tester\r\n{more}\r\n")
}

async fn fake(env: &Env) -> Server {
    serve(env, Arc::new(FakeWeb), ServeOptions::default(), None).await.unwrap()
}

const HOST: &str = "www.one-sim.com";

/// What both networks must do alike.
async fn conversation(env: Env) {
    let server = fake(&env).await;
    let mut client = Client::connect(&env, &server, ONE).await;
    // Several requests on one connection, for two hosts that share the address.
    for (host, name) in [(HOST, HOST), ("WWW.Two-Sim.com:8080", "www.two-sim.com"), (HOST, HOST)] {
        let answer = client.get(host, "/a?b").await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("text/html")));
        let text = answer.text();
        assert!(text.starts_with(&format!("{name} /a?b for tester at ")), "{text}");
        assert!(answer.header("Date").unwrap().starts_with("Wed, 01 Jan 2020 00:0"), "{answer:?}");
    }
    // Answers to requests sent all at once come in their order.
    let mut burst = String::new();
    for page in 0..20 {
        burst.push_str(&request("GET", HOST, &format!("/page/{page}"), ""));
    }
    client.send(&burst).await;
    for page in 0..20 {
        let answer = client.receive(true).await.unwrap().unwrap();
        assert!(answer.text().contains(&format!(" /page/{page} ")));
    }
    // An answer larger than the buffers of the network.
    assert_eq!(client.get(HOST, "/big").await.body.len(), 1_000_000);
    // HEAD has the headers of GET and no body: the next answer starts right after.
    client.send(&request("HEAD", HOST, "/big", "")).await;
    let answer = client.receive(false).await.unwrap().unwrap();
    assert_eq!(answer.header("Content-Length"), Some("1000000"));
    let answer = client.get(HOST, "/moved").await;
    assert_eq!((answer.status, answer.header("Location")), (301, Some("http://www.two-sim.com/")));
    let answer = client.get(HOST, "/busy").await;
    assert_eq!((answer.status, answer.header("Retry-After")), (503, Some("120")));
    let answer = client.get(HOST, "/tagged").await;
    assert_eq!((answer.header("ETag"), answer.text()), (Some("\"0000000000000042\""), "tagged"));
    assert_eq!(answer.header("Last-Modified"), Some("Thu, 02 Jan 2020 00:00:00 GMT"));
    for (condition, status) in [
        ("If-None-Match: \"0000000000000042\"", 304),
        ("If-None-Match: \"other\"", 200),
        ("If-Modified-Since: Thu, 02 Jan 2020 00:00:00 GMT", 304),
        ("If-Modified-Since: Wed, 01 Jan 2020 23:59:59 GMT", 200),
        ("If-Modified-Since: Sat, 09 Jun 2007 00:00:00 GMT", 200),
    ] {
        client.send(&request("GET", HOST, "/tagged", &format!("{condition}\r\n"))).await;
        let answer = client.receive(true).await.unwrap().unwrap();
        let len = (status == 200).then_some("6");
        assert_eq!((answer.status, answer.header("Content-Length")), (status, len), "{condition}");
    }
    // A host that lives elsewhere, and one that lives nowhere.
    assert_eq!(client.get("slow.three-sim.com", "/").await.status, 421);
    assert_eq!(client.get("www.example.com", "/").await.status, 421);
    assert_eq!(client.get(HOST, "/").await.status, 200);
    // The peer wants no more.
    client.send(&request("GET", HOST, "/last", "Connection: close\r\n")).await;
    let answer = client.receive(true).await.unwrap().unwrap();
    assert_eq!((answer.status, answer.header("Connection")), (200, Some("close")));
    assert_eq!(client.receive(true).await.unwrap(), None);

    for (text, status) in [
        ("GET\r\n\r\n".to_owned(), 400),
        ("\u{1}\u{2}\u{3}\r\n".to_owned(), 400),
        (request("DELETE", HOST, "/", ""), 405),
        (request("GET", HOST, "/", &format!("X: {}\r\n", "y".repeat(20_000))), 431),
    ] {
        let mut client = Client::connect(&env, &server, ONE).await;
        client.send(&text).await;
        let answer = client.receive(true).await.unwrap().unwrap();
        assert_eq!((answer.status, answer.header("Connection")), (status, Some("close")));
        assert_eq!(client.receive(true).await.unwrap(), None);
    }

    let mut client = Client::connect(&env, &server, ONE).await;
    client.send(&request("GET", HOST, "/reset", "")).await;
    assert_eq!(client.receive(true).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);

    let seen = (server.requests(), server.bytes());
    assert_eq!(seen.0, 3 + 20 + 2 + 3 + 5 + 3 + 1 + 4 + 1);
    assert!(seen.1 > 1_000_000, "{seen:?}");
    server.stop().await.unwrap();
    assert!(env.net.connect((ONE, 1).into()).await.is_err());
}

#[test]
fn requests_are_answered_on_the_simulated_network() {
    Simulation::new(1).run(conversation);
}

#[test]
fn requests_are_answered_on_real_sockets() {
    mattock_env::run(async { conversation(Env::real()).await });
}

#[test]
fn a_silent_host_holds_the_connection_until_the_peer_leaves() {
    Simulation::new(1).run(|env| async move {
        let server = fake(&env).await;
        let mut client = Client::connect(&env, &server, ONE).await;
        client.send(&request("GET", HOST, "/silent", "")).await;
        let hour = Duration::from_secs(3600);
        assert!(env.clock.timeout(hour, client.receive(true)).await.is_err());
        assert_eq!(server.requests(), 1);
        server.stop().await.unwrap();
        assert_eq!(client.receive(true).await.unwrap(), None);
    });
}

#[test]
fn a_slow_host_takes_its_time() {
    Simulation::new(1).run(|env| async move {
        let server = fake(&env).await;
        let mut client = Client::connect(&env, &server, THREE).await;
        let start = env.clock.now();
        assert_eq!(client.get("slow.three-sim.com", "/").await.status, 200);
        assert_eq!(env.clock.now().since(start), Duration::from_secs(5));
    });
}

#[test]
fn an_idle_connection_is_closed_after_a_minute_without_requests() {
    Simulation::new(1).run(|env| async move {
        let server = fake(&env).await;
        let mut client = Client::connect(&env, &server, ONE).await;
        for _ in 0..5 {
            env.clock.sleep(Duration::from_secs(50)).await;
            assert_eq!(client.get(HOST, "/").await.status, 200);
        }
        let last = env.clock.now();
        // Half a request is not a request.
        env.clock.sleep(Duration::from_secs(50)).await;
        client.send("GET / HTTP/1.1\r\n").await;
        assert_eq!(client.receive(true).await.unwrap(), None);
        let waited = env.clock.now().since(last);
        assert!((60..62).contains(&waited.as_secs()), "{waited:?}");
    });
}

#[test]
fn the_worlds_time_runs_at_its_scale() {
    Simulation::new(1).run(|env| async move {
        let options = ServeOptions { time_scale: 1000.0, ..ServeOptions::default() };
        let server = serve(&env, Arc::new(FakeWeb), options, None).await.unwrap();
        env.clock.sleep(Duration::from_secs(86)).await;
        let mut client = Client::connect(&env, &server, ONE).await;
        let answer = client.get(HOST, "/").await;
        assert!(answer.text().contains(" at 860"), "{answer:?}");
        assert!(answer.header("Date").unwrap().starts_with("Wed, 01 Jan 2020 23:5"), "{answer:?}");
        let options = ServeOptions { time_scale: 0.0, ..ServeOptions::default() };
        let error = serve(&env, Arc::new(FakeWeb), options, None).await.unwrap_err();
        assert!(matches!(error, ServeError::TimeScale(_)));
    });
}

async fn ports_in_use(env: Env) {
    let server = fake(&env).await;
    let port = server.http_port();
    let options = ServeOptions { http_port: port, ..ServeOptions::default() };
    let error = serve(&env, Arc::new(FakeWeb), options, None).await.unwrap_err().to_string();
    assert!(
        error.contains(&format!("HTTP port {port} is in use")) && error.contains("--http-port"),
        "{error}"
    );
    let port = server.dns_address().port();
    let options = ServeOptions { dns_port: port, ..ServeOptions::default() };
    let error = serve(&env, Arc::new(FakeWeb), options, None).await.unwrap_err().to_string();
    assert!(error.contains(&format!("DNS port {port} is in use")) && error.contains("--dns-port"), "{error}");
}

#[test]
fn a_port_in_use_is_named_with_the_option_to_change() {
    Simulation::new(1).run(ports_in_use);
    mattock_env::run(async { ports_in_use(Env::real()).await });
}

async fn names_are_resolved(env: Env) {
    use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
    use hickory_proto::rr::{Name, RData, RecordType};
    let server = fake(&env).await;
    let socket = env.net.datagrams((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    socket.send_to(b"garbage", server.dns_address()).await.unwrap();
    let names = [("www.two-sim.com.", ResponseCode::NoError), ("nobody-sim.com.", ResponseCode::NXDomain)];
    for (name, code) in names {
        let mut query = Message::new(5, MessageType::Query, OpCode::Query);
        query.add_query(Query::query(Name::from_ascii(name).unwrap(), RecordType::A));
        socket.send_to(&query.to_vec().unwrap(), server.dns_address()).await.unwrap();
        let mut buffer = [0; 512];
        let (count, from) = socket.receive_from(&mut buffer).await.unwrap();
        assert_eq!(from, server.dns_address());
        let answer = Message::from_vec(&buffer[..count]).unwrap();
        assert_eq!((answer.metadata.id, answer.metadata.response_code), (5, code));
        let addresses: Vec<_> = answer.answers.iter().map(|record| &record.data).collect();
        if code == ResponseCode::NoError {
            assert!(matches!(addresses[..], [RData::A(address)] if address.0 == ONE), "{answer:?}");
        } else {
            assert!(addresses.is_empty());
        }
    }
}

#[test]
fn names_are_resolved_over_udp() {
    Simulation::new(1).run(names_are_resolved);
    mattock_env::run(async { names_are_resolved(Env::real()).await });
}

fn header() -> AuditHeader {
    AuditHeader { seed: 9, delay_ms: Some(100), params: Params::preset(Preset::Tiny) }
}

/// Requests of every kind, and the log of them without its first lines and the time column.
async fn logged(env: &Env, path: &Path) -> Vec<String> {
    let log = AuditLog::create(env, path, &header()).unwrap();
    let server = serve(env, Arc::new(FakeWeb), ServeOptions::default(), Some(log)).await.unwrap();
    let mut client = Client::connect(env, &server, ONE).await;
    client.get(HOST, "/robots.txt").await;
    client.get("WWW.one-sim.com:99", "/busy?x").await;
    client.get("www.example.com", "/").await;
    client.send(&request("HEAD", HOST, "/big", "")).await;
    client.receive(false).await.unwrap();
    client.send("nonsense\r\n\r\n").await;
    client.receive(true).await.unwrap();
    let mut client = Client::connect(env, &server, ONE).await;
    client.send(&request("GET", HOST, "/reset", "")).await;
    client.receive(true).await.unwrap_err();
    let bytes = server.bytes();
    server.stop().await.unwrap();
    let text = String::from_utf8(env.files.read(path).unwrap()).unwrap();
    assert!(text.starts_with("# mattock-simweb-audit 1 {\"seed\":9,\"delay_ms\":100,\"params\":{"), "{text}");
    let mut last = 0;
    let mut summed = 0;
    let lines: Vec<_> = text.lines().skip(2).collect();
    let rest = |line: &&str| {
        let (nanos, rest) = line.split_once('\t').unwrap();
        let nanos: u64 = nanos.parse().unwrap();
        assert!(nanos >= last);
        last = nanos;
        let mut columns: Vec<_> = rest.split('\t').collect();
        summed += columns.remove(4).parse::<u64>().unwrap();
        columns.join(" ")
    };
    let lines = lines.iter().map(rest).collect();
    assert_eq!(summed, bytes);
    lines
}

const LOGGED: [&str; 6] = [
    "127.64.0.1 www.one-sim.com /robots.txt 200 GET robots",
    "127.64.0.1 www.one-sim.com /busy?x 200 GET page",
    "127.64.0.1 www.example.com / 421 GET page",
    "127.64.0.1 www.one-sim.com /big 200 HEAD page",
    "127.64.0.1 - - 400 GET page",
    "127.64.0.1 www.one-sim.com /reset 0 GET page",
];

#[test]
fn every_request_is_in_the_log_and_the_auditor_reads_it() {
    let mut simulation = Simulation::new(1);
    let path = Path::new("/audit.log");
    let lines = simulation.run(|env| async move { logged(&env, path).await });
    assert_eq!(lines, LOGGED);
    let files = Files::simulated(simulation.files().clone());
    let report = crate::audit::audit(&files, path, &crate::audit::AuditOptions::default()).unwrap();
    assert_eq!((report.requests, report.robots_requests, report.hosts, report.servers), (6, 1, 2, 1));
    assert_eq!((report.delay_ms, report.malformed_lines, report.torn_tail), (Some(100.0), 0, false));
}

#[test]
fn the_log_is_the_same_over_real_sockets_and_files() {
    mattock_env::run(async {
        let env = Env::real();
        let name = format!("mattock-simweb-{:016x}.log", Random::from_entropy().next_u64());
        let path = std::env::temp_dir().join(name);
        assert_eq!(logged(&env, &path).await, LOGGED);
        env.files.remove_file(&path).unwrap();
    });
}

#[test]
fn the_log_reaches_the_file_within_the_interval() {
    Simulation::new(1).run(|env| async move {
        let path = Path::new("/audit.log");
        let log = AuditLog::create(&env, path, &header()).unwrap();
        let server = serve(&env, Arc::new(FakeWeb), ServeOptions::default(), Some(log)).await.unwrap();
        let lines = || env.files.read(path).unwrap().iter().filter(|&&byte| byte == b'\n').count();
        let mut client = Client::connect(&env, &server, ONE).await;
        for round in 0..3 {
            assert_eq!(lines(), 2 + round);
            client.get(HOST, "/").await;
            env.clock.sleep(FLUSH_INTERVAL + Duration::from_millis(1)).await;
        }
    });
}

#[test]
fn a_log_that_cannot_be_made_is_an_error_that_names_it() {
    Simulation::new(1).run(|env| async move {
        let path = Path::new("/no/such/directory/audit.log");
        let error = AuditLog::create(&env, path, &header()).unwrap_err().to_string();
        assert!(error.contains("/no/such/directory/audit.log"), "{error}");
        assert!(env.files.open(path, OpenMode::Read).is_err());
    });
}

/// Fetches some allowed pages of a real world, robots.txt first, at a pace that suits all hosts.
async fn tour(env: Env, world: Arc<World>, path: &Path, extra: Option<(&str, &str)>) {
    let header = AuditHeader { seed: world.seed(), delay_ms: Some(50), params: world.params().clone() };
    let log = AuditLog::create(&env, path, &header).unwrap();
    let server = serve(&env, world.clone(), ServeOptions::default(), Some(log)).await.unwrap();
    let truth = world.truth(100_000).unwrap();
    let urls = truth.pages.iter().step_by(9).map(|url| url.strip_prefix("http://").unwrap());
    let mut client: Option<(String, Client)> = None;
    for (host, page) in urls.map(|url| url.split_at(url.find('/').unwrap())).chain(extra) {
        let Resolution::Address(address) = world.resolve(host) else { panic!("{host} has no address") };
        if client.as_ref().is_none_or(|(known, _)| known != host) {
            client = Some((host.to_owned(), Client::connect(&env, &server, address).await));
        }
        let (_, client) = client.as_mut().unwrap();
        if extra != Some((host, page)) {
            client.get(host, "/robots.txt").await;
            env.clock.sleep(Duration::from_millis(60)).await;
        }
        let answer = client.get(host, page).await;
        if extra.is_none() {
            assert_eq!(answer.status, 200, "{host}{page}");
        }
        env.clock.sleep(Duration::from_millis(60)).await;
    }
    server.stop().await.unwrap();
}

#[test]
fn the_auditor_knows_the_world_that_was_served() {
    let world = Arc::new(World::new(Params::preset(Preset::Tiny), 3));
    let mut simulation = Simulation::new(3);
    let (clean, guilty) = (Path::new("/clean.log"), Path::new("/guilty.log"));
    simulation.run(|env| tour(env, world.clone(), clean, None));
    // Some page of the world that robots.txt forbids, asked for although nothing else was asked of its host.
    let truth = world.truth(100_000).unwrap();
    let forbidden = truth.pages.iter().find_map(|url| {
        let host = url.strip_prefix("http://")?.split('/').next()?;
        world.forbidden(host, "/any.cgi").then_some((host, "/any.cgi"))
    });
    let forbidden = forbidden.expect("some host of this world has rules against scripts");
    simulation.run(|env| tour(env, world.clone(), guilty, Some(forbidden)));
    let files = Files::simulated(simulation.files().clone());
    let report = crate::audit::audit(&files, clean, &crate::audit::AuditOptions::default()).unwrap();
    assert!(report.is_clean() && report.requests > 100, "{report}");
    let report = crate::audit::audit(&files, guilty, &crate::audit::AuditOptions::default()).unwrap();
    assert_eq!(report.robots_violations, 1, "{report}");
}
