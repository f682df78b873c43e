//! A value that many look at and wait for, on whatever threads.
//!
//! Who waits is woken in the order in which the waits began, so that the same seed gives the same run: tokio's own watch channel draws lots.

use std::fmt;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

pub(crate) struct Watched<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T: Copy> Watched<T> {
    pub(crate) fn new(value: T) -> Watched<T> {
        Watched { value: Mutex::new(value), changed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it is now.
    pub(crate) fn get(&self) -> T {
        *self.lock()
    }

    /// Changes it.
    pub(crate) fn update(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.changed.notify_waiters();
    }

    /// Waits until it is as wanted.
    pub(crate) async fn wait_for(&self, is_wanted: impl Fn(&T) -> bool) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            let value = self.get();
            if is_wanted(&value) {
                return value;
            }
            changed.await;
        }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Watched<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Watched").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::sim::Simulation;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn the_first_to_wait_is_the_first_to_know() {
        for seed in 0..20 {
            let order = Simulation::new(seed).run(|env| async move {
                let watched = Arc::new(Watched::new(0));
                let woken = Arc::new(Mutex::new(Vec::new()));
                let tasks = (0..10).map(|waiter| {
                    let (watched, woken) = (watched.clone(), woken.clone());
                    tokio::task::spawn_local(async move {
                        assert_eq!(watched.wait_for(|value| *value >= 2).await, 3);
                        woken.lock().unwrap_or_else(PoisonError::into_inner).push(waiter);
                    })
                });
                let tasks: Vec<_> = tasks.collect();
                for _ in 0..3 {
                    env.clock.sleep(Duration::from_secs(1)).await;
                    watched.update(|value| *value += if *value == 1 { 2 } else { 1 });
                }
                for task in tasks {
                    task.await.expect("nothing panics");
                }
                woken.lock().unwrap_or_else(PoisonError::into_inner).clone()
            });
            assert_eq!(order, (0..10).collect::<Vec<_>>());
        }
    }
}
