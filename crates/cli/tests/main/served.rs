//! A tiny world served from this process, which says when so many requests have come.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use mattock_crawl::units;
use mattock_env::Env;
use mattock_simweb::{
    Answer, AuditHeader, AuditLog, Params, Preset, Request, Resolution, ServeOptions, Web, World,
    crawl_command, serve,
};
use tokio::sync::oneshot;

/// The world, with a bell that rings once.
struct Counted {
    world: World,
    requests: AtomicU64,
    ring_at: u64,
    bell: Sender<()>,
}

impl Web for Counted {
    fn resolve(&self, name: &str) -> Resolution {
        self.world.resolve(name)
    }

    fn answer(&self, request: &Request<'_>, time_s: u64, body: &mut Vec<u8>) -> Answer {
        if self.requests.fetch_add(1, Ordering::Relaxed) + 1 == self.ring_at {
            // Whoever does not listen does not care.
            let _ = self.bell.send(());
        }
        self.world.answer(request, time_s, body)
    }
}

/// A served world; it stops when this goes.
pub(crate) struct Served {
    /// The words of the command that crawls it into `crawl`, without the program's name.
    pub(crate) crawl: Vec<String>,
    /// Rings at the request that was asked for.
    pub(crate) bell: Receiver<()>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn world(seed: u64) -> World {
    World::new(Params::preset(Preset::Tiny), seed)
}

impl Served {
    /// Serves a world; crawls keep this delay.
    pub(crate) fn start(seed: u64, delay: &str, ring_at: u64) -> Served {
        Served::watched(seed, delay, ring_at, None)
    }

    /// The same; what the server sees is written to this file.
    pub(crate) fn watched(seed: u64, delay: &str, ring_at: u64, audit: Option<PathBuf>) -> Served {
        let (bell, heard) = channel();
        let (stop, stopped) = oneshot::channel();
        let (ready, command) = channel();
        let delay = delay.to_owned();
        let thread = std::thread::spawn(move || {
            mattock_env::run(async move {
                let world = world(seed);
                let seeds = world.seeds();
                let header = AuditHeader {
                    seed,
                    delay_ms: units::parse_duration(&delay).ok().map(|delay| delay.as_millis() as u64),
                    params: world.params().clone(),
                };
                let log = audit
                    .map(|path| AuditLog::create(&Env::real(), &path, &header).expect("it can be written"));
                let web = Arc::new(Counted { world, requests: AtomicU64::new(0), ring_at, bell });
                let options = ServeOptions::default();
                let server = serve(&Env::real(), web, options, log).await.expect("free ports are found");
                let (dns, port) = (server.dns_address(), server.http_port());
                ready.send(crawl_command(&seeds, dns, port, &delay, Path::new("crawl"))).expect("awaited");
                let _ = stopped.await;
                server.stop().await.expect("the log can be written");
            });
        });
        let command = command.recv().expect("the server says where it is");
        // What fails here fails for good, so trying again would only take time.
        let crawl = command.split(' ').skip(1).chain(["--retries", "0"]).map(str::to_owned).collect();
        Served { crawl, bell: heard, stop: Some(stop), thread: Some(thread) }
    }
}

impl Served {
    /// The flags by which the world is reached, and a URL in it, for commands that ask for one page.
    pub(crate) fn reached(&self) -> Vec<&str> {
        let flags = ["--dns", "--connect-port", "--allow-address"];
        let pairs = self.crawl.windows(2).filter(|pair| flags.contains(&pair[0].as_str()));
        let seed = self.crawl.iter().find(|word| word.starts_with("http://")).expect("a crawl has a seed");
        pairs.flatten().map(String::as_str).chain([seed.as_str()]).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
