//! The bow-tie of a graph: a core, what leads to it, what it leads to, and the rest, with their sizes.
//!
//! The areas of core and wings follow their sizes, as far as a name and a number must fit into them; the other parts are drawn alike and
//! told in numbers.

use super::canvas::{Anchor, Canvas, Shape, Svg};
use super::frame;
use crate::format;

/// What the parts are called, in the order of [`BowtieChart::sizes`].
const NAMES: [&str; 6] = ["core", "in", "out", "tubes", "tendrils", "disconnected"];

/// A bow-tie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BowtieChart {
    /// What the chart shows.
    pub title: String,
    /// How to read it, in a sentence; empty for a general one.
    pub reading: String,
    /// What is counted: "pages".
    pub what: String,
    /// Core, in, out, tubes, tendrils, disconnected.
    pub sizes: [u64; 6],
}

/// Where everything stands in one shape.
struct Plan {
    center: f64,
    middle: f64,
    /// Of the core.
    radius: f64,
    /// Half the heights of the wings, left and right.
    wings: [f64; 2],
    /// How far the wings reach from the center.
    reach: f64,
}

impl BowtieChart {
    /// Draws the chart.
    pub fn render(&self) -> Svg {
        let reading = frame::reading_or(
            &self.reading,
            "The core is where each can be reached from every other; links lead from left to right. Not to scale: the larger of two parts is drawn larger only if they are of one form.",
        );
        Svg::draw(reading, |shape| self.draw(shape, reading))
    }

    fn all(&self) -> f64 {
        self.sizes.iter().map(|size| *size as f64).sum()
    }

    fn plan(&self, shape: Shape, top: f64) -> Plan {
        let share = |part: usize| if self.all() > 0.0 { self.sizes[part] as f64 / self.all() } else { 0.0 };
        // The least that three lines of text fit into, and how much larger the largest is.
        let (core, wing, tall) = if shape.is_narrow() { (38.0, 16.0, 44.0) } else { (48.0, 68.0, 100.0) };
        Plan {
            center: shape.width() / 2.0,
            middle: top + 34.0 + if shape.is_narrow() { 90.0 } else { 150.0 },
            radius: core + wing * share(0).sqrt(),
            wings: [1, 2].map(|part| core + 2.0 + tall * share(part).sqrt()),
            reach: shape.width() / 2.0 - shape.padding() - 4.0,
        }
    }

    fn draw(&self, shape: Shape, reading: &str) -> String {
        let mut canvas = Canvas::default();
        let top = frame::header(&mut canvas, shape, &self.title, &[], "");
        let plan = self.plan(shape, top);
        let Plan { center, middle, radius, wings, reach } = plan;
        // Behind the others: what hangs on the wings, and what leads past the core.
        let deepest = middle + wings[0].max(wings[1]).max(radius) + 22.0;
        let tube = |side: usize| middle + wings[side] * 0.55;
        if self.sizes[3] > 0 {
            canvas.curve(
                "thread c5",
                (center - reach * 0.62, tube(0)),
                (center, deepest * 2.0 - (tube(0) + tube(1)) / 2.0),
                (center + reach * 0.62, tube(1)),
                &self.told(3, false),
            );
        }
        for (side, sign) in [(0, -1.0), (1, 1.0)].into_iter().filter(|_| self.sizes[4] > 0) {
            let from = (center + sign * reach * 0.88, middle - wings[side] * 0.8);
            let to = (center + sign * reach * 0.42, top + 26.0);
            canvas.curve("thread thin c4", from, (from.0, to.1), to, &self.told(4, false));
        }
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let (near, far) = (center + sign * radius * 0.7, center + sign * reach);
            let (low, high) = (radius * 0.45, wings[side]);
            let corners =
                [(near, middle - low), (far, middle - high), (far, middle + high), (near, middle + low)];
            let class = if side == 0 { "part c1" } else { "part c3" };
            canvas.polygon(class, &corners, &self.told(side + 1, false));
        }
        canvas.circle("part c2", (center, middle), radius, &self.told(0, false));
        let beside = center - (radius * 0.9 + reach) / 2.0;
        for (part, x) in [(0, center), (1, beside), (2, 2.0 * center - beside)] {
            self.lines(&mut canvas, shape, part, (x, middle));
        }
        canvas.text("value halo", center, top + 22.0, Anchor::Middle, &self.told(4, true));
        canvas.text("value halo", center, deepest + 20.0, Anchor::Middle, &self.told(3, true));
        let y = deepest + 40.0;
        let apart = self.told(5, true);
        let size = (super::canvas::text_width(&apart, 11.5) + 28.0, 30.0);
        canvas.rect("apart", (shape.padding(), y), size, 15.0, "");
        canvas.text("value", shape.padding() + 14.0, y + 19.0, Anchor::Start, &apart);
        let height = frame::footer(&mut canvas, shape, y + 34.0, "");
        canvas.finish(shape, height, &self.title, &self.described(reading))
    }

    /// A part's name, number and share, one below the other.
    fn lines(&self, canvas: &mut Canvas, shape: Shape, part: usize, (x, y): (f64, f64)) {
        let count = match shape.is_narrow() {
            true => format::short(self.sizes[part] as f64),
            false => format::integer(self.sizes[part]),
        };
        canvas.text("value strong", x, y - 11.0, Anchor::Middle, NAMES[part]);
        canvas.text("value", x, y + 4.0, Anchor::Middle, &count);
        canvas.text("value share", x, y + 19.0, Anchor::Middle, &self.share(part));
    }

    fn share(&self, part: usize) -> String {
        format::percent(self.sizes[part] as f64, self.all())
    }

    /// A part in one line.
    fn told(&self, part: usize, short: bool) -> String {
        let what = if short || self.what.is_empty() { String::new() } else { format!(" {}", self.what) };
        format!("{}: {}{what} ({})", NAMES[part], format::integer(self.sizes[part]), self.share(part))
    }

    fn described(&self, reading: &str) -> String {
        let parts: Vec<String> = (0..6).map(|part| self.told(part, true)).collect();
        format!("{reading} {}.", parts.join(", "))
    }
}
