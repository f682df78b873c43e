//! A whole world from one seed: virtual time, simulated network and disk.
//!
//! [`Simulation::run`] drives a future on one thread with a paused clock: whenever every task waits, time jumps to the
//! next timer, so that months pass in minutes and two runs from one seed are the same to the byte.
//!
//! What code under simulation must avoid, because it would make two runs differ: threads and `spawn_blocking`,
//! `select!` without `biased`, iterating over a `HashMap` with random keys where the order is visible, addresses of
//! objects as data.
//!
//! A simulation can be run several times: the files stay (what of them survives a crash is decided by
//! [`SimFiles::crash`](crate::SimFiles::crash)), network and time start anew.

use crate::{Clock, Env, Files, Net, NetFaults, Random, SimFiles, SimNet, UnixTime, User, Workers};

/// The day on which every simulated world starts: IRLbot's first day, 9 June 2007.
const START: UnixTime = UnixTime::from_micros(1_181_347_200_000_000);

/// One simulated world.
#[derive(Debug)]
pub struct Simulation {
    seed: u64,
    runs: u64,
    files: SimFiles,
    faults: NetFaults,
}

impl Simulation {
    /// A world without faults.
    pub fn new(seed: u64) -> Simulation {
        let files = SimFiles::new(Random::from_seed(seed).fork("files"));
        Simulation { seed, runs: 0, files, faults: NetFaults::NONE }
    }

    /// Sets how the network behaves in the runs to come.
    pub fn network(mut self, faults: NetFaults) -> Simulation {
        self.faults = faults;
        self
    }

    /// The world's files: they outlive its runs.
    pub fn files(&self) -> &SimFiles {
        &self.files
    }

    /// Runs what `main` returns on virtual time until it ends; tasks it left behind are dropped.
    pub fn run<F: Future>(&mut self, main: impl FnOnce(Env) -> F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without I/O needs no resources");
        let random = Random::from_seed(self.seed).fork("run").fork(&self.runs.to_string());
        self.runs += 1;
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            let env = Env {
                clock: Clock::simulated(START),
                net: Net::simulated(SimNet::new(random.fork("net"), self.faults.clone())),
                files: Files::simulated(self.files.clone()),
                workers: Workers::simulated(random.fork("workers")),
                user: User::simulated(),
                random,
            };
            main(env).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn a_month_passes_at_once() {
        let month = Duration::from_secs(30 * 86_400);
        let passed = Simulation::new(1).run(|env| async move {
            let start = env.clock.unix();
            env.clock.sleep(month).await;
            env.clock.unix().as_seconds() - start.as_seconds()
        });
        assert_eq!(passed, 30 * 86_400);
    }

    #[test]
    fn the_wall_clock_can_be_set_and_nothing_else_notices() {
        let hours = Duration::from_secs(5 * 3600);
        Simulation::new(1).run(|env| async move {
            let (start, clone) = (env.clock.unix().as_seconds(), env.clock.clone());
            let since =
                || (env.clock.now().as_nanos() / 1_000_000_000, env.clock.unix().as_seconds() - start);
            clone.set_back(hours);
            assert_eq!(since(), (0, -5 * 3600));
            env.clock.sleep(Duration::from_secs(10)).await;
            assert_eq!(since(), (10, 10 - 5 * 3600));
            clone.set_forward(hours + hours);
            env.clock.sleep(Duration::from_secs(10)).await;
            assert_eq!(since(), (20, 20 + 5 * 3600));
        });
    }

    fn conversation(seed: u64) -> (Vec<u8>, u64) {
        Simulation::new(seed).run(|env| async move {
            let address: SocketAddr = "127.1.2.3:80".parse().unwrap();
            let mut listener = env.net.listen_loopback(80).await.unwrap();
            tokio::task::spawn_local(async move {
                let mut accepted = listener.accept().await.unwrap();
                let text = format!("you came to {}", accepted.local.ip());
                accepted.stream.write_all(text.as_bytes()).await.unwrap();
            });
            let mut stream = env.net.connect(address).await.unwrap();
            let mut read = Vec::new();
            stream.read_to_end(&mut read).await.unwrap();
            (read, env.clock.now().as_nanos())
        })
    }

    #[test]
    fn the_same_seed_gives_the_same_run() {
        let (read, time) = conversation(7);
        assert_eq!(read, b"you came to 127.1.2.3");
        assert_eq!(conversation(7), (read, time));
        assert!((8..30).any(|seed| conversation(seed).1 != time), "latency must depend on the seed");
    }

    #[test]
    fn an_address_in_use_and_a_closed_port_are_errors() {
        Simulation::new(1).run(|env| async move {
            let _listener = env.net.listen_loopback(80).await.unwrap();
            assert_eq!(env.net.listen_loopback(80).await.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
            let closed = env.net.connect("127.0.0.1:81".parse().unwrap()).await.unwrap_err();
            assert_eq!(closed.kind(), std::io::ErrorKind::ConnectionRefused);
        });
    }

    #[test]
    fn datagrams_arrive_or_get_lost() {
        let received = |faults: NetFaults| {
            Simulation::new(3).network(faults).run(|env| async move {
                let a = env.net.datagrams("127.0.0.1:0".parse().unwrap()).await.unwrap();
                let b = env.net.datagrams("127.0.0.1:53".parse().unwrap()).await.unwrap();
                for _ in 0..100 {
                    a.send_to(b"?", b.address().unwrap()).await.unwrap();
                }
                let mut count = 0;
                let mut buffer = [0; 8];
                while env.clock.timeout(Duration::from_secs(1), b.receive_from(&mut buffer)).await.is_ok() {
                    count += 1;
                }
                count
            })
        };
        assert_eq!(received(NetFaults::NONE), 100);
        let some = received(NetFaults { lose_datagram: 0.5, ..NetFaults::NONE });
        assert!((20..80).contains(&some), "{some}");
    }
}
