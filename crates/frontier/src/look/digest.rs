//! All that a checkpoint says, in an order that does not depend on how it is stored: for a hash of it.
//!
//! Two checkpoints that say the same have the same digest, whatever their numbers and however their files are cut: which block a record
//! is in, where a host stood on the bench. Links that `seen` has not handed out count as they came, those to known URLs included until
//! it knows that they are.
//!
//! Costs: reads the whole checkpoint once; memory for `STATE-N`, one block of a queue, and one bucket of a repository.

use std::path::Path;

use mattock_drum::{FirstInstance, Value, View};
use mattock_env::Env;

use super::Look;
use crate::error::Result;
use crate::state::SavedHost;
use crate::{Accounts, Request, record, star};

/// Takes the digest's bytes; says where one thing ends and the next begins.
struct Out<'a> {
    add: &'a mut dyn FnMut(&[u8]),
    buffer: Vec<u8>,
}

impl Out<'_> {
    fn number(&mut self, number: u64) {
        (self.add)(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        (self.add)(bytes);
    }

    fn request(&mut self, request: &Request) {
        self.number(request.number);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        record::encode(request, &mut buffer);
        self.bytes(&buffer);
        self.buffer = buffer;
    }

    fn host(&mut self, host: &SavedHost) {
        self.bytes(host.name.as_bytes());
        self.number(host.overflow);
        self.number(host.wait.as_nanos() as u64);
        self.number(host.requests.len() as u64);
        host.requests.iter().for_each(|request| self.request(request));
    }

    /// Every key with its value, and what was not handed out.
    fn repository<V: Value>(&mut self, name: &str, view: &View<V>) -> Result<()> {
        self.bytes(name.as_bytes());
        let (mut count, mut value_bytes) = (0, Vec::new());
        view.scan(|key, value| {
            count += 1;
            self.number(key);
            value_bytes.clear();
            value.encode(&mut value_bytes);
            self.bytes(&value_bytes);
        })?;
        self.number(count);
        let mut undelivered = 0;
        view.undelivered(|result| {
            undelivered += 1;
            self.bytes(result.aux);
        })?;
        self.number(undelivered);
        Ok(())
    }
}

impl Look {
    /// Hands everything that checkpoint `number` of the frontier in `dir` says to `add`, in pieces: every URL that was seen, what is
    /// known of hosts and contents, budgets, what waits and in which order, and how long hosts must be left alone.
    pub fn digest(env: &Env, dir: &Path, number: u64, add: &mut dyn FnMut(&[u8])) -> Result<()> {
        let look = Look::open(env, dir, number)?;
        let mut out = Out { add, buffer: Vec::new() };
        let Some(saved) = &look.saved else { return Ok(()) };
        let Accounts { seen, fetched, failed, refused } = saved.accounts;
        for count in [seen, fetched, failed, refused, saved.number_next] {
            out.number(count);
        }
        if let Some((star, beast)) = saved.budgets() {
            out.bytes(star::after_checkpoint(star));
            out.bytes(beast);
        }
        out.bytes(&saved.novelty);
        out.bytes(&saved.traps);
        let mut hosts: Vec<&SavedHost> = saved.hosts.iter().collect();
        hosts.sort_by(|a, b| a.name.cmp(&b.name));
        out.number(hosts.len() as u64);
        hosts.into_iter().for_each(|host| out.host(host));
        let mut deferred: Vec<_> = saved.deferred.iter().collect();
        deferred.sort_by_key(|(wait, request)| (*wait, request.number));
        out.number(deferred.len() as u64);
        for (wait, request) in deferred {
            out.number(wait.as_nanos() as u64);
            out.request(request);
        }
        out.repository("seen", &look.seen)?;
        out.repository("robots", &look.robots)?;
        let content = View::<FirstInstance>::open(env, &dir.join("content"), saved.checkpoints.content)?;
        out.repository("content", &content)?;
        if let Some(standings) = &look.standings {
            out.repository("degrees", &standings.degrees)?;
        }
        let mut names: Vec<&str> = look.queues.names().filter(|name| look.queues.len(name) > 0).collect();
        names.sort_unstable();
        for name in names {
            out.bytes(name.as_bytes());
            out.number(look.queues.len(name));
            look.queues.scan(name, |record| out.bytes(record))?;
        }
        Ok(())
    }
}
