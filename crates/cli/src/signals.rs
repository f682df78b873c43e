//! Ctrl-C and termination.
//!
//! A command that was asked to stop stops where it next looks, and keeps what it has. One that works with a server may wait for its answer by then, and if
//! it would keep nothing by waiting, it is ended ([`Patience::Short`]).

use std::path::PathBuf;
use std::time::Duration;

use mattock_env::{Clock, is_url};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that come closer together are one wish.
const SAME_WISH: Duration = Duration::from_millis(500);

/// Who wishes to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A person, by Ctrl-C.
    Interrupt,
    /// Whoever runs services (SIGTERM), or the terminal, which is gone (SIGHUP): the end is what they asked for.
    Stop,
}

/// Wishes to stop. From its making on, a signal no longer ends the process by itself.
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Interrupts {
    /// Must be called inside [`mattock_env::run`].
    pub(crate) fn listen() -> std::io::Result<Interrupts> {
        Ok(Interrupts {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Lets everything pass that comes within a moment: one wish may arrive as two signals, as `timeout` sends its own to the process
    /// and to its group.
    pub(crate) async fn settle(&mut self, clock: &Clock) {
        let moment = clock.now() + SAME_WISH;
        loop {
            tokio::select! {
                biased;
                () = clock.sleep_until(moment) => return,
                _ = self.next() => {}
            }
        }
    }

    /// Waits for the next wish to stop.
    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => Wish::Interrupt,
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.hangup.recv() => Wish::Stop,
        }
    }
}

/// How long a command may take that was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as it needs to keep what it has.
    Long,
    /// Not long: it keeps nothing, or what it has was kept already.
    Short,
}

impl Patience {
    /// With a command that works with these places, and keeps nothing.
    pub(crate) fn with<'a>(places: impl IntoIterator<Item = &'a PathBuf>) -> Patience {
        match places.into_iter().any(|place| is_url(place)) {
            true => Patience::Short,
            false => Patience::Long,
        }
    }
}

/// Enough to say goodbye, to a store that has half an object for instance.
const SHORT: Duration = Duration::from_secs(5);

/// Calls `then` at the first wish to stop, for commands that have no runtime of their own; the second ends the process, and so does the end of
/// `patience`. When this returns, wishes are heard.
pub(crate) fn when_interrupted(patience: Patience, then: impl FnOnce() + Send + 'static) {
    let (ready, listening) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        mattock_env::run(async {
            let Ok(mut interrupts) = Interrupts::listen() else { return };
            // Whoever asked for it waits for this.
            let _ = ready.send(());
            interrupts.next().await;
            then();
            let clock = Clock::real();
            let end = clock.now() + SHORT;
            interrupts.settle(&clock).await;
            tokio::select! {
                biased;
                _ = interrupts.next() => {}
                () = clock.sleep_until(end), if patience == Patience::Short => {
                    say!("Stopped: something that does not answer was not waited for.");
                }
            }
            std::process::exit(130);
        });
    });
    // Where signals cannot be had, nothing is sent, and they end the process as ever.
    let _ = listening.recv();
}
