//! How often values of each size occur: page sizes, response times, depths.
//!
//! Bins have equal widths on the axis, so that areas can be compared: steps of 1, 2 or 5, or, for values that span
//! decades, a whole number of bins per decade of a logarithmic axis. A bin holds its lower edge and not its upper one (the last holds both).

use super::Axis;
use super::canvas::{Canvas, Shape, Svg};
use super::frame::{self, Frame};
use super::scale::{self, HUGE, Plan, Tick};
use crate::format;

/// How values are sorted into bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binning {
    /// Bins of equal width.
    #[default]
    Equal,
    /// Bins of equal ratio on a logarithmic axis; zero and less is left out, and the chart says so.
    Logarithmic,
}

/// A histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// What the chart shows.
    pub title: String,
    /// How to read it, in a sentence; empty for a general one.
    pub reading: String,
    /// What the values measure.
    pub x: Axis,
    /// What is counted: "pages".
    pub y: Axis,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// Bins side by side that somebody has counted already, from the left; then `values` are not looked at.
    pub counted: Vec<Bin>,
    /// How they are sorted into bins.
    pub binning: Binning,
}

/// How many values there are between two edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The lower edge.
    pub from: f64,
    /// The upper one.
    pub to: f64,
    /// How many values.
    pub count: u64,
}

impl Histogram {
    /// Draws the chart.
    pub fn render(&self) -> Svg {
        let logarithmic = self.binning == Binning::Logarithmic;
        if !self.counted.is_empty() {
            return self.of_bins(&counted(&self.counted, logarithmic), "");
        }
        let mut values: Vec<f64> = self
            .values
            .iter()
            .copied()
            .filter(|value| value.is_finite() && (!logarithmic || *value > 0.0))
            .map(|value| value.clamp(-HUGE, HUGE))
            .collect();
        values.sort_by(f64::total_cmp);
        let note = frame::note((self.values.len() - values.len()) as u64, logarithmic);
        self.of_bins(&bins(&values, &edges(&values, logarithmic)), &note)
    }

    fn of_bins(&self, bins: &[Bin], note: &str) -> Svg {
        let reading =
            frame::reading_or(&self.reading, "Each bar's height is how many values lie between its edges.");
        Svg::draw(reading, |shape| self.draw(shape, bins, reading, note))
    }

    fn draw(&self, shape: Shape, bins: &[Bin], reading: &str, note: &str) -> String {
        let mut canvas = Canvas::default();
        let top = frame::header(&mut canvas, shape, &self.title, &[], &self.y.title);
        let x = self.x_plan(shape, bins);
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0) as f64;
        let y = scale::linear(0.0, most.max(1.0), 5, self.y.unit, true);
        let frame = Frame {
            left: shape.padding() + frame::y_axis_width(&y),
            right: shape.width() - shape.padding() - 14.0,
            top,
            bottom: top + if shape.is_narrow() { 170.0 } else { 220.0 },
        };
        frame.draw(&mut canvas, (&self.x, &x), &y);
        if bins.is_empty() {
            frame.draw_empty(&mut canvas);
        }
        let (x_scale, y_scale) = (frame.x_scale(&x), frame.y_scale(&y));
        let total: u64 = bins.iter().map(|bin| bin.count).sum();
        for bin in bins.iter().filter(|bin| bin.count > 0) {
            let (left, right) = (x_scale.at(bin.from), x_scale.at(bin.to));
            let height = (frame.bottom - y_scale.at(bin.count as f64)).max(1.5);
            let title = format!(
                "{} to {}: {} ({})",
                self.x.unit.value(bin.from),
                self.x.unit.value(bin.to),
                format::integer(bin.count),
                format::percent(bin.count as f64, total as f64)
            );
            let at = (left + 0.75, frame.bottom - height);
            canvas.rect("bar c1", at, ((right - left - 1.5).max(1.0), height), 2.0, &title);
        }
        let height = frame::footer(&mut canvas, shape, frame.bottom + frame::X_AXIS_HEIGHT, note);
        canvas.finish(shape, height, &self.title, &frame::description(reading, note))
    }

    /// The x axis from the first bin's lower edge to the last one's upper.
    fn x_plan(&self, shape: Shape, bins: &[Bin]) -> Plan {
        let (low, high) = match (bins.first(), bins.last()) {
            (Some(first), Some(last)) => (first.from, last.to),
            _ => (1.0, 10.0),
        };
        let count = if shape.is_narrow() { 5 } else { 9 };
        if self.binning == Binning::Equal {
            return scale::linear(low, high, count, self.x.unit, false);
        }
        let mut plan = scale::logarithmic(low, high, count, self.x.unit);
        let seen = |value: f64| value >= low * 0.999 && value <= high * 1.001;
        // Within one decade there may be no power of ten to label.
        if !plan.ticks.iter().any(|tick| seen(tick.value)) {
            plan.ticks = [low, high].map(|value| Tick { value, label: self.x.unit.value(value) }).into();
        }
        plan.ticks.retain(|tick| seen(tick.value));
        plan.minor.retain(|value| seen(*value));
        Plan { low, high, ..plan }
    }
}

/// Round edges around sorted values; none of no values.
fn edges(values: &[f64], logarithmic: bool) -> Vec<f64> {
    let (Some(low), Some(high)) = (values.first().copied(), values.last().copied()) else {
        return Vec::new();
    };
    if !logarithmic {
        let plan = scale::linear(low, high, 30, super::Unit::Number, true);
        return plan.ticks.iter().map(|tick| tick.value).collect();
    }
    let (low, high) = (low.log10(), high.log10());
    // As few per decade as give about as many bins as the equal ones.
    let per_decade =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|count| count * (high - low) >= 18.0).unwrap_or(20.0);
    let first = (low * per_decade + 1e-9).floor() as i32;
    let last = ((high * per_decade + 1e-9).floor() as i32 + 1).max(first + 1);
    (first..=last).map(|at| 10f64.powf(f64::from(at) / per_decade)).collect()
}

/// The bins that can be drawn: with edges that are numbers, in order, and on a logarithmic axis above zero.
fn counted(bins: &[Bin], logarithmic: bool) -> Vec<Bin> {
    let least = if logarithmic { 1e-300 } else { -HUGE };
    let mut kept: Vec<Bin> = Vec::new();
    for bin in bins {
        let after = kept.last().map_or(least, |before| before.to);
        if bin.from.is_finite() && bin.from >= after && bin.to > bin.from && bin.to <= HUGE {
            kept.push(*bin);
        }
    }
    kept
}

fn bins(values: &[f64], edges: &[f64]) -> Vec<Bin> {
    let below = |edge: f64| values.partition_point(|value| *value < edge);
    let last = edges.len().saturating_sub(2);
    edges
        .windows(2)
        .enumerate()
        .map(|(at, pair)| {
            // The outermost bins take what rounding of the edges would leave outside.
            let from = if at == 0 { 0 } else { below(pair[0]) };
            let to = if at == last { values.len() } else { below(pair[1]) };
            Bin { from: pair[0], to: pair[1], count: (to - from) as u64 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_round() {
        let values: Vec<f64> = (0..=97).map(f64::from).collect();
        assert_eq!(edges(&values, false)[..3], [0.0, 5.0, 10.0]);
    }

    #[test]
    fn logarithmic_edges_meet_every_decade() {
        let edges = edges(&[1.0, 20.0, 12_345.0], true);
        assert_eq!(edges.len(), 22);
        for decade in [1.0, 10.0, 100.0, 1000.0, 10_000.0] {
            assert!(edges.iter().any(|edge| (edge / decade - 1.0).abs() < 1e-9), "{decade} in {edges:?}");
        }
    }

    proptest! {
        #[test]
        fn every_value_is_counted_once(mut values in prop::collection::vec(1e-3f64..1e6, 1..200), logarithmic: bool) {
            values.sort_by(f64::total_cmp);
            let bins = bins(&values, &edges(&values, logarithmic));
            prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
            for bin in &bins[..bins.len() - 1] {
                let naive = values.iter().filter(|value| bin.from <= **value && **value < bin.to).count();
                prop_assert_eq!(bin.count, naive as u64);
            }
        }
    }
}
