//! Places for connections: whoever has shown the token always finds one.
//!
//! ```text
//!  new connection ──► strangers, 64, of one peer 32 ──shows that it may ask──► known, 64
//!                      └► full: the oldest one is dropped
//! ```
//!
//! A connection that comes is never refused, so that thousands that say nothing keep nobody out: they drop each other. One peer's drop only
//! that peer's for as long as the others leave room. An IPv6 peer is its network of 64 bits, which has more addresses than anybody can count.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;

use tokio::task::AbortHandle;

/// Connections that have not shown yet that they may ask.
pub(crate) const STRANGERS_MAX: usize = 64;
/// Those of one peer.
pub(crate) const STRANGERS_OF_A_PEER_MAX: usize = 32;
/// Connections that may ask, and are not dropped.
pub(crate) const KNOWN_MAX: usize = 64;

/// All places.
#[derive(Clone, Default)]
pub(crate) struct Places(Rc<RefCell<Taken>>);

#[derive(Default)]
struct Taken {
    next: u64,
    /// By age.
    strangers: BTreeMap<u64, Stranger>,
    known: usize,
}

struct Stranger {
    peer: IpAddr,
    task: Option<AbortHandle>,
}

impl Places {
    /// A place for a connection that has just come. The oldest stranger makes way, if one must.
    pub(crate) fn enter(&self, peer: IpAddr) -> Place {
        let peer = network(peer);
        let mut taken = self.0.borrow_mut();
        let number = taken.next;
        taken.next += 1;
        let oldest = taken.to_drop(peer);
        let dropped = oldest.and_then(|oldest| taken.strangers.remove(&oldest));
        taken.strangers.insert(number, Stranger { peer, task: None });
        drop(taken);
        if let Some(task) = dropped.and_then(|stranger| stranger.task) {
            task.abort();
        }
        Place { places: self.clone(), number, known: Cell::new(false) }
    }

    /// A place for a connection that may ask by the way it has come; none if all are taken.
    pub(crate) fn enter_known(&self) -> Option<Place> {
        let mut taken = self.0.borrow_mut();
        let free = taken.known < KNOWN_MAX;
        taken.known += usize::from(free);
        free.then(|| Place { places: self.clone(), number: 0, known: Cell::new(true) })
    }

    /// Names the task that ends when a stranger has to go.
    pub(crate) fn hold(&self, number: u64, task: AbortHandle) {
        if let Some(stranger) = self.0.borrow_mut().strangers.get_mut(&number) {
            stranger.task = Some(task);
        }
    }
}

impl Taken {
    /// Which stranger has to go before one of `peer` can come.
    fn to_drop(&self, peer: IpAddr) -> Option<u64> {
        let of_peer = || self.strangers.iter().filter(|(_, stranger)| stranger.peer == peer);
        match of_peer().count() >= STRANGERS_OF_A_PEER_MAX {
            true => of_peer().next().map(|(number, _)| *number),
            false if self.strangers.len() >= STRANGERS_MAX => self.strangers.keys().next().copied(),
            false => None,
        }
    }
}

/// The place of one connection, free again when this is dropped.
pub(crate) struct Place {
    places: Places,
    number: u64,
    known: Cell<bool>,
}

impl Place {
    /// For [`Places::hold`].
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The connection has shown that it may ask: it is dropped no more. If there are too many of those it stays among the strangers.
    pub(crate) fn recognise(&self) {
        let mut taken = self.places.0.borrow_mut();
        if !self.known.get() && taken.known < KNOWN_MAX {
            taken.strangers.remove(&self.number);
            taken.known += 1;
            self.known.set(true);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.borrow_mut();
        match self.known.get() {
            true => taken.known -= 1,
            false => drop(taken.strangers.remove(&self.number)),
        }
    }
}

/// Who counts as one peer.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn numbers(places: &Places) -> Vec<u64> {
        places.0.borrow().strangers.keys().copied().collect()
    }

    #[test]
    fn the_oldest_stranger_makes_way() {
        let places = Places::default();
        let mut held = Vec::new();
        for number in 0..100u8 {
            held.push(places.enter(IpAddr::from([192, 0, 2, number])));
        }
        assert_eq!(numbers(&places), (36..100).collect::<Vec<_>>());
        held[50].recognise();
        held[50].recognise();
        assert_eq!(numbers(&places).len(), STRANGERS_MAX - 1, "who is known takes no stranger's place");
        held.extend((100..200u8).map(|number| places.enter(IpAddr::from([192, 0, 2, number]))));
        assert_eq!(places.0.borrow().known, 1, "and is not dropped");
        drop(held);
        assert_eq!((numbers(&places), places.0.borrow().known), (vec![], 0));
    }

    #[test]
    fn one_peer_drops_its_own() {
        let places = Places::default();
        let other = places.enter(peer("198.51.100.1"));
        let many: Vec<Place> =
            (0..1000).map(|number| places.enter(Ipv6Addr::from(number << 10).into())).collect();
        assert_eq!(numbers(&places).len(), 1 + STRANGERS_OF_A_PEER_MAX);
        assert_eq!(numbers(&places)[0], other.number());
        let mapped = [places.enter(peer("::ffff:198.51.100.1")), places.enter(peer("198.51.100.1"))];
        assert!(
            mapped
                .iter()
                .all(|place| places.0.borrow().strangers[&place.number()].peer == peer("198.51.100.1"))
        );
        drop(many);
    }

    #[test]
    fn places_of_the_known_are_counted_too() {
        let places = Places::default();
        let owners: Vec<_> = (0..KNOWN_MAX).map(|_| places.enter_known().unwrap()).collect();
        assert!(places.enter_known().is_none());
        let late = places.enter(peer("127.0.0.1"));
        late.recognise();
        assert_eq!(numbers(&places), [late.number()]);
        drop(owners);
        late.recognise();
        assert_eq!((numbers(&places), places.0.borrow().known), (vec![], 1));
    }
}
