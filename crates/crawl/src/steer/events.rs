//! What has happened lately: a ring of events that consoles read.
//!
//! Filled by whatever is logged (see [`log`](super::log)) and by steering itself; nothing of it is per URL. Read by whoever knows
//! the number of the last event that they have seen. The oldest go when there are too many: nothing grows with the length of a
//! crawl.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Events that are kept.
const EVENTS_MAX: usize = 4096;
/// Bytes of a text or a field.
const TEXT_BYTES_MAX: usize = 2000;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For those who look for a mistake.
    Debug,
    /// Something went as it should.
    Info,
    /// Something is wrong, and the crawl can live with it.
    Warn,
    /// Something is wrong, and somebody should look.
    Error,
}

impl Level {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Counts from 1; later ones have higher numbers.
    pub seq: u64,
    /// When: microseconds since 1970.
    pub unix_micros: i64,
    /// How much it matters.
    pub level: Level,
    /// Where it comes from: `operator`, `speed`, `alert`, or a part of the program such as `crawl::storage`.
    pub kind: String,
    /// In words.
    pub text: String,
    /// In numbers and names.
    pub fields: BTreeMap<String, String>,
}

/// The events of a crawl. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Events {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug, Default)]
struct Ring {
    last: u64,
    events: VecDeque<Event>,
}

impl Events {
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; its number.
    pub fn add(
        &self,
        unix_micros: i64,
        level: Level,
        kind: &str,
        text: impl Into<String>,
        fields: BTreeMap<String, String>,
    ) -> u64 {
        let mut ring = self.lock();
        ring.last += 1;
        if ring.events.len() == EVENTS_MAX {
            ring.events.pop_front();
        }
        let fields = fields.into_iter().map(|(name, value)| (name, cut(value))).collect();
        let (seq, text) = (ring.last, cut(text.into()));
        ring.events.push_back(Event { seq, unix_micros, level, kind: kind.to_owned(), text, fields });
        seq
    }

    /// Events with higher numbers than this one, oldest first; some are missing at the front if there were too many.
    pub fn since(&self, seq: u64) -> Vec<Event> {
        let ring = self.lock();
        let first = ring.events.partition_point(|event| event.seq <= seq);
        ring.events.range(first..).cloned().collect()
    }

    /// The number of the last event; 0 if there was none.
    pub fn last(&self) -> u64 {
        self.lock().last
    }
}

/// What a server says must not fill the memory.
fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_numbers_stay() {
        let events = Events::default();
        assert_eq!((events.last(), events.since(0).len()), (0, 0));
        for number in 1..=EVENTS_MAX as u64 + 10 {
            assert_eq!(events.add(7, Level::Info, "test", number.to_string(), BTreeMap::new()), number);
        }
        let all = events.since(0);
        assert_eq!((all.len(), all[0].seq, &*all[0].text), (EVENTS_MAX, 11, "11"));
        let last: Vec<u64> = events.since(EVENTS_MAX as u64 + 8).iter().map(|event| event.seq).collect();
        assert_eq!(last, [EVENTS_MAX as u64 + 9, EVENTS_MAX as u64 + 10]);
        assert!(events.since(events.last()).is_empty() && events.since(u64::MAX).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let events = Events::default();
        events.add(
            0,
            Level::Warn,
            "test",
            "ü".repeat(5000),
            BTreeMap::from([("a".into(), "é".repeat(5000))]),
        );
        let event = events.since(0).remove(0);
        assert!(event.text.len() < 2010 && event.text.ends_with("ü…") && event.fields["a"].len() < 2010);
    }
}
