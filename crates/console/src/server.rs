//! The console's thread: listens at a TCP port and at the crawl's socket, and answers until it is dropped.
//!
//! It has a runtime of its own, so that a slow reader, a large answer or a flood of requests never stands in a partition's
//! way. What reads the disk goes to a few helper threads. Bounded: connections, requests that wait for the disk, bodies,
//! heads, the time that a head or a body may take, and that in which a client takes nothing of its answer.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mattock_env::{Clock, Env, Listener};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};

use crate::ConsoleError;
use crate::desk::Desk;
use crate::guard::Guard;
use crate::live::Live;
use crate::patient::Patient;
use crate::router::Router;
use crate::token::Token;

/// Connections at once; more are closed.
const CONNECTIONS_MAX: usize = 64;
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 64 << 10;
/// After a connection could not be taken, as when there are no file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const TELL_EVERY: Duration = Duration::from_secs(1);

/// Where a console listens.
#[derive(Clone, Debug)]
pub struct Bind {
    addresses: Vec<SocketAddr>,
    names: Vec<String>,
    token: Option<Token>,
}

impl Bind {
    /// Reads an address like `127.0.0.1:7070` or `localhost:7070`. Any but those of loopback need a token.
    pub fn parse(text: &str, token: Option<&str>) -> Result<Bind, ConsoleError> {
        let token = token.map(Token::new).transpose()?;
        let wrong = || ConsoleError::Address { text: text.to_owned() };
        let (addresses, name) = match text.parse::<SocketAddr>() {
            Ok(address) => (vec![address], None),
            Err(_) => {
                let name = text.rsplit_once(':').ok_or_else(wrong)?.0;
                let addresses: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| wrong())?.collect();
                (addresses, Some(name.to_ascii_lowercase()))
            }
        };
        if addresses.is_empty() {
            return Err(wrong());
        }
        match addresses.iter().find(|address| !is_loopback(address)) {
            Some(&address) if token.is_none() => Err(ConsoleError::NoToken { address }),
            _ => Ok(Bind { addresses, names: name.into_iter().collect(), token }),
        }
    }

    /// Answers under these names too: those of proxies before it.
    pub fn with_names(mut self, names: &[String]) -> Bind {
        self.names.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        self
    }

    fn guard(&self, address: SocketAddr) -> Guard {
        let (names, token) = (self.names.clone(), self.token.clone());
        Guard::Port { loopback: is_loopback(&address), names, token }
    }
}

fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// A console that runs. It ends when this is dropped, and its socket goes with it.
#[derive(Debug)]
pub struct Console {
    address: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// CPU seconds of the thread, as bits, up to a second old.
    cpu: Arc<AtomicU64>,
}

impl Console {
    /// Begins to answer, at a port, at a socket, or at both.
    pub fn start(
        env: &Env,
        desk: Desk,
        bind: Option<Bind>,
        socket: Option<&Path>,
    ) -> Result<Console, ConsoleError> {
        let (stop, stopped) = oneshot::channel();
        let (ready, begun) = mpsc::channel();
        let (env, desk) = (env.clone(), Arc::new(desk));
        let socket = socket.map(Path::to_path_buf);
        let cpu: Arc<AtomicU64> = Arc::default();
        let told = cpu.clone();
        let work = move || {
            mattock_env::run_and_leave(async move {
                match Listeners::open(&env, bind, socket).await {
                    Ok(listeners) => {
                        // Whoever started us waits for this.
                        let _ = ready.send(Ok(listeners.address()));
                        tokio::task::spawn_local(tell_cpu(env.clock.clone(), told));
                        listeners.serve(&env, desk, stopped).await;
                    }
                    Err(error) => drop(ready.send(Err(error))),
                }
            });
        };
        let thread = std::thread::Builder::new().name("console".into()).spawn(work);
        let thread = thread.map_err(ConsoleError::Thread)?;
        let address = begun.recv().map_err(|_| ConsoleError::Talk("its thread broke down".into()))??;
        Ok(Console { address, stop: Some(stop), thread: Some(thread), cpu })
    }

    /// CPU seconds that the console's thread has used so far; up to a second old, and without what read the disk for it.
    pub fn cpu_seconds(&self) -> f64 {
        f64::from_bits(self.cpu.load(Ordering::Relaxed))
    }

    /// The TCP address, with the real port if 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Tells for ever what the calling thread has used.
async fn tell_cpu(clock: Clock, told: Arc<AtomicU64>) {
    loop {
        told.store(mattock_env::thread_cpu_seconds().to_bits(), Ordering::Relaxed);
        clock.sleep(TELL_EVERY).await;
    }
}

/// What is listened at.
struct Listeners {
    port: Option<(Listener, Guard)>,
    socket: Option<(UnixListener, SocketFile)>,
}

impl Listeners {
    async fn open(env: &Env, bind: Option<Bind>, socket: Option<PathBuf>) -> Result<Listeners, ConsoleError> {
        let port = match &bind {
            Some(bind) => Some(listen(env, bind).await?),
            None => None,
        };
        let socket = socket.map(SocketFile::listen).transpose()?;
        Ok(Listeners { port, socket })
    }

    fn address(&self) -> Option<SocketAddr> {
        self.port.as_ref().and_then(|(listener, _)| listener.address().ok())
    }

    async fn serve(self, env: &Env, desk: Arc<Desk>, stopped: oneshot::Receiver<()>) {
        let live = Live::begin(env, desk.clone());
        let router = Rc::new(Router::new(env, desk, live));
        let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut tasks = Vec::new();
        if let Some((mut listener, guard)) = self.port {
            let (router, slots, clock) = (router.clone(), slots.clone(), env.clock.clone());
            tasks.push(tokio::task::spawn_local(async move {
                loop {
                    match listener.accept().await {
                        Ok(accepted) => converse(accepted.stream, &clock, &router, &guard, &slots),
                        Err(_) => clock.sleep(ACCEPT_PAUSE).await,
                    }
                }
            }));
        }
        let mut file = None;
        if let Some((listener, of_socket)) = self.socket {
            file = Some(of_socket);
            let owner = owner(&file);
            let is_owner = move |stream: &UnixStream| {
                // Between the making of the file and its mode somebody else may have come.
                stream.peer_cred().is_ok_and(|peer| peer.uid() == 0 || Some(peer.uid()) == owner)
            };
            let (router, clock) = (router.clone(), env.clock.clone());
            tasks.push(tokio::task::spawn_local(async move {
                // Others must not be able to keep the owner out.
                let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
                loop {
                    match listener.accept().await {
                        Ok((stream, _)) if is_owner(&stream) => {
                            converse(stream, &clock, &router, &Guard::Socket, &slots);
                        }
                        Ok(_) => {}
                        Err(_) => clock.sleep(ACCEPT_PAUSE).await,
                    }
                }
            }));
        }
        // Both a word and its sender's end are a wish to stop.
        let _ = stopped.await;
        tasks.iter().for_each(|task| task.abort());
        drop(file);
    }
}

/// Takes the first of the addresses that can be had.
async fn listen(env: &Env, bind: &Bind) -> Result<(Listener, Guard), ConsoleError> {
    let mut problem = None;
    for &address in &bind.addresses {
        match env.net.listen(address).await {
            Ok(listener) => return Ok((listener, bind.guard(address))),
            Err(source) => problem = Some(ConsoleError::Listen { address, source }),
        }
    }
    Err(problem.expect("there is at least one address"))
}

/// Speaks HTTP on a connection until that ends.
fn converse<S>(stream: S, clock: &Clock, router: &Rc<Router>, guard: &Guard, slots: &Arc<Semaphore>)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let Ok(slot) = slots.clone().try_acquire_owned() else { return };
    let (router, guard) = (router.clone(), Rc::new(guard.clone()));
    let stream = Patient::new(stream, clock.clone());
    tokio::task::spawn_local(async move {
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, guard) = (router.clone(), guard.clone());
            async move { Ok::<_, Infallible>(router.answer(request, &guard).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        // What goes wrong here is the client's business.
        let _ = connection.await;
        drop(slot);
    });
}

/// The file of a Unix socket, for its owner alone; gone when this is dropped.
struct SocketFile {
    path: PathBuf,
    /// Which file it was: another crawl may have made its own since.
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    fn listen(path: PathBuf) -> Result<(UnixListener, SocketFile), ConsoleError> {
        let failed = |source: io::Error| ConsoleError::Socket { path: path.clone(), source };
        // One that was killed leaves its socket behind; that nobody else crawls here is known by the lock.
        remove(&path).map_err(failed)?;
        // Paths of sockets are short by nature: a long one is reached through a handle of its directory.
        let listener = bind_short(&path).map_err(failed)?;
        let identity = identity(&path);
        Ok((listener, SocketFile { path, identity }))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = remove(&self.path);
        }
    }
}

fn bind_short(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;
    let short = crate::client::ShortPath::of(path)?;
    let listener = UnixListener::bind(short.as_path())?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Whose a socket is: ours, as we have made it.
fn owner(file: &Option<SocketFile>) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(std::fs::symlink_metadata(&file.as_ref()?.path).ok()?.uid())
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[expect(clippy::disallowed_methods, reason = "sockets are no files of the simulated disk")]
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_bound_without_a_token() {
        assert!(Bind::parse("127.0.0.1:0", None).is_ok());
        assert!(Bind::parse("[::1]:7070", None).is_ok());
        for open in ["0.0.0.0:7070", "[::]:7070", "192.0.2.1:7070", "[::ffff:192.0.2.1]:7070"] {
            assert!(matches!(Bind::parse(open, None), Err(ConsoleError::NoToken { .. })), "{open}");
            assert!(Bind::parse(open, Some("0123456789abcdef")).is_ok());
            assert!(matches!(Bind::parse(open, Some("weak")), Err(ConsoleError::WeakToken)));
        }
        for nonsense in ["", "7070", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70700"] {
            assert!(matches!(Bind::parse(nonsense, None), Err(ConsoleError::Address { .. })), "{nonsense}");
        }
    }
}
