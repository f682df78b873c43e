//! A simulated Web on a thread of its own, for whoever wants to crawl it from this process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use mattock_env::Env;
use mattock_fetch::{AddressGuard, ClientOptions, Identity, NameServers};
use mattock_simweb::{ServeError, ServeOptions, Web, serve};
use tokio::sync::oneshot;

/// How often the thread tells its CPU time.
const TOLD_EVERY: Duration = Duration::from_millis(10);

/// A running simulated Web; dropping it ends it.
#[derive(Debug)]
pub struct ServedWorld {
    dns: SocketAddr,
    http_port: u16,
    /// CPU seconds of the thread, as bits, a few milliseconds old.
    cpu: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServedWorld {
    /// Serves on free ports of the loopback addresses.
    pub fn start<W: Web + Send + 'static>(web: W) -> Result<ServedWorld, ServeError> {
        let (ready, when_ready) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let cpu: Arc<AtomicU64> = Arc::default();
        let told = Arc::clone(&cpu);
        let thread = std::thread::spawn(move || {
            mattock_env::run(async move {
                let clock = Env::real().clock;
                let telling = async move {
                    loop {
                        told.store(mattock_env::thread_cpu_seconds().to_bits(), Ordering::Relaxed);
                        clock.sleep(TOLD_EVERY).await;
                    }
                };
                tokio::task::spawn_local(telling);
                match serve(&Env::real(), Arc::new(web), ServeOptions::default(), None).await {
                    Err(error) => drop(ready.send(Err(error))),
                    Ok(server) => {
                        // Nobody listening means that the caller is gone, and so is the sender of `stop`.
                        let _ = ready.send(Ok((server.dns_address(), server.http_port())));
                        let _ = stopped.await;
                        // Without an audit log there is nothing to complete.
                        let _ = server.stop().await;
                    }
                }
            });
        });
        let (dns, http_port) = when_ready.recv().expect("the thread answers before it ends")?;
        Ok(ServedWorld { dns, http_port, cpu, stop: Some(stop), thread: Some(thread) })
    }

    /// What a client needs to reach it.
    pub fn client_options(&self) -> ClientOptions {
        let loopback = "127.0.0.0/8".parse().expect("the constant is a range of addresses");
        ClientOptions {
            guard: AddressGuard::allowing(vec![loopback]),
            name_servers: Some(NameServers(vec![self.dns])),
            connect_ports: vec![(80, self.http_port)],
            ..ClientOptions::new(Identity { user_agent: "mattock-lab".into(), from: None })
        }
    }

    /// CPU seconds that serving has taken, up to some milliseconds ago.
    pub fn cpu_seconds(&self) -> f64 {
        f64::from_bits(self.cpu.load(Ordering::Relaxed))
    }

    /// Where its name server is.
    pub fn dns(&self) -> SocketAddr {
        self.dns
    }

    /// The port of its Web servers on every 127.x.y.z.
    pub fn http_port(&self) -> u16 {
        self.http_port
    }
}

impl Drop for ServedWorld {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so on stderr; there is nothing to add.
            let _ = thread.join();
        }
    }
}
