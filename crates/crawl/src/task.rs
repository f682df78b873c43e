//! A task that always reports: with its result, or with the news that it broke down.
//!
//! A fetch that panics would otherwise take its visit with it, and its host would be busy for ever. The report is sent
//! when the task is dropped, however that comes about, so there is no way around it.

use std::future::Future;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

/// What a task with this number came to; `None` if it panicked.
pub(crate) type Report<T> = (u64, Option<T>);

/// Sends a report at the latest when it is dropped.
struct Reporter<T> {
    number: u64,
    result: Option<T>,
    sender: UnboundedSender<Report<T>>,
}

impl<T> Reporter<T> {
    fn deliver(mut self, result: T) {
        self.result = Some(result);
    }
}

impl<T> Drop for Reporter<T> {
    fn drop(&mut self) {
        // The loop outlives its tasks, unless it failed; then nobody is interested.
        let _ = self.sender.send((self.number, self.result.take()));
    }
}

/// Runs `work` on this thread and reports its result under `number`. An aborted task reports that it has none.
pub(crate) fn spawn<T: 'static>(
    number: u64,
    sender: UnboundedSender<Report<T>>,
    work: impl Future<Output = T> + 'static,
) -> JoinHandle<()> {
    let reporter = Reporter { number, result: None, sender };
    tokio::task::spawn_local(async move { reporter.deliver(work.await) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn a_task_reports_whatever_becomes_of_it() {
        Simulation::new(1).run(|_| async {
            let (sender, mut receiver) = unbounded_channel();
            spawn(1, sender.clone(), async { 7 });
            assert_eq!(receiver.recv().await, Some((1, Some(7))));
            spawn(2, sender.clone(), async {
                tokio::task::yield_now().await;
                panic!("as a fetch might, in a test that wants to see it")
            });
            assert_eq!(receiver.recv().await, Some((2, None)));
            spawn(3, sender, std::future::pending()).abort();
            assert_eq!(receiver.recv().await, Some((3, None)));
        });
    }
}
