//! The host database: which ids belong to which host, and which hosts to which domain.
//!
//! Filled by a build while it hands out ids in order: a host is scheme, name and port, and one range of ids. A domain is all hosts whose names end
//! alike, but for those that belong to a domain within it: `ec2.amazonaws.com` and `sns.amazonaws.com` are of `amazonaws.com`, while
//! `bucket.s3.amazonaws.com`, which sorts between them, is a domain of its own. Domains are numbered in the order of their first hosts. What is a
//! domain is decided by the build and kept, for the list of public suffixes changes. Read whole into memory, about 30 bytes a host.
//!
//! ```text
//! file = "MTKHOST2", for each host: shared length, rest of its key, number of ids, labels that name its domain (1 byte, 0 for all)
//! ```

use std::ops::Range;
use std::path::Path;

use mattock_codec::{Reader, put_counted, put_varint};
use mattock_env::Files;
use mattock_weburl::{WebUrl, domain_of};

use crate::error::{FeaturesError, Result};
use crate::key;
use crate::output::{Output, Written, read_whole};
use crate::sort::texts::shared_len;

const MAGIC: [u8; 8] = *b"MTKHOST2";

/// Told of every key in order, writes the hosts.
pub(crate) struct HostWriter {
    output: Output,
    host: Vec<u8>,
    before: Vec<u8>,
    /// Labels of the host's domain.
    labels: u8,
    domains: Domains,
    ids: u64,
    hosts: u64,
}

impl HostWriter {
    pub(crate) fn create(files: &Files, path: &Path) -> Result<HostWriter> {
        let output = Output::create(files, path)?;
        output.put(&MAGIC)?;
        let (host, before) = Default::default();
        Ok(HostWriter { output, host, before, labels: 0, domains: Domains::default(), ids: 0, hosts: 0 })
    }

    pub(crate) fn push(&mut self, key: &[u8]) -> Result<()> {
        let host = key::host_part(key).unwrap_or(key);
        if host != self.host || self.ids == 0 {
            self.end_host()?;
            self.host.clear();
            self.host.extend_from_slice(host);
            let name = key::host_name_of(host).unwrap_or_default();
            let domain = domain_of(&name);
            let labels = if domain == name { 0 } else { 1 + domain.matches('.').count() };
            self.labels = u8::try_from(labels).unwrap_or(0);
            self.domains.of(host, self.labels);
            self.hosts += 1;
        }
        self.ids += 1;
        Ok(())
    }

    fn end_host(&mut self) -> Result<()> {
        if self.ids == 0 {
            return Ok(());
        }
        let mut entry = Vec::new();
        let shared = shared_len(&self.before, &self.host);
        put_varint(&mut entry, shared as u64);
        put_counted(&mut entry, &self.host[shared..]);
        put_varint(&mut entry, self.ids);
        entry.push(self.labels);
        self.output.put(&entry)?;
        std::mem::swap(&mut self.before, &mut self.host);
        self.ids = 0;
        Ok(())
    }

    /// Ends the file; how many hosts and domains there are.
    pub(crate) fn finish(mut self) -> Result<(u64, u64, Written)> {
        self.end_host()?;
        Ok((self.hosts, self.domains.count, self.output.finish()?))
    }
}

/// Numbers domains, told of every host in order.
#[derive(Debug, Default)]
struct Domains {
    /// The domains that the last host is under, from the outermost, with their numbers.
    around: Vec<(Vec<u8>, u64)>,
    count: u64,
}

impl Domains {
    /// The number of the domain that a host belongs to.
    fn of(&mut self, host: &[u8], labels: u8) -> u64 {
        // All hosts under a name are one range: a domain that this one is not under is over.
        while self.around.pop_if(|(domain, _)| !key::is_under(host, domain)).is_some() {}
        let domain = key::domain_part(host, labels);
        if let Some((_, number)) = self.around.iter().find(|(known, _)| known == domain) {
            return *number;
        }
        self.around.push((domain.to_vec(), self.count));
        self.count += 1;
        self.count - 1
    }
}

/// The hosts and domains of a generation.
#[derive(Debug)]
pub struct Hosts {
    keys: Vec<u8>,
    /// For each host: where its key ends.
    key_ends: Vec<usize>,
    /// For each host its first id, and the number of ids at the end.
    first_ids: Vec<u64>,
    /// For each host its domain.
    domains: Vec<u32>,
    /// For each domain its first host, and how many of its labels name the domain.
    first_hosts: Vec<(u64, u8)>,
}

impl Hosts {
    pub(crate) fn open(files: &Files, dir: &Path, written: &Written) -> Result<Hosts> {
        let bytes = read_whole(files, dir, written)?;
        let path = dir.join(&written.name);
        match bytes.split_first_chunk::<8>() {
            Some((magic, entries)) if *magic == MAGIC => Hosts::decode(entries)
                .ok_or_else(|| FeaturesError::damaged(&path, 8, "the hosts make no sense")),
            Some((magic, _)) if magic[..7] == MAGIC[..7] => {
                Err(FeaturesError::Version { path, version: char::from(magic[7]).into() })
            }
            _ => Err(FeaturesError::damaged(&path, 0, "it is no host database")),
        }
    }

    fn decode(entries: &[u8]) -> Option<Hosts> {
        let (keys, key_ends, domains, first_hosts) = Default::default();
        let mut hosts = Hosts { keys, key_ends, first_ids: vec![0], domains, first_hosts };
        let (mut reader, mut numbers, mut start, mut ids) =
            (Reader::new(entries), Domains::default(), 0, 0_u64);
        while !reader.is_empty() {
            let shared = usize::try_from(reader.varint()?).ok()?;
            let rest = reader.counted()?;
            let end = hosts.keys.len();
            if shared > end - start {
                return None;
            }
            hosts.keys.extend_from_within(start..start + shared);
            hosts.keys.extend_from_slice(rest);
            start = end;
            hosts.key_ends.push(hosts.keys.len());
            ids = ids.checked_add(reader.varint()?)?;
            hosts.first_ids.push(ids);
            let &[labels] = reader.take(1)? else { return None };
            let domain = numbers.of(&hosts.keys[start..], labels);
            if domain == hosts.first_hosts.len() as u64 {
                hosts.first_hosts.push((hosts.key_ends.len() as u64 - 1, labels));
            }
            hosts.domains.push(u32::try_from(domain).ok()?);
        }
        Some(hosts)
    }

    /// How many hosts there are.
    pub fn len(&self) -> u64 {
        self.key_ends.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.key_ends.is_empty()
    }

    /// How many domains there are.
    pub fn domains(&self) -> u64 {
        self.first_hosts.len() as u64
    }

    fn key(&self, host: u64) -> Option<&[u8]> {
        let host = usize::try_from(host).ok()?;
        let start = if host == 0 { 0 } else { *self.key_ends.get(host - 1)? };
        Some(&self.keys[start..*self.key_ends.get(host)?])
    }

    /// A host as scheme, name and port, like `https://www.example.com`; `None` if there is no such number.
    pub fn host(&self, host: u64) -> Option<String> {
        key::url_of(self.key(host)?)
    }

    /// A domain's name; `None` if there is no such number.
    pub fn domain(&self, domain: u64) -> Option<String> {
        key::host_name_of(self.domain_key(domain)?)
    }

    /// What the keys of a domain's hosts begin with.
    fn domain_key(&self, domain: u64) -> Option<&[u8]> {
        let (host, labels) = *self.first_hosts.get(usize::try_from(domain).ok()?)?;
        Some(key::domain_part(self.key(host)?, labels))
    }

    /// The ids of a host.
    pub fn ids_of_host(&self, host: u64) -> Option<Range<u64>> {
        let host = usize::try_from(host).ok()?;
        Some(*self.first_ids.get(host)?..*self.first_ids.get(host + 1)?)
    }

    /// The first host of a domain.
    pub fn first_host_of(&self, domain: u64) -> Option<u64> {
        Some(self.first_hosts.get(usize::try_from(domain).ok()?)?.0)
    }

    /// The hosts of a domain, in order. Takes a step for each host of domains that are within it, too.
    pub fn hosts_of_domain(&self, domain: u64) -> impl Iterator<Item = u64> {
        let first = self.first_host_of(domain).unwrap_or(self.len());
        let domain_key = self.domain_key(domain).unwrap_or_default();
        let under = move |host: &u64| self.key(*host).is_some_and(|key| key::is_under(key, domain_key));
        (first..self.len()).take_while(under).filter(move |host| self.domain_of_host(*host) == domain)
    }

    /// The host that an id belongs to. The id must exist.
    pub fn host_of(&self, id: u64) -> u64 {
        self.first_ids.partition_point(|first| *first <= id).saturating_sub(1) as u64
    }

    /// The domain that a host belongs to. The host must exist.
    pub fn domain_of_host(&self, host: u64) -> u64 {
        self.domains[host as usize].into()
    }

    /// The number of the host that a URL belongs to; `None` if there is no such host.
    pub fn find(&self, url: &WebUrl) -> Option<u64> {
        let mut key = Vec::new();
        key::push_key(&mut key, url);
        let wanted = key::host_part(&key)?;
        let host = self.first_from(wanted);
        (self.key(host)? == wanted).then_some(host)
    }

    /// The number of a domain, by its name; `None` if there is no such domain.
    pub fn find_domain(&self, name: &str) -> Option<u64> {
        let mut least = Vec::new();
        key::push_host(&mut least, name);
        let wanted = least.clone();
        least.push(b')');
        let under = (self.first_from(&least)..self.len())
            .take_while(|host| self.key(*host).is_some_and(|key| key::is_under(key, &wanted)));
        let mut domains = under.map(|host| self.domain_of_host(host));
        domains.find(|domain| self.domain_key(*domain) == Some(&wanted))
    }

    /// The first host whose key is not less than this one.
    fn first_from(&self, wanted: &[u8]) -> u64 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).is_some_and(|key| key < wanted) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}
