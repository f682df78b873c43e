//! What charts with two axes share: the header (title, legend), the rectangle between the axes, grid and ticks.

use super::canvas::{Anchor, Canvas, Shape, fitted, text_width};
use super::scale::{Plan, Scale};
use super::{Axis, Series};
use crate::format;

/// The rectangle that data is drawn in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn x_scale(&self, plan: &Plan) -> Scale {
        plan.scale(self.left, self.right)
    }

    pub(super) fn y_scale(&self, plan: &Plan) -> Scale {
        plan.scale(self.bottom, self.top)
    }

    /// Grid, axes, tick labels and the title of the x axis.
    pub(super) fn draw(&self, canvas: &mut Canvas, x: (&Axis, &Plan), y: &Plan) {
        let (x_scale, y_scale) = (self.x_scale(x.1), self.y_scale(y));
        for value in &y.minor {
            let at = y_scale.at(*value);
            canvas.line("minor", (self.left, at), (self.right, at));
        }
        for value in &x.1.minor {
            let at = x_scale.at(*value);
            canvas.line("minor", (at, self.top), (at, self.bottom));
            canvas.line("axis", (at, self.bottom), (at, self.bottom + 3.0));
        }
        for tick in &y.ticks {
            let at = y_scale.at(tick.value);
            canvas.line("grid", (self.left, at), (self.right, at));
            canvas.text("tick", self.left - 8.0, at + 4.0, Anchor::End, &tick.label);
        }
        let mut free_from = f64::MIN;
        for tick in &x.1.ticks {
            let at = x_scale.at(tick.value);
            if x.1.logarithmic {
                canvas.line("grid", (at, self.top), (at, self.bottom));
            }
            canvas.line("axis", (at, self.bottom), (at, self.bottom + 5.0));
            let half = text_width(&tick.label, 11.0) / 2.0;
            // The last label must not leave the drawing.
            let at = at.min(self.right + 12.0 - half);
            if at - half > free_from {
                canvas.text("tick", at, self.bottom + 18.0, Anchor::Middle, &tick.label);
                free_from = at + half + 4.0;
            }
        }
        canvas.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        let room = self.right - self.left;
        let title = fitted(&x.0.title, 11.5, room);
        canvas.text("name", (self.left + self.right) / 2.0, self.bottom + 36.0, Anchor::Middle, &title);
    }

    /// Says that there is nothing to see.
    pub(super) fn draw_empty(&self, canvas: &mut Canvas) {
        let (x, y) = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        canvas.text("name halo", x, y, Anchor::Middle, "no data");
    }
}

/// Room below the plot for tick labels and the title of the x axis.
pub(super) const X_AXIS_HEIGHT: f64 = 42.0;

/// Room left of the plot for the labels of the y axis.
pub(super) fn y_axis_width(plan: &Plan) -> f64 {
    plan.ticks.iter().map(|tick| text_width(&tick.label, 11.0)).fold(16.0, f64::max).ceil() + 10.0
}

/// Draws the title (if the chart stands alone), the legend (if it has entries) and the y axis' title, from the top;
/// returns where the plot may begin.
pub(super) fn header(canvas: &mut Canvas, shape: Shape, title: &str, legend: &[&str], y_title: &str) -> f64 {
    let (left, width) = (shape.padding(), shape.width() - 2.0 * shape.padding());
    let mut y = shape.padding();
    if shape == Shape::Standalone {
        canvas.text("title", left, y + 14.0, Anchor::Start, &fitted(title, 15.0, width));
        y += 30.0;
    }
    if !legend.is_empty() {
        let mut x = left;
        for (at, name) in legend.iter().enumerate() {
            let name = fitted(name, 11.5, width - 20.0);
            let entry = text_width(&name, 11.5) + 34.0;
            if x > left && x + entry > left + width {
                x = left;
                y += 18.0;
            }
            canvas.rect(&format!("key {}", colour(at)), (x, y + 2.0), (12.0, 12.0), 3.0, "");
            canvas.text("name", x + 17.0, y + 12.0, Anchor::Start, &name);
            x += entry;
        }
        y += 24.0;
    }
    if !y_title.is_empty() {
        canvas.text("name", left, y + 11.0, Anchor::Start, &fitted(y_title, 11.5, width));
        y += 18.0;
    }
    y + 8.0
}

/// The class of a series' colour; beyond the palette it repeats (and lines are dashed).
pub(super) fn colour(series: usize) -> &'static str {
    ["c1", "c2", "c3", "c4", "c5", "c6"][series % 6]
}

/// Points that can be drawn, and how many were left out.
pub(super) fn usable(series: &Series, logarithmic: bool) -> (Vec<(f64, f64)>, u64) {
    let huge = super::scale::HUGE;
    let fine = |value: f64| value.is_finite() && (!logarithmic || value > 0.0);
    let mut points: Vec<(f64, f64)> = series
        .points
        .iter()
        .filter(|(x, y)| fine(*x) && fine(*y))
        .map(|(x, y)| (x.clamp(-huge, huge), y.clamp(-huge, huge)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let left_out = (series.points.len() - points.len()) as u64;
    (points, left_out)
}

/// What is said of points that were left out; empty if none were.
pub(super) fn note(left_out: u64, logarithmic: bool) -> String {
    if left_out == 0 {
        return String::new();
    }
    let why = if logarithmic { "zero or less, or not a number" } else { "not a number" };
    format!("{} left out: {why}", format::counted(left_out, "value", "values"))
}

/// Draws the note under everything and returns the height of the drawing.
pub(super) fn footer(canvas: &mut Canvas, shape: Shape, y: f64, note: &str) -> f64 {
    if note.is_empty() {
        return y + shape.padding();
    }
    canvas.text("note", shape.padding(), y + 14.0, Anchor::Start, note);
    y + 20.0 + shape.padding()
}

/// What the drawing says to those who cannot see it.
pub(super) fn description(reading: &str, note: &str) -> String {
    [reading, note].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The caller's sentence, or the chart's own.
pub(super) fn reading_or<'a>(given: &'a str, own: &'a str) -> &'a str {
    if given.is_empty() { own } else { given }
}
