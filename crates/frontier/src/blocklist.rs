//! What is not fetched from now on, whatever else allows it: a list that changes while the crawl runs.
//!
//! Filled by the operator, with a file or by calls from any thread; asked by every partition at three points: when a link comes
//! in, when a visit is about to begin (the link may have waited for weeks), and when the name is resolved. The list itself
//! never changes: a change makes a new one and puts it in the old one's place, so nobody who asks waits for it.
//!
//! One entry per line; what follows a blank and `#` is a comment:
//!
//! ```text
//! # farms
//! example.com                        the name and every name below it
//! domain example.net                 the same, in words
//! host www.example.org               this name alone, on all ports
//! host https://example.org:8443      this host alone
//! address 192.0.2.0/24               servers, by address; 2001:db8::/32 and single ones too
//! url http://*/calendar/*            URLs that match as a whole; * stands for anything
//! url regex:[?&]session=\d{6,}       URLs in which the expression matches somewhere
//! ```
//!
//! Calls take the same text. They are not written down here: whoever wants them to outlive the process adds them to the file. A second
//! list, that of operators, lies on top of the first, and is replaced without touching it.
//!
//! Costs: names are kept as fingerprints, 8.5 bytes each while the list is in force. A link costs a hash and a lookup per label
//! of its name, and one pass over its text if there are URL patterns. A change copies the list: 10 ms for a million names.

mod entry;
mod names;
mod ranges;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mattock_weburl::{Fingerprint, WebUrl};

use crate::Refusal;
use crate::scope::{Patterns, RuleError};
use entry::Entry;
use names::Names;
use ranges::{Range, Ranges};

/// The list as it is at one moment.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    hosts: Arc<Names>,
    domains: Arc<Names>,
    ranges: Ranges,
    range_entries: Arc<BTreeSet<Range>>,
    urls: Patterns,
    url_entries: Arc<BTreeSet<Box<str>>>,
    /// What is blocked besides.
    operators: Option<Arc<Blocks>>,
}

/// Whether two lines are the same entry, however they are written. What is no entry is the same as nothing.
pub fn is_same_entry(a: &str, b: &str) -> bool {
    match (Entry::parse(a), Entry::parse(b)) {
        (Ok(Some(a)), Ok(Some(b))) => a == b,
        _ => false,
    }
}

impl Blocks {
    /// Reads a whole file. The first line that is wrong is named, and nothing is taken.
    pub fn parse(text: &str) -> Result<Blocks, RuleError> {
        let mut lists = Lists::default();
        for (line, content) in (1..).zip(text.lines()) {
            let on_line = |error| RuleError::Line { line, error: Box::new(error) };
            let Some(entry) = Entry::parse(content).map_err(on_line)? else { continue };
            if let Entry::Url(expression) = &entry {
                // Compiled alone first, or nobody would know which one is wrong.
                Patterns::new([&**expression]).map_err(on_line)?;
            }
            lists.add(entry);
        }
        lists.build()
    }

    /// Whether nothing is blocked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.hosts.members().len()
            + self.domains.members().len()
            + self.range_entries.len()
            + self.url_entries.len()
            + self.operators.as_ref().map_or(0, |operators| operators.len())
    }

    /// Why a URL is blocked, by its host, its text, or the address that it is written with.
    pub fn refuses(&self, url: &WebUrl) -> Option<Refusal> {
        self.refuses_here(url).or_else(|| self.operators.as_ref()?.refuses(url))
    }

    fn refuses_here(&self, url: &WebUrl) -> Option<Refusal> {
        let name = url.host_name();
        if !self.domains.members().is_empty() && self.holds_domain_of(name) {
            return Some(Refusal::BlockedDomain);
        }
        if !self.hosts.members().is_empty() {
            let prints = [Fingerprint::of(name), url.host_fingerprint()];
            if prints.iter().any(|print| self.hosts.contains(print.0)) {
                return Some(Refusal::BlockedHost);
            }
        }
        if self.urls.matches(url.as_str()) {
            return Some(Refusal::BlockedUrl);
        }
        if self.range_entries.is_empty() { None } else { self.refuses_address_here(url.ip()?) }
    }

    /// Why a server is blocked.
    pub fn refuses_address(&self, address: IpAddr) -> Option<Refusal> {
        let operators = || self.operators.as_ref()?.refuses_address(address);
        self.refuses_address_here(address).or_else(operators)
    }

    fn refuses_address_here(&self, address: IpAddr) -> Option<Refusal> {
        self.ranges.contains(address).then_some(Refusal::BlockedAddress)
    }

    fn holds_domain_of(&self, name: &str) -> bool {
        let below = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
        std::iter::once(name).chain(below).any(|name| self.domains.contains(Fingerprint::of(name).0))
    }

    /// Whether exactly this entry is in the list.
    fn has(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Host(name) => self.hosts.contains(*name),
            Entry::Domain(name) => self.domains.contains(*name),
            Entry::Range(range) => self.range_entries.contains(range),
            Entry::Url(expression) => self.url_entries.contains(expression),
        }
    }

    /// The list with or without this entry. What does not change is shared with this one.
    fn changed(&self, entry: &Entry, present: bool) -> Result<Blocks, RuleError> {
        let mut blocks = self.clone();
        match entry {
            Entry::Host(name) => blocks.hosts = toggled(&self.hosts, *name, present),
            Entry::Domain(name) => blocks.domains = toggled(&self.domains, *name, present),
            Entry::Range(range) => {
                let entries = Arc::make_mut(&mut blocks.range_entries);
                let _ = if present { entries.insert(*range) } else { entries.remove(range) };
                blocks.ranges = Ranges::new(entries.iter().copied());
            }
            Entry::Url(expression) => {
                let entries = Arc::make_mut(&mut blocks.url_entries);
                let _ = if present { entries.insert(expression.clone()) } else { entries.remove(expression) };
                blocks.urls = Patterns::new(entries.iter().map(|expression| &**expression))?;
            }
        }
        Ok(blocks)
    }
}

fn toggled(names: &Names, name: u64, present: bool) -> Arc<Names> {
    let others = names.members().iter().copied().filter(|member| *member != name);
    Arc::new(Names::new(others.chain(present.then_some(name)).collect()))
}

/// A list while it is read.
#[derive(Default)]
struct Lists {
    hosts: Vec<u64>,
    domains: Vec<u64>,
    ranges: BTreeSet<Range>,
    urls: BTreeSet<Box<str>>,
}

impl Lists {
    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Host(name) => self.hosts.push(name),
            Entry::Domain(name) => self.domains.push(name),
            Entry::Range(range) => drop(self.ranges.insert(range)),
            Entry::Url(expression) => drop(self.urls.insert(expression)),
        }
    }

    fn build(self) -> Result<Blocks, RuleError> {
        Ok(Blocks {
            hosts: Arc::new(Names::new(self.hosts)),
            domains: Arc::new(Names::new(self.domains)),
            ranges: Ranges::new(self.ranges.iter().copied()),
            range_entries: Arc::new(self.ranges),
            urls: Patterns::new(self.urls.iter().map(|expression| &**expression))?,
            url_entries: Arc::new(self.urls),
            operators: None,
        })
    }
}

#[derive(Debug, Default)]
struct Shared {
    current: Mutex<Arc<Blocks>>,
    /// Counts the lists that were in force, so that readers see at the price of one load whether theirs still is.
    version: AtomicU64,
}

impl Shared {
    /// Whatever a panic left there is a whole list: it is replaced in one step.
    fn lock(&self) -> MutexGuard<'_, Arc<Blocks>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list that is in force, to be changed. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Blocklist {
    shared: Arc<Shared>,
}

impl Blocklist {
    /// Puts another list into force. What operators have blocked stays so.
    pub fn replace(&self, blocks: Blocks) {
        let mut current = self.shared.lock();
        let operators = current.operators.clone();
        self.publish(&mut current, Blocks { operators, ..blocks });
    }

    /// Puts another list of what operators have blocked into force, on top of the other one.
    pub fn replace_operators(&self, blocks: Blocks) {
        let mut current = self.shared.lock();
        let operators = (!blocks.is_empty()).then(|| Arc::new(blocks));
        let blocks = Blocks { operators, ..Blocks::clone(&current) };
        self.publish(&mut current, blocks);
    }

    /// Blocks what the entry says; whether it was not blocked by the same entry before.
    pub fn block(&self, entry: &str) -> Result<bool, RuleError> {
        self.set(entry, true)
    }

    /// Takes an entry off the list; whether it was on it.
    pub fn unblock(&self, entry: &str) -> Result<bool, RuleError> {
        self.set(entry, false)
    }

    fn set(&self, entry: &str, present: bool) -> Result<bool, RuleError> {
        let Some(entry) = Entry::parse(entry)? else { return Ok(false) };
        let mut current = self.shared.lock();
        if current.has(&entry) == present {
            return Ok(false);
        }
        let blocks = current.changed(&entry, present)?;
        self.publish(&mut current, blocks);
        Ok(true)
    }

    fn publish(&self, current: &mut Arc<Blocks>, blocks: Blocks) {
        *current = Arc::new(blocks);
        self.shared.version.fetch_add(1, Ordering::Release);
    }

    /// The list that is in force now.
    pub fn snapshot(&self) -> Arc<Blocks> {
        self.shared.lock().clone()
    }

    /// For somebody who asks often.
    pub fn reader(&self) -> BlocklistReader {
        // The version first: if the list changes in between, the reader looks once more than it must.
        let version = self.shared.version.load(Ordering::Acquire);
        BlocklistReader { version, blocks: self.snapshot(), shared: self.shared.clone() }
    }
}

/// Keeps up with a [`Blocklist`], without a lock as long as that does not change.
#[derive(Clone, Debug)]
pub struct BlocklistReader {
    shared: Arc<Shared>,
    version: u64,
    blocks: Arc<Blocks>,
}

impl BlocklistReader {
    /// The list that is in force now.
    pub fn current(&mut self) -> &Blocks {
        let version = self.shared.version.load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.blocks = self.shared.lock().clone();
        }
        &self.blocks
    }
}

#[cfg(test)]
mod tests;
