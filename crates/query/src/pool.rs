//! The memory of a session, divided fairly among the operators that can spill.
//!
//! Operators that only pass batches on (`RepartitionExec`) ask for memory too, once for each of their outputs, and count as
//! ones that spill. With a share for each of them little is left for a sort, and what they spill has been seen to leave a query waiting for
//! ever. They hold a few batches at a time: these are counted, and never refused.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// See the module.
#[derive(Debug)]
pub(crate) struct SessionPool {
    shared: FairSpillPool,
    /// Bytes that are being passed on.
    passing: AtomicUsize,
}

impl SessionPool {
    /// Of so many bytes.
    pub(crate) fn new(bytes: usize) -> SessionPool {
        SessionPool { shared: FairSpillPool::new(bytes), passing: AtomicUsize::new(0) }
    }
}

fn passes_on(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("RepartitionExec")
}

impl fmt::Display for SessionPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {} B passing", self.shared, self.passing.load(Ordering::Relaxed))
    }
}

impl MemoryPool for SessionPool {
    fn name(&self) -> &str {
        "session"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if !passes_on(consumer) {
            self.shared.register(consumer);
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if !passes_on(consumer) {
            self.shared.unregister(consumer);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if passes_on(reservation.consumer()) {
            self.passing.fetch_add(additional, Ordering::Relaxed);
        } else {
            self.shared.grow(reservation, additional);
        }
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if passes_on(reservation.consumer()) {
            self.passing.fetch_sub(shrink, Ordering::Relaxed);
        } else {
            self.shared.shrink(reservation, shrink);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if passes_on(reservation.consumer()) {
            self.grow(reservation, additional);
            return Ok(());
        }
        self.shared.try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.shared.reserved() + self.passing.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.shared.memory_limit()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn who_passes_on_takes_no_share_and_is_never_refused() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SessionPool::new(1000));
        let passing = MemoryConsumer::new("RepartitionExec[0]").with_can_spill(true).register(&pool);
        let sort = MemoryConsumer::new("ExternalSorter[0]").with_can_spill(true).register(&pool);
        passing.try_grow(5000).unwrap();
        sort.try_grow(1000).unwrap();
        assert!(sort.try_grow(1).is_err(), "{pool}");
        assert_eq!(pool.reserved(), 6000);
        passing.free();
        sort.free();
        assert_eq!(pool.reserved(), 0);
    }
}
