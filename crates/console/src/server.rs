//! The console's thread: listens at a TCP port and at the crawl's socket, and answers until it is dropped.
//!
//! It has a runtime of its own, so that a slow reader, a large answer or a flood of requests never stands in a partition's
//! way. What reads the disk goes to a few helper threads. Bounded: connections (`places.rs`), requests that wait for the disk, bodies,
//! heads, the time that a head or a body may take, that between two requests, and that in which a client takes nothing of its answer.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
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
use mattock_env::{Clock, Env, Files, Listener};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;

use crate::ConsoleError;
use crate::bind::Bind;
use crate::desk::Desk;
use crate::guard::Guard;
use crate::live::Live;
use crate::patient::Patient;
use crate::places::{Place, Places};
use crate::router::Router;
use crate::socket::SocketFile;
use crate::token::Token;

/// For a head from its first byte to its last, and before that.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 64 << 10;
/// After a connection could not be taken, as when there are no file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const TELL_EVERY: Duration = Duration::from_secs(1);

/// A console that runs. It ends when this is dropped, and its socket goes with it.
#[derive(Debug)]
pub struct Console {
    address: Option<SocketAddr>,
    /// A token that was made for it.
    token: Option<Token>,
    token_file: Option<TokenFile>,
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
        let token = bind.as_ref().and_then(Bind::made_token).cloned();
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
        Ok(Console { address, token, token_file: None, stop: Some(stop), thread: Some(thread), cpu })
    }

    /// CPU seconds that the console's thread has used so far; up to a second old, and without what read the disk for it.
    pub fn cpu_seconds(&self) -> f64 {
        f64::from_bits(self.cpu.load(Ordering::Relaxed))
    }

    /// The TCP address, with the real port if 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// What to open in a browser. A token that was made for this console is in it; one that was given is not, for whoever gave it knows it.
    pub fn url(&self) -> Option<String> {
        let token = self.token.as_ref().map(|token| format!("?token={}", token.text()));
        self.address.map(|address| format!("http://{address}/{}", token.unwrap_or_default()))
    }

    /// Leaves a token that was made for this console in a file that its owner alone can read, for as long as it runs: for programs on
    /// this machine that watch it.
    pub fn leave_token(&mut self, files: &Files, path: &Path) -> io::Result<()> {
        let Some(token) = &self.token else { return Ok(()) };
        files.write_private(path, token.text().as_bytes())?;
        self.token_file = Some(TokenFile { files: files.clone(), path: path.to_path_buf() });
        Ok(())
    }
}

/// The file with the token, gone when this is dropped.
#[derive(Debug)]
struct TokenFile {
    files: Files,
    path: PathBuf,
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        // A token of a console that is no more opens nothing.
        let _ = self.files.remove_file(&self.path);
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
        let mut tasks = Vec::new();
        if let Some((listener, guard)) = self.port {
            tasks.push(tokio::task::spawn_local(at_port(listener, guard, env.clock.clone(), router.clone())));
        }
        let mut file = None;
        if let Some((listener, of_socket)) = self.socket {
            let owner = of_socket.owner();
            file = Some(of_socket);
            tasks.push(tokio::task::spawn_local(at_socket(listener, owner, env.clock.clone(), router)));
        }
        // Both a word and its sender's end are a wish to stop.
        let _ = stopped.await;
        tasks.iter().for_each(|task| task.abort());
        drop(file);
    }
}

/// Takes whoever comes to the port.
async fn at_port(mut listener: Listener, guard: Guard, clock: Clock, router: Rc<Router>) {
    let places = Places::default();
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                let place = places.enter(accepted.peer.ip());
                converse(accepted.stream, &clock, &router, &guard, &places, place);
                // It may have shown its token already, and must not be dropped by those that come behind it before that is read.
                tokio::task::yield_now().await;
            }
            Err(_) => clock.sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Takes the owner's connections at the socket.
async fn at_socket(listener: UnixListener, owner: Option<u32>, clock: Clock, router: Rc<Router>) {
    let is_owner = |stream: &UnixStream| {
        // Between the making of the file and its mode somebody else may have come.
        stream.peer_cred().is_ok_and(|peer| peer.uid() == 0 || Some(peer.uid()) == owner)
    };
    // Others must not be able to keep the owner out.
    let places = Places::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_owner(&stream) => {
                if let Some(place) = places.enter_known() {
                    converse(stream, &clock, &router, &Guard::Socket, &places, place);
                }
            }
            Ok(_) => {}
            Err(_) => clock.sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Takes the first of the addresses that can be had.
async fn listen(env: &Env, bind: &Bind) -> Result<(Listener, Guard), ConsoleError> {
    let mut problem = None;
    for &address in &bind.addresses {
        match env.net.listen(address).await {
            Ok(listener) => {
                let address = listener.address().unwrap_or(address);
                return Ok((listener, bind.guard(address, &env.random)));
            }
            Err(source) => problem = Some(ConsoleError::Listen { address, source }),
        }
    }
    Err(problem.expect("there is at least one address"))
}

/// Speaks HTTP on a connection until that ends, or until it has to make way.
fn converse<S>(stream: S, clock: &Clock, router: &Rc<Router>, guard: &Guard, places: &Places, place: Place)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (router, guard) = (router.clone(), Rc::new(guard.clone()));
    let stream = Patient::new(stream, clock.clone());
    let number = place.number();
    let task = tokio::task::spawn_local(async move {
        let place = Rc::new(place);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, guard, place) = (router.clone(), guard.clone(), place.clone());
            async move { Ok::<_, Infallible>(router.answer(request, &guard, &place).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        // What goes wrong here is the client's business.
        let _ = connection.await;
    });
    places.hold(number, task.abort_handle());
}

#[cfg(test)]
mod tests;
