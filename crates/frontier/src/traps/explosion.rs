//! Queries that multiply: a page whose parameters can be combined at will, every combination a URL.
//!
//! Per path of a host it is estimated how many different queries there were, and how many different values each parameter
//! took. Where a parameter counts things (`?topic=1…100000`), there are about as many queries as values of it, and all may be
//! pages. Where filters are combined, queries are many times the values of any one parameter: that factor is what is judged,
//! not the number alone. The names of the parameters count as one more parameter, for filters that are all names
//! (`?red=1&large=1`).
//!
//! 256 bytes or less per path, in a [`Table`] that keeps the paths with the most queries longest. What it forgot starts again
//! from nothing.

use mattock_weburl::{Fingerprint, WebUrl};

use super::sketch::Sketch;
use super::table::Value;
use super::{Limits, Signal, Verdict};
use crate::Refusal;

/// Parameters that are told apart; all others are taken for one, which makes the judgement milder.
const PARAMETERS: usize = 6;
/// The place of the names among the sketches; those of the parameters are before it, the last of them for all others.
const NAMES: usize = PARAMETERS + 1;
/// A parameter with so many values is a filter's, if there are others like it.
const WIDE_MIN: u32 = 16;

/// What is known of the queries on one path.
#[derive(Debug, Default)]
pub(super) struct Queries {
    combinations: Sketch<64>,
    values: [Sketch<16>; PARAMETERS + 2],
    /// Hashes of the parameters' names, in order of appearance; 0 where there is none.
    names: [u16; PARAMETERS],
    /// Estimates, kept so that they are computed when a sketch changed and not for every link.
    many: u32,
    widest: u32,
    wide: u8,
}

/// The table's key for the path of a URL.
pub(super) fn key(url: &WebUrl, query: &str) -> u64 {
    let whole = url.as_str();
    Fingerprint::of(&whole[..whole.len() - query.len()]).0
}

impl Queries {
    /// Adds a query and says what to do with its URL.
    pub(super) fn judge(&mut self, query: &str, limits: &Limits) -> Verdict {
        let mut changed = self.combinations.add(Fingerprint::of(query).0);
        for parameter in query.split('&') {
            // Without a name it is the value that counts things: `?12345`.
            let name = parameter.split_once('=').map_or("", |(name, _)| name);
            let name = Fingerprint::of(name).0;
            let place = self.place(name);
            changed |= self.values[place].add(Fingerprint::of(parameter).0);
            changed |= self.values[NAMES].add(name);
        }
        if changed {
            self.estimate();
        }
        self.verdict(limits)
    }

    fn place(&mut self, name: u64) -> usize {
        let short = (name >> 48) as u16 | 1;
        let place = self.names.iter().position(|known| *known == short || *known == 0);
        if let Some(at) = place {
            self.names[at] = short;
        }
        place.unwrap_or(PARAMETERS)
    }

    fn estimate(&mut self) {
        self.many = self.combinations.estimate();
        self.widest = 0;
        self.wide = 0;
        for values in &self.values {
            let estimate = values.estimate();
            self.widest = self.widest.max(estimate);
            self.wide += u8::from(estimate >= WIDE_MIN);
        }
    }

    fn verdict(&self, limits: &Limits) -> Verdict {
        let times = |factor: u32| self.many > self.widest.saturating_mul(factor);
        if self.many >= limits.combinations_refused && times(limits.factor_refused) {
            return Verdict::Refused(Refusal::QueryExplosion);
        }
        let filters = self.wide >= 3 && times(limits.factor_demoted.div_ceil(3));
        if self.many >= limits.combinations_demoted && (filters || times(limits.factor_demoted)) {
            return Verdict::Demoted(Signal::QueryExplosion);
        }
        Verdict::Passed
    }
}

impl Value for Queries {
    const BYTES: usize = 64 + 16 * (PARAMETERS + 2) + 2 * PARAMETERS;

    /// A step for every doubling.
    fn credit(&self) -> u8 {
        8 * (32 - self.many.leading_zeros()).min(31) as u8
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.combinations.registers());
        self.values.iter().for_each(|values| bytes.extend_from_slice(values.registers()));
        self.names.iter().for_each(|name| bytes.extend_from_slice(&name.to_le_bytes()));
    }

    fn decode(bytes: &[u8]) -> Queries {
        let mut queries =
            Queries { combinations: Sketch::from_registers(&bytes[..64]), ..Queries::default() };
        let (sketches, names) = bytes[64..].split_at(16 * (PARAMETERS + 2));
        for (values, part) in queries.values.iter_mut().zip(sketches.chunks_exact(16)) {
            *values = Sketch::from_registers(part);
        }
        for (name, part) in queries.names.iter_mut().zip(names.chunks_exact(2)) {
            *name = u16::from_le_bytes([part[0], part[1]]);
        }
        queries.estimate();
        queries
    }
}
