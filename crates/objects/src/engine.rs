//! The thread on which requests wait: started by the first, and ended with the last user. Callers hand it futures and block until they are
//! done, whatever runtime they are in themselves.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};

use tokio::runtime::{Builder, Runtime};

use crate::error::ObjectsError;

#[derive(Debug, Default)]
pub(crate) struct Engine {
    runtime: OnceLock<Option<Runtime>>,
}

/// Something that is under way.
pub(crate) struct Pending<T>(Receiver<T>);

impl<T> Pending<T> {
    pub(crate) fn wait(self) -> Result<T, ObjectsError> {
        self.0.recv().map_err(|_| ObjectsError::Engine)
    }
}

impl Engine {
    /// Starts something.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<Pending<T>, ObjectsError> {
        let started = self.runtime.get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("mattock-objects")
                .enable_all()
                .build()
                .ok()
        });
        let runtime = started.as_ref().ok_or(ObjectsError::Engine)?;
        let (sender, receiver) = sync_channel(1);
        runtime.spawn(async move {
            // Nobody waits any more: then nobody wants it.
            let _ = sender.send(future.await);
        });
        Ok(Pending(receiver))
    }

    /// Does something to its end.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ObjectsError> {
        self.start(future)?.wait()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Inside another runtime it must not be waited for.
        if let Some(Some(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
