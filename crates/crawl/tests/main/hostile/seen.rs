//! One crawl of one hostile host, and what came of it from both sides.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, End, RawConfig, Summary};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{
    AuditHeader, AuditLog, HealthyWeb, HostileWeb, Params, Preset, ServeOptions, hostility, serve,
};

/// Addresses that nobody may connect to; a listener at each of them counts who does.
const TRAPS: [&str; 9] = [
    "10.0.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "2001:0:1:1:1:1:f5ff:fffe",
    "fc00::1",
];
/// The same for these ports of the hostile host itself.
const TRAP_PORTS: [u16; 3] = [22, 25, 6379];

/// A request as the server saw it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) at: Duration,
    pub(super) server: String,
    pub(super) host: String,
    pub(super) path: String,
}

/// A response in the archive.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) url: String,
    pub(super) truncated: Option<String>,
    pub(super) body: Vec<u8>,
}

/// What came of a crawl.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) summary: Summary,
    pub(super) complete: bool,
    pub(super) asked: Vec<Asked>,
    pub(super) stored: Vec<Stored>,
    /// Metadata records: URL and text.
    pub(super) notes: Vec<(String, String)>,
    /// Connections to where nobody may go.
    pub(super) trespasses: u64,
    /// How often each hostile name was looked up, by name.
    pub(super) lookups_most: u64,
    pub(super) names_asked: usize,
    pub(super) healthy_missing: Vec<String>,
}

impl Seen {
    pub(super) fn brief(&self) -> String {
        let asked: Vec<String> = self
            .asked
            .iter()
            .filter(|asked| !asked.host.ends_with("healthy-sim.com"))
            .take(12)
            .map(|asked| {
                let path: String = asked.path.chars().take(60).collect();
                format!("{:.0}s {}{path}", asked.at.as_secs_f64(), asked.host)
            })
            .collect();
        let stored: Vec<String> = self
            .stored
            .iter()
            .filter(|stored| !stored.url.contains("healthy-sim.com"))
            .take(12)
            .map(|stored| {
                let url: String = stored.url.chars().take(60).collect();
                format!("{url} {:?} {}", stored.truncated, stored.body.len())
            })
            .collect();
        format!(
            "  outcomes {:?}, refused {:?}, {:.0} s, {} trespasses\n  asked {asked:?}\n  stored {stored:?}",
            self.summary.outcomes, self.summary.refused, self.summary.seconds, self.trespasses
        )
    }
}

/// Crawls one hostile host beside a healthy one, for at most this long.
pub(super) fn crawl(id: &str, copy: u32, stop: Duration) -> Seen {
    let host = hostility(id).expect("an id of the catalogue").host(copy);
    Simulation::new(1).run(|env| async move { run(&env, &host, stop).await })
}

async fn run(env: &Env, host: &str, stop: Duration) -> Seen {
    let healthy = HealthyWeb::new(1, 8);
    let web = Arc::new(HostileWeb::new(healthy));
    let log = Path::new("/audit");
    let header = AuditHeader { seed: 0, delay_ms: None, params: Params::preset(Preset::Tiny) };
    let audit = AuditLog::create(env, log, &header).unwrap();
    let server = serve(env, web.clone(), ServeOptions::default(), Some(audit)).await.unwrap();
    let trespasses = Rc::new(Cell::new(0));
    let port = server.http_port();
    let own = TRAP_PORTS.map(|port| SocketAddr::new(IpAddr::V4(web.address(host).unwrap()), port));
    let inside = TRAPS.map(|address| SocketAddr::new(address.parse().unwrap(), port));
    for address in own.into_iter().chain(inside) {
        let mut listener = env.net.listen(address).await.unwrap();
        let count = trespasses.clone();
        tokio::task::spawn_local(async move {
            while listener.accept().await.is_ok() {
                count.set(count.get() + 1);
            }
        });
    }

    let mut seeds = healthy.seeds();
    seeds.insert(0, format!("http://{host}/"));
    let config = format!(
        "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\n\
         connect_port = ['80={port}', '443={port}']\n[tls]\nextra_roots = [\"\"\"{}\"\"\"]",
        server.dns_address(),
        authority(),
    );
    let control = Control::default();
    let (stopper, clock) = (control.clone(), env.clock.clone());
    tokio::task::spawn_local(async move {
        clock.sleep(stop).await;
        stopper.stop();
    });
    let root = Path::new("/crawl");
    let config = RawConfig::parse(&config, "test").unwrap();
    let summary = Crawl::open(env, root, config).unwrap().run(control).await.unwrap();
    server.stop().await.unwrap();

    let (stored, notes) = stored(env, root);
    let fetched: BTreeSet<&str> = stored.iter().map(|stored| stored.url.as_str()).collect();
    let healthy_missing = healthy.urls().filter(|url| !fetched.contains(url.as_str())).collect();
    let asked = asked(&env.files.read(log).unwrap());
    let lookups_most = asked.iter().map(|asked| web.asked(&asked.host)).max().unwrap_or_default();
    Seen {
        complete: summary.end == End::Complete,
        summary,
        asked,
        stored,
        notes,
        trespasses: trespasses.get(),
        lookups_most,
        names_asked: web.names_asked(),
        healthy_missing,
    }
}

fn asked(log: &[u8]) -> Vec<Asked> {
    let text = String::from_utf8_lossy(log);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            Asked {
                at: Duration::from_nanos(columns[0].parse().unwrap()),
                server: columns[1].to_owned(),
                host: columns[2].to_owned(),
                path: columns[3].to_owned(),
            }
        })
        .collect()
}

/// The simulated Web's certificate authority, in the form that the configuration takes.
fn authority() -> String {
    let text = data_encoding::BASE64.encode(&mattock_simweb::authority());
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

/// All responses, robots.txt included, and what the metadata records say. A record that cannot be read is a failure of
/// the archive.
fn stored(env: &Env, root: &Path) -> (Vec<Stored>, Vec<(String, String)>) {
    let (mut stored, mut notes) = (Vec::new(), Vec::new());
    let mut bodies: BTreeMap<Option<String>, Vec<u8>> = BTreeMap::new();
    let warc = root.join("warc");
    for entry in env.files.list(&warc).unwrap() {
        let mut reader = WarcReader::open(&env.files, &warc.join(&entry.name)).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            let url = record.target_uri().unwrap_or_default().to_owned();
            match record.kind() {
                Some(RecordType::Response | RecordType::Revisit) => {}
                Some(RecordType::Metadata) => {
                    notes.push((url, String::from_utf8_lossy(record.block).into_owned()));
                    continue;
                }
                _ => continue,
            }
            let head = record.block.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(0, |at| at + 4);
            let digest = record.fields.get("WARC-Payload-Digest").map(str::to_owned);
            let body = match record.kind() {
                Some(RecordType::Revisit) => bodies[&digest].clone(),
                _ => record.block[head..].to_vec(),
            };
            bodies.insert(digest, body.clone());
            let truncated = record.fields.get("WARC-Truncated").map(str::to_owned);
            stored.push(Stored { url, truncated, body });
        }
    }
    (stored, notes)
}
