//! From values to pixels: ranges, ticks at round values, and the mapping.
//!
//! Linear ticks are 1, 2 or 5 times a power of ten; those of time are round on a clock; those of logarithmic axes
//! are decades, with the nine between them as minor ones. Everything here is finite for any finite input.

use super::Unit;
use crate::format;

/// Values beyond this are drawn at it, so that differences of two cannot overflow.
pub(super) const HUGE: f64 = 1e300;
/// Values below this count as zero, so that a step between them cannot vanish.
const TINY: f64 = 1e-290;

/// One mark on an axis; a minor one has no label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// The range of an axis and its marks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<Tick>,
    pub(super) minor: Vec<f64>,
    pub(super) logarithmic: bool,
}

impl Plan {
    /// The mapping onto pixels from `start` to `end`.
    pub(super) fn scale(&self, start: f64, end: f64) -> Scale {
        let (low, high) =
            if self.logarithmic { (self.low.log10(), self.high.log10()) } else { (self.low, self.high) };
        Scale { low, high, start, end, logarithmic: self.logarithmic }
    }
}

/// A mapping from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// The pixel of `value`, held within the axis.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.log10() } else { value };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }
}

/// The smallest and largest of finite values; `None` of nothing.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).map(|value| value.clamp(-HUGE, HUGE)).fold(
        None,
        |extent, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        },
    )
}

/// A linear axis over `low..=high` with about `count` ticks. With `round` the range grows to whole steps.
pub(super) fn linear(low: f64, high: f64, count: usize, unit: Unit, round: bool) -> Plan {
    let (mut low, mut high) = spread(low, high);
    let step = step(high - low, count, unit);
    if round {
        low = (low / step + 1e-9).floor() * step;
        high = (high / step - 1e-9).ceil() * step;
    }
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let largest = low.abs().max(high.abs());
    let marks = (last - first).clamp(0.0, 100.0) as usize;
    let ticks = (0..=marks)
        .map(|at| (first + at as f64) * step)
        .map(|value| Tick { value, label: label(value, step, largest, unit) })
        .collect();
    Plan { low, high, ticks, minor: Vec::new(), logarithmic: false }
}

/// A logarithmic axis around `low..=high`, both above zero, with at most `count` labels of decades. It begins at a
/// decade and ends at 1, 2 or 5 times one; where decades are few, 2 and 5 have labels too.
pub(super) fn logarithmic(low: f64, high: f64, count: usize, unit: Unit) -> Plan {
    let high = high.clamp(TINY, HUGE);
    let first = (low.clamp(TINY, HUGE).log10() + 1e-9).floor() as i32;
    let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
    let decades = (last - first) as usize;
    let end = [2.0, 5.0]
        .map(|digit| digit * 10f64.powi(last - 1))
        .into_iter()
        .find(|end| decades > 1 && *end >= high)
        .unwrap_or(10f64.powi(last));
    let stride = [1, 2, 3, 5, 10, 20, 50, 100, 200]
        .into_iter()
        .find(|stride| decades / stride < count.max(2))
        .unwrap_or(500);
    let digits: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let ticks = (first..=last)
        .step_by(stride)
        .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
        .filter(|value| *value <= end * (1.0 + 1e-9))
        .map(|value| Tick { value, label: decade(value, unit) })
        .collect();
    let minor_digits = if stride == 1 { 2..10 } else { 1..2 };
    let minor = (first..=last)
        .flat_map(|power| minor_digits.clone().map(move |digit| f64::from(digit) * 10f64.powi(power)))
        .filter(|value| *value < end)
        .collect();
    Plan { low: 10f64.powi(first), high: end, ticks, minor, logarithmic: true }
}

/// A range that is wide enough to have ticks: a single value gets room around it.
fn spread(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 && high - low > TINY {
        return (low, high);
    }
    if size < TINY { (0.0, 1.0) } else { (low - size / 2.0, high + size / 2.0) }
}

/// The distance of ticks: the smallest round one that gives at most `count` of them.
fn step(span: f64, count: usize, unit: Unit) -> f64 {
    const CLOCK: [f64; 16] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0,
        21_600.0,
    ];
    let least = span / count.max(1) as f64;
    if unit == Unit::Seconds && least > 0.5 {
        if let Some(step) = CLOCK.into_iter().chain([43_200.0]).find(|step| *step >= least) {
            return step;
        }
        return round_up(least / 86_400.0) * 86_400.0;
    }
    round_up(least)
}

/// The next of 1, 2, 5, 10, 20, 50… from `least` up.
fn round_up(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(power * 10.0)
}

fn label(value: f64, step: f64, largest: f64, unit: Unit) -> String {
    match unit {
        Unit::Number => format::tick(value, step, largest),
        Unit::Bytes => format::bytes(value),
        Unit::Seconds => clock(value, step),
    }
}

/// Seconds as short as the step allows: `30 s`, `1:30`, `5 min`, `1 h 30`, `2 d`.
fn clock(seconds: f64, step: f64) -> String {
    let size = seconds.abs();
    let sign = if seconds < 0.0 { "−" } else { "" };
    let (minutes, hours) = ((size / 60.0 + 1e-6).floor(), (size / 3600.0 + 1e-6).floor());
    if size < step * 1e-6 {
        "0".to_owned()
    } else if size < 60.0 - 1e-6 {
        format!("{} s", format::tick(seconds, step, size))
    } else if step >= 86_400.0 || size >= 86_400.0 * 1000.0 {
        format!("{sign}{} d", format::tick(size / 86_400.0, step / 86_400.0, size / 86_400.0))
    } else if step >= 3600.0 {
        format!("{sign}{hours:.0} h")
    } else if size >= 3600.0 - 1e-6 {
        format!("{sign}{hours:.0} h {:02.0}", minutes - hours * 60.0)
    } else if step >= 60.0 || (size - minutes * 60.0).abs() < 1e-6 {
        format!("{sign}{minutes:.0} min")
    } else {
        format!("{sign}{minutes:.0}:{:02.0}", size - minutes * 60.0)
    }
}

fn decade(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Number => format::short(value),
        Unit::Bytes => format::bytes(value),
        Unit::Seconds => format::duration(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(plan: &Plan) -> Vec<&str> {
        plan.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(&linear(0.0, 970.0, 5, Unit::Number, true)),
            ["0", "200", "400", "600", "800", "1,000"]
        );
        assert_eq!(labels(&linear(0.0, 0.9, 5, Unit::Number, true)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&linear(-3.0, 4.0, 4, Unit::Number, true)), ["−4", "−2", "0", "2", "4"]);
        assert_eq!(
            labels(&linear(0.0, 2.1e6, 5, Unit::Number, true)),
            ["0", "500k", "1M", "1.5M", "2M", "2.5M"]
        );
    }

    #[test]
    fn ticks_of_time_are_round_on_a_clock() {
        assert_eq!(labels(&linear(0.0, 20.0, 5, Unit::Seconds, false)), ["0", "5 s", "10 s", "15 s", "20 s"]);
        assert_eq!(
            labels(&linear(0.0, 130.0, 5, Unit::Seconds, false)),
            ["0", "30 s", "1 min", "1:30", "2 min"]
        );
        assert_eq!(
            labels(&linear(0.0, 7000.0, 4, Unit::Seconds, false)),
            ["0", "30 min", "1 h 00", "1 h 30"]
        );
        assert_eq!(
            labels(&linear(0.0, 1e6, 6, Unit::Seconds, false)),
            ["0", "2 d", "4 d", "6 d", "8 d", "10 d"]
        );
    }

    #[test]
    fn decades_have_minor_ticks_between_them() {
        let plan = logarithmic(3.0, 4000.0, 8, Unit::Number);
        assert_eq!(labels(&plan), ["1", "10", "100", "1k"]);
        assert_eq!(plan.high, 5000.0);
        assert_eq!(plan.minor.len(), 3 * 8 + 3);
        assert_eq!(&plan.minor[..3], [2.0, 3.0, 4.0]);
    }

    #[test]
    fn few_decades_have_labels_between_them() {
        assert_eq!(labels(&logarithmic(1.0, 1.0, 8, Unit::Number)), ["1", "2", "5", "10"]);
        assert_eq!(labels(&logarithmic(3.0, 40.0, 8, Unit::Number)), ["1", "2", "5", "10", "20", "50"]);
    }

    #[test]
    fn many_decades_are_skipped_in_strides() {
        assert!(logarithmic(1e-280, 1e300, 6, Unit::Number).ticks.len() <= 6);
    }

    #[test]
    fn one_value_gets_room() {
        let plan = linear(5.0, 5.0, 5, Unit::Number, false);
        assert!(plan.low < 5.0 && plan.high > 5.0 && plan.ticks.len() >= 2);
        assert_eq!(plan.scale(0.0, 100.0).at(5.0), 50.0);
    }

    proptest! {
        #[test]
        fn ticks_are_few_finite_and_in_range(a in -HUGE..HUGE, b in -HUGE..HUGE, power in -600i32..0, round: bool) {
            let factor = 10f64.powi(power / 2) * 10f64.powi(power - power / 2);
            let (a, b) = (a * factor, b * factor);
            for unit in [Unit::Number, Unit::Bytes, Unit::Seconds] {
                let plan = linear(a.min(b), a.max(b), 5, unit, round);
                prop_assert!(plan.low.is_finite() && plan.high > plan.low, "{plan:?}");
                prop_assert!((1..=12).contains(&plan.ticks.len()), "{plan:?}");
                let slack = (plan.high - plan.low) * 1e-6;
                for tick in &plan.ticks {
                    prop_assert!(tick.value >= plan.low - slack && tick.value <= plan.high + slack, "{plan:?}");
                }
            }
        }
    }
}
