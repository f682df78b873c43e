//! [`Cancel`]: how a running query is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Cheap to clone; may be used from any thread, for example the one that waits for Ctrl-C.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    told: Notify,
}

impl Cancel {
    /// One that nobody has used.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stops what runs with it, now and from now on.
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::SeqCst);
        self.state.told.notify_waiters();
    }

    /// Whether that has been done.
    pub fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::SeqCst)
    }

    /// Waits until it is.
    pub(crate) async fn cancelled(&self) {
        let told = self.state.told.notified();
        tokio::pin!(told);
        // From here on no word is missed, so that what was said before shows in the flag.
        told.as_mut().enable();
        if !self.is_cancelled() {
            told.await;
        }
    }
}
