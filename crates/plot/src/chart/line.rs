//! Several series over one axis, usually time: speed while a crawl runs, memory, the queue's length.
//!
//! The y axis starts at zero, so that heights can be compared. A single line is filled below and its peak is
//! named; several are named at their ends, or in a legend where there is no room.

use super::canvas::{Anchor, Canvas, Shape, Svg, fitted, text_width};
use super::frame::{self, Frame, colour};
use super::scale::{self, Plan, Scale};
use super::{Axis, Series};

/// Lines with names at their ends need room; beyond this many there is a legend.
const NAMED_AT_END: usize = 6;
/// Tooltips per line: enough to read the course, few enough to keep the page small.
const TOOLTIPS: usize = 60;

/// A line chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// What the chart shows.
    pub title: String,
    /// How to read it, in a sentence; empty for a general one.
    pub reading: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, from zero.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

struct Line<'a> {
    name: &'a str,
    class: String,
    points: Vec<(f64, f64)>,
}

impl LineChart {
    /// Draws the chart.
    pub fn render(&self) -> Svg {
        let mut left_out = 0;
        let mut lines = Vec::new();
        for (at, series) in self.series.iter().enumerate() {
            let (points, missing) = frame::usable(series, false);
            left_out += missing;
            let dashed = if at >= 6 { " dashed" } else { "" };
            lines.push(Line { name: &series.name, class: format!("{}{dashed}", colour(at)), points });
        }
        let note = frame::note(left_out, false);
        let reading =
            frame::reading_or(&self.reading, "Each line is one quantity as time goes by; hover for values.");
        Svg::draw(reading, |shape| self.draw(shape, &lines, reading, &note))
    }

    fn draw(&self, shape: Shape, lines: &[Line<'_>], reading: &str, note: &str) -> String {
        let mut canvas = Canvas::default();
        let names: Vec<&str> = lines.iter().map(|line| line.name).collect();
        let at_end = names.len() > 1 && names.len() <= NAMED_AT_END && !shape.is_narrow();
        let legend = if names.len() > 1 && !at_end { names.as_slice() } else { &[] };
        let top = frame::header(&mut canvas, shape, &self.title, legend, &self.y.title);

        let points = || lines.iter().flat_map(|line| &line.points);
        let (low_x, high_x) = scale::extent(points().map(|point| point.0)).unwrap_or((0.0, 1.0));
        let (low_y, high_y) = scale::extent(points().map(|point| point.1)).unwrap_or((0.0, 1.0));
        let x = scale::linear(low_x, high_x, if shape.is_narrow() { 4 } else { 8 }, self.x.unit, false);
        let y = scale::linear(low_y.min(0.0), (high_y * 1.06).max(0.0), 5, self.y.unit, true);
        let end_room = names.iter().map(|name| text_width(name, 11.5)).fold(0.0, f64::max).min(150.0) + 14.0;
        let frame = Frame {
            left: shape.padding() + frame::y_axis_width(&y),
            right: shape.width() - shape.padding() - if at_end { end_room } else { 14.0 },
            top,
            bottom: top + if shape.is_narrow() { 190.0 } else { 250.0 },
        };
        frame.draw(&mut canvas, (&self.x, &x), &y);
        if points().next().is_none() {
            frame.draw_empty(&mut canvas);
        }
        self.draw_lines(&mut canvas, &frame, (&x, &y), lines);
        if at_end {
            draw_names(&mut canvas, &frame, frame.y_scale(&y), lines, end_room - 12.0);
        }
        if let [line] = lines {
            self.draw_peak(&mut canvas, &frame, (&x, &y), line);
        }
        let height = frame::footer(&mut canvas, shape, frame.bottom + frame::X_AXIS_HEIGHT, note);
        canvas.finish(shape, height, &self.title, &frame::description(reading, note))
    }

    fn draw_lines(&self, canvas: &mut Canvas, frame: &Frame, (x, y): (&Plan, &Plan), lines: &[Line<'_>]) {
        let (x_scale, y_scale) = (frame.x_scale(x), frame.y_scale(y));
        for line in lines {
            let pixels: Vec<(f64, f64)> =
                line.points.iter().map(|point| (x_scale.at(point.0), y_scale.at(point.1))).collect();
            let path = thinned(&pixels);
            if lines.len() == 1 && path.len() > 1 {
                canvas.path(&format!("area {}", line.class), &path, Some(y_scale.at(0.0)));
            }
            canvas.path(&format!("line {}", line.class), &path, None);
            if let [point] = pixels.as_slice() {
                canvas.circle(&format!("dot {}", line.class), *point, 4.0, "");
            }
        }
        // Above all lines, so that none covers another's tooltips.
        for line in lines {
            for (px, py) in spaced(&line.points, TOOLTIPS) {
                let name = if line.name.is_empty() { &self.y.title } else { line.name };
                let title = format!("{}: {} {name}", self.x.unit.value(px), self.y.unit.value(py));
                canvas.circle(&format!("hit {}", line.class), (x_scale.at(px), y_scale.at(py)), 5.0, &title);
            }
        }
    }

    fn draw_peak(&self, canvas: &mut Canvas, frame: &Frame, (x, y): (&Plan, &Plan), line: &Line<'_>) {
        let Some(peak) = line.points.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
            return;
        };
        let (px, py) = (frame.x_scale(x).at(peak.0), frame.y_scale(y).at(peak.1));
        let text = format!("peak {}", self.y.unit.value(peak.1));
        let half = text_width(&text, 11.5) / 2.0;
        canvas.circle(&format!("mark {}", line.class), (px, py), 3.5, &text);
        let middle = px.max(frame.left + half + 4.0).min(frame.right - half);
        canvas.text("value halo", middle, (py - 9.0).max(frame.top + 2.0), Anchor::Middle, &text);
    }
}

/// Names beside the ends of the lines, pushed apart where they would touch.
fn draw_names(canvas: &mut Canvas, frame: &Frame, y_scale: Scale, lines: &[Line<'_>], room: f64) {
    const HEIGHT: f64 = 15.0;
    let mut ends: Vec<(f64, &Line<'_>)> =
        lines.iter().filter_map(|line| line.points.last().map(|point| (y_scale.at(point.1), line))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = f64::MIN;
    for end in &mut ends {
        end.0 = end.0.max(free);
        free = end.0 + HEIGHT;
    }
    let mut free = frame.bottom;
    for end in ends.iter_mut().rev() {
        end.0 = end.0.min(free);
        free = end.0 - HEIGHT;
    }
    for (y, line) in ends {
        canvas.rect(&format!("key {}", line.class), (frame.right + 5.0, y - 4.0), (4.0, 8.0), 2.0, "");
        canvas.text("value", frame.right + 13.0, y + 4.0, Anchor::Start, &fitted(line.name, 11.5, room));
    }
}

/// At most four points per pixel column (first, lowest, highest, last): looks the same as all of them.
fn thinned(pixels: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for column in pixels.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            out.extend(column);
            continue;
        }
        let lowest = column.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a });
        let highest = column.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        out.extend([column.first().copied(), lowest, highest, column.last().copied()].into_iter().flatten());
    }
    out
}

/// At most `count` of the points, evenly spaced, with the first and the last.
fn spaced(points: &[(f64, f64)], count: usize) -> impl Iterator<Item = (f64, f64)> {
    let kept = points.len().min(count);
    (0..kept).map(move |at| points[if kept == 1 { 0 } else { at * (points.len() - 1) / (kept - 1) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_lines_are_thinned_and_keep_their_extremes() {
        let pixels: Vec<(f64, f64)> =
            (0..10_000).map(|at| (f64::from(at) / 1000.0, f64::from(at * 7919 % 101))).collect();
        let out = thinned(&pixels);
        assert_eq!(out.len(), 40);
        assert!(out.iter().any(|point| point.1 == 100.0) && out.iter().any(|point| point.1 == 0.0));
    }

    #[test]
    fn tooltips_reach_both_ends() {
        let points: Vec<(f64, f64)> = (0..1000).map(|at| (f64::from(at), 0.0)).collect();
        let kept: Vec<(f64, f64)> = spaced(&points, 60).collect();
        assert_eq!((kept.len(), kept[0].0, kept[59].0), (60, 0.0, 999.0));
        assert_eq!(spaced(&points[..1], 60).count(), 1);
        assert_eq!(spaced(&[], 60).count(), 0);
    }
}
