//! How numbers are spread: quantiles, mean, and how many there are of each order of size.
//!
//! Made of values with their counts, so that a million pages cost no more than the sizes that occur among them.

use mattock_plot::chart::{Axis, Bin, Binning, Histogram, Svg};
use serde::Serialize;

/// Bins for each power of ten.
const PER_DECADE: f64 = 5.0;

/// See the module. All quantiles are values that occur: the least that is not below the given share of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many values there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// Sum by count.
    pub mean: f64,
    /// The least.
    pub least: u64,
    /// A quarter of them is not above this.
    pub quarter: u64,
    /// Half of them are not.
    pub median: u64,
    /// Three quarters.
    pub three_quarters: u64,
    /// 99 of 100.
    pub percentile_99: u64,
    /// The greatest.
    pub most: u64,
    /// How many are 0.
    pub zero: u64,
    /// How many of the others lie from each edge to the next, five edges for each power of ten.
    pub bins: Vec<SpreadBin>,
}

/// A bin of a [`Spread`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpreadBin {
    /// Its lower edge, which belongs to it.
    pub from: f64,
    /// Its upper edge, which does not.
    pub to: f64,
    /// How many values.
    pub count: u64,
}

impl Spread {
    /// Of values with their counts, in any order; `None` of nothing.
    pub(crate) fn of(mut counts: Vec<(u64, u64)>) -> Option<Spread> {
        counts.retain(|(_, count)| *count > 0);
        counts.sort_unstable();
        let count: u64 = counts.iter().map(|(_, count)| count).sum();
        let (least, most) = (counts.first()?.0, counts.last()?.0);
        let sum =
            counts.iter().fold(0_u64, |sum, (value, count)| sum.saturating_add(value.saturating_mul(*count)));
        let quantile = |of_hundred: u64| {
            // The rank is rounded up, so that the share is reached.
            let rank = (u128::from(count) * u128::from(of_hundred)).div_ceil(100).max(1);
            let mut passed = 0_u128;
            let found = counts.iter().find(|(_, count)| {
                passed += u128::from(*count);
                passed >= rank
            });
            found.map_or(most, |(value, _)| *value)
        };
        Some(Spread {
            count,
            sum,
            mean: sum as f64 / count as f64,
            least,
            quarter: quantile(25),
            median: quantile(50),
            three_quarters: quantile(75),
            percentile_99: quantile(99),
            most,
            zero: counts.iter().filter(|(value, _)| *value == 0).map(|(_, count)| count).sum(),
            bins: bins(&counts),
        })
    }

    /// The histogram of it; none if all are of one size.
    pub(crate) fn chart(&self, title: &str, x: Axis, what: &str) -> Option<Svg> {
        if self.bins.len() < 2 {
            return None;
        }
        let bin = |bin: &SpreadBin| Bin { from: bin.from, to: bin.to, count: bin.count };
        let chart = Histogram {
            title: title.into(),
            reading: "Each bar's height is how many lie between its edges; the axis below is logarithmic."
                .into(),
            x,
            y: Axis::number(what),
            counted: self.bins.iter().map(bin).collect(),
            binning: Binning::Logarithmic,
            ..Histogram::default()
        };
        Some(chart.render())
    }
}

/// Which bin a value above 0 is in.
fn bin_of(value: u64) -> i32 {
    let guess = ((value as f64).log10() * PER_DECADE).floor() as i32;
    // Logarithms are rounded; edges decide.
    if edge(guess + 1) <= value as f64 { guess + 1 } else { guess }
}

fn edge(bin: i32) -> f64 {
    let edge = 10_f64.powf(f64::from(bin) / PER_DECADE);
    // Powers of ten are meant exactly.
    if bin % PER_DECADE as i32 == 0 { edge.round() } else { edge }
}

/// All bins from the first to the last that has values, those between them too.
fn bins(sorted: &[(u64, u64)]) -> Vec<SpreadBin> {
    let mut bins: Vec<SpreadBin> = Vec::new();
    let mut last = None;
    for (value, count) in sorted.iter().filter(|(value, _)| *value > 0) {
        let bin = bin_of(*value);
        let next = last.map_or(bin, |last: i32| last + 1);
        bins.extend((next..=bin).map(|bin| SpreadBin { from: edge(bin), to: edge(bin + 1), count: 0 }));
        last = Some(bin);
        if let Some(bin) = bins.last_mut() {
            bin.count += count;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_few_numbers() {
        let spread = Spread::of(vec![(10, 1), (0, 1), (1000, 2)]).unwrap();
        assert_eq!((spread.count, spread.sum, spread.mean), (4, 2010, 502.5));
        assert_eq!((spread.least, spread.quarter, spread.median), (0, 0, 10));
        assert_eq!(
            (spread.three_quarters, spread.percentile_99, spread.most, spread.zero),
            (1000, 1000, 1000, 1)
        );
        assert_eq!(spread.bins.len(), 11);
        assert_eq!((spread.bins[0].from, spread.bins[0].count), (10.0, 1));
        assert_eq!((spread.bins[10].from, spread.bins[10].count), (1000.0, 2));
        assert_eq!(Spread::of(vec![(7, 0)]), None);
        assert_eq!(Spread::of(vec![(0, 3)]).unwrap().bins, []);
    }

    proptest! {
        #[test]
        fn as_if_all_were_sorted(mut values in prop::collection::vec(0_u64..2_000_000, 1..300)) {
            let spread = Spread::of(values.iter().map(|value| (*value, 1)).collect()).unwrap();
            values.sort_unstable();
            let at = |share: f64| values[((values.len() as f64 * share).ceil() as usize).max(1) - 1];
            prop_assert_eq!((spread.quarter, spread.median, spread.three_quarters), (at(0.25), at(0.5), at(0.75)));
            prop_assert_eq!(spread.sum, values.iter().sum::<u64>());
            let inside = |bin: &SpreadBin| {
                values.iter().filter(|value| (bin.from..bin.to).contains(&(**value as f64))).count() as u64
            };
            prop_assert!(spread.bins.iter().all(|bin| bin.count == inside(bin)), "{:?}", spread.bins);
            prop_assert_eq!(spread.bins.iter().map(|bin| bin.count).sum::<u64>() + spread.zero, spread.count);
            prop_assert!(spread.bins.windows(2).all(|pair| pair[0].to == pair[1].from));
        }
    }
}
