//! What a checkpoint has to know of [`Beast`] beside its queues: a few numbers and the table of places.

use mattock_queue::Queues;

use super::placement::Placement;
use super::words::{Words, put};
use super::{Beast, BeastOptions, Rescan};

const VERSION: u64 = 1;

/// Which queues there are at a checkpoint, for who only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// The queue that is read.
    pub(crate) current: u64,
    /// j.
    pub(crate) width: u64,
    slots: u64,
}

impl Places {
    /// Reads them out of what [`Beast::encode`] wrote.
    pub(crate) fn decode(state: &[u8]) -> Option<Places> {
        let mut words = Words::new(state);
        (words.next()? == VERSION).then_some(())?;
        let (current, _last, _round_last, width) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        let slots = words.next()?.checked_add(1)?;
        Some(Places { current, width, slots })
    }

    /// The number of the queue that is in a slot: the one that is read, or one of those after it.
    pub(crate) fn number(&self, slot: u64) -> u64 {
        self.current + (slot + self.slots - self.current % self.slots) % self.slots
    }
}

impl Beast {
    /// Begins with so many queues, if it is still empty: those who took what it gets now had as many.
    pub(crate) fn widen(&mut self, width: u64) {
        if self.is_empty() && self.current == 0 {
            self.width = width.clamp(self.width, self.width_max);
            (self.last, self.round_last) = (self.width, self.width);
        }
    }

    /// Appends the state that belongs to the queues as they are now: for a checkpoint that captures both at once. At most 16 bytes
    /// per domain that is known, and a hundred.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, VERSION);
        for word in [self.current, self.last, self.round_last, self.width, self.width_max] {
            put(out, word);
        }
        put(out, u64::from(self.withheld));
        put(out, u64::from(self.rescan.is_some()));
        if let Some(Rescan { from, hold, left, out: handed_out, placed }) = self.rescan {
            for word in [from, hold, left, handed_out, placed] {
                put(out, word);
            }
        }
        self.placement.encode(out);
    }

    /// The state as it was [encoded](Beast::encode), on the queues as they were then; `None` if it cannot be read. The number of
    /// queues stays what it was, whatever the options say.
    pub fn restore(queues: &Queues, prefix: &str, options: BeastOptions, state: &[u8]) -> Option<Beast> {
        let mut words = Words::new(state);
        (words.next()? == VERSION).then_some(())?;
        let (current, last, round_last) = (words.next()?, words.next()?, words.next()?);
        let (width, width_max) = (words.next()?, words.next()?);
        let withheld = words.next()? != 0;
        let rescan = match words.next()? {
            0 => None,
            _ => Some(Rescan {
                from: words.next()?,
                hold: words.next()?,
                left: words.next()?,
                out: words.next()?,
                placed: words.next()?,
            }),
        };
        let placement = Placement::decode(&mut words, options.domains_max)?;
        let plausible = current <= last
            && current <= round_last
            && (1..=width_max).contains(&width)
            && last - current <= width_max
            && width_max < 1 << 32;
        if !plausible || !words.is_empty() {
            return None;
        }
        let mut beast = Beast::new(queues, prefix, BeastOptions { queues_max: width_max, ..options });
        let names = queues.names();
        for (slot, place) in beast.slots.iter_mut().enumerate() {
            let name = format!("{prefix}-{slot}");
            if names.contains(&name) {
                *place = Some(queues.queue(&name));
            }
        }
        let found = || beast.slots.iter().flatten();
        (beast.records, beast.bytes) =
            (found().map(|queue| queue.len()).sum(), found().map(|queue| queue.bytes()).sum());
        if rescan.is_some_and(|rescan| rescan.left > beast.over.len()) {
            return None;
        }
        Some(Beast { placement, current, last, round_last, width, withheld, rescan, ..beast })
    }
}
