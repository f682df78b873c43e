//! Ctrl-C and termination.

use std::time::Duration;

use mattock_env::Clock;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that come closer together are one wish.
const SAME_WISH: Duration = Duration::from_millis(500);

/// The user's wishes to stop. From its making on, a signal no longer ends the process by itself.
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// Must be called inside [`mattock_env::run`].
    pub(crate) fn listen() -> std::io::Result<Interrupts> {
        Ok(Interrupts {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
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
                () = self.next() => {}
            }
        }
    }

    /// Waits for the next wish to stop: Ctrl-C or a termination signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Calls `then` at the first wish to stop, for commands that have no runtime of their own; the second ends the process. When this
/// returns, wishes are heard.
pub(crate) fn when_interrupted(then: impl FnOnce() + Send + 'static) {
    let (ready, listening) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        mattock_env::run(async {
            let Ok(mut interrupts) = Interrupts::listen() else { return };
            // Whoever asked for it waits for this.
            let _ = ready.send(());
            interrupts.next().await;
            then();
            interrupts.settle(&Clock::real()).await;
            interrupts.next().await;
            std::process::exit(130);
        });
    });
    // Where signals cannot be had, nothing is sent, and they end the process as ever.
    let _ = listening.recv();
}
