#![expect(clippy::disallowed_methods, reason = "this is the one crate that may touch the outside world")]
//! The outside world as capabilities that are handed in: clock, randomness, files, network, threads.
//!
//! Nothing else in the workspace calls `Instant::now`, `File::open`, `TcpStream::connect` or a random generator
//! (clippy's `disallowed-methods` sees to it). A stage that needs one of them is given it, as part of an [`Env`]
//! or alone. There are two implementations of each:
//!
//! - **real** ([`Env::real`]): a thin cover over `std` and `tokio`; one predictable branch per call.
//! - **simulated** ([`sim::Simulation`]): virtual time that jumps to the next timer when nobody has work, randomness
//!   from one seed, a network in memory with latency and faults, and files that lose what was not synced, tear
//!   writes, return `ENOSPC` or `EIO`, and stop the world at any operation.
//!
//! The two are variants of one enum and not implementations of a trait: no type parameter and no boxed future runs
//! through the crawler, and there will never be a third. What is asked of a repository may lie further away: there, and only there,
//! files stand on a trait ([`Remote`]), so that no client of any store is part of this crate.
//!
//! Determinism: a simulated run uses one thread and tokio's paused clock. What code under simulation must avoid is
//! listed in [`sim`].

mod clock;
mod files;
mod net;
mod panics;
mod process;
mod random;
pub mod sim;
mod user;
mod workers;

pub use clock::{Clock, Elapsed, Time, UnixTime};
pub use files::{
    BadName, Block, Fault, File, FileWriter, Files, Name, OpenMode, PAGE_BYTES, Remote, RemoteFile, SimFiles,
    Stopped, StoredFile, Unread, VisitTwin, copy_name, copy_path, is_loss, is_stopped, is_url, located,
    without_copy,
};
pub use net::{Accepted, Datagrams, Listener, Net, NetFaults, SimNet, Stream};
pub use panics::{Panic, Panics};
pub use process::{Ran, peak_resident_bytes, resident_bytes, run_command};
pub use random::Random;
pub use user::{Reach, Trusted, User};
pub use workers::{Job, Lane, Step, Workers};

/// Everything that touches the outside world, bundled. Cloning is cheap; clones share the same world.
#[derive(Clone, Debug)]
pub struct Env {
    /// Monotonic and wall-clock time, timers.
    pub clock: Clock,
    /// TCP and UDP.
    pub net: Net,
    /// The file system.
    pub files: Files,
    /// Where generators come from: take your own with [`Random::fork`].
    pub random: Random,
    /// Threads for work in the background.
    pub workers: Workers,
    /// Who runs this, and so what of a directory is their own word.
    pub user: User,
}

impl Env {
    /// The machine as it is.
    pub fn real() -> Env {
        Env {
            clock: Clock::real(),
            net: Net::real(),
            files: Files::real(),
            random: Random::from_entropy(),
            workers: Workers::real(),
            user: User::real(),
        }
    }

    /// This world, with files [bound](Files::within) to a directory that the user has named.
    pub fn within(&self, root: &std::path::Path) -> Env {
        Env { files: self.files.within(root), ..self.clone() }
    }

    /// Whether this world is a simulated one, which has one thread.
    pub fn is_simulated(&self) -> bool {
        self.clock.is_simulated()
    }

    /// Cores that this process may use; 1 in a simulation.
    pub fn cores(&self) -> usize {
        if self.is_simulated() { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

/// Runs `future` to its end on a runtime of one thread with real time: the way every real partition runs.
///
/// Local tasks (`tokio::task::spawn_local`) work inside it.
pub fn run<F: Future>(future: F) -> F::Output {
    tokio::task::LocalSet::new().block_on(&runtime(), future)
}

/// The same, without waiting in the end for what helper threads are still doing for nobody.
pub fn run_and_leave<F: Future>(future: F) -> F::Output {
    let runtime = runtime();
    let output = tokio::task::LocalSet::new().block_on(&runtime, future);
    runtime.shutdown_background();
    output
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime needs only an epoll descriptor")
}

/// Runs what `make` gives on a thread of its own, the way [`run`] does, and gives back what it came to. A panic there is one here.
pub async fn run_apart<F: Future>(name: String, make: impl FnOnce() -> F + Send + 'static) -> F::Output
where
    F::Output: Send + 'static,
{
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        // Whoever asked may have gone away meanwhile.
        let _ = sender.send(run(make()));
    });
    let thread = thread.expect("a thread needs only memory");
    match receiver.await {
        Ok(output) => output,
        Err(_) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("a thread that ends without a panic has sent its output"),
        },
    }
}

/// CPU seconds (user and system) that this process has used so far; `None` where the platform does not say.
pub fn cpu_seconds() -> Option<f64> {
    // Fields 14 and 15 of /proc/self/stat, in clock ticks of 1/100 s, after the command name in brackets.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat[stat.rfind(')')? + 2..].split(' ').skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

/// CPU seconds that the calling thread has used so far, to the nanosecond.
pub fn thread_cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
