//! Encoding with finite states, as Zstandard does it (RFC 8878, 4.1), for distributions that are known beforehand.

use super::bits::Bits;

/// What a symbol does to the state.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Added to a state it gives, in the upper half, how many of its bits go out.
    bits: u32,
    /// Added to what is left of the state it gives the place of the next one.
    place: i32,
}

/// The states of one distribution.
pub(super) struct States {
    log: u32,
    steps: Vec<Step>,
    next: Vec<u16>,
}

impl States {
    /// Of how often each symbol comes, in shares that add up to a power of two; -1 is "less than once".
    pub(super) fn new(shares: &[i8]) -> States {
        let size: usize = shares.iter().map(|share| usize::from(share.unsigned_abs())).sum();
        let log = size.ilog2();
        // Those that hardly come have the last places, the others are spread.
        let mut symbols = vec![0; size];
        let mut last = size;
        for (symbol, _) in shares.iter().enumerate().filter(|(_, share)| **share < 0) {
            last -= 1;
            symbols[last] = symbol;
        }
        let mut at = 0;
        for (symbol, share) in shares.iter().enumerate() {
            for _ in 0..*share {
                symbols[at] = symbol;
                at = (at + (size >> 1) + (size >> 3) + 3) & (size - 1);
                while at >= last {
                    at = (at + (size >> 1) + (size >> 3) + 3) & (size - 1);
                }
            }
        }
        let mut ends: Vec<usize> = shares
            .iter()
            .scan(0, |sum, share| Some(std::mem::replace(sum, *sum + usize::from(share.unsigned_abs()))))
            .collect();
        let mut next = vec![0; size];
        let steps = shares.iter().zip(&ends).map(|(share, begin)| match u32::from(share.unsigned_abs()) {
            0 => Step::default(),
            1 => Step { bits: (log << 16) - (1 << log), place: *begin as i32 - 1 },
            share => {
                let most = log - (share - 1).ilog2();
                Step { bits: (most << 16) - (share << most), place: *begin as i32 - share as i32 }
            }
        });
        let steps = steps.collect();
        for (state, symbol) in symbols.into_iter().enumerate() {
            next[ends[symbol]] = (size + state) as u16;
            ends[symbol] += 1;
        }
        States { log, steps, next }
    }

    /// The state before the first symbol that is encoded, which is the last that is read.
    pub(super) fn begin(&self, symbol: usize) -> u32 {
        let step = self.steps[symbol];
        let bits = (step.bits + (1 << 15)) >> 16;
        self.at(((bits << 16) - step.bits) >> bits, step)
    }

    pub(super) fn encode(&self, state: &mut u32, symbol: usize, out: &mut Bits) {
        let step = self.steps[symbol];
        let bits = (*state + step.bits) >> 16;
        out.add(u64::from(*state & ((1 << bits) - 1)), bits);
        *state = self.at(*state >> bits, step);
    }

    /// The last state, with which reading begins.
    pub(super) fn end(&self, state: u32, out: &mut Bits) {
        out.add(u64::from(state & ((1 << self.log) - 1)), self.log);
    }

    fn at(&self, rest: u32, step: Step) -> u32 {
        self.next[(rest as i32 + step.place) as usize].into()
    }
}

/// Small numbers with their distribution before them, read by two states in turns: as lengths of a code are told (4.2.1.2).
pub(super) fn told(numbers: &[u8]) -> Vec<u8> {
    let shares = shares(numbers);
    let mut out = Bits::new();
    tell(&shares, &mut out);
    let states = States::new(&shares);
    let [even, odd] = [0, 1].map(|parity| {
        let last = (0..numbers.len()).rev().find(|at| at % 2 == parity).unwrap_or_default();
        (last, states.begin(numbers[last].into()))
    });
    let mut running = [even.1, odd.1];
    for at in (0..numbers.len()).rev().filter(|at| *at != even.0 && *at != odd.0) {
        states.encode(&mut running[at % 2], numbers[at].into(), &mut out);
    }
    states.end(running[1], &mut out);
    states.end(running[0], &mut out);
    out.close();
    out.bytes().to_vec()
}

/// How often each number comes, in 64 parts.
fn shares(numbers: &[u8]) -> Vec<i8> {
    let mut counts = vec![0; usize::from(numbers.iter().copied().max().unwrap_or_default()) + 1];
    numbers.iter().for_each(|number| counts[usize::from(*number)] += 1);
    let part = |count: &usize| if *count == 0 { 0 } else { (count * 64 / numbers.len()).max(1) as i8 };
    let mut shares: Vec<i8> = counts.iter().map(part).collect();
    let rest = 64 - shares.iter().sum::<i8>();
    if let Some(most) = shares.iter_mut().max() {
        *most += rest;
    }
    shares
}

/// A distribution (4.1.1): each share in as many bits as what is left to be shared out leaves open.
fn tell(shares: &[i8], out: &mut Bits) {
    let size: usize = shares.iter().map(|share| usize::from(share.unsigned_abs())).sum();
    out.add(u64::from(size.ilog2()) - 5, 4);
    let (mut left, mut half, mut bits) = (size as i32 + 1, size as i32, size.ilog2() + 1);
    let mut at = 0;
    while let Some(share) = shares.get(at).filter(|_| left > 1) {
        at += 1;
        let spare = 2 * half - 1 - left;
        left -= i32::from(share.unsigned_abs());
        let mut value = i32::from(*share) + 1;
        if value >= half {
            value += spare;
        }
        out.add(value as u64, bits - u32::from(value < spare));
        while left < half {
            (half, bits) = (half / 2, bits - 1);
        }
        if *share == 0 {
            // How many more of them follow, three at a time.
            let mut more = shares[at..].iter().take_while(|share| **share == 0).count();
            at += more;
            while more >= 3 {
                out.add(3, 2);
                more -= 3;
            }
            out.add(more as u64, 2);
        }
    }
    out.align();
}
