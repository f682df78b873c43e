//! What the partitions of a crawl share: links on their way from one to the other, the page limit, and the end.
//!
//! A domain belongs to one partition. A partition puts links to domains of others into its [`Outbox`], which leaves out what it
//! has sent lately, and sends them on in parcels; each takes parcels out of its own [`Inbox`] between two turns. Nobody waits for
//! anybody, but a partition whose parcels pile up at another begins no more visits until that has caught up.
//!
//! The end: whoever has work, and every parcel on its way, holds one unit. Only who holds one can send, so when the last unit
//! is given back nothing is left anywhere. At a [checkpoint](crate::checkpoint) each partition sends what it has and waits until all
//! have: then every parcel is in a box, and each empties its own before it saves itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use mattock_frontier::{Link, Politeness};
use mattock_weburl::WebUrl;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::End;
use crate::steer::{HostQuery, HostRow};
use crate::watched::Watched;

/// A parcel is sent when it has so many links.
const PARCEL_LINKS: usize = 256;
/// Links that may wait at a partition before others hold back.
const WAITING_MAX: usize = 64 << 10;
/// Links that an outbox remembers having sent: a power of two.
const RECENT: usize = 16 << 10;

/// What an operator wants of a partition.
#[derive(Debug)]
pub(crate) enum Order {
    /// Make these part of the scope, and fetch those that are yours.
    Seeds(Arc<[WebUrl]>),
    /// Be as polite as this.
    Politeness(Box<Politeness>),
    /// Say which hosts you have.
    Hosts(HostQuery, oneshot::Sender<Vec<HostRow>>),
}

/// Links from one partition to another, or what an operator wants.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    pub(crate) order: Option<Order>,
    pub(crate) links: Vec<Link>,
    /// Links between domains, for their reputation: target and source.
    pub(crate) edges: Vec<(u64, u64)>,
}

/// What all partitions share.
#[derive(Debug)]
pub(crate) struct Hub {
    boxes: Vec<Mailbox>,
    /// Partitions that have work, and parcels on their way.
    units: AtomicUsize,
    over: Watched<Option<End>>,
    /// `u64::MAX` if there is none.
    page_limit: AtomicU64,
    /// Pages fetched, and those being fetched.
    pages_claimed: AtomicU64,
    pages: AtomicU64,
}

#[derive(Debug)]
struct Mailbox {
    sender: UnboundedSender<Parcel>,
    waiting: AtomicUsize,
}

/// Which of so many partitions a URL belongs to, from 0 on.
pub fn owner(url: &WebUrl, partitions: usize) -> usize {
    match partitions {
        1 => 0,
        count => owner_of_domain(url.domain_fingerprint().0, count),
    }
}

/// The same for a domain.
pub(crate) fn owner_of_domain(domain: u64, partitions: usize) -> usize {
    (domain % partitions as u64) as usize
}

impl Hub {
    /// For so many partitions, of which some pages were fetched before; with the inbox of each.
    pub(crate) fn new(partitions: usize, page_limit: Option<u64>, pages: u64) -> (Arc<Hub>, Vec<Inbox>) {
        let (boxes, receivers): (Vec<_>, Vec<_>) = (0..partitions)
            .map(|_| {
                let (sender, receiver) = unbounded_channel();
                (Mailbox { sender, waiting: AtomicUsize::new(0) }, receiver)
            })
            .unzip();
        let page_limit = page_limit.unwrap_or(u64::MAX);
        let hub = Arc::new(Hub {
            boxes,
            units: AtomicUsize::new(partitions),
            over: Watched::new((pages >= page_limit).then_some(End::MaxPages)),
            page_limit: AtomicU64::new(page_limit),
            pages_claimed: AtomicU64::new(pages),
            pages: AtomicU64::new(pages),
        });
        let inbox = |(index, receiver)| Inbox { index, receiver, hub: hub.clone(), idle: false };
        let inboxes = receivers.into_iter().enumerate().map(inbox).collect();
        (hub, inboxes)
    }

    pub(crate) fn partitions(&self) -> usize {
        self.boxes.len()
    }

    /// The partition that a URL belongs to.
    pub(crate) fn owner(&self, url: &WebUrl) -> usize {
        owner(url, self.boxes.len())
    }

    /// Ends the run for all; the first word counts.
    pub(crate) fn finish(&self, end: End) {
        self.over.update(|over| {
            over.get_or_insert(end);
        });
    }

    /// How the run ends, if it does.
    pub(crate) fn end(&self) -> Option<End> {
        self.over.get()
    }

    /// Waits until the run ends.
    pub(crate) async fn ended(&self) {
        self.over.wait_for(Option::is_some).await;
    }

    /// Another limit from now on. If there are as many pages already, the run is over.
    pub(crate) fn set_page_limit(&self, limit: Option<u64>) {
        let limit = limit.unwrap_or(u64::MAX);
        self.page_limit.store(limit, Ordering::Relaxed);
        if self.pages.load(Ordering::Relaxed) >= limit {
            self.finish(End::MaxPages);
        }
    }

    /// Takes one page of the limit; whether there was one left.
    pub(crate) fn claim_page(&self) -> bool {
        let limit = self.page_limit.load(Ordering::Relaxed);
        if limit == u64::MAX {
            // Counted all the same: there may be a limit later.
            self.pages_claimed.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let claim = |claimed| (claimed < limit).then_some(claimed + 1);
        self.pages_claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim).is_ok()
    }

    /// Gives back what was claimed and not used.
    pub(crate) fn unclaim_page(&self) {
        self.pages_claimed.fetch_sub(1, Ordering::Relaxed);
    }

    /// A page that was claimed has been fetched.
    pub(crate) fn count_page(&self) {
        let pages = self.pages.fetch_add(1, Ordering::Relaxed) + 1;
        if pages >= self.page_limit.load(Ordering::Relaxed) {
            self.finish(End::MaxPages);
        }
    }

    /// Sends an order to a partition; whether it can still be carried out. Who sends it holds no unit, so it must not be the last.
    pub(crate) fn order(&self, to: usize, order: Order) -> bool {
        let more = |units: usize| (units > 0).then_some(units + 1);
        if self.end().is_some() || self.units.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).is_err()
        {
            return false;
        }
        let sent = self.boxes[to].sender.send(Parcel { order: Some(order), ..Parcel::default() }).is_ok();
        if !sent {
            self.give_back();
        }
        sent
    }

    /// Links that wait at a partition.
    pub(crate) fn waiting(&self, at: usize) -> u64 {
        self.boxes[at].waiting.load(Ordering::Relaxed) as u64
    }

    fn send(&self, to: usize, parcel: Parcel) {
        self.units.fetch_add(1, Ordering::Relaxed);
        self.boxes[to].waiting.fetch_add(parcel.links.len(), Ordering::Relaxed);
        if self.boxes[to].sender.send(parcel).is_err() {
            // Its partition has failed, and the run is over.
            self.give_back();
        }
    }

    fn give_back(&self) {
        // What was done with the unit happened before; whoever gives back the last one sees all of it.
        if self.units.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.finish(End::Complete);
        }
    }
}

/// Where a partition's parcels arrive. When it is dropped, its partition takes no more part: a run that waits for it ends.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) index: usize,
    receiver: UnboundedReceiver<Parcel>,
    pub(crate) hub: Arc<Hub>,
    /// Whether the partition's unit was given back.
    idle: bool,
}

impl Inbox {
    /// The next parcel that is there. Once it is taken in, [`Inbox::taken_in`] must be called.
    pub(crate) fn try_take(&mut self) -> Option<Parcel> {
        let parcel = self.receiver.try_recv().ok()?;
        self.arrived(&parcel);
        Some(parcel)
    }

    /// Waits for a parcel; never comes back if there will be none. Nothing is lost if it is dropped.
    pub(crate) async fn take(&mut self) -> Parcel {
        match self.receiver.recv().await {
            Some(parcel) => {
                self.arrived(&parcel);
                parcel
            }
            None => std::future::pending().await,
        }
    }

    /// Parcels that are there now.
    pub(crate) fn len(&self) -> usize {
        self.receiver.len()
    }

    fn arrived(&self, parcel: &Parcel) {
        self.hub.boxes[self.index].waiting.fetch_sub(parcel.links.len(), Ordering::Relaxed);
    }

    /// What was taken out is in the frontier.
    pub(crate) fn taken_in(&mut self) {
        if std::mem::take(&mut self.idle) {
            // The parcel's unit is now the partition's.
            return;
        }
        self.hub.give_back();
    }

    /// The partition has nothing to do, nothing under way and nothing to send.
    pub(crate) fn rest(&mut self) {
        if !std::mem::replace(&mut self.idle, true) {
            self.hub.give_back();
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        // If this is not how everybody ends, it has failed, and nobody may wait for it.
        self.hub.finish(End::Stopped);
    }
}

/// What a partition has for others.
#[derive(Debug)]
pub(crate) struct Outbox {
    hub: Arc<Hub>,
    parcels: Vec<Parcel>,
    /// Fingerprints of the last URLs and edges, each in its place.
    recent_urls: Vec<u64>,
    recent_edges: Vec<u64>,
    /// Links that were left out because they were sent lately.
    pub(crate) repeated: u64,
    /// Links that were sent.
    pub(crate) sent: u64,
}

impl Outbox {
    pub(crate) fn new(hub: &Arc<Hub>) -> Outbox {
        let size = if hub.partitions() > 1 { RECENT } else { 0 };
        Outbox {
            hub: hub.clone(),
            parcels: (0..hub.partitions()).map(|_| Parcel::default()).collect(),
            recent_urls: vec![0; size],
            recent_edges: vec![0; size],
            repeated: 0,
            sent: 0,
        }
    }

    /// Sends a link to its owner, sooner or later. `source` is the domain that it was found in.
    pub(crate) fn put(&mut self, to: usize, link: Link, source: Option<u64>) {
        if let Some(source) = source {
            let target = link.url.domain_fingerprint().0;
            let edge = target.rotate_left(32) ^ source;
            if !remembers(&mut self.recent_edges, edge) {
                self.parcels[to].edges.push((target, source));
            }
        }
        if remembers(&mut self.recent_urls, link.url.fingerprint().0) {
            self.repeated += 1;
        } else {
            self.sent += 1;
            self.parcels[to].links.push(link);
        }
        let parcel = &mut self.parcels[to];
        if parcel.links.len().max(parcel.edges.len()) >= PARCEL_LINKS {
            self.hub.send(to, std::mem::take(parcel));
        }
    }

    /// Sends everything; whether there was anything.
    pub(crate) fn flush(&mut self) -> bool {
        let mut any = false;
        for (to, parcel) in self.parcels.iter_mut().enumerate() {
            if !parcel.links.is_empty() || !parcel.edges.is_empty() {
                self.hub.send(to, std::mem::take(parcel));
                any = true;
            }
        }
        any
    }

    /// Whether too much of it waits to be taken in elsewhere.
    pub(crate) fn is_held_up(&self) -> bool {
        self.hub.boxes.iter().any(|mailbox| mailbox.waiting.load(Ordering::Relaxed) > WAITING_MAX)
    }
}

/// Whether a number was here lately; now it was.
fn remembers(recent: &mut [u64], number: u64) -> bool {
    let place = (number >> 20) as usize % recent.len().max(1);
    recent.get_mut(place).is_some_and(|last| std::mem::replace(last, number) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> Link {
        Link::page(WebUrl::parse(text).unwrap(), 1)
    }

    #[test]
    fn the_run_is_complete_when_nobody_has_work_and_no_parcel_is_under_way() {
        let (hub, mut inboxes) = Hub::new(2, None, 0);
        let mut outbox = Outbox::new(&hub);
        let (first, second) = inboxes.split_at_mut(1);
        let (first, second) = (&mut first[0], &mut second[0]);
        second.rest();
        assert_eq!(hub.end(), None);
        outbox.put(1, link("http://a.com/"), Some(7));
        outbox.put(1, link("http://a.com/"), Some(7));
        outbox.put(1, link("http://a.com/"), Some(8));
        assert!(outbox.flush());
        first.rest();
        assert_eq!(hub.end(), None, "a parcel is under way");
        let parcel = second.try_take().unwrap();
        assert_eq!((parcel.links.len(), parcel.edges.len()), (1, 2), "what was sent lately is left out");
        second.taken_in();
        assert_eq!(hub.end(), None, "its receiver has work");
        second.rest();
        assert_eq!(hub.end(), Some(End::Complete));
        assert_eq!((outbox.sent, outbox.repeated), (1, 2));
    }

    #[test]
    fn no_more_pages_are_claimed_than_the_limit() {
        let (hub, _inboxes) = Hub::new(1, Some(3), 1);
        assert!(hub.claim_page() && hub.claim_page() && !hub.claim_page());
        hub.unclaim_page();
        assert!(hub.claim_page());
        hub.count_page();
        assert_eq!(hub.end(), None);
        hub.count_page();
        assert_eq!(hub.end(), Some(End::MaxPages));
        assert_eq!(Hub::new(1, Some(3), 3).0.end(), Some(End::MaxPages), "there was nothing left to fetch");
    }

    #[test]
    fn a_partition_that_is_gone_ends_the_run() {
        let (hub, mut inboxes) = Hub::new(2, None, 0);
        drop(inboxes.pop());
        assert_eq!(hub.end(), Some(End::Stopped));
        let mut outbox = Outbox::new(&hub);
        outbox.put(1, link("http://a.com/"), None);
        outbox.flush();
    }
}
