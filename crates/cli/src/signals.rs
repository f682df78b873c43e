//! Ctrl-C and termination.

use tokio::signal::unix::{Signal, SignalKind, signal};

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

    /// Waits for the next wish to stop: Ctrl-C or a termination signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
