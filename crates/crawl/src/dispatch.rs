//! Beginning errands, and giving them up: what the frontier hands out becomes a task.

use std::time::Duration;

use mattock_env::Time;
use mattock_frontier::{HostToResolve, Next, Purpose, Visit};
use mattock_weburl::WebUrl;

use crate::partition::{Came, Errand, Run, TURN};
use crate::steer::limiter::Claim;
use crate::{CrawlError, End, task};

/// How long until a partition that others hold up looks again.
const HELD_UP: Duration = Duration::from_millis(5);
/// How long until a partition that pauses, or has reached its speed limit, looks again at the latest.
const HELD: Duration = Duration::from_millis(200);

/// What the dispatcher found.
pub(crate) enum Idle {
    /// There is more to begin; the fetches have their turn first.
    Not,
    /// Wait for a visit to end, or for this time.
    Until(Option<Time>),
    /// The run is over when no visit is under way.
    Over(End),
}

impl Run<'_> {
    /// Begins visits that are allowed now, a turn's worth of them; none if so many wait to be taken back.
    pub(crate) fn dispatch(&mut self, come_back: usize) -> Result<Idle, CrawlError> {
        let (hub, control) = (self.partition.inbox.hub.clone(), self.partition.control.clone());
        let mut left = if come_back < TURN { TURN } else { 0 };
        loop {
            if control.is_stopping() {
                hub.finish(End::Stopped);
            }
            if let Some(end) = hub.end() {
                return Ok(Idle::Over(end));
            }
            if self.in_flight.len() >= self.connections_max {
                return Ok(Idle::Until(None));
            }
            if left == 0 {
                return Ok(Idle::Not);
            }
            let now = self.partition.env.clock.now();
            if control.is_paused() {
                return Ok(Idle::Until(Some(now + HELD)));
            }
            if self.partition.outbox.is_held_up() {
                return Ok(Idle::Until(Some(now + HELD_UP)));
            }
            if !hub.claim_page() {
                // What others have claimed may come back.
                return Ok(Idle::Until((hub.partitions() > 1).then(|| now + HELD_UP)));
            }
            let claim = match control.limiter().claim(now) {
                Ok(claim) => claim,
                Err(time) => {
                    hub.unclaim_page();
                    return Ok(Idle::Until(Some(time.min(now + HELD))));
                }
            };
            let next = self.partition.frontier.next(now)?;
            if !matches!(next, Next::Visit(_)) {
                control.limiter().give_back(claim, now);
            }
            if !matches!(&next, Next::Visit(visit) if visit.is_page()) {
                hub.unclaim_page();
            }
            self.count_failed()?;
            match next {
                Next::Visit(visit) => {
                    left -= 1;
                    self.begin(visit, claim);
                }
                Next::Resolve(host) => self.locate(host, now),
                Next::WaitUntil(time) => return Ok(Idle::Until(Some(time))),
                Next::WaitForVisits => return Ok(Idle::Until(None)),
                // What was not read yet may lead on.
                Next::Empty if !self.unread.is_empty() => return Ok(Idle::Not),
                Next::Empty => {
                    // Perhaps the others have something; the last one to find nothing ends the run.
                    self.partition.outbox.flush();
                    if !self.take_in_some()? {
                        self.partition.inbox.rest();
                        return Ok(hub.end().map_or(Idle::Until(None), Idle::Over));
                    }
                }
            }
        }
    }

    fn locate(&mut self, host: HostToResolve, now: Time) {
        let Ok(url) = WebUrl::parse(&host.host) else {
            debug_assert!(false, "a host is the beginning of a URL");
            return self.partition.frontier.unresolved(&host, now);
        };
        let (client, turn) = (self.client.clone(), usize::from(host.strikes));
        self.spawn(Errand::Locate(host), async move { Came::Located(client.locate(&url, turn).await) });
    }

    fn spawn(&mut self, errand: Errand, work: impl Future<Output = Came> + 'static) {
        let number = self.number_next;
        self.number_next += 1;
        let task = task::spawn(number, self.sender.clone(), work);
        self.in_flight.insert(number, (errand, task));
    }

    fn begin(&mut self, visit: Visit, claim: Claim) {
        let connection = self.connections.take(visit.request.url.host());
        let (client, url, server) = (self.client.clone(), visit.request.url.clone(), visit.server);
        let is_robots = visit.purpose != Purpose::Page;
        // One byte more than is read of it tells that there is more.
        let body_bytes_max = if is_robots { mattock_robots::BODY_BYTES_MAX + 1 } else { usize::MAX };
        self.spawn(Errand::Visit(visit, claim), async move {
            let (exchange, connection) =
                client.fetch_beginning(&url, server, connection, body_bytes_max).await;
            Came::Fetched(Box::new(exchange), connection)
        });
    }

    /// Gives up what is under way: the URLs go back to where they wait.
    pub(crate) fn abandon(&mut self) {
        let now = self.partition.env.clock.now();
        self.returns.clear();
        for (_, (errand, task)) in std::mem::take(&mut self.in_flight) {
            task.abort();
            match errand {
                Errand::Visit(visit, _) => {
                    if visit.is_page() {
                        self.partition.inbox.hub.unclaim_page();
                    }
                    self.partition.frontier.abandoned(visit, now);
                }
                Errand::Locate(host) => self.partition.frontier.unresolved(&host, now),
            }
        }
    }
}
