//! `PLDindegree`: how many domains link to a domain. STAR's budgets follow from it.
//!
//! A link counts by its *source domain*, once. Up to [`Sources::EXACT_MAX`] source domains are kept as they are, and the in-degree is
//! exact; beyond, a HyperLogLog sketch (Flajolet et al. 2007) of 1,024 registers takes their place, and the in-degree is an
//! estimate with a standard error of 3 %. The answer says which.

use super::{Drum, cover};
use crate::{Batch, Deliver, Result, Value};
use mattock_codec::{Reader, put_varint};

const REGISTERS: usize = 1024;
const REGISTER_BITS: u32 = REGISTERS.trailing_zeros();

/// The domains that link to a domain, as hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// All of them, sorted.
    Exact(Vec<u64>),
    /// Too many: the largest number of leading zeros per register.
    Sketch(Box<[u8; REGISTERS]>),
}

/// How many domains link to a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InDegree {
    /// The number.
    pub count: u64,
    /// Whether it is exact; otherwise an estimate with a standard error of 3 %.
    pub exact: bool,
}

impl Sources {
    /// Source domains that are counted exactly.
    pub const EXACT_MAX: usize = 128;

    /// One source.
    pub fn one(domain: u64) -> Sources {
        Sources::Exact(vec![domain])
    }

    /// How many there are.
    pub fn in_degree(&self) -> InDegree {
        match self {
            Sources::Exact(domains) => InDegree { count: domains.len() as u64, exact: true },
            Sources::Sketch(registers) => InDegree { count: estimate(registers), exact: false },
        }
    }

    fn add(self, domains: &[u64]) -> Sources {
        match self {
            Sources::Exact(mut all) if domains.len() == 1 && all.len() < Sources::EXACT_MAX => {
                if let Err(place) = all.binary_search(&domains[0]) {
                    all.insert(place, domains[0]);
                }
                Sources::Exact(all)
            }
            Sources::Exact(mut all) => {
                all.extend_from_slice(domains);
                all.sort_unstable();
                all.dedup();
                if all.len() <= Sources::EXACT_MAX {
                    return Sources::Exact(all);
                }
                Sources::Sketch(Box::new([0; REGISTERS])).add(&all)
            }
            Sources::Sketch(mut registers) => {
                for domain in domains {
                    // Hashes are mixed once more: their high bits may have been chosen by a partition.
                    let hash = domain.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
                    let register = (hash >> (64 - REGISTER_BITS)) as usize;
                    let rank = ((hash << REGISTER_BITS) | 1).leading_zeros() as u8 + 1;
                    registers[register] = registers[register].max(rank);
                }
                Sources::Sketch(registers)
            }
        }
    }
}

fn estimate(registers: &[u8; REGISTERS]) -> u64 {
    let m = REGISTERS as f64;
    // Counted by rank first: a power of two per register would cost more than all the rest of a check.
    let mut counts = [0u32; 65];
    registers.iter().for_each(|rank| counts[usize::from(*rank).min(64)] += 1);
    let sum: f64 = counts.iter().rev().fold(0.0, |sum, count| sum / 2.0 + f64::from(*count));
    let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
    let empty = counts[0];
    let estimate = if raw <= 2.5 * m && empty > 0 { m * (m / f64::from(empty)).ln() } else { raw };
    estimate.round() as u64
}

impl Value for Sources {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Sources::Exact(domains) => {
                out.push(0);
                let mut last = 0;
                for domain in domains {
                    put_varint(out, domain - last);
                    last = *domain;
                }
            }
            Sources::Sketch(registers) => {
                out.push(1);
                out.extend_from_slice(&registers[..]);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Sources> {
        let (kind, rest) = bytes.split_first()?;
        if *kind == 1 {
            return Some(Sources::Sketch(Box::new(rest.try_into().ok()?)));
        }
        let mut reader = Reader::new(rest);
        let (mut domains, mut last) = (Vec::new(), 0u64);
        while !reader.is_empty() {
            last = last.checked_add(reader.varint()?)?;
            domains.push(last);
        }
        (*kind == 0).then_some(Sources::Exact(domains))
    }

    fn update(stored: Option<Sources>, update: Sources) -> Sources {
        match (stored, update) {
            (None, update) => update,
            (Some(stored), Sources::Exact(domains)) => stored.add(&domains),
            (Some(Sources::Exact(domains)), sketch) => sketch.add(&domains),
            (Some(Sources::Sketch(mut registers)), Sources::Sketch(more)) => {
                for (register, rank) in registers.iter_mut().zip(more.iter()) {
                    *register = (*register).max(*rank);
                }
                Sources::Sketch(registers)
            }
        }
    }
}

/// Domain → domains that link to it.
pub struct DomainInDegree {
    drum: Drum<Sources>,
}

cover!(DomainInDegree, Sources);

impl DomainInDegree {
    const DELIVER: Deliver = Deliver::All;

    /// Submits links between domains: pairs of target and source.
    pub fn link(&mut self, links: impl IntoIterator<Item = (u64, u64)>) -> Result<()> {
        let mut batch = Batch::new();
        for (target, source) in links {
            batch.update(target, Sources::one(source));
        }
        self.drum.submit(&batch)
    }

    /// Asks for domains: pairs of domain and what is to come back with the answer.
    pub fn check<'a>(&mut self, domains: impl IntoIterator<Item = (u64, &'a [u8])>) -> Result<()> {
        let mut batch = Batch::new();
        for (domain, aux) in domains {
            batch.check(domain, aux);
        }
        self.drum.submit(&batch)
    }

    /// Hands out up to `limit` answers.
    pub fn answers(&mut self, limit: usize, mut sink: impl FnMut(&[u8], InDegree)) -> Result<usize> {
        self.drum.deliver(limit, |outcome| {
            let nobody = InDegree { count: 0, exact: true };
            sink(outcome.aux, outcome.value.map_or(nobody, |sources| sources.in_degree()));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{key, simulate};
    use super::*;
    use crate::Options;
    use std::path::Path;

    #[test]
    fn small_degrees_are_exact_and_large_ones_are_close_and_say_so() {
        simulate(|env| {
            let mut degrees =
                DomainInDegree::open(env, Path::new("/degrees"), Options::new(16 << 20)).unwrap();
            for (target, sources) in [(1, 1), (2, 100), (3, 128), (4, 129), (5, 5000), (6, 100_000)] {
                // Every link twice, in two batches and the other way round.
                let links = || (0..sources).map(|source| (key(target), key(1000 + source)));
                degrees.link(links()).unwrap();
                degrees.link(links().rev()).unwrap();
                degrees.check([(key(target), &b"?"[..])]).unwrap();
                let mut found = None;
                degrees.answers(1, |_, degree| found = Some(degree)).unwrap();
                let found = found.unwrap();
                assert_eq!(found.exact, sources <= Sources::EXACT_MAX as u64);
                let error = (found.count as f64 / sources as f64 - 1.0).abs();
                assert!(error < if found.exact { 1e-9 } else { 0.1 }, "{found:?} for {sources}");
            }
            degrees.check([(key(77), &b"?"[..])]).unwrap();
            degrees.answers(1, |_, degree| assert_eq!(degree, InDegree { count: 0, exact: true })).unwrap();
        });
    }

    #[test]
    fn the_order_of_updates_does_not_matter() {
        let sets: Vec<Sources> = (0..6)
            .map(|part| Sources::Exact(vec![]).add(&(0..40).map(|n| key(part * 30 + n)).collect::<Vec<_>>()))
            .collect();
        let forward = sets.iter().cloned().reduce(|a, b| Sources::update(Some(a), b)).unwrap();
        let backward = sets.iter().rev().cloned().reduce(|a, b| Sources::update(Some(a), b)).unwrap();
        assert_eq!(forward, backward);
        let mut bytes = Vec::new();
        forward.encode(&mut bytes);
        assert_eq!(Sources::decode(&bytes), Some(forward));
    }
}
