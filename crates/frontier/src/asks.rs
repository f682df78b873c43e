//! Visits for robots.txt files: where each is put, and whose rules it waits for. [`rules`](crate::rules) says which redirects lead to more.

use mattock_env::Time;
use mattock_weburl::WebUrl;

use crate::bench::Slot;
use crate::error::Result;
use crate::frontier::Frontier;
use crate::rules::{GUESTS_IN_A_ROW_MAX, ROBOTS_PATH, robots_url};
use crate::{Purpose, Request, Target, Visit};

impl Frontier {
    pub(crate) fn ask_for_rules(&mut self, slot: Slot, now: Time) -> Result<()> {
        let host = self.bench.host(slot).name.clone();
        match WebUrl::parse(&host).ok().as_ref().and_then(robots_url) {
            Some(url) => self.ask(url, host, 0, 0, now),
            None => {
                debug_assert!(false, "every host has a robots.txt");
                Ok(())
            }
        }
    }

    /// Puts the request for a robots.txt at the head of the queue of the host where it is. Where a redirect leads to something else than
    /// another host's robots.txt, it waits for that host's rules.
    pub(crate) fn ask(
        &mut self,
        url: WebUrl,
        host: Box<str>,
        hops: u8,
        attempt: u8,
        now: Time,
    ) -> Result<()> {
        let slot = self.slot_of(&url)?;
        let request = Request {
            url,
            depth: 0,
            redirects: 0,
            target: Target::Page,
            via: None,
            band: 0,
            attempt,
            budget: 0,
            number: 0,
        };
        let is_guest = request.url.host() != &*host && request.url.path_and_query() != ROBOTS_PATH;
        if is_guest && !self.becomes_guest(&host, slot)? {
            return self.refuse_hop(&host, now);
        }
        let visit = Visit { request, purpose: Purpose::Robots { host, hops }, server: None };
        match is_guest {
            true => self.bench.push_guest(slot, visit, now),
            false => self.bench.push_ask(slot, visit, now),
        }
        Ok(())
    }

    /// Notes that the robots.txt of `host` waits for the rules of the host in `slot`; `false` if those wait for it in turn.
    fn becomes_guest(&mut self, host: &str, slot: Slot) -> Result<bool> {
        let Ok(url) = WebUrl::parse(host) else { return Ok(false) };
        let own = self.slot_of(&url)?;
        let (key, there) = (self.bench.host(own).key, self.bench.host(slot).key);
        let next = |at: &u64| self.bench.find(*at).and_then(|slot| self.bench.host(slot).guest_at);
        let way = std::iter::successors(Some(there), next).take(GUESTS_IN_A_ROW_MAX + 1);
        let (mut steps, mut is_round) = (0, false);
        way.for_each(|at| (steps, is_round) = (steps + 1, is_round || at == key));
        if is_round || steps > GUESTS_IN_A_ROW_MAX {
            return Ok(false);
        }
        self.bench.host_mut(own).guest_at = Some(there);
        Ok(true)
    }
}
