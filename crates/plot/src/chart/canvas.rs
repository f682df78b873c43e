//! The SVG being written: elements with escaped text and short coordinates, and the finished drawing.

use std::fmt::{self, Write as _};

use mattock_printable::html;

/// The look of every chart, as CSS. [`Svg::standalone`] has it inside; a page that embeds charts says it once.
pub const STYLE: &str = "\
.plot{--plot-1:#0067b1;--plot-2:#cf4f00;--plot-3:#00806a;--plot-4:#a3478f;--plot-5:#8a6500;--plot-6:#5b6472;\
--plot-surface:#fff;--plot-ink:#1b2330;--plot-grid:#e3e7ee;--plot-minor:#f1f3f7;--plot-axis:#9aa4b2;\
color:var(--plot-ink);font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",sans-serif}
.plot text{fill:currentColor}
.plot .tick{font-size:11px;opacity:.72;font-variant-numeric:tabular-nums}
.plot .name{font-size:11.5px;opacity:.78}
.plot .title{font-size:15px;font-weight:650}
.plot .note{font-size:11px;font-style:italic;opacity:.78}
.plot .value{font-size:11.5px;font-variant-numeric:tabular-nums}
.plot .share{opacity:.66}
.plot .strong{font-weight:650}
.plot .halo{paint-order:stroke;stroke:var(--plot-surface);stroke-width:4px;stroke-linejoin:round}
.plot .surface{fill:var(--plot-surface)}
.plot .grid{stroke:var(--plot-grid);fill:none}
.plot .minor{stroke:var(--plot-minor);fill:none}
.plot .axis{stroke:var(--plot-axis);fill:none}
.plot .track{fill:var(--plot-minor)}
.plot .c1{--c:var(--plot-1)}.plot .c2{--c:var(--plot-2)}.plot .c3{--c:var(--plot-3)}
.plot .c4{--c:var(--plot-4)}.plot .c5{--c:var(--plot-5)}.plot .c6{--c:var(--plot-6)}
.plot .line{stroke:var(--c);fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.plot .dashed{stroke-dasharray:6 4}
.plot .fit{stroke:currentColor;fill:none;stroke-width:1.2;stroke-dasharray:4 4;opacity:.6}
.plot .area{fill:var(--c);opacity:.13}
.plot .bar{fill:var(--c)}
.plot .bar:hover{opacity:.8}
.plot .dot{fill:var(--c);fill-opacity:.8}
.plot .dot:hover{fill-opacity:1;stroke:var(--c);stroke-width:4;stroke-opacity:.3}
.plot .mark{fill:var(--plot-surface);stroke:var(--c);stroke-width:2}
.plot .hit{fill:var(--c);stroke:var(--plot-surface);stroke-width:2;opacity:0}
.plot .hit:hover{opacity:1}
.plot .key{fill:var(--c)}
.plot .part{fill:color-mix(in srgb,var(--c) 22%,var(--plot-surface));stroke:var(--c);stroke-width:1.5;stroke-linejoin:round}
.plot .thread{fill:none;stroke:var(--c);stroke-width:10;stroke-linecap:round;opacity:.4}
.plot .thin{stroke-width:5}
.plot .apart{fill:none;stroke:var(--plot-axis);stroke-dasharray:4 3}
@media screen and (prefers-color-scheme:dark){\
.plot{--plot-1:#62b0ff;--plot-2:#ff9a5c;--plot-3:#3ccfae;--plot-4:#e797d6;--plot-5:#e2bf55;--plot-6:#aab4c3;\
--plot-surface:#171c24;--plot-ink:#e6eaf0;--plot-grid:#2b333f;--plot-minor:#212833;--plot-axis:#66717f}}
";

/// A finished chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Svg {
    standalone: String,
    wide: String,
    narrow: String,
    reading: String,
}

impl Svg {
    /// Draws a chart in its three shapes.
    pub(super) fn draw(reading: &str, draw: impl Fn(Shape) -> String) -> Svg {
        Svg {
            standalone: draw(Shape::Standalone),
            wide: draw(Shape::Wide),
            narrow: draw(Shape::Narrow),
            reading: reading.to_owned(),
        }
    }

    /// A file of its own: with its title, on its own background.
    pub fn standalone(&self) -> &str {
        &self.standalone
    }

    /// For a page that has [`STYLE`] and room for 560 pixels or more.
    pub fn wide(&self) -> &str {
        &self.wide
    }

    /// For a page that has [`STYLE`], on a phone.
    pub fn narrow(&self) -> &str {
        &self.narrow
    }

    /// How to read the chart, in a sentence (plain text).
    pub fn reading(&self) -> &str {
        &self.reading
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.standalone)
    }
}

/// What the drawing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Standalone,
    Wide,
    Narrow,
}

impl Shape {
    pub(super) fn width(self) -> f64 {
        match self {
            Shape::Standalone => 800.0,
            Shape::Wide => 760.0,
            Shape::Narrow => 340.0,
        }
    }

    pub(super) fn is_narrow(self) -> bool {
        self == Shape::Narrow
    }

    /// Empty room on all sides.
    pub(super) fn padding(self) -> f64 {
        if self == Shape::Standalone { 20.0 } else { 1.0 }
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG in the making.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($canvas:expr, $($argument:tt)*) => {
        let _ = write!($canvas.body, $($argument)*);
    };
}

impl Canvas {
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        put!(
            self,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
            coordinate(from.0),
            coordinate(from.1),
            coordinate(to.0),
            coordinate(to.1)
        );
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        put!(self, "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>", coordinate(x), coordinate(y));
        self.body.push_str(&html(text));
        self.body.push_str("</text>\n");
    }

    /// A rectangle; corners rounded by `radius`, a tooltip unless `title` is empty.
    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), radius: f64, title: &str) {
        let (width, height) = (size.0.max(0.0), size.1.max(0.0));
        let radius = radius.min(width / 2.0).min(height / 2.0);
        put!(
            self,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"",
            coordinate(at.0),
            coordinate(at.1),
            coordinate(width),
            coordinate(height),
            coordinate(radius)
        );
        self.close("rect", title);
    }

    /// A circle with a tooltip unless `title` is empty.
    pub(super) fn circle(&mut self, class: &str, center: (f64, f64), radius: f64, title: &str) {
        let (x, y) = (coordinate(center.0), coordinate(center.1));
        put!(self, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{}\"", coordinate(radius));
        self.close("circle", title);
    }

    /// A line through `points`, closed down to `floor` if it is given.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)], floor: Option<f64>) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        put!(self, "<path class=\"{class}\" d=\"");
        for (at, point) in points.iter().enumerate() {
            put!(self, "{}{} {}", if at == 0 { 'M' } else { 'L' }, coordinate(point.0), coordinate(point.1));
        }
        if let Some(floor) = floor {
            put!(
                self,
                "L{} {floor}L{} {floor}Z",
                coordinate(last.0),
                coordinate(first.0),
                floor = coordinate(floor)
            );
        }
        self.body.push_str("\"/>\n");
    }

    /// A closed shape, with a tooltip unless `title` is empty.
    pub(super) fn polygon(&mut self, class: &str, corners: &[(f64, f64)], title: &str) {
        put!(self, "<path class=\"{class}\" d=\"");
        for (at, corner) in corners.iter().enumerate() {
            put!(
                self,
                "{}{} {}",
                if at == 0 { 'M' } else { 'L' },
                coordinate(corner.0),
                coordinate(corner.1)
            );
        }
        self.body.push_str("Z\"");
        self.close("path", title);
    }

    /// A bent line, pulled towards `control`, with a tooltip unless `title` is empty.
    pub(super) fn curve(
        &mut self,
        class: &str,
        from: (f64, f64),
        control: (f64, f64),
        to: (f64, f64),
        title: &str,
    ) {
        let [from, control, to] =
            [from, control, to].map(|point| format!("{} {}", coordinate(point.0), coordinate(point.1)));
        put!(self, "<path class=\"{class}\" d=\"M{from}Q{control} {to}\"");
        self.close("path", title);
    }

    fn close(&mut self, name: &str, title: &str) {
        if title.is_empty() {
            self.body.push_str("/>\n");
            return;
        }
        self.body.push_str("><title>");
        self.body.push_str(&html(title));
        put!(self, "</title></{name}>\n");
    }

    /// The whole drawing. `label` names it and `description` explains it, for those who cannot see it.
    pub(super) fn finish(self, shape: Shape, height: f64, label: &str, description: &str) -> String {
        let (width, height) = (coordinate(shape.width()), coordinate(height));
        let (label, description) = (html(label), html(description));
        let (class, size) = match shape {
            Shape::Standalone => (
                "plot",
                format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\""),
            ),
            Shape::Wide => ("plot wide", String::new()),
            Shape::Narrow => ("plot narrow", String::new()),
        };
        let mut out = format!(
            "<svg{size} class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n"
        );
        let _ = writeln!(out, "<desc>{description}</desc>");
        if shape == Shape::Standalone {
            // `>` and quotes are fine in XML text, and the style has no `<` or `&`.
            let _ = writeln!(out, "<style>\n{STYLE}</style>");
            let _ =
                writeln!(out, "<rect class=\"surface\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>");
        }
        out + &self.body + "</svg>\n"
    }
}

/// A pixel to a tenth, without a sign on zero.
fn coordinate(value: f64) -> String {
    debug_assert!(value.is_finite(), "every coordinate is computed from finite values");
    let tenths = (value * 10.0).round();
    if tenths == 0.0 || !tenths.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{:.1}", tenths / 10.0);
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// About how wide a text is at a font size: charts must leave room without asking a browser.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|character| match character {
            'i' | 'l' | 'j' | '.' | ',' | ':' | '\'' | '|' | ' ' => 0.32,
            'm' | 'w' | 'M' | 'W' | '%' => 0.9,
            'A'..='Z' => 0.68,
            _ if (character as u32) >= 0x1100 => 1.0,
            _ => 0.58,
        })
        .sum();
    ems * size
}

/// `text` cut with an ellipsis to fit `width`.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if text_width(&kept, size) + size > width {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(-0.01), "0");
        assert_eq!(coordinate(12.0), "12");
        assert_eq!(coordinate(12.345), "12.3");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(fitted("short", 12.0, 100.0), "short");
        let cut = fitted("a-very-long-host-name.example.com", 12.0, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0) <= 106.0, "{cut}");
    }
}
