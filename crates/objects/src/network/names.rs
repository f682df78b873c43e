//! Addresses of names: looked up once, and kept as long as this process lives.
//!
//! Two lookups of a name may have two answers, and whoever owns it decides: the list of a repository could come from one server, and what it names
//! from another one, on the user's own network. So the first answer counts, and of its addresses, once one of them has been asked,
//! those of its kind: all that are public, or this one that is not.
//!
//! Providers of object stores change addresses while a large repository is sent. Where one of theirs does not answer any more, the name is looked up
//! again ([`Names::renew`]), and a public one stays public.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mattock_env::Random;
use mattock_guard::AddressGuard;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Finds the addresses of a name. Blocks.
type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Names with their addresses.
pub(crate) struct Names {
    known: Mutex<BTreeMap<String, Known>>,
    lookup: Box<Lookup>,
}

struct Known {
    addresses: Vec<IpAddr>,
    is_stale: bool,
}

fn is_public(address: IpAddr) -> bool {
    AddressGuard::default().permits(address)
}

impl Names {
    /// Those of this process.
    pub(crate) fn of_this_process() -> Arc<Names> {
        static NAMES: OnceLock<Arc<Names>> = OnceLock::new();
        let system =
            |name: &str| Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect::<Vec<_>>());
        NAMES.get_or_init(|| Arc::new(Names::with_lookup(system))).clone()
    }

    /// None so far; they are found by this.
    pub(crate) fn with_lookup(
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Names {
        Names { known: Mutex::default(), lookup: Box::new(lookup) }
    }

    /// The addresses of a name, in some order.
    pub(crate) async fn find(self: Arc<Self>, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.to_ascii_lowercase();
        let found = tokio::task::spawn_blocking(move || self.find_blocking(name)).await;
        let mut addresses = found.map_err(io::Error::other)??;
        // Servers with several addresses are all asked.
        let turns = Random::from_entropy().next_u64() as usize % addresses.len().max(1);
        addresses.rotate_left(turns);
        Ok(addresses)
    }

    fn find_blocking(&self, name: String) -> io::Result<Vec<IpAddr>> {
        let known = |names: &BTreeMap<String, Known>| {
            names.get(&name).filter(|known| !known.is_stale).map(|known| known.addresses.clone())
        };
        if let Some(addresses) = known(&self.locked()) {
            return Ok(addresses);
        }
        let mut found = (self.lookup)(&name)?;
        if found.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{name} has no address")));
        }
        let mut names = self.locked();
        // Somebody else was first.
        if let Some(addresses) = known(&names) {
            return Ok(addresses);
        }
        if let Some(before) = names.get_mut(&name) {
            found.retain(|address| is_public(*address));
            if found.is_empty() || !before.addresses.iter().all(|address| is_public(*address)) {
                found.clone_from(&before.addresses);
            }
        }
        names.insert(name, Known { addresses: found.clone(), is_stale: false });
        Ok(found)
    }

    /// Somebody has answered at this address: from now on the name means that server.
    pub(crate) fn answered(&self, name: &str, by: IpAddr) {
        let mut names = self.locked();
        let Some(known) = names.get_mut(&name.to_ascii_lowercase()) else { return };
        // What answered in the place of the server, a proxy, says nothing of its addresses.
        if known.addresses.contains(&by) {
            known.addresses.retain(|address| *address == by || is_public(*address) && is_public(by));
        }
    }

    /// Nobody answers at the addresses of this name: they may have changed.
    pub(crate) fn renew(&self, name: &str) {
        if let Some(known) = self.locked().get_mut(&name.to_ascii_lowercase()) {
            known.is_stale = true;
        }
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Names").finish_non_exhaustive()
    }
}

/// How reqwest has them.
pub(super) struct Resolver(pub(super) Arc<Names>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.0.clone();
        Box::pin(async move {
            let addresses = names.find(name.as_str()).await?;
            // The port is the URL's.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: [&str; 2] = ["1.1.1.1", "2606:4700::1111"];

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// Names of which each lookup gives the next answer; the last one again and again.
    fn answering(answers: &'static [&'static [&'static str]]) -> Arc<Names> {
        let at = Mutex::new(0);
        Arc::new(Names::with_lookup(move |_| {
            let mut at = at.lock().unwrap();
            *at += 1;
            Ok(addresses(answers[(*at - 1).min(answers.len() - 1)]))
        }))
    }

    fn found(names: &Arc<Names>) -> Vec<IpAddr> {
        let mut found = names.find_blocking("a.example".to_owned()).unwrap();
        found.sort();
        found
    }

    #[test]
    fn the_first_answer_counts() {
        let names = answering(&[&["1.1.1.1"], &["127.0.0.1"]]);
        assert_eq!([found(&names), found(&names)], [addresses(&["1.1.1.1"]), addresses(&["1.1.1.1"])]);
    }

    #[test]
    fn who_has_answered_is_the_server() {
        let names = answering(&[&["1.1.1.1", "127.0.0.1", "2606:4700::1111"]]);
        found(&names);
        // A proxy, which has no such address.
        names.answered("a.example", addresses(&["10.0.0.1"])[0]);
        assert_eq!(found(&names).len(), 3);
        names.answered("A.example", addresses(&["1.1.1.1"])[0]);
        assert_eq!(found(&names), addresses(&PUBLIC));
        let names = answering(&[&["1.1.1.1", "10.0.0.1", "10.0.0.2"]]);
        found(&names);
        names.answered("a.example", addresses(&["10.0.0.2"])[0]);
        assert_eq!(found(&names), addresses(&["10.0.0.2"]));
    }

    #[test]
    fn what_was_public_stays_public_and_nothing_else_changes() {
        let names = answering(&[&["1.1.1.1"], &["127.0.0.1", "2606:4700::1111"], &["127.0.0.1"]]);
        found(&names);
        names.renew("a.example");
        assert_eq!(found(&names), addresses(&["2606:4700::1111"]));
        names.renew("a.example");
        assert_eq!(found(&names), addresses(&["2606:4700::1111"]));
        let names = answering(&[&["10.0.0.1"], &["10.0.0.2", "1.1.1.1"]]);
        found(&names);
        names.renew("a.example");
        assert_eq!(found(&names), addresses(&["10.0.0.1"]));
        let names = answering(&[&[]]);
        assert!(names.find_blocking("a.example".to_owned()).is_err());
    }
}
