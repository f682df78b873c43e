//! The memory of a session, divided fairly among the operators that can spill.
//!
//! Operators that only pass batches on (`RepartitionExec`) ask for memory too, once for each of their outputs, and count as
//! ones that spill. With a share for each of them little is left for a sort, and what they spill has been seen to leave a query waiting for
//! ever. They hold a few batches at a time: these are counted, and never refused.
//!
//! Whoever merges sorted runs (`ExternalSorterMerge`, `SortPreservingMergeExec`) cannot spill, and takes as many runs at once as memory allows.
//! The sort of one partition may be merging while that of another still takes rows. So that neither starves the other, a merge gets no
//! more than a partition's share, which is how it learns how many runs it can merge; and there is some memory besides, for merges within
//! their share, and for a sort that holds nothing yet and could not even begin to spill.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{Result, resources_err};
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// See the module.
#[derive(Debug)]
pub(crate) struct SessionPool {
    shared: FairSpillPool,
    /// Bytes that are being passed on.
    passing: AtomicUsize,
    /// The most that a merge takes, unless it holds nothing yet.
    share: usize,
    besides: Mutex<Besides>,
    besides_max: usize,
}

/// Bytes that were taken besides those that are shared.
#[derive(Clone, Copy, Debug, Default)]
struct Besides {
    merging: usize,
    sorting: usize,
}

impl Besides {
    fn of(&mut self, role: Role) -> Option<&mut usize> {
        match role {
            Role::Merge => Some(&mut self.merging),
            Role::Sort => Some(&mut self.sorting),
            Role::Pass | Role::Other => None,
        }
    }
}

/// What a consumer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Pass,
    Merge,
    Sort,
    Other,
}

impl Role {
    fn of(consumer: &MemoryConsumer) -> Role {
        let is = |name: &str| consumer.name().starts_with(name);
        if is("RepartitionExec") {
            Role::Pass
        } else if is("ExternalSorterMerge") || is("SortPreservingMergeExec") {
            Role::Merge
        } else if is("ExternalSorter") {
            Role::Sort
        } else {
            Role::Other
        }
    }
}

impl SessionPool {
    /// Of so many bytes for so many partitions, and so many bytes besides.
    pub(crate) fn new(bytes: usize, partitions: usize, besides_max: usize) -> SessionPool {
        SessionPool {
            shared: FairSpillPool::new(bytes),
            passing: AtomicUsize::new(0),
            share: bytes / partitions.max(1),
            besides: Mutex::default(),
            besides_max,
        }
    }

    fn besides(&self) -> MutexGuard<'_, Besides> {
        self.besides.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn passes_on(consumer: &MemoryConsumer) -> bool {
    Role::of(consumer) == Role::Pass
}

impl fmt::Display for SessionPool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passing, besides) = (self.passing.load(Ordering::Relaxed), *self.besides());
        write!(out, "{}, {passing} B passing, {} B besides", self.shared, besides.merging + besides.sorting)
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
        let role = Role::of(reservation.consumer());
        if role == Role::Pass {
            self.passing.fetch_sub(shrink, Ordering::Relaxed);
            return;
        }
        // What is besides is given back first, whoever took it: others may need it.
        let mut besides = self.besides();
        let back = besides.of(role).map_or(0, |taken| {
            let back = shrink.min(*taken);
            *taken -= back;
            back
        });
        self.shared.shrink(reservation, shrink - back);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if passes_on(reservation.consumer()) {
            self.grow(reservation, additional);
            return Ok(());
        }
        let role = Role::of(reservation.consumer());
        if role == Role::Merge && reservation.size() > 0 && reservation.size() + additional > self.share {
            return resources_err!("a merge has its share of {} bytes already", self.share);
        }
        let refused = self.shared.try_grow(reservation, additional);
        if refused.is_ok() || (role == Role::Sort && reservation.size() > 0) {
            return refused;
        }
        let mut besides = self.besides();
        let free = self.besides_max.saturating_sub(besides.merging + besides.sorting);
        match besides.of(role) {
            Some(taken) if additional <= free => {
                *taken += additional;
                Ok(())
            }
            _ => refused,
        }
    }

    fn reserved(&self) -> usize {
        let besides = *self.besides();
        self.shared.reserved() + self.passing.load(Ordering::Relaxed) + besides.merging + besides.sorting
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
        let pool: Arc<dyn MemoryPool> = Arc::new(SessionPool::new(1000, 2, 0));
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

    #[test]
    fn neither_merges_nor_sorts_take_what_the_others_need() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SessionPool::new(1000, 2, 300));
        let [one, other] = ["ExternalSorter[0]", "ExternalSorter[1]"]
            .map(|name| MemoryConsumer::new(name).with_can_spill(true).register(&pool));
        let [merge, all] = ["ExternalSorterMerge[0]", "SortPreservingMergeExec[0]"]
            .map(|name| MemoryConsumer::new(name).register(&pool));
        merge.try_grow(100).unwrap();
        merge.try_grow(400).unwrap();
        assert!(merge.try_grow(1).is_err(), "a merge has its share: {pool}");
        one.try_grow(250).unwrap();
        assert!(one.try_grow(1).is_err(), "it can spill: {pool}");
        all.try_grow(250).unwrap();
        // All is taken; but who holds nothing may begin.
        other.try_grow(200).unwrap();
        assert!(other.try_grow(101).is_err() && all.try_grow(101).is_err(), "{pool}");
        all.try_grow(100).unwrap();
        assert_eq!(pool.reserved(), 1300);
        for reservation in [&other, &merge, &all, &one] {
            reservation.free();
        }
        assert_eq!(pool.reserved(), 0);
    }
}
