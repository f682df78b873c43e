//! How many different values there were, without keeping any: HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007), with the
//! expectation of the coupon collector where few were seen. With M registers of a byte each the error is about 1.04 / √M.
//!
//! All in whole numbers and basic arithmetic, so every machine comes to the same estimate.

/// An estimate of the number of different hashes that were added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sketch<const M: usize> {
    registers: [u8; M],
}

impl<const M: usize> Default for Sketch<M> {
    fn default() -> Sketch<M> {
        Sketch { registers: [0; M] }
    }
}

/// The largest rank that counts: what has more zeros in front is as rare as anything.
const RANK_MAX: u32 = 40;

impl<const M: usize> Sketch<M> {
    /// Adds a hash; whether that can change the estimate.
    pub(super) fn add(&mut self, hash: u64) -> bool {
        let register = &mut self.registers[(hash % M as u64) as usize];
        let rank = ((hash / M as u64).trailing_zeros() + 1).min(RANK_MAX) as u8;
        let grows = rank > *register;
        if grows {
            *register = rank;
        }
        grows
    }

    pub(super) fn estimate(&self) -> u32 {
        let sum: u64 = self.registers.iter().map(|rank| 1 << (RANK_MAX - u32::from(*rank))).sum();
        let zeros = self.registers.iter().filter(|rank| **rank == 0).count();
        let size = M as f64;
        // The correction of the bias, for 16 registers and for 64.
        let alpha = if M <= 16 { 0.673 } else { 0.709 };
        let raw = alpha * size * size * (1u64 << RANK_MAX) as f64 / sum as f64;
        if zeros > 0 && raw <= 2.5 * size {
            // So many draws are expected until only so many of M coupons are missing.
            return (zeros + 1..=M).map(|missing| size / missing as f64).sum::<f64>().round() as u32;
        }
        raw.min(f64::from(u32::MAX)) as u32
    }

    pub(super) fn registers(&self) -> &[u8; M] {
        &self.registers
    }

    /// From bytes that may be anything.
    pub(super) fn from_registers(bytes: &[u8]) -> Sketch<M> {
        let mut sketch = Sketch::default();
        for (register, byte) in sketch.registers.iter_mut().zip(bytes) {
            *register = (*byte).min(RANK_MAX as u8);
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_weburl::Fingerprint;

    #[test]
    fn estimates_are_near_the_truth() {
        for count in [0u32, 1, 5, 16, 40, 100, 300, 1_000, 10_000, 100_000] {
            let (mut large, mut small) = (Sketch::<64>::default(), Sketch::<16>::default());
            for _ in 0..2 {
                for number in 0..count {
                    let hash = Fingerprint::of(&format!("{count}/{number}")).0;
                    large.add(hash);
                    small.add(hash);
                }
            }
            let off =
                |estimate: u32| (f64::from(estimate) - f64::from(count)).abs() / f64::from(count).max(1.0);
            assert!(off(large.estimate()) < 0.4, "{count}: {}", large.estimate());
            assert!(off(small.estimate()) < 0.8, "{count}: {}", small.estimate());
            assert_eq!(Sketch::<64>::from_registers(large.registers()), large);
        }
    }
}
