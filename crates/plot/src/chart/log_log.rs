//! Points on two logarithmic axes: sizes by rank, degrees by count, where a power law is a straight line.
//!
//! Zeros and negative values have no place on such axes: they are left out and counted in a note. Points on one
//! pixel are drawn once, so that a million ranks make a small drawing.

use std::collections::BTreeSet;

use super::canvas::{Anchor, Canvas, Shape, Svg, fitted, text_width};
use super::frame::{self, Frame, colour};
use super::scale::{self, Scale};
use super::{Axis, Series};

/// A scatter chart with logarithmic axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogLogChart {
    /// What the chart shows.
    pub title: String,
    /// How to read it, in a sentence; empty for a general one.
    pub reading: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The points, by kind.
    pub series: Vec<Series>,
    /// Names of single points, drawn beside them: a place and a text.
    pub labels: Vec<((f64, f64), String)>,
    /// Whether to draw the straight line closest to the first series and say its slope.
    pub fit: bool,
    /// Laws that somebody has fitted: each is drawn as a dashed line through its points, with its name beside it.
    pub laws: Vec<Series>,
}

impl LogLogChart {
    /// Draws the chart.
    pub fn render(&self) -> Svg {
        let mut left_out = 0;
        let mut kinds = Vec::new();
        for series in &self.series {
            let (points, missing) = frame::usable(series, true);
            left_out += missing;
            kinds.push(points);
        }
        let note = frame::note(left_out, true);
        let reading = frame::reading_or(
            &self.reading,
            "Both axes are logarithmic: each gridline is ten times the one before, and a straight line is a power law.",
        );
        Svg::draw(reading, |shape| self.draw(shape, &kinds, reading, &note))
    }

    fn draw(&self, shape: Shape, kinds: &[Vec<(f64, f64)>], reading: &str, note: &str) -> String {
        let mut canvas = Canvas::default();
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        let legend = if names.len() > 1 { names.as_slice() } else { &[] };
        let top = frame::header(&mut canvas, shape, &self.title, legend, &self.y.title);
        let top = if self.labels.is_empty() { top } else { top + 8.0 };

        let points = || kinds.iter().flatten();
        let (low_x, high_x) = scale::extent(points().map(|point| point.0)).unwrap_or((1.0, 10.0));
        let (low_y, high_y) = scale::extent(points().map(|point| point.1)).unwrap_or((1.0, 10.0));
        let x = scale::logarithmic(low_x, high_x, if shape.is_narrow() { 6 } else { 9 }, self.x.unit);
        let y = scale::logarithmic(low_y, high_y, 8, self.y.unit);
        let frame = Frame {
            left: shape.padding() + frame::y_axis_width(&y),
            right: shape.width() - shape.padding() - 14.0,
            top,
            bottom: top + if shape.is_narrow() { 220.0 } else { 300.0 },
        };
        frame.draw(&mut canvas, (&self.x, &x), &y);
        if points().next().is_none() {
            frame.draw_empty(&mut canvas);
        }
        let scales = (frame.x_scale(&x), frame.y_scale(&y));
        // Names first: their halo must not hide points.
        let named = self.draw_labels(&mut canvas, &frame, scales);
        for (at, points) in kinds.iter().enumerate() {
            self.draw_points(&mut canvas, scales, at, points);
        }
        if let (true, Some(points)) = (self.fit, kinds.first()) {
            draw_fit(&mut canvas, &frame, scales, points);
        }
        let mut names = Vec::new();
        for law in &self.laws {
            draw_law(&mut canvas, &frame, scales, law, &mut names);
        }
        for (pixel, text) in named {
            canvas.circle("mark c1", pixel, 3.5, &text);
        }
        let height = frame::footer(&mut canvas, shape, frame.bottom + frame::X_AXIS_HEIGHT, note);
        canvas.finish(shape, height, &self.title, &frame::description(reading, note))
    }

    fn draw_points(&self, canvas: &mut Canvas, scales: (Scale, Scale), at: usize, points: &[(f64, f64)]) {
        let mut taken = BTreeSet::new();
        let name = &self.series[at].name;
        for (x, y) in points {
            let pixel = (scales.0.at(*x), scales.1.at(*y));
            // Two pixels apart at least: closer dots cannot be told apart or hovered.
            if !taken.insert(((pixel.0 / 2.0).round() as i64, (pixel.1 / 2.0).round() as i64)) {
                continue;
            }
            let place = format!(
                "{} {}, {} {}",
                self.x.title,
                self.x.unit.value(*x),
                self.y.unit.value(*y),
                self.y.title
            );
            let title = if name.is_empty() { place } else { format!("{name}: {place}") };
            canvas.circle(&format!("dot {}", colour(at)), pixel, 2.8, &title);
        }
    }

    /// Draws the names and returns the points that have got theirs.
    fn draw_labels(
        &self,
        canvas: &mut Canvas,
        frame: &Frame,
        scales: (Scale, Scale),
    ) -> Vec<((f64, f64), String)> {
        let mut named = Vec::new();
        let mut drawn: Vec<(f64, f64, f64)> = Vec::new();
        for ((x, y), text) in &self.labels {
            if !(x.is_finite() && y.is_finite() && *x > 0.0 && *y > 0.0) {
                continue;
            }
            let (px, py) = (scales.0.at(*x), scales.1.at(*y));
            let text = fitted(text, 11.5, (frame.right - frame.left) * 0.5);
            let width = text_width(&text, 11.5) + 12.0;
            let (left, anchor) =
                if px + width > frame.right { (px - width, Anchor::End) } else { (px, Anchor::Start) };
            let touches = |other: &(f64, f64, f64)| {
                (other.1 - py).abs() < 14.0 && left < other.0 + other.2 && other.0 < left + width
            };
            // A name on top of another helps nobody; the earlier one matters more.
            if drawn.iter().any(touches) {
                continue;
            }
            drawn.push((left, py, width));
            let offset = if anchor == Anchor::End { -8.0 } else { 8.0 };
            canvas.text("value halo", px + offset, py - 4.0, anchor, &text);
            named.push(((px, py), text));
        }
        named
    }
}

/// A law's line, as far as it lies between the axes. A name that would stand on an earlier one moves down: `names` are their places and widths.
fn draw_law(
    canvas: &mut Canvas,
    frame: &Frame,
    scales: (Scale, Scale),
    law: &Series,
    names: &mut Vec<(f64, f64, f64)>,
) {
    let (points, _) = frame::usable(law, true);
    let inside = |(x, y): &(f64, f64)| {
        *x >= frame.left && *x <= frame.right && *y > frame.top + 0.5 && *y < frame.bottom - 0.5
    };
    let pixels = points.iter().map(|(x, y)| (scales.0.at(*x), scales.1.at(*y)));
    let path: Vec<(f64, f64)> = pixels.filter(inside).collect();
    canvas.path("fit", &path, None);
    let Some((x, y)) = path.get(path.len() / 2) else { return };
    let name = fitted(&law.name, 11.5, (frame.right - frame.left) * 0.6);
    let width = text_width(&name, 11.5);
    let (x, mut y) = ((x + 10.0).min(frame.right - width - 4.0), y - 8.0);
    let touches = |names: &[(f64, f64, f64)], y: f64| {
        names.iter().any(|other| (other.1 - y).abs() < 15.0 && x < other.0 + other.2 && other.0 < x + width)
    };
    while touches(names, y) && y < frame.bottom - 8.0 {
        y += 3.0;
    }
    names.push((x, y, width));
    canvas.text("value halo", x, y, Anchor::Start, &name);
}

/// The straight line closest to the points, each decade of x weighing the same, with its slope.
fn draw_fit(canvas: &mut Canvas, frame: &Frame, scales: (Scale, Scale), points: &[(f64, f64)]) {
    let Some((slope, intercept)) = power_law(points) else { return };
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let path: Vec<(f64, f64)> = (0..=100)
        .map(|at| first.log10() + (last.log10() - first.log10()) * f64::from(at) / 100.0)
        .map(|x| (scales.0.at(10f64.powf(x)), intercept + slope * x))
        // Beyond the axis the line would lie on its edge.
        .map(|(x, y)| (x, scales.1.at(10f64.powf(y.clamp(-300.0, 300.0)))))
        .filter(|(_, y)| *y > frame.top + 0.5 && *y < frame.bottom - 0.5)
        .collect();
    canvas.path("fit", &path, None);
    let Some(middle) = path.get(path.len() * 2 / 3) else { return };
    let text = format!("slope {slope:.2}").replace('-', "−");
    let x = (middle.0 + 10.0).min(frame.right - text_width(&text, 11.5) - 4.0);
    canvas.text("value halo", x, middle.1 - 10.0, Anchor::Start, &text);
}

/// Least squares on the logarithms, over means of equal steps of log x: otherwise the many small ranks at the
/// far end would decide alone. `None` if the points do not span half a decade.
fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.log10(), y.log10())).collect();
    if logs.last()?.0 - logs.first()?.0 < 0.5 {
        return None;
    }
    let means: Vec<(f64, f64)> = logs
        .chunk_by(|a, b| (a.0 * 8.0).floor() == (b.0 * 8.0).floor())
        .map(|step| {
            let sum = step.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
            (sum.0 / step.len() as f64, sum.1 / step.len() as f64)
        })
        .collect();
    let count = means.len() as f64;
    let mean_x = means.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = means.iter().map(|point| point.1).sum::<f64>() / count;
    let spread: f64 = means.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    let joint: f64 = means.iter().map(|point| (point.0 - mean_x) * (point.1 - mean_y)).sum();
    let slope = joint / spread;
    (spread > 0.0 && slope.is_finite()).then_some((slope, mean_y - slope * mean_x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_law_is_found() {
        let points: Vec<(f64, f64)> =
            (1..=5000).map(|rank| (f64::from(rank), 1e6 / f64::from(rank).powf(1.25))).collect();
        let (slope, intercept) = power_law(&points).expect("three decades");
        assert!((slope + 1.25).abs() < 0.01 && (intercept - 6.0).abs() < 0.02, "{slope} {intercept}");
        assert_eq!(power_law(&points[..2]), None);
        assert_eq!(power_law(&[]), None);
    }

    #[test]
    fn a_million_ranks_make_a_small_drawing() {
        let sizes = (1..=300_000).map(|rank| 1e7 / f64::from(rank));
        let chart = LogLogChart { series: vec![Series::by_rank("domains", sizes)], ..LogLogChart::default() };
        let svg = chart.render();
        assert!(svg.wide().len() < 100_000, "{}", svg.wide().len());
    }
}
