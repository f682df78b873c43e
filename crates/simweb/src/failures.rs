//! Failures of names and servers, addresses and delays.
//!
//! Only leaves of the domain and host trees fail for good, so that a failure costs the site itself and nothing behind
//! it; the most popular domain never fails. What single pages fail with is in `pages`.

use std::net::Ipv4Addr;

use crate::mix::{Tag, below, mix, unit};
use crate::place::Site;
use crate::world::World;

/// The first address of 127.64.0.0/10 that is used.
const FIRST_ADDRESS: u32 = 0x7f40_0001;

/// How a site fares as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Healthy,
    /// The name does not exist.
    DeadName,
    /// The name server fails.
    FailingName,
    /// The server resets every connection.
    Reset,
    /// The server never answers.
    Silent,
}

impl World {
    pub(crate) fn fate(&self, site: Site) -> Fate {
        let (domain, index) = match site {
            Site::Host { domain, index } => (domain, index),
            Site::Alias { domain } => (domain, 0),
            Site::Farm { .. } => return Fate::Healthy,
        };
        let params = &self.params;
        if domain != 0 && self.is_leaf_domain(domain) {
            let u = unit(mix(self.seed, Tag::DomainFate, domain, 0));
            if u < params.dead_names {
                return Fate::DeadName;
            }
            if u < params.dead_names + params.failing_names {
                return Fate::FailingName;
            }
        }
        let u = unit(mix(self.seed, Tag::HostFate, domain, u64::from(index)));
        if u >= params.reset_hosts + params.silent_hosts || !self.is_expendable(domain, index) {
            Fate::Healthy
        } else if u < params.reset_hosts {
            Fate::Reset
        } else {
            Fate::Silent
        }
    }

    /// The address of the server that a site is on. A few servers have very many hosts.
    pub(crate) fn address(&self, site: Site) -> Ipv4Addr {
        let (owner, own) = match site {
            Site::Host { domain, index } => {
                let own = mix(self.seed, Tag::ServerOwn, domain, u64::from(index));
                (domain, (index > 0 && own.is_multiple_of(8)).then_some(own))
            }
            Site::Alias { domain } => (domain, None),
            // All of a farm is on a handful of addresses.
            Site::Farm { domain, .. } => {
                let farm = self.farm_of(domain);
                (self.params.domains + farm * self.params.farm_domains.max(1) + domain % 4, None)
            }
        };
        let u = unit(own.unwrap_or_else(|| mix(self.seed, Tag::Server, owner, 0)));
        let index = (u * u * f64::from(self.params.servers)) as u32;
        Ipv4Addr::from(FIRST_ADDRESS + index.min(self.params.servers - 1))
    }

    /// How long a site takes before it answers.
    pub(crate) fn delay_ms(&self, site: Site, path: u64) -> u32 {
        let (domain, index) = match site {
            Site::Host { domain, index } => (domain, u64::from(index)),
            Site::Alias { domain } => (domain, 0),
            Site::Farm { .. } => return 0,
        };
        if unit(mix(self.seed, Tag::Slow, domain, index)) >= self.params.slow_hosts {
            return 0;
        }
        let span = u64::from(self.params.slow_ms_max - self.params.slow_ms_min) + 1;
        self.params.slow_ms_min + below(mix(path, Tag::Delay, domain, index), span) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};

    #[test]
    fn servers_hold_many_hosts_and_domains_mostly_one() {
        let world = World::new(Params::preset(Preset::Small), 1);
        let mut hosts = std::collections::BTreeMap::<Ipv4Addr, u32>::new();
        let (mut together, mut apart) = (0, 0);
        for domain in 0..world.params.domains {
            let main = world.address(Site::Host { domain, index: 0 });
            assert_eq!(world.address(Site::Alias { domain }), main);
            *hosts.entry(main).or_default() += 1;
            for index in 1..world.host_count(domain) {
                let same = world.address(Site::Host { domain, index }) == main;
                *if same { &mut together } else { &mut apart } += 1;
            }
        }
        assert!(together > 3 * apart && apart > 0, "{together} with their domain, {apart} not");
        assert!(hosts.values().any(|&count| count > 20));
        let range = Ipv4Addr::new(127, 64, 0, 1)..=Ipv4Addr::new(127, 127, 255, 255);
        assert!(hosts.keys().all(|address| range.contains(address)));
    }

    #[test]
    fn inner_domains_never_fail() {
        let world = World::new(Params::preset(Preset::Small), 1);
        let mut failed = 0;
        for domain in 0..world.params.domains {
            let fate = world.fate(Site::Host { domain, index: 0 });
            assert!(fate == Fate::Healthy || world.is_leaf_domain(domain));
            failed += u32::from(fate != Fate::Healthy);
        }
        assert!((3..40).contains(&failed), "{failed}");
    }
}
