//! The bow-tie as a picture: one SVG file that needs nothing else, with the sizes in it.
//!
//! The areas of core, in and out follow their sizes, as far as a name and a number must fit into them; the other parts are drawn alike
//! and told in numbers.

use std::fmt::Write;

use crate::bowtie::{Bowtie, Part};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
const MIDDLE: f64 = 230.0;

/// Draws a bow-tie.
pub fn bowtie_svg(bowtie: &Bowtie, title: &str) -> String {
    let all = bowtie.nodes().max(1) as f64;
    let share = |part| bowtie.size(part) as f64 / all;
    let radius = 45.0 + 75.0 * share(Part::Core).sqrt();
    let [left, right] = [Part::In, Part::Out].map(|part| 60.0 + 120.0 * share(part).sqrt());
    let center = WIDTH / 2.0;
    let mut svg = String::new();
    let mut put = |text: std::fmt::Arguments<'_>| {
        svg.write_fmt(text).expect("a string takes all that is written");
        svg.push('\n');
    };
    put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"sans-serif\" font-size=\"15\" text-anchor=\"middle\">"
    ));
    put(format_args!("<title>{}</title>", escaped(title)));
    put(format_args!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>"));
    for (sign, height, color) in [(-1.0, left, "#c7dcef"), (1.0, right, "#cfe8cf")] {
        let (near, far) = (center + sign * radius * 0.8, center + sign * 330.0);
        let (top, bottom) = (MIDDLE - height, MIDDLE + height);
        let (near_top, near_bottom) = (MIDDLE - radius * 0.45, MIDDLE + radius * 0.45);
        put(format_args!(
            "<path d=\"M{near:.0} {near_top:.0} L{far:.0} {top:.0} L{far:.0} {bottom:.0} L{near:.0} {near_bottom:.0} Z\" fill=\"{color}\" stroke=\"#555555\"/>"
        ));
    }
    let tube = MIDDLE + radius + 70.0;
    put(format_args!(
        "<path d=\"M{:.0} {:.0} Q{center} {tube:.0} {:.0} {:.0}\" fill=\"none\" stroke=\"#b08a4a\" stroke-width=\"12\" stroke-linecap=\"round\"/>",
        center - 230.0,
        MIDDLE + left * 0.45,
        center + 230.0,
        MIDDLE + right * 0.45
    ));
    for (sign, height) in [(-1.0, left), (1.0, right)] {
        let x = center + sign * 290.0;
        let y = MIDDLE - height * 0.8;
        put(format_args!(
            "<path d=\"M{x:.0} {y:.0} q{:.0} -60 {:.0} -75\" fill=\"none\" stroke=\"#8a6fb0\" stroke-width=\"7\" stroke-linecap=\"round\"/>",
            sign * 10.0,
            sign * -60.0
        ));
    }
    put(format_args!(
        "<circle cx=\"{center}\" cy=\"{MIDDLE}\" r=\"{radius:.0}\" fill=\"#f3d9c6\" stroke=\"#555555\"/>"
    ));
    put(format_args!(
        "<ellipse cx=\"120\" cy=\"{:.0}\" rx=\"95\" ry=\"36\" fill=\"#eeeeee\" stroke=\"#999999\" stroke-dasharray=\"4 3\"/>",
        HEIGHT - 55.0
    ));
    for (part, x, y) in [
        (Part::Core, center, MIDDLE),
        (Part::In, center - 235.0, MIDDLE),
        (Part::Out, center + 235.0, MIDDLE),
        (Part::Tubes, center, tube.min(HEIGHT - 110.0) + 12.0),
        (Part::Tendrils, center, 32.0),
        (Part::Disconnected, 120.0, HEIGHT - 57.0),
    ] {
        put(format_args!(
            "<text x=\"{x:.0}\" y=\"{y:.0}\"><tspan font-weight=\"bold\">{}</tspan><tspan x=\"{x:.0}\" dy=\"19\">{} ({:.1} %)</tspan></text>",
            part.name(),
            grouped(bowtie.size(part)),
            share(part) * 100.0
        ));
    }
    put(format_args!(
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}: {} nodes</text>",
        WIDTH - 20.0,
        HEIGHT - 20.0,
        escaped(title),
        grouped(bowtie.nodes())
    ));
    svg.push_str("</svg>\n");
    svg
}

/// A number with a comma at every third digit.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, bowtie, strong_components};

    #[test]
    fn the_sizes_are_in_the_picture() {
        let graph = Csr::from_lists(&[vec![1], vec![0, 2], vec![], vec![0], vec![]]);
        let bowtie = bowtie(&graph, &graph.transposed(), &strong_components(&graph));
        let svg = bowtie_svg(&bowtie, "a < b");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b: 5 nodes"));
        for part in ["core</tspan><tspan x=\"450\" dy=\"19\">2 (40.0 %)", ">in</", ">disconnected</"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(
            (grouped(1), grouped(1234), grouped(1_234_567)),
            ("1".into(), "1,234".into(), "1,234,567".into())
        );
    }
}
