//! Power laws and other curves, computed with additions and multiplications only.
//!
//! The platform's `pow` and `ln` differ in the last bit from one C library to the next, and one bit is enough to
//! send a link elsewhere. These give the same world on every machine. Relative error below 1e-10.

use crate::mix::unit;

/// 1/13, 1/11, …, 1: the series of artanh.
const ODD_RECIPROCALS: [f64; 7] = [1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];

/// 1/10!, 1/9!, …, 1/0!: the series of exp.
const FACTORIAL_RECIPROCALS: [f64; 11] = [
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// The logarithm to base 2 of a positive, normal number.
pub(crate) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh((m-1)/(m+1)); the argument is at most 0.172, so seven terms suffice.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut sum = 0.0;
    for term in ODD_RECIPROCALS {
        sum = sum * square + term;
    }
    exponent as f64 + 2.0 * t * sum * std::f64::consts::LOG2_E
}

/// 2 to the power of y, for |y| < 1000.
pub(crate) fn exp2(y: f64) -> f64 {
    // Rounding by a cast: `floor` is a call on processors that lack the instruction.
    let whole = (y + 1024.5) as i64 - 1024;
    let z = (y - whole as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for term in FACTORIAL_RECIPROCALS {
        sum = sum * z + term;
    }
    sum * f64::from_bits(((1023 + whole) as u64) << 52)
}

/// x to the power of a, for x > 0.
pub(crate) fn pow(x: f64, a: f64) -> f64 {
    exp2(a * log2(x))
}

/// A Pareto distribution cut off at `max`: P(X ≥ x) ~ x^-exponent for min ≤ x ≤ max.
#[derive(Clone, Debug)]
pub(crate) struct Pareto {
    at_min: f64,
    span: f64,
    inverse: f64,
    max: f64,
}

impl Pareto {
    pub(crate) fn new(min: f64, max: f64, exponent: f64) -> Self {
        let at_min = pow(min, -exponent);
        Self { at_min, span: at_min - pow(max, -exponent), inverse: -1.0 / exponent, max }
    }

    /// The share of the distribution that lies below a value.
    pub(crate) fn share_below(&self, value: f64) -> f64 {
        ((self.at_min - pow(value, 1.0 / self.inverse)) / self.span).clamp(0.0, 1.0)
    }

    /// The value below which a share `u` of the distribution lies.
    pub(crate) fn at(&self, u: f64) -> f64 {
        pow(self.at_min - u * self.span, self.inverse).min(self.max)
    }
}

/// Ranks 0..count with P(rank) ~ (rank + 1)^-exponent, through the inverse of the continuous distribution.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    count: u64,
    span: f64,
    /// 1 − exponent, or 0 for the logarithmic case.
    slope: f64,
}

impl Zipf {
    pub(crate) fn new(count: u64, exponent: f64) -> Self {
        let end = count as f64 + 1.0;
        let slope = 1.0 - exponent;
        if slope.abs() < 1e-6 {
            Self { count, span: log2(end), slope: 0.0 }
        } else {
            Self { count, span: pow(end, slope) - 1.0, slope }
        }
    }

    pub(crate) fn rank(&self, hash: u64) -> u64 {
        let u = unit(hash);
        let x =
            if self.slope == 0.0 { exp2(u * self.span) } else { pow(u * self.span + 1.0, 1.0 / self.slope) };
        (x as u64).saturating_sub(1).min(self.count - 1)
    }
}

/// Factors around 1 in the shape of a log-normal distribution with mean 1; the top byte of a hash picks one.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    factors: [f32; 256],
}

impl Spread {
    pub(crate) fn new(sigma: f64) -> Self {
        let mut factors = [0f32; 256];
        let mut sum = 0.0;
        for (i, factor) in factors.iter_mut().enumerate() {
            // The logistic quantile over 1.702 is the normal one to within a hundredth.
            let u = (i as f64 + 0.5) / 256.0;
            let z = log2(u / (1.0 - u)) * std::f64::consts::LN_2 / 1.702;
            let value = exp2(sigma * z * std::f64::consts::LOG2_E);
            sum += value;
            *factor = value as f32;
        }
        let mean = (sum / 256.0) as f32;
        factors.iter_mut().for_each(|factor| *factor /= mean);
        Self { factors }
    }

    #[inline]
    pub(crate) fn scale(&self, hash: u64, mean: f64) -> u64 {
        (mean * f64::from(self.factors[(hash >> 56) as usize])) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::Stream;

    #[test]
    fn agrees_with_the_platform() {
        let mut stream = Stream::new(1);
        for _ in 0..5_000 {
            let x = 1e-6 + stream.unit() * 1e6;
            let a = stream.unit() * 4.0 - 2.0;
            assert!((log2(x) - x.log2()).abs() < 1e-10, "log2({x})");
            assert!((pow(x, a) / x.powf(a) - 1.0).abs() < 1e-9, "pow({x}, {a})");
        }
    }

    #[test]
    fn pareto_stays_in_its_bounds_and_keeps_its_tail() {
        let pareto = Pareto::new(10.0, 100_000.0, 1.0);
        let values: Vec<f64> = (0..10_000).map(|i| pareto.at((i as f64 + 0.5) / 10_000.0)).collect();
        assert!(values.iter().all(|&v| (9.999..=100_000.0).contains(&v)));
        let above = values.iter().filter(|&&v| v >= 100.0).count();
        assert!((pareto.share_below(pareto.at(0.3)) - 0.3).abs() < 1e-9);
        assert!((900..1_100).contains(&above), "a tenth is ten times the minimum or more: {above}");
    }

    #[test]
    fn zipf_prefers_low_ranks() {
        for exponent in [0.8, 1.0, 1.2] {
            let zipf = Zipf::new(1_000, exponent);
            let mut stream = Stream::new(9);
            let mut counts = vec![0u32; 1_000];
            for _ in 0..100_000 {
                counts[zipf.rank(stream.next()) as usize] += 1;
            }
            assert!(counts[0] > counts[9] && counts[9] > counts[99] && counts[99] > 0);
        }
    }

    #[test]
    fn spread_has_mean_one() {
        let spread = Spread::new(0.6);
        let mut stream = Stream::new(5);
        let sum: u64 = (0..50_000).map(|_| spread.scale(stream.next(), 1_000.0)).sum();
        assert!((970..1_030).contains(&(sum / 50_000)), "{}", sum / 50_000);
    }
}
