//! The gates of servers, shared by all partitions of a process: many hosts of many domains live behind one address.
//!
//! Each shard of them is behind a lock that is held for one look at a table. Taking a gate is one step under that lock, so
//! two partitions never visit a server at once, and never sooner than its delay after the other's visit: the model test below tries that
//! in thousands of interleavings.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mattock_env::Time;

use crate::gates::Gates;

const SHARDS: usize = 16;

/// Whom a gate guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarded {
    /// One address.
    Server(IpAddr),
    /// One host, by its fingerprint.
    Host(u64),
}

/// Gates behind a lock. A model checker brings its own.
pub trait Locked {
    /// Puts gates behind a lock.
    fn new(gates: Gates<Guarded>) -> Self;

    /// Does something to them, alone.
    fn with<T>(&self, work: impl FnOnce(&mut Gates<Guarded>) -> T) -> T;
}

impl Locked for Mutex<Gates<Guarded>> {
    fn new(gates: Gates<Guarded>) -> Self {
        Mutex::new(gates)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Gates<Guarded>) -> T) -> T {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The gates of servers, for all partitions of a process; and those of hosts, if there is more than one.
#[derive(Debug)]
pub struct Servers<L = Mutex<Gates<Guarded>>> {
    shards: Vec<L>,
    /// Empty if one partition has every host for itself.
    hosts: Vec<L>,
}

impl<L: Locked> Servers<L> {
    /// With this delay; zero means that servers are not looked at.
    pub fn new(delay: Duration) -> Servers<L> {
        Servers { shards: shards(delay), hosts: Vec::new() }
    }

    /// With gates for hosts too: a domain belongs to one partition, but a robots.txt can redirect another one there.
    pub fn with_hosts(self, delay: Duration) -> Servers<L> {
        Servers { hosts: shards(delay), ..self }
    }

    /// Other delays of servers and hosts from now on. Who looks at no servers goes on without.
    pub fn set_delays(&self, server: Duration, host: Duration) {
        self.shards.iter().for_each(|shard| shard.with(|gates| gates.set_delay(server)));
        self.hosts.iter().for_each(|shard| shard.with(|gates| gates.set_delay(host)));
    }

    /// Keeps all servers from being visited before this time, as after a restart.
    pub fn hold_all(&self, time: Time) {
        self.shards.iter().for_each(|shard| shard.with(|gates| gates.hold_all(time)));
    }

    fn shard(&self, server: IpAddr) -> &L {
        let last = match server {
            IpAddr::V4(address) => address.octets()[3],
            IpAddr::V6(address) => address.octets()[15],
        };
        &self.shards[usize::from(last) % SHARDS]
    }

    /// Takes the server's gate, or says when to come again.
    pub fn take(&self, server: IpAddr, now: Time) -> Result<(), Time> {
        self.shard(server).with(|gates| gates.take(Guarded::Server(server), now))
    }

    /// The visit ended; `wait` is how long nobody is to come at least.
    pub fn release(&self, server: IpAddr, ended: Time, wait: Duration) {
        self.shard(server).with(|gates| gates.release(Guarded::Server(server), ended, wait, Duration::ZERO));
    }

    /// Gives back a gate that was taken and not used.
    pub fn give_back(&self, server: IpAddr) {
        self.shard(server).with(|gates| gates.give_back(Guarded::Server(server)));
    }

    fn host_shard(&self, host: u64) -> Option<&L> {
        self.hosts.get((host >> 32) as usize % SHARDS)
    }

    /// Takes the host's gate, or says when to come again.
    pub fn take_host(&self, host: u64, now: Time) -> Result<(), Time> {
        let Some(shard) = self.host_shard(host) else { return Ok(()) };
        shard.with(|gates| gates.take(Guarded::Host(host), now))
    }

    /// The visit ended; `wait` is how long nobody is to come at least.
    pub fn release_host(&self, host: u64, ended: Time, wait: Duration) {
        if let Some(shard) = self.host_shard(host) {
            shard.with(|gates| gates.release(Guarded::Host(host), ended, wait, Duration::ZERO));
        }
    }

    /// Gives back a gate that was taken and not used.
    pub fn give_back_host(&self, host: u64) {
        if let Some(shard) = self.host_shard(host) {
            shard.with(|gates| gates.give_back(Guarded::Host(host)));
        }
    }
}

fn shards<L: Locked>(delay: Duration) -> Vec<L> {
    (0..SHARDS).map(|_| L::new(Gates::new(delay))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuttle::sync::atomic::{AtomicU64, Ordering};
    use shuttle::sync::{Arc, Mutex as ModelMutex};
    use shuttle::thread;

    const DELAY: Duration = Duration::from_nanos(5);
    const VISITORS: u64 = 3;
    const VISITS: usize = 2;
    /// Two of them in the same shard.
    const SERVERS: [IpAddr; 2] = [
        IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1)),
        IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 1, 1)),
    ];

    impl Locked for ModelMutex<Gates<Guarded>> {
        fn new(gates: Gates<Guarded>) -> Self {
            ModelMutex::new(gates)
        }

        fn with<T>(&self, work: impl FnOnce(&mut Gates<Guarded>) -> T) -> T {
            work(&mut self.lock().unwrap())
        }
    }

    /// What a server sees: who is there, and when the last one left.
    #[derive(Default)]
    struct Seen {
        visitor: Option<u64>,
        left: Option<Time>,
    }

    /// Visitors on threads of their own, each with a look at a clock that goes on meanwhile.
    fn visits() {
        let servers: Arc<Servers<ModelMutex<Gates<Guarded>>>> = Arc::new(Servers::new(DELAY));
        let clock = Arc::new(AtomicU64::new(1));
        let seen: Arc<[ModelMutex<Seen>; 2]> = Arc::default();
        let visitors: Vec<_> = (0..VISITORS)
            .map(|visitor| {
                let (servers, clock, seen) = (servers.clone(), clock.clone(), seen.clone());
                thread::spawn(move || {
                    let now = || Time::from_nanos(clock.fetch_add(1, Ordering::SeqCst));
                    let mut visits = 0;
                    while visits < VISITS {
                        let at = visits % SERVERS.len();
                        let begun = now();
                        if let Err(time) = servers.take(SERVERS[at], begun) {
                            assert!(time > begun);
                            // Waiting is the clock going on.
                            clock.fetch_max(time.as_nanos(), Ordering::SeqCst);
                            thread::yield_now();
                            continue;
                        }
                        if visitor == 0 && visits == 0 {
                            // Changed its mind: nobody is hurt by that.
                            servers.give_back(SERVERS[at]);
                            visits += 1;
                            continue;
                        }
                        {
                            let mut seen = seen[at].lock().unwrap();
                            assert_eq!(seen.visitor, None, "two at once");
                            assert!(seen.left.is_none_or(|left| begun >= left + DELAY), "too soon");
                            seen.visitor = Some(visitor);
                        }
                        thread::yield_now();
                        let ended = now();
                        {
                            let mut seen = seen[at].lock().unwrap();
                            seen.visitor = None;
                            seen.left = Some(ended);
                        }
                        servers.release(SERVERS[at], ended, Duration::ZERO);
                        visits += 1;
                    }
                })
            })
            .collect();
        for visitor in visitors {
            visitor.join().unwrap();
        }
    }

    #[test]
    fn no_interleaving_lets_two_in_or_one_too_soon() {
        shuttle::check_random(visits, 3000);
        shuttle::check_pct(visits, 3000, 3);
    }
}
