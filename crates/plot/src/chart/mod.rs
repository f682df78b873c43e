//! SVG charts: lines over time, sizes by rank on logarithmic axes, bars, histograms, bow-ties.
//!
//! An experiment or a report fills a chart's public fields and calls `render`; the [`Svg`] that comes back goes into
//! a file ([`Svg::standalone`]) or into a page ([`crate::report`]). A chart is drawn three times: alone with its title on a
//! background of its own, and without them for a page, wide and narrow, because a wide chart shrunk onto a phone
//! cannot be read.
//!
//! - Colours are CSS variables with a light and a dark value ([`STYLE`]); they can be told apart with the common
//!   kinds of colour blindness, and beyond the sixth series the lines are dashed too.
//! - Points and bars carry a `<title>`, which browsers show as a tooltip: there are no scripts.
//! - What cannot be drawn (not a number; zero on a logarithmic axis) is left out, and the chart says how many.
//! - Cost: linear in the points, and the output is bounded by the pixels: dense series are thinned to what can be seen.

mod bars;
mod bowtie;
mod canvas;
mod frame;
mod histogram;
mod line;
mod log_log;
mod scale;
#[cfg(test)]
mod tests;

pub use bars::{Bar, BarChart, Tone};
pub use bowtie::BowtieChart;
pub use canvas::{STYLE, Svg};
pub use histogram::{Bin, Binning, Histogram};
pub use line::LineChart;
pub use log_log::LogLogChart;

use crate::format;

/// What an axis measures, which decides its ticks and how values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Plain numbers: `1,500`, `20k`.
    #[default]
    Number,
    /// Bytes: `20 kB`.
    Bytes,
    /// Seconds: `30 s`, `1:30`, `2 h`; ticks at round times.
    Seconds,
}

impl Unit {
    /// A value as a tooltip says it.
    pub(crate) fn value(self, value: f64) -> String {
        match self {
            Unit::Number => format::number(value),
            Unit::Bytes => format::bytes(value),
            Unit::Seconds => format::duration(value),
        }
    }
}

/// An axis: its title and what it measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// What the axis shows, with its unit where the ticks do not say it: "pages per second".
    pub title: String,
    /// How values are written.
    pub unit: Unit,
}

impl Axis {
    /// An axis of plain numbers.
    pub fn number(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), unit: Unit::Number }
    }

    /// An axis of bytes.
    pub fn bytes(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), unit: Unit::Bytes }
    }

    /// An axis of seconds.
    pub fn seconds(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), unit: Unit::Seconds }
    }
}

/// Points of one kind, with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Shown at the line's end or in the legend.
    pub name: String,
    /// Pairs of x and y, in any order.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A series of points.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.into(), points: points.into_iter().collect() }
    }

    /// Sizes by rank: the largest has rank 1. For [`LogLogChart`].
    pub fn by_rank(name: impl Into<String>, sizes: impl IntoIterator<Item = f64>) -> Series {
        let mut sizes: Vec<f64> = sizes.into_iter().collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        Series::new(name, sizes.into_iter().enumerate().map(|(at, size)| ((at + 1) as f64, size)))
    }
}
