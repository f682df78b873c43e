//! `RobotsCache` and `RobotsRequested`: what is known about hosts, and what was asked for.
//!
//! A URL whose host is unknown, or whose record is outdated, comes back from the cache without data. Its host then goes
//! through `RobotsRequested`, which lets it pass once, until the request itself is so old that it may be made again.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Drum, cover};
use crate::{Batch, Deliver, Result, Value};
use mattock_codec::{Reader, put_counted, put_varint};

/// What is known about a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostData {
    /// From when on it must be fetched again, in seconds since 1970.
    pub expires_s: i64,
    /// Addresses.
    pub addresses: Vec<IpAddr>,
    /// The rules, in whatever form the caller keeps them.
    pub rules: Vec<u8>,
}

impl Value for HostData {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.expires_s.to_le_bytes());
        put_varint(out, self.addresses.len() as u64);
        for address in &self.addresses {
            match address {
                IpAddr::V4(address) => put_counted(out, &address.octets()),
                IpAddr::V6(address) => put_counted(out, &address.octets()),
            }
        }
        out.extend_from_slice(&self.rules);
    }

    fn decode(bytes: &[u8]) -> Option<HostData> {
        let mut reader = Reader::new(bytes);
        let expires_s = reader.u64()?.cast_signed();
        let mut addresses = Vec::new();
        for _ in 0..reader.varint()? {
            let octets = reader.counted()?;
            addresses.push(match octets.len() {
                4 => Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?).into(),
                16 => Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?).into(),
                _ => return None,
            });
        }
        let rules = bytes[reader.at()..].to_vec();
        Some(HostData { expires_s, addresses, rules })
    }

    fn expired(&self, now_s: i64) -> bool {
        self.expires_s <= now_s
    }
}

/// Host → rules, addresses, expiry. Outdated records count as unknown, and merges leave them out.
pub struct RobotsCache {
    drum: Drum<HostData>,
}

cover!(RobotsCache, HostData);

impl RobotsCache {
    const DELIVER: Deliver = Deliver::All;

    /// Asks for the hosts of URLs: pairs of host and what is to come back with the answer.
    pub fn check<'a>(&mut self, hosts: impl IntoIterator<Item = (u64, &'a [u8])>) -> Result<()> {
        let mut batch = Batch::new();
        for (host, aux) in hosts {
            batch.check(host, aux);
        }
        self.drum.submit(&batch)
    }

    /// Stores what was found out about hosts.
    pub fn update(&mut self, hosts: impl IntoIterator<Item = (u64, HostData)>) -> Result<()> {
        let mut batch = Batch::new();
        for (host, data) in hosts {
            batch.update(host, data);
        }
        self.drum.submit(&batch)
    }

    /// Hands out up to `limit` answers: `None` where nothing is known, or nothing that still holds.
    pub fn answers(&mut self, limit: usize, mut sink: impl FnMut(&[u8], Option<HostData>)) -> Result<usize> {
        self.drum.deliver(limit, |outcome| sink(outcome.aux, outcome.value))
    }
}

/// Until when a request counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedUntil {
    /// Seconds since 1970.
    pub until_s: i64,
}

impl Value for RequestedUntil {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.until_s.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<RequestedUntil> {
        Some(RequestedUntil { until_s: i64::from_le_bytes(bytes.try_into().ok()?) })
    }

    /// The first request counts: those that come while it holds must not prolong it.
    fn update(stored: Option<RequestedUntil>, update: RequestedUntil) -> RequestedUntil {
        stored.unwrap_or(update)
    }

    fn expired(&self, now_s: i64) -> bool {
        self.until_s <= now_s
    }
}

/// Hosts whose robots.txt and address were asked for.
pub struct RobotsRequested {
    drum: Drum<RequestedUntil>,
}

cover!(RobotsRequested, RequestedUntil);

impl RobotsRequested {
    const DELIVER: Deliver = Deliver::Unique;

    /// Submits hosts to be asked; each comes back once until `until_s`.
    pub fn request<'a>(
        &mut self,
        hosts: impl IntoIterator<Item = (u64, &'a [u8])>,
        until_s: i64,
    ) -> Result<()> {
        let mut batch = Batch::new();
        for (host, name) in hosts {
            batch.check_update(host, RequestedUntil { until_s }, name);
        }
        self.drum.submit(&batch)
    }

    /// Hands out up to `limit` hosts that are to be asked now.
    pub fn new_hosts(&mut self, limit: usize, mut sink: impl FnMut(&[u8])) -> Result<usize> {
        self.drum.deliver(limit, |outcome| sink(outcome.aux))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{key, simulate};
    use super::*;
    use crate::Options;
    use std::path::Path;

    #[test]
    fn hosts_are_known_until_they_expire_and_then_leave_the_store() {
        simulate(|env| {
            let now_s = env.clock.unix().as_seconds();
            let mut cache = RobotsCache::open(env, Path::new("/robots"), Options::new(16 << 20)).unwrap();
            let data = |expires_s| HostData {
                expires_s,
                addresses: vec!["192.0.2.7".parse().unwrap(), "2001:db8::1".parse().unwrap()],
                rules: b"User-agent: *\nDisallow: /tmp".to_vec(),
            };
            cache.update([(key(1), data(now_s + 100)), (key(2), data(now_s - 1))]).unwrap();
            cache.check([(key(1), &b"a"[..]), (key(2), b"b"), (key(3), b"c")]).unwrap();
            let mut answers = Vec::new();
            cache.answers(9, |aux, data| answers.push((aux.to_vec(), data))).unwrap();
            let expected =
                [(b"a".to_vec(), Some(data(now_s + 100))), (b"b".to_vec(), None), (b"c".to_vec(), None)];
            assert_eq!(answers, expected);
            cache.merge().unwrap();
            cache.update([(key(4), data(now_s + 9))]).unwrap();
            cache.merge().unwrap();
            let mut hosts = Vec::new();
            cache.scan(|host, _| hosts.push(host)).unwrap();
            let mut expected = vec![key(1), key(4)];
            expected.sort_unstable();
            assert_eq!(hosts, expected);
        });
    }

    #[test]
    fn a_host_is_requested_once_until_the_request_is_old() {
        simulate(|env| {
            let now_s = env.clock.unix().as_seconds();
            let mut requested =
                RobotsRequested::open(env, Path::new("/asked"), Options::new(16 << 20)).unwrap();
            let mut out = Vec::new();
            for until_s in [now_s + 50, now_s + 900] {
                requested.request([(key(1), &b"one"[..]), (key(1), b"one")], until_s).unwrap();
                requested.new_hosts(9, |name| out.push(name.to_vec())).unwrap();
                assert_eq!(out, [b"one"]);
            }
            assert_eq!(requested.look_up(key(1)).unwrap(), Some(RequestedUntil { until_s: now_s + 50 }));
            // What is outdated passes at once.
            requested.request([(key(2), &b"two"[..])], now_s - 1).unwrap();
            requested.request([(key(2), &b"two"[..])], now_s + 50).unwrap();
            requested.new_hosts(9, |name| out.push(name.to_vec())).unwrap();
            assert_eq!(out, [b"one", b"two", b"two"]);
        });
    }
}
