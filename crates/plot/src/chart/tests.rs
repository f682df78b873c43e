//! All charts together: structure, hostile labels, odd numbers.

use proptest::prelude::*;

use super::*;
use crate::markup;

const HOSTILE: &str = "<script>alert('x')</script>\"&\u{202e}\0";

fn line(series: Vec<Series>) -> LineChart {
    LineChart {
        title: "Speed".into(),
        x: Axis::seconds("elapsed"),
        y: Axis::number("pages per second"),
        series,
        ..LineChart::default()
    }
}

fn texts(svg: &str, class: &str) -> Vec<String> {
    let mut out = Vec::new();
    for part in svg.split(&format!("<text class=\"{class}\"")).skip(1) {
        let (_, rest) = part.split_once('>').expect("a tag ends");
        out.push(rest.split('<').next().unwrap_or_default().to_owned());
    }
    out
}

fn check(svg: &Svg) {
    for text in [svg.standalone(), svg.wide(), svg.narrow()] {
        let names = markup::check(text);
        assert_eq!(names[..2], ["svg", "desc"]);
        assert!(!names.contains(&"script".to_owned()));
        assert!(
            text.contains("role=\"img\"")
                && text.contains("aria-label=\"")
                && text.contains("viewBox=\"0 0 ")
        );
        for word in ["NaN", "inf"] {
            let seen = text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
            assert!(!seen, "{word} in {text}");
        }
    }
}

#[test]
fn a_line_chart_has_its_parts() {
    let svg = line(vec![Series::new("", (0..=20).map(|at| (f64::from(at), f64::from(at * 40))))]).render();
    check(&svg);
    let ticks = texts(svg.wide(), "tick");
    assert_eq!(ticks, ["0", "200", "400", "600", "800", "1,000", "0", "5 s", "10 s", "15 s", "20 s"]);
    assert_eq!(texts(svg.wide(), "name"), ["pages per second", "elapsed"]);
    assert_eq!(texts(svg.wide(), "value halo"), ["peak 800"]);
    assert!(svg.wide().contains("<title>5 s: 200 pages per second</title>"));
    assert!(texts(svg.wide(), "title").is_empty());
    assert_eq!(texts(svg.standalone(), "title"), ["Speed"]);
    assert!(svg.standalone().contains("prefers-color-scheme:dark"));
}

#[test]
fn several_lines_are_named_at_their_ends_or_in_a_legend() {
    let series =
        |count: i32| (0..count).map(|at| Series::new(format!("s{at}"), [(0.0, 1.0), (1.0, 1.0)])).collect();
    let few = line(series(3)).render();
    assert_eq!(texts(few.wide(), "value").len(), 3);
    assert_eq!(texts(few.narrow(), "name"), ["s0", "s1", "s2", "pages per second", "elapsed"]);
    let many = line(series(8)).render();
    assert!(texts(many.wide(), "value").is_empty());
    assert!(many.wide().contains("dashed"));
}

#[test]
fn what_cannot_be_drawn_is_counted() {
    let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 0.0)];
    let svg = line(vec![Series::new("", points)]).render();
    assert_eq!(texts(svg.wide(), "note"), ["2 values left out: not a number"]);
    let chart =
        LogLogChart { series: vec![Series::new("", [(1.0, 5.0), (2.0, 0.0)])], ..LogLogChart::default() };
    let svg = chart.render();
    assert_eq!(texts(svg.wide(), "note"), ["1 value left out: zero or less, or not a number"]);
    assert_eq!(svg.wide().matches("class=\"dot").count(), 1);
}

#[test]
fn nothing_is_said_to_be_nothing() {
    for svg in [
        line(Vec::new()).render(),
        line(vec![Series::default()]).render(),
        LogLogChart { fit: true, ..LogLogChart::default() }.render(),
        BarChart::default().render(),
        Histogram::default().render(),
        LogLogChart { laws: vec![Series::new("law", [(1.0, 2.0)])], ..LogLogChart::default() }.render(),
    ] {
        check(&svg);
        assert!(svg.wide().contains("no data") && svg.narrow().contains("no data"));
    }
}

#[test]
fn labels_stay_text() {
    let points = vec![(1.0, 2.0), (30.0, 4.0)];
    let axis = Axis::number(HOSTILE);
    let series = vec![Series::new(HOSTILE, points.clone()), Series::new(HOSTILE, points.clone())];
    let (title, reading) = (HOSTILE.to_owned(), HOSTILE.to_owned());
    let labels = vec![((1.0, 2.0), HOSTILE.to_owned())];
    let charts = [
        LineChart {
            title: title.clone(),
            reading: reading.clone(),
            x: axis.clone(),
            y: axis.clone(),
            series: series.clone(),
        }
        .render(),
        LogLogChart {
            title: title.clone(),
            x: axis.clone(),
            y: axis.clone(),
            series,
            labels,
            fit: true,
            ..LogLogChart::default()
        }
        .render(),
        BarChart { title, reading, axis: axis.clone(), bars: vec![Bar::new(HOSTILE, 3.0)] }.render(),
        Histogram { x: axis.clone(), y: axis.clone(), values: vec![1.0], ..Histogram::default() }.render(),
        LogLogChart {
            series: vec![Series::new("", [(1.0, 1.0), (9.0, 9.0)])],
            laws: vec![Series::new(HOSTILE, [(2.0, 3.0), (4.0, 3.0)])],
            ..LogLogChart::default()
        }
        .render(),
    ];
    for svg in &charts {
        check(svg);
        assert!(svg.wide().contains("&lt;script"));
    }
}

#[test]
fn bars_say_value_and_share() {
    let bars = vec![
        Bar::new("fetched", 7500.0),
        Bar::new("timeout", 2500.0).toned(Tone::Bad),
        Bar::new("odd", -1.0),
    ];
    let svg = BarChart { bars, ..BarChart::default() }.render();
    check(&svg);
    assert!(svg.wide().contains("<title>fetched: 7,500 (75.0 %)</title>"));
    assert_eq!(texts(svg.wide(), "note"), ["1 bar left out: below zero, or not a number"]);
    assert!(svg.wide().contains("bar c2"));
}

#[test]
fn too_many_bars_are_summed() {
    let bars = (0..100).map(|at| Bar::new(at.to_string(), 1.0)).collect();
    let svg = BarChart { bars, ..BarChart::default() }.render();
    assert!(svg.wide().contains("<title>77 others: 77 (77.0 %)</title>"));
}

#[test]
fn a_bow_tie_says_its_sizes() {
    let chart = BowtieChart {
        title: "Pages".into(),
        what: "pages".into(),
        sizes: [4000, 1000, 3000, 10, 990, 1000],
        ..BowtieChart::default()
    };
    let svg = chart.render();
    check(&svg);
    assert!(svg.wide().contains("<title>core: 4,000 pages (40.0 %)</title>"));
    assert_eq!(texts(svg.wide(), "value strong"), ["core", "in", "out"]);
    assert_eq!(texts(svg.narrow(), "value")[..3], ["4k", "1k", "3k"]);
    assert_eq!(texts(svg.wide(), "value halo"), ["tendrils: 990 (9.9 %)", "tubes: 10 (0.1 %)"]);
    let bare = BowtieChart { sizes: [10, 1, 5, 0, 0, 2], ..chart }.render();
    assert!(
        svg.wide().contains("thread") && !bare.wide().contains("thread"),
        "what is not there is not drawn"
    );
    check(&BowtieChart::default().render());
    check(&BowtieChart { sizes: [u64::MAX; 6], what: HOSTILE.into(), ..BowtieChart::default() }.render());
}

#[test]
fn bins_that_were_counted_are_drawn_as_they_are() {
    let bin = |from: f64, to: f64, count| Bin { from, to, count };
    let counted = vec![bin(10.0, 20.0, 7), bin(20.0, 50.0, 3), bin(f64::NAN, 60.0, 1), bin(30.0, 40.0, 1)];
    let chart = Histogram {
        counted,
        values: vec![1.0],
        binning: Binning::Logarithmic,
        x: Axis::bytes("size"),
        ..Histogram::default()
    };
    let svg = chart.render();
    check(&svg);
    assert!(svg.wide().contains("<title>10 B to 20 B: 7 (70.0 %)</title>"));
    assert_eq!(svg.wide().matches("class=\"bar c1\"").count(), 2);
}

#[test]
fn laws_have_names_and_stay_between_the_axes() {
    let chart = LogLogChart {
        series: vec![Series::new("found", (1..100).map(|x| (f64::from(x), 1e4 / f64::from(x))))],
        laws: vec![
            Series::new("exponent 2.1", (1..100).map(|x| (f64::from(x), 1e5 / f64::from(x).powf(2.1)))),
            Series::new("nowhere", [(1.0, 1e9)]),
        ],
        ..LogLogChart::default()
    };
    let svg = chart.render();
    check(&svg);
    assert_eq!(texts(svg.wide(), "value halo"), ["exponent 2.1"]);
}

#[test]
fn ranks_start_with_the_largest() {
    assert_eq!(Series::by_rank("", [1.0, 9.0, 4.0]).points, [(1.0, 9.0), (2.0, 4.0), (3.0, 1.0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_input_breaks_a_chart(
        points in prop::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 0..30),
        plain in prop::collection::vec((0f64..1e7, 0f64..1e7), 0..30),
        label in "[<>&\"'a-h\u{0}-\u{1f}\u{202e}€\u{4e00}]{0,40}",
        unit in prop::sample::select(vec![Unit::Number, Unit::Bytes, Unit::Seconds]),
        binning in prop::sample::select(vec![Binning::Equal, Binning::Logarithmic]),
    ) {
        let axis = Axis { title: label.clone(), unit };
        let series = vec![Series::new(label.clone(), points.clone()), Series::new(label.clone(), plain)];
        for series in [series[..1].to_vec(), series[1..].to_vec(), series.clone()] {
            let labels = points.iter().map(|point| (*point, label.clone())).collect();
            check(&LineChart { x: axis.clone(), y: axis.clone(), ..line(series.clone()) }.render());
            let laws = series.clone();
            let chart = LogLogChart { x: axis.clone(), y: axis.clone(), series, labels, fit: true, laws, ..LogLogChart::default() };
            check(&chart.render());
            prop_assert_eq!(chart.render(), chart.render());
        }
        let bars = points.iter().map(|point| Bar::new(label.clone(), point.0)).collect();
        check(&BarChart { axis: axis.clone(), bars, ..BarChart::default() }.render());
        let values = points.iter().map(|point| point.1).collect();
        check(&Histogram { x: axis.clone(), y: axis.clone(), values, binning, ..Histogram::default() }.render());
        let counted = points.iter().map(|point| Bin { from: point.0, to: point.1, count: 7 }).collect();
        check(&Histogram { x: axis.clone(), y: axis, counted, binning, ..Histogram::default() }.render());
    }
}
