//! One instance, and how it is written.

use mattock_codec::{Reader, put_counted, put_varint};

/// What a URL was found to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// A page. One that is no HTML has no links.
    #[default]
    Page,
    /// A redirect; its one link is the target.
    Redirect,
    /// No page, or no longer one.
    Gone,
}

/// What was found at a URL at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance<'a> {
    /// When: milliseconds since 1970. The newest instance of a URL counts.
    pub time_ms: i64,
    /// What it was.
    pub state: State,
    /// Where it links to: canonical URLs.
    pub links: Vec<&'a str>,
    /// The terms of its text, and how often each is there.
    pub terms: Vec<(&'a str, u32)>,
    /// The min-wise sketch of its text; empty if it has none.
    pub sketch: Vec<u64>,
}

impl<'a> Instance<'a> {
    /// Appends everything but the time.
    pub(super) fn put_body(&self, out: &mut Vec<u8>) {
        out.push(match self.state {
            State::Page => 0,
            State::Redirect => 1,
            State::Gone => 2,
        });
        put_varint(out, self.links.len() as u64);
        for link in &self.links {
            put_counted(out, link.as_bytes());
        }
        put_varint(out, self.terms.len() as u64);
        for (term, count) in &self.terms {
            put_counted(out, term.as_bytes());
            put_varint(out, u64::from(*count));
        }
        put_varint(out, self.sketch.len() as u64);
        for number in &self.sketch {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads that again; `None` if it makes no sense.
    pub(super) fn from_body(time_ms: i64, body: &'a [u8]) -> Option<Instance<'a>> {
        let mut reader = Reader::new(body);
        let state = match reader.take(1)? {
            [0] => State::Page,
            [1] => State::Redirect,
            [2] => State::Gone,
            _ => return None,
        };
        let text = |reader: &mut Reader<'a>| std::str::from_utf8(reader.counted()?).ok();
        let links = (0..reader.varint()?).map(|_| text(&mut reader)).collect::<Option<Vec<_>>>()?;
        let terms = (0..reader.varint()?)
            .map(|_| Some((text(&mut reader)?, u32::try_from(reader.varint()?).ok()?)))
            .collect::<Option<Vec<_>>>()?;
        let sketch = (0..reader.varint()?).map(|_| reader.u64()).collect::<Option<Vec<_>>>()?;
        reader.is_empty().then_some(Instance { time_ms, state, links, terms, sketch })
    }
}

/// A time as a number that is small if the time is near 1970.
pub(super) fn folded(time_ms: i64) -> u64 {
    ((time_ms << 1) ^ (time_ms >> 63)).cast_unsigned()
}

/// The time again.
pub(super) fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bodies_come_back(
            time_ms: i64,
            links in proptest::collection::vec("[a-z:/.]{0,30}", 0..6),
            terms in proptest::collection::vec(("[a-zä]{0,9}", any::<u32>()), 0..6),
            sketch in proptest::collection::vec(any::<u64>(), 0..4),
            state in prop_oneof![Just(State::Page), Just(State::Redirect), Just(State::Gone)],
            cut: prop::sample::Index,
        ) {
            let instance = Instance {
                time_ms,
                state,
                links: links.iter().map(String::as_str).collect(),
                terms: terms.iter().map(|(term, count)| (term.as_str(), *count)).collect(),
                sketch,
            };
            prop_assert_eq!(unfolded(folded(time_ms)), time_ms);
            let mut body = Vec::new();
            instance.put_body(&mut body);
            prop_assert_eq!(Instance::from_body(time_ms, &body), Some(instance));
            prop_assert_eq!(Instance::from_body(time_ms, &body[..cut.index(body.len())]), None);
            body.push(0);
            prop_assert_eq!(Instance::from_body(time_ms, &body), None);
        }
    }
}
