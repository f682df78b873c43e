//! Tells a running crawl to stop, from wherever the wish comes.

use std::sync::Arc;

use crate::watched::Watched;

/// A handle on a running crawl. Cheap to clone, can be sent between threads.
#[derive(Clone, Debug)]
pub struct Control {
    stop: Arc<Watched<bool>>,
}

impl Default for Control {
    fn default() -> Control {
        Control { stop: Arc::new(Watched::new(false)) }
    }
}

impl Control {
    /// Asks the crawl to finish what is under way, close its files and save its frontier.
    pub fn stop(&self) {
        self.stop.update(|stop| *stop = true);
    }

    /// Whether it was asked to.
    pub fn is_stopping(&self) -> bool {
        self.stop.get()
    }

    /// Waits until it is asked to.
    pub(crate) async fn stopped(&self) {
        self.stop.wait_for(|stop| *stop).await;
    }
}
