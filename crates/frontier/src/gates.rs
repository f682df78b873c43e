//! Gates: who else must be left alone beside the host. A server (one address) may carry thousands of hosts, and a domain too.
//!
//! A gate lets one visit in at a time, and the next one only when its delay has passed since the last one ended: so the gap
//! that the server sees is never below the delay, whatever the network does. Taking it is one step, and whoever fails gets a
//! time at which it is worth trying again. These times are handed out a delay apart, so that ten thousand hosts behind one
//! address cost one try each per visit and not ten thousand.
//!
//! [`Gates`] belong to one partition; [`Servers`](crate::Servers) are such gates shared by all partitions of a process.
//!
//! Invariants: between two visits through a gate lies its delay; a gate that is taken is never forgotten. A gate that is free
//! and whose delay is over is, so the tables hold those of the last few seconds only.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use mattock_env::Time;

/// One gate.
#[derive(Clone, Copy, Debug, Default)]
struct Gate {
    taken: bool,
    /// When it may be taken next, once it is free.
    next_allowed: Time,
    /// The last time that was handed out to somebody who has to come again.
    told: Time,
    /// How far apart those who wait are told to come.
    apart: Duration,
}

impl Gate {
    /// A time to come again, later than all that were told before.
    fn tell(&mut self, now: Time, delay: Duration) -> Time {
        let apart = self.apart.max(delay);
        let free = self.next_allowed.max(if self.taken { now + apart } else { now });
        let next = if self.told < free { free } else { self.told + apart };
        // Times that were told when it was shut for longer are no reason to wait for them all.
        self.told = next.min(free + apart.saturating_mul(TOLD_MAX));
        self.told
    }
}

/// Gates by what they guard.
#[derive(Debug)]
pub struct Gates<K> {
    delay: Duration,
    gates: HashMap<K, Gate>,
    /// Nobody is let in before.
    not_before: Time,
    /// At this many the table is looked through for gates to forget.
    look_at: usize,
}

const LOOK_AT_MIN: usize = 1024;
/// So many visits ahead times are told apart.
const TOLD_MAX: u32 = 1 << 14;

impl<K: Hash + Eq + Copy> Gates<K> {
    /// With this delay; zero means that there are no gates but those that are shut for a reason of their own.
    pub fn new(delay: Duration) -> Gates<K> {
        Gates { delay, gates: HashMap::new(), not_before: Time::ZERO, look_at: LOOK_AT_MIN }
    }

    /// Another delay from now on. Those who are inside or were told to come again notice at their next visit.
    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// Takes the gate, or says when to come again.
    pub fn take(&mut self, key: K, now: Time) -> Result<(), Time> {
        if self.delay.is_zero() {
            // Only those that are shut for a reason of their own count, and nobody has to be alone inside.
            return self.shut_until(key, now).map_or(Ok(()), Err);
        }
        self.forget(now);
        let fresh = Gate { next_allowed: self.not_before, ..Gate::default() };
        let gate = self.gates.entry(key).or_insert(fresh);
        if !gate.taken && gate.next_allowed <= now {
            gate.taken = true;
            return Ok(());
        }
        Err(gate.tell(now, self.delay))
    }

    /// Forgets gates that anybody could take, if there are many.
    fn forget(&mut self, now: Time) {
        if self.gates.len() >= self.look_at {
            self.gates.retain(|_, gate| gate.taken || gate.next_allowed > now);
            self.look_at = (self.gates.len() * 2).max(LOOK_AT_MIN);
        }
    }

    /// When to come again, if the gate is shut; it is not taken.
    pub fn shut_until(&mut self, key: K, now: Time) -> Option<Time> {
        self.forget(now);
        let gate = self.gates.get_mut(&key).filter(|gate| gate.next_allowed > now)?;
        Some(gate.tell(now, self.delay))
    }

    /// The visit ended at `ended`; `wait` is how long nobody is to be let in at least, and `apart` how far apart those who wait are
    /// told to come: longer than the delay if every visit is expected to shut it for so long.
    pub fn release(&mut self, key: K, ended: Time, wait: Duration, apart: Duration) {
        let gate = match self.gates.get_mut(&key) {
            Some(gate) => gate,
            None if wait.is_zero() => return,
            None => {
                self.gates.entry(key).or_insert(Gate { next_allowed: self.not_before, ..Gate::default() })
            }
        };
        gate.taken = false;
        gate.apart = self.delay.max(apart);
        gate.next_allowed = gate.next_allowed.max(ended + self.delay.max(wait));
    }

    /// Gives back a gate that was taken and not used.
    pub fn give_back(&mut self, key: K) {
        if let Some(gate) = self.gates.get_mut(&key) {
            gate.taken = false;
        }
    }

    /// Keeps all gates shut until `time`, as after a restart.
    pub fn hold_all(&mut self, time: Time) {
        if !self.delay.is_zero() {
            self.not_before = time;
        }
    }

    /// Gates in the table.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DELAY: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn trouble_shuts_a_gate_once_and_not_for_everybody_who_waits() {
        let mut gates = Gates::new(DELAY);
        assert_eq!(gates.take(7, at(0)), Ok(()));
        gates.release(7, at(0), Duration::from_secs(3600), Duration::ZERO);
        let told: Vec<Time> = (0..100).map(|_| gates.take(7, at(1)).unwrap_err()).collect();
        assert!(told.iter().all(|time| *time <= at(3_600_000) + 100 * DELAY), "{told:?}");
        assert!(told.is_sorted() && told[0] == at(3_600_000));
    }

    #[test]
    fn a_gate_opens_a_delay_after_the_visit_has_ended() {
        let mut gates = Gates::new(DELAY);
        assert_eq!(gates.take(7, at(0)), Ok(()));
        assert_eq!(gates.take(7, at(100)), Err(at(1100)));
        gates.release(7, at(300), Duration::ZERO, Duration::ZERO);
        assert_eq!(gates.take(7, at(1100)), Err(at(1300)));
        assert_eq!(gates.take(7, at(1300)), Ok(()));
        gates.release(7, at(1400), Duration::from_secs(9), Duration::ZERO);
        assert_eq!(gates.take(7, at(9000)), Err(at(10_400)));
        assert_eq!(gates.take(8, at(9000)), Ok(()));
    }

    #[test]
    fn those_who_wait_come_again_one_after_the_other() {
        let mut gates = Gates::new(DELAY);
        gates.take(7, at(0)).unwrap();
        let told: Vec<Time> = (0..100).map(|_| gates.take(7, at(0)).unwrap_err()).collect();
        assert!(told.windows(2).all(|pair| pair[1].since(pair[0]) == DELAY));
    }

    #[test]
    fn gates_that_are_free_are_forgotten() {
        let mut gates = Gates::new(DELAY);
        for key in 0..5000u64 {
            gates.take(key, at(key * 10)).unwrap();
            gates.release(key, at(key * 10), Duration::ZERO, Duration::ZERO);
        }
        assert!(gates.len() <= LOOK_AT_MIN, "{}", gates.len());
    }

    #[test]
    fn without_a_delay_there_are_none() {
        let mut gates = Gates::new(Duration::ZERO);
        assert_eq!((gates.take(1, at(0)), gates.take(1, at(0))), (Ok(()), Ok(())));
        assert!(gates.is_empty());
    }

    proptest! {
        /// Whoever comes when it was told to, in whatever order visits end: the gap holds, and everybody gets in.
        #[test]
        fn the_gap_holds_and_nobody_starves(durations in proptest::collection::vec(0u64..3000, 1..60)) {
            let mut gates = Gates::new(DELAY);
            let mut waiting: Vec<(Time, usize)> = (0..durations.len()).map(|visitor| (at(0), visitor)).collect();
            let (mut tries, mut last_end) = (0, None::<Time>);
            while let Some(index) = (0..waiting.len()).min_by_key(|&index| waiting[index]) {
                let (now, visitor) = waiting.swap_remove(index);
                tries += 1;
                prop_assert!(tries < 20 * durations.len() + 20);
                match gates.take(1u8, now) {
                    Err(time) => {
                        prop_assert!(time > now);
                        waiting.push((time, visitor));
                    }
                    Ok(()) => {
                        prop_assert!(last_end.is_none_or(|end| now >= end + DELAY));
                        // The visit ends before anybody else tries: the next try comes at its end or later.
                        let end = now + Duration::from_millis(durations[visitor]);
                        gates.release(1, end, Duration::ZERO, Duration::ZERO);
                        last_end = Some(end);
                    }
                }
            }
        }
    }
}
