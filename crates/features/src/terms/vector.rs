//! One page's terms: chosen by weight, kept in 128 bytes, compared by cosine.

/// Terms in a vector, at most.
pub const VECTOR_TERMS: usize = 32;
pub(crate) const VECTOR_BYTES: usize = VECTOR_TERMS * 4;
/// The weight that a page's greatest one becomes.
const GREATEST: f64 = 255.0;

/// A term of a page before the best are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weighed {
    pub(crate) term: u32,
    pub(crate) weight: f64,
}

impl Weighed {
    /// Of a term that is `count` times in the page, and in `documents` of `pages` pages.
    pub(crate) fn new(term: u32, count: u32, documents: u64, pages: u64) -> Weighed {
        let weight = (1.0 + f64::from(count.max(1)).ln()) * (pages as f64 / documents as f64).ln();
        Weighed { term, weight }
    }
}

/// The terms of a page that weigh most, by term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermVector {
    count: usize,
    entries: [(u32, u8); VECTOR_TERMS],
}

impl TermVector {
    /// Of the terms that weigh most; of equally heavy ones those that come first. `all` is sorted by it.
    pub(crate) fn choose(all: &mut [Weighed]) -> TermVector {
        all.sort_unstable_by(|one, two| two.weight.total_cmp(&one.weight).then(one.term.cmp(&two.term)));
        let greatest = all.first().map_or(0.0, |first| first.weight);
        let mut vector = TermVector { count: 0, entries: [(0, 0); VECTOR_TERMS] };
        for (entry, weighed) in
            vector.entries.iter_mut().zip(all.iter().filter(|weighed| weighed.weight > 0.0))
        {
            *entry = (weighed.term, (weighed.weight / greatest * GREATEST).round().max(1.0) as u8);
            vector.count += 1;
        }
        vector.entries[..vector.count].sort_unstable();
        vector
    }

    pub(crate) fn encode(&self) -> [u8; VECTOR_BYTES] {
        let mut bytes = [0; VECTOR_BYTES];
        for ((term, weight), place) in self.iter().zip(bytes.as_chunks_mut::<4>().0) {
            *place = (term | u32::from(weight) << 24).to_le_bytes();
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; VECTOR_BYTES]) -> TermVector {
        let mut vector = TermVector { count: 0, entries: [(0, 0); VECTOR_TERMS] };
        for (entry, place) in vector.entries.iter_mut().zip(bytes.as_chunks::<4>().0) {
            let number = u32::from_le_bytes(*place);
            *entry = (number & 0x00ff_ffff, (number >> 24) as u8);
            // An entry without weight is none, and there is none behind it.
            if entry.1 == 0 {
                break;
            }
            vector.count += 1;
        }
        vector
    }

    /// How many terms it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Terms with their weights, in the order of terms. The greatest weight is 255.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.entries[..self.count].iter().copied()
    }

    /// Terms with their weights in a vector of length 1.
    pub fn unit(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let length = f64::from(self.square()).sqrt();
        self.iter().map(move |(term, weight)| (term, f64::from(weight) / length))
    }

    /// The square of its length.
    fn square(&self) -> u32 {
        self.iter().map(|(_, weight)| u32::from(weight) * u32::from(weight)).sum()
    }

    /// How alike two pages are: 1 if all terms and weights are the same, 0 if they have no term in common.
    pub fn cosine(&self, other: &TermVector) -> f64 {
        let (mut one, mut two, mut sum) = (0, 0, 0_u32);
        while one < self.count && two < other.count {
            let (first, second) = (self.entries[one], other.entries[two]);
            if first.0 == second.0 {
                sum += u32::from(first.1) * u32::from(second.1);
            }
            one += usize::from(first.0 <= second.0);
            two += usize::from(second.0 <= first.0);
        }
        if sum == 0 {
            return 0.0;
        }
        f64::from(sum) / (f64::from(self.square()) * f64::from(other.square())).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn pages() -> impl Strategy<Value = Vec<Weighed>> {
        let terms = proptest::collection::btree_map(0_u32..90, 1_u32..2000, 0..60);
        terms.prop_map(|terms| {
            let weight = |number: u32| f64::from(number) / 97.0;
            terms.into_iter().map(|(term, number)| Weighed { term, weight: weight(number) }).collect()
        })
    }

    /// The best terms and their cosine, without 8 bits.
    fn exact(one: &[Weighed], two: &[Weighed]) -> f64 {
        let [one, two] = [one, two].map(|page| {
            let mut page = page.to_vec();
            page.sort_by(|one, two| two.weight.total_cmp(&one.weight).then(one.term.cmp(&two.term)));
            page.truncate(32);
            page.into_iter().map(|weighed| (weighed.term, weighed.weight)).collect::<BTreeMap<_, _>>()
        });
        let square = |page: &BTreeMap<u32, f64>| page.values().map(|weight| weight * weight).sum::<f64>();
        let sum: f64 = one.iter().filter_map(|(term, weight)| Some(weight * two.get(term)?)).sum();
        if sum == 0.0 { 0.0 } else { sum / (square(&one) * square(&two)).sqrt() }
    }

    proptest! {
        #[test]
        fn cosines_survive_in_eight_bits(one in pages(), two in pages()) {
            let vectors = [&one, &two].map(|page| TermVector::choose(&mut page.clone()));
            let cosine = vectors[0].cosine(&vectors[1]);
            prop_assert!((cosine - exact(&one, &two)).abs() < 0.004, "{} for {}", cosine, exact(&one, &two));
            for (vector, page) in vectors.iter().zip([&one, &two]) {
                prop_assert_eq!(&TermVector::decode(&vector.encode()), vector);
                prop_assert_eq!(vector.len(), page.len().min(32));
                prop_assert!(vector.iter().map(|(term, _)| term).is_sorted());
                prop_assert!(page.is_empty() || (vector.cosine(vector) - 1.0).abs() < 1e-12);
                let length: f64 = vector.unit().map(|(_, weight)| weight * weight).sum();
                prop_assert!(page.is_empty() || (length - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn frequent_terms_weigh_little() {
        let weight = |count, documents| Weighed::new(0, count, documents, 1000).weight;
        assert!(weight(1, 10) > weight(1, 20) && weight(3, 20) > weight(1, 20));
        assert!((weight(1, 10) - 100_f64.ln()).abs() < 1e-12);
        let nothing = &mut [Weighed::new(0, 5, 1000, 1000)];
        assert!(TermVector::choose(nothing).is_empty(), "what all pages have tells nothing");
    }
}
