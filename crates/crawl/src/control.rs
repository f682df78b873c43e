//! Tells a running crawl to stop, from wherever the wish comes.

use std::sync::Arc;

use tokio::sync::watch;

/// A handle on a running crawl. Cheap to clone, can be sent between threads.
#[derive(Clone, Debug)]
pub struct Control {
    stop: Arc<watch::Sender<bool>>,
}

impl Default for Control {
    fn default() -> Control {
        Control { stop: Arc::new(watch::Sender::new(false)) }
    }
}

impl Control {
    /// Asks the crawl to finish what is under way, close its files and save its frontier.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Whether it was asked to.
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits until it is asked to.
    pub(crate) async fn stopped(&self) {
        let mut receiver = self.stop.subscribe();
        // An error would mean that the sender is gone, but we hold it.
        let _ = receiver.wait_for(|stop| *stop).await;
    }
}
