//! Horizontal bars: outcomes by count, bytes by type. One bar per name, longest to compare against.
//!
//! The order is the caller's. Every bar says its value and its share of the sum. Negative values have no bar; they
//! are left out and counted in a note, as is what is not a number. Past [`BARS_MAX`] the rest becomes one bar.

use super::canvas::{Anchor, Canvas, Shape, Svg, fitted, text_width};
use super::frame;
use super::scale::HUGE;
use super::{Axis, Unit};
use crate::format;

/// More bars than this are a table, not a chart.
const BARS_MAX: usize = 24;

/// What a bar's colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// As hoped.
    Good,
    /// Neither good nor bad: something was left undone on purpose.
    Quiet,
    /// A failure.
    Bad,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Tone::Plain => "c1",
            Tone::Good => "c3",
            Tone::Quiet => "c6",
            Tone::Bad => "c2",
        }
    }
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its length.
    pub value: f64,
    /// Its colour.
    pub tone: Tone,
}

impl Bar {
    /// A bar of the plain colour.
    pub fn new(label: impl Into<String>, value: f64) -> Bar {
        Bar { label: label.into(), value, tone: Tone::Plain }
    }

    /// The same bar in another colour.
    pub fn toned(self, tone: Tone) -> Bar {
        Bar { tone, ..self }
    }
}

/// A horizontal bar chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What the chart shows.
    pub title: String,
    /// How to read it, in a sentence; empty for a general one.
    pub reading: String,
    /// What the lengths measure.
    pub axis: Axis,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

impl BarChart {
    /// Draws the chart.
    pub fn render(&self) -> Svg {
        let mut bars: Vec<Bar> = self
            .bars
            .iter()
            .filter(|bar| bar.value.is_finite() && bar.value >= 0.0)
            .map(|bar| Bar { value: bar.value.min(HUGE), ..bar.clone() })
            .collect();
        let left_out = (self.bars.len() - bars.len()) as u64;
        if bars.len() > BARS_MAX {
            let rest = bars.split_off(BARS_MAX - 1);
            let value = rest.iter().map(|bar| bar.value).sum();
            bars.push(Bar::new(format!("{} others", rest.len()), value).toned(Tone::Quiet));
        }
        let note = match left_out {
            0 => String::new(),
            count => {
                format!("{} left out: below zero, or not a number", format::counted(count, "bar", "bars"))
            }
        };
        let own = format!("Each bar's length is its {}; the share is of all bars.", self.measure());
        let reading = frame::reading_or(&self.reading, &own);
        Svg::draw(reading, |shape| self.draw(shape, &bars, reading, &note))
    }

    fn measure(&self) -> &str {
        if self.axis.title.is_empty() { "value" } else { &self.axis.title }
    }

    fn draw(&self, shape: Shape, bars: &[Bar], reading: &str, note: &str) -> String {
        const ROW: f64 = 26.0;
        const THICKNESS: f64 = 16.0;
        let mut canvas = Canvas::default();
        let mut y = frame::header(&mut canvas, shape, &self.title, &[], &self.axis.title);
        let sum: f64 = bars.iter().map(|bar| bar.value).sum();
        let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let values: Vec<(String, String)> =
            bars.iter().map(|bar| (self.value(bar.value), format::percent(bar.value, sum))).collect();

        let (pad, width) = (shape.padding(), shape.width() - 2.0 * shape.padding());
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max).ceil();
        let label_width = match shape {
            Shape::Narrow => 0.0,
            _ => widest(&mut bars.iter().map(|bar| text_width(&bar.label, 12.0))).min(width * 0.34) + 12.0,
        };
        let value_width = widest(&mut values.iter().map(|value| text_width(&value.0, 11.5))) + 8.0;
        let share_width = widest(&mut values.iter().map(|value| text_width(&value.1, 11.5))) + 14.0;
        let left = pad + label_width;
        let room = (width - label_width - value_width - share_width).max(10.0);
        for (bar, (value, share)) in bars.iter().zip(&values) {
            if shape.is_narrow() {
                canvas.text("value", pad, y + 11.0, Anchor::Start, &fitted(&bar.label, 12.0, width));
                y += 16.0;
            } else {
                let label = fitted(&bar.label, 12.0, label_width - 12.0);
                canvas.text("value", left - 12.0, y + 12.5, Anchor::End, &label);
            }
            let length = if most > 0.0 { bar.value / most * room } else { 0.0 };
            // Something is never nothing: a value that is there can be seen.
            let length = if bar.value > 0.0 { length.max(2.0) } else { 0.0 };
            let title = format!("{}: {value} ({share})", bar.label);
            canvas.rect("track", (left, y), (room, THICKNESS), 3.0, "");
            canvas.rect(&format!("bar {}", bar.tone.class()), (left, y), (length, THICKNESS), 3.0, &title);
            let end = left + room + value_width;
            canvas.text("value", end, y + 12.5, Anchor::End, value);
            canvas.text("value share", end + share_width, y + 12.5, Anchor::End, share);
            y += ROW;
        }
        if bars.is_empty() {
            canvas.text("name", shape.width() / 2.0, y + 20.0, Anchor::Middle, "no data");
            y += 40.0;
        }
        let height = frame::footer(&mut canvas, shape, y, note);
        canvas.finish(shape, height, &self.title, &frame::description(reading, note))
    }

    /// Counts in full: outcomes are looked up by their exact number.
    fn value(&self, value: f64) -> String {
        if self.axis.unit == Unit::Number && value < 1e12 && value.fract() == 0.0 {
            return format::integer(value as u64);
        }
        self.axis.unit.value(value)
    }
}
