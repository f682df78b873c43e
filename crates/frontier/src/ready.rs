//! Requests that may be fetched, in request order, and those that wait for another try.
//!
//! Filled by the robots stage and by failed visits, emptied by the workbench whenever it has room.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use mattock_env::Time;

use crate::Request;

/// The queue before the workbench.
#[derive(Debug, Default)]
pub struct Ready {
    queue: VecDeque<Request>,
    /// By the time of the next try, then by number.
    deferred: BTreeMap<(Time, u64), Request>,
}

impl Ready {
    /// To be fetched as soon as its host allows.
    pub fn push(&mut self, request: Request) {
        self.queue.push_back(request);
    }

    /// To be tried again, not before `time`.
    pub fn defer(&mut self, request: Request, time: Time) {
        self.deferred.insert((time, request.number), request);
    }

    /// The next request that is due.
    pub fn pop(&mut self, now: Time) -> Option<Request> {
        if let Some(first) = self.deferred.first_entry()
            && first.key().0 <= now
        {
            return Some(first.remove());
        }
        self.queue.pop_front()
    }

    /// When the first deferred request is due.
    pub fn due(&self) -> Option<Time> {
        self.deferred.first_key_value().map(|(&(time, _), _)| time)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.queue.len() + self.deferred.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, for a snapshot.
    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.queue.iter().chain(self.deferred.values())
    }
}

/// A place in a heap that gives the smallest first.
pub(crate) type Smallest<T> = Reverse<T>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;
    use crate::budget::Budget;
    use mattock_weburl::WebUrl;
    use std::time::Duration;

    #[test]
    fn deferred_requests_come_when_they_are_due() {
        let request = |number| Request {
            number,
            ..Budget::default().admit(Link::page(WebUrl::parse("http://a.com/").unwrap(), 0))
        };
        let second = Time::ZERO + Duration::from_secs(1);
        let mut ready = Ready::default();
        ready.push(request(1));
        ready.defer(request(0), second);
        assert_eq!(ready.due(), Some(second));
        assert_eq!(ready.pop(Time::ZERO).unwrap().number, 1);
        assert_eq!(ready.pop(Time::ZERO), None);
        assert_eq!(ready.len(), 1);
        assert_eq!(ready.pop(second).unwrap().number, 0);
        assert!(ready.is_empty());
    }
}
