//! Ctrl-C and termination.

use tokio::signal::unix::{SignalKind, signal};

/// Waits for the next wish to stop: Ctrl-C or a termination signal.
pub(crate) async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Without handlers the default action ends the process anyway.
        return std::future::pending().await;
    };
    tokio::select! {
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
