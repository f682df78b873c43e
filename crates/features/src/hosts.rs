//! The host database: which ids belong to which host, and which hosts to which domain.
//!
//! Filled by a build while it hands out ids in order: a host is scheme, name and port, and one range of ids; a domain is one range of
//! hosts. Read whole into memory, about 30 bytes a host.
//!
//! ```text
//! file = "MTKHOST1", for each host: shared length, rest of its key, number of ids, 1 if a domain begins here else 0
//! ```

use std::ops::Range;
use std::path::Path;

use mattock_codec::{Reader, put_counted, put_varint};
use mattock_env::Files;
use mattock_weburl::{WebUrl, domain_of, surt_of_host};

use crate::error::{FeaturesError, Result};
use crate::key;
use crate::output::{Output, Written, read_whole};
use crate::sort::texts::shared_len;

const MAGIC: [u8; 8] = *b"MTKHOST1";

/// Told of every key in order, writes the hosts.
pub(crate) struct HostWriter {
    output: Output,
    host: Vec<u8>,
    before: Vec<u8>,
    domain: String,
    begins_domain: bool,
    ids: u64,
    hosts: u64,
    domains: u64,
}

impl HostWriter {
    pub(crate) fn create(files: &Files, path: &Path) -> Result<HostWriter> {
        let output = Output::create(files, path)?;
        output.put(&MAGIC)?;
        let (host, before, domain) = Default::default();
        Ok(HostWriter { output, host, before, domain, begins_domain: false, ids: 0, hosts: 0, domains: 0 })
    }

    pub(crate) fn push(&mut self, key: &[u8]) -> Result<()> {
        let host = key::host_part(key).unwrap_or(key);
        if host != self.host || self.ids == 0 {
            self.end_host()?;
            self.host.clear();
            self.host.extend_from_slice(host);
            let name = key::host_name_of(host).unwrap_or_default();
            let domain = domain_of(&name);
            self.begins_domain = self.hosts == 0 || domain != self.domain;
            self.domain = domain.to_string();
            self.hosts += 1;
            self.domains += u64::from(self.begins_domain);
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
        entry.push(u8::from(self.begins_domain));
        self.output.put(&entry)?;
        std::mem::swap(&mut self.before, &mut self.host);
        self.ids = 0;
        Ok(())
    }

    /// Ends the file; how many hosts and domains there are.
    pub(crate) fn finish(mut self) -> Result<(u64, u64, Written)> {
        self.end_host()?;
        Ok((self.hosts, self.domains, self.output.finish()?))
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
    /// For each domain its first host, and the number of hosts at the end.
    first_hosts: Vec<u64>,
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
        let mut hosts =
            Hosts { keys: Vec::new(), key_ends: Vec::new(), first_ids: vec![0], first_hosts: Vec::new() };
        let (mut reader, mut start, mut ids) = (Reader::new(entries), 0, 0_u64);
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
            if reader.take(1)? == [1] {
                hosts.first_hosts.push(hosts.key_ends.len() as u64 - 1);
            }
        }
        hosts.first_hosts.push(hosts.key_ends.len() as u64);
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
        self.first_hosts.len() as u64 - 1
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
        let hosts = self.hosts_of_domain(domain)?;
        let name = key::host_name_of(self.key(hosts.start)?)?;
        Some(domain_of(&name).to_string())
    }

    /// The ids of a host.
    pub fn ids_of_host(&self, host: u64) -> Option<Range<u64>> {
        let host = usize::try_from(host).ok()?;
        Some(*self.first_ids.get(host)?..*self.first_ids.get(host + 1)?)
    }

    /// The hosts of a domain.
    pub fn hosts_of_domain(&self, domain: u64) -> Option<Range<u64>> {
        let domain = usize::try_from(domain).ok()?;
        Some(*self.first_hosts.get(domain)?..*self.first_hosts.get(domain + 1)?)
    }

    /// The ids of a domain.
    pub fn ids_of_domain(&self, domain: u64) -> Option<Range<u64>> {
        let hosts = self.hosts_of_domain(domain)?;
        Some(self.ids_of_host(hosts.start)?.start..self.ids_of_host(hosts.end - 1)?.end)
    }

    /// The host that an id belongs to. The id must exist.
    pub fn host_of(&self, id: u64) -> u64 {
        self.first_ids.partition_point(|first| *first <= id).saturating_sub(1) as u64
    }

    /// The domain that a host belongs to. The host must exist.
    pub fn domain_of_host(&self, host: u64) -> u64 {
        self.first_hosts.partition_point(|first| *first <= host).saturating_sub(1) as u64
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
        // Hosts of a domain have keys that begin alike, and `)` sorts before all that may follow.
        let mut least = surt_of_host(name).into_bytes();
        least.push(b')');
        let host = self.first_from(&least);
        let domain = (host < self.len()).then(|| self.domain_of_host(host))?;
        (self.domain(domain)? == name).then_some(domain)
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
