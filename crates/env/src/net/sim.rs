//! The network in memory: listeners by address, latency and faults from a seed.
//!
//! A connection takes one round trip, whose length is drawn per connection from [`NetFaults::latency_ms`]. Faults
//! are drawn from the network's own generator, in the order of the calls, so that a run repeats from its seed.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::pipe::{PipeEnd, breaking_pair};
use super::{Accepted, Stream};
use crate::Random;

/// Bytes buffered in each direction of a simulated connection.
const PIPE_BYTES: usize = 64 * 1024;

/// How the simulated network behaves.
#[derive(Clone, Debug)]
pub struct NetFaults {
    /// Round-trip time of a connection.
    pub latency_ms: RangeInclusive<u64>,
    /// Share of connections that are refused.
    pub refuse: f64,
    /// Share of connections that hang until the caller gives up.
    pub hang: f64,
    /// Share of connections that break somewhere within their first 64 KiB.
    pub break_off: f64,
    /// Share of datagrams that get lost.
    pub lose_datagram: f64,
}

impl NetFaults {
    /// No faults, a round trip of 1 to 20 ms.
    pub const NONE: NetFaults =
        NetFaults { latency_ms: 1..=20, refuse: 0.0, hang: 0.0, break_off: 0.0, lose_datagram: 0.0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    One(SocketAddr),
    Loopback(u16),
}

#[derive(Debug)]
struct State {
    listeners: BTreeMap<Place, UnboundedSender<Accepted>>,
    sockets: BTreeMap<SocketAddr, UnboundedSender<(Vec<u8>, SocketAddr)>>,
    port_next: u16,
    faults: NetFaults,
    random: Random,
}

impl State {
    fn port(&mut self) -> u16 {
        // Ports are only labels here; reuse after 28,000 connections is harmless.
        self.port_next = if self.port_next >= 60_999 { 32_768 } else { self.port_next + 1 };
        self.port_next
    }

    fn latency(&mut self) -> Duration {
        let (low, high) = (*self.faults.latency_ms.start(), *self.faults.latency_ms.end());
        Duration::from_millis(low + self.random.below(high.saturating_sub(low) + 1))
    }
}

/// The simulated network; clones are the same network.
#[derive(Clone, Debug)]
pub struct SimNet {
    state: Arc<Mutex<State>>,
}

impl SimNet {
    /// An empty network.
    pub fn new(random: Random, faults: NetFaults) -> SimNet {
        let state =
            State { listeners: BTreeMap::new(), sockets: BTreeMap::new(), port_next: 32_767, faults, random };
        SimNet { state: Arc::new(Mutex::new(state)) }
    }

    /// From now on the network behaves like this.
    pub fn set_faults(&self, faults: NetFaults) {
        self.lock().faults = faults;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the network's lock")
    }

    pub(super) async fn connect(&self, to: SocketAddr) -> io::Result<PipeEnd> {
        let (latency, refuse, hang, bytes_left) = {
            let mut state = self.lock();
            let faults = state.faults.clone();
            let latency = state.latency();
            let refuse = state.random.chance(faults.refuse);
            let hang = state.random.chance(faults.hang);
            let bytes_left =
                if state.random.chance(faults.break_off) { 1 + state.random.below(65_536) } else { u64::MAX };
            (latency, refuse, hang, bytes_left)
        };
        if hang {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(latency).await;
        let mut state = self.lock();
        let port = state.port();
        let loopback = to.ip().is_loopback().then_some(Place::Loopback(to.port()));
        let listener = state
            .listeners
            .get(&Place::One(to))
            .or_else(|| loopback.and_then(|place| state.listeners.get(&place)))
            .filter(|_| !refuse);
        let Some(listener) = listener else {
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
        };
        let (ours, theirs) = breaking_pair(PIPE_BYTES, bytes_left);
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        listener
            .send(Accepted { stream: Stream::Sim(theirs), local: to, peer })
            .map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(ours)
    }

    pub(super) fn listen(&self, place: Place) -> io::Result<SimListener> {
        let mut state = self.lock();
        let place = match place {
            Place::One(address) if address.port() == 0 => {
                Place::One(SocketAddr::new(address.ip(), state.port()))
            }
            Place::Loopback(0) => Place::Loopback(state.port()),
            given => given,
        };
        if state.listeners.get(&place).is_some_and(|sender| !sender.is_closed()) {
            return Err(io::Error::from(io::ErrorKind::AddrInUse));
        }
        let (sender, incoming) = unbounded_channel();
        state.listeners.insert(place, sender);
        Ok(SimListener { place, incoming })
    }

    pub(super) fn datagrams(&self, address: SocketAddr) -> io::Result<SimDatagrams> {
        let mut state = self.lock();
        let address = if address.port() == 0 { SocketAddr::new(address.ip(), state.port()) } else { address };
        if state.sockets.get(&address).is_some_and(|sender| !sender.is_closed()) {
            return Err(io::Error::from(io::ErrorKind::AddrInUse));
        }
        let (sender, incoming) = unbounded_channel();
        state.sockets.insert(address, sender);
        Ok(SimDatagrams { net: self.clone(), address, incoming: tokio::sync::Mutex::new(incoming) })
    }
}

/// Waits for simulated connections.
#[derive(Debug)]
pub struct SimListener {
    place: Place,
    incoming: UnboundedReceiver<Accepted>,
}

impl SimListener {
    pub(super) async fn accept(&mut self) -> io::Result<Accepted> {
        self.incoming.recv().await.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))
    }

    pub(super) fn address(&self) -> SocketAddr {
        match self.place {
            Place::One(address) => address,
            Place::Loopback(port) => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port),
        }
    }
}

/// A simulated UDP socket.
#[derive(Debug)]
pub struct SimDatagrams {
    net: SimNet,
    address: SocketAddr,
    incoming: tokio::sync::Mutex<UnboundedReceiver<(Vec<u8>, SocketAddr)>>,
}

impl SimDatagrams {
    pub(super) fn send_to(&self, bytes: &[u8], to: SocketAddr) {
        let mut state = self.net.lock();
        let latency = state.latency();
        let lose = state.faults.lose_datagram;
        if state.random.chance(lose) {
            return;
        }
        let Some(receiver) = state.sockets.get(&to).cloned() else { return };
        let (bytes, from) = (bytes.to_vec(), self.address);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(latency).await;
            // A socket that was closed meanwhile loses the datagram, as UDP does.
            let _ = receiver.send((bytes, from));
        });
    }

    pub(super) async fn receive_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let received = self.incoming.lock().await.recv().await;
        let (bytes, from) = received.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        Ok((count, from))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}
