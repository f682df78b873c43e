//! Writes a report with made-up figures, to look at: `cargo run -p mattock-lab --example sample_report -- sample.html`.

use std::io;
use std::path::PathBuf;

use mattock_env::Files;
use mattock_lab::format;
use mattock_lab::plot::{Axis, Bar, BarChart, Binning, Histogram, LineChart, LogLogChart, Series, Svg, Tone};
use mattock_lab::report::{Column, Command, Report, Section, Table, Tile};

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or_else(|| io::Error::other("say where to write: sample_report FILE.html"))?;
    let files = Files::real();
    files.write_atomic(&path, report().to_html().as_bytes())?;
    files.write_atomic(&path.with_extension("svg"), domains().standalone().as_bytes())
}

/// A cheap and repeatable wobble between 0 and 1.
fn noise(at: u32) -> f64 {
    let mut bits = u64::from(at).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn report() -> Report {
    let section = |title: &str, text: &str, chart: Svg| Section {
        title: title.into(),
        text: text.into(),
        chart: Some(chart),
        table: None,
    };
    Report {
        title: "A crawl of the simulated Web".into(),
        subtitle: "Preset small, seed 7: 20 seconds on two cores, no network".into(),
        tiles: vec![
            Tile::new("Pages", format::integer(48_213), "2,411 a second"),
            Tile::new("URLs seen", format::integer(1_284_960), "26.7 new ones a page"),
            Tile::new("Hosts", format::integer(1_932), "in 1,204 domains"),
            Tile::new("Data", format::bytes(962.4e6), "385 Mbit/s"),
            Tile::new("Time", format::duration(20.04), "1.94 CPU seconds a second"),
        ],
        sections: vec![
            section(
                "Speed over time",
                "It rises while connections open, then holds: the hosts' delays set the pace.",
                speed(),
            ),
            section("Where URLs wait", "", queues()),
            Section {
                table: Some(largest()),
                ..section("Domain sizes", "A few domains have most of the pages.", domains())
            },
            section("What became of each request", "", outcomes()),
            section("Page sizes", "", sizes()),
        ],
        commands: vec![
            Command::new(
                "mattock crawl --out my-crawl --max-pages 1000 https://example.com/",
                "Crawl a site of your own:",
            ),
            Command::new(
                "mattock simweb serve --preset spam --seed 7",
                "Serve a Web with link farms, and see the budgets at work:",
            ),
            Command::new("mattock lab url-seen --out results", "Repeat an experiment of the papers:"),
        ],
    }
}

fn speed() -> Svg {
    let points = (0..=100).map(|at| {
        let seconds = f64::from(at) / 5.0;
        (seconds, 2600.0 * (1.0 - (-seconds / 2.5).exp()) * (0.9 + 0.15 * noise(at)))
    });
    LineChart {
        title: "Pages per second".into(),
        reading: "Each point is the mean of a fifth of a second; point at the line for its values.".into(),
        x: Axis::seconds("time since the start"),
        y: Axis::number("pages per second"),
        series: vec![Series::new("", points)],
    }
    .render()
}

fn queues() -> Svg {
    let course = |name: &str, full: f64, pace: f64, salt: u32| {
        let points = (0..=60u32).map(move |at| {
            let minutes = f64::from(at);
            (minutes * 90.0, full * (1.0 - (-minutes / pace).exp()) * (0.97 + 0.05 * noise(at + salt)))
        });
        Series::new(name, points)
    };
    LineChart {
        title: "URLs waiting, by stage".into(),
        x: Axis::seconds("time since the start"),
        y: Axis::number("URLs waiting"),
        series: vec![
            course("robots.txt check", 1.1e6, 9.0, 0),
            course("ready", 0.98e6, 14.0, 100),
            course("over budget", 1.9e6, 40.0, 200),
            course("host delay", 0.35e6, 5.0, 300),
        ],
        ..LineChart::default()
    }
    .render()
}

fn domains() -> Svg {
    let sizes: Vec<f64> = (1..=1204u32)
        .map(|rank| (9100.0 / f64::from(rank).powf(1.08) * (0.8 + 0.4 * noise(rank))).floor())
        .collect();
    let series = Series::by_rank("", sizes);
    let names = ["wiki.example", "news.example", "shop.example"];
    let labels = series.points.iter().zip(names).map(|(point, name)| (*point, name.to_owned())).collect();
    LogLogChart {
        title: "Pages fetched per domain, by rank".into(),
        x: Axis::number("rank of the domain"),
        y: Axis::number("pages"),
        series: vec![series],
        labels,
        fit: true,
        ..LogLogChart::default()
    }
    .render()
}

fn largest() -> Table {
    let row = |domain: &str, pages: u64, bytes: f64, delay: f64| {
        vec![domain.to_owned(), format::integer(pages), format::bytes(bytes), format::duration(delay)]
    };
    Table {
        columns: vec![
            Column::text("Domain"),
            Column::number("Pages"),
            Column::number("Data"),
            Column::number("Mean wait"),
        ],
        rows: vec![
            row("wiki.example", 8_912, 178.2e6, 0.412),
            row("news.example", 4_120, 91.7e6, 0.388),
            row("shop.example", 2_954, 40.1e6, 1.2),
            row("<b>a-hostile-and-rather-long-name</b>.example", 1_877, 9.9e6, 12.0),
        ],
    }
}

fn outcomes() -> Svg {
    BarChart {
        title: "Requests by outcome".into(),
        axis: Axis::number("requests"),
        bars: vec![
            Bar::new("fetched", 48_213.0).toned(Tone::Good),
            Bar::new("redirect", 6_120.0),
            Bar::new("not found", 3_871.0).toned(Tone::Bad),
            Bar::new("forbidden by robots.txt", 2_210.0).toned(Tone::Quiet),
            Bar::new("timeout", 644.0).toned(Tone::Bad),
            Bar::new("server error", 402.0).toned(Tone::Bad),
            Bar::new("no address", 57.0).toned(Tone::Bad),
            Bar::new("too large", 0.0).toned(Tone::Quiet),
        ],
        reading: "Green is a page stored, orange a failure of the other side, grey what politeness or limits left undone.".into(),
    }
    .render()
}

fn sizes() -> Svg {
    let values = (0..48_213).map(|at| {
        let sum: f64 = (0..6).map(|part| noise(at * 7 + part * 1_000_003)).sum();
        (9.6 + (sum - 3.0) * 1.7).exp()
    });
    Histogram {
        title: "Page sizes".into(),
        x: Axis::bytes("size of the body"),
        y: Axis::number("pages"),
        values: values.chain([0.0; 12]).collect(),
        binning: Binning::Logarithmic,
        ..Histogram::default()
    }
    .render()
}
