//! What `mattock demo` shows: the configuration of its crawl, and the report on it.

use mattock_crawl::Summary;
use mattock_plot::chart::{Axis, Bar, BarChart, LineChart, LogLogChart, Series, Tone};
use mattock_plot::format;
use mattock_plot::report::{Column, Command, Report, Section, Table, Tile};

use crate::served::ServedWorld;

/// Speed is drawn as the mean over so many samples.
const SMOOTH: usize = 4;
const DOMAINS_SHOWN: usize = 10;

/// The crawl at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds since the crawl began.
    pub seconds: f64,
    /// Pages so far.
    pub pages: u64,
    /// Bytes so far.
    pub bytes: u64,
    /// URLs that wait.
    pub queued: u64,
}

/// The configuration of a crawl of `served` from these seeds: polite, but at the pace of a laboratory.
pub fn crawl_config(served: &ServedWorld, seeds: &[String]) -> String {
    format!(
        "[crawl]\nscope = \"any\"\nseeds = {seeds:?}\n\
         [politeness]\ndelay = \"100ms\"\n\
         [network]\ndns = [\"{}\"]\nallow_address = [\"127.0.0.0/8\"]\nconnect_port = [\"80={}\"]\n",
        served.dns(),
        served.http_port()
    )
}

/// One self-contained HTML page about a crawl.
pub fn report(summary: &Summary, samples: &[Sample], commands: &[(String, String)]) -> String {
    let seconds = summary.seconds.max(0.001);
    Report {
        title: "A crawl of the simulated Web".into(),
        subtitle: format!(
            "{} pages in {}, every request polite and allowed by robots.txt.",
            format::integer(summary.pages),
            format::duration(seconds)
        ),
        tiles: vec![
            Tile::new("Pages", format::integer(summary.pages), "answers with status 200"),
            Tile::new(
                "Speed",
                format!("{}/s", format::integer((summary.pages as f64 / seconds) as u64)),
                "pages a second, on average",
            ),
            Tile::new("Data", format::bytes(summary.bytes as f64), "received"),
            Tile::new("Domains", format::integer(summary.domains), "with at least one page"),
            Tile::new("URLs seen", format::integer(summary.urls_seen), "different ones, on fetched pages"),
            Tile::new("CPU", format::duration(summary.cpu_seconds), "of crawler and simulated Web together"),
        ],
        sections: vec![speed(samples), queue(samples), domains(summary), outcomes(summary), largest(summary)],
        commands: commands.iter().map(|(text, what)| Command::new(text, what)).collect(),
    }
    .to_html()
}

fn section(title: &str, text: &str) -> Section {
    Section { title: title.into(), text: text.into(), ..Section::default() }
}

/// Differences per second between samples that are `SMOOTH` apart.
fn rates(samples: &[Sample], value: impl Fn(&Sample) -> u64) -> Vec<(f64, f64)> {
    samples
        .iter()
        .zip(samples.iter().skip(SMOOTH))
        .map(|(then, now)| {
            let seconds = (now.seconds - then.seconds).max(0.001);
            (now.seconds, (value(now) - value(then)) as f64 / seconds)
        })
        .collect()
}

fn speed(samples: &[Sample]) -> Section {
    let chart = LineChart {
        title: "Pages fetched a second".into(),
        reading: "Each point is the mean over the second before it.".into(),
        x: Axis::seconds("time since the start"),
        y: Axis::number("pages/s"),
        series: vec![Series::new("pages/s", rates(samples, |sample| sample.pages))],
    };
    let text = "How fast pages came in. The first moments go to robots.txt files and to finding enough hosts to ask \
                in parallel: each host is asked for one page at a time, with a pause after it.";
    Section { chart: Some(chart.render()), ..section("Speed over time", text) }
}

fn queue(samples: &[Sample]) -> Section {
    let points: Vec<(f64, f64)> =
        samples.iter().map(|sample| (sample.seconds, sample.queued as f64)).collect();
    let chart = LineChart {
        title: "URLs that wait to be fetched".into(),
        reading: "The line is the number of known URLs that were not fetched yet.".into(),
        x: Axis::seconds("time since the start"),
        y: Axis::number("URLs"),
        series: vec![Series::new("waiting", points)],
    };
    let text = "A crawler finds URLs many times faster than it can politely fetch them; keeping this queue within \
                bounded memory is what large crawlers are about.";
    Section { chart: Some(chart.render()), ..section("The frontier", text) }
}

fn domains(summary: &Summary) -> Section {
    let sizes: Vec<f64> = summary.domain_pages.iter().map(|(_, pages)| *pages as f64).collect();
    let chart = LogLogChart {
        title: "Pages fetched per domain, by rank".into(),
        reading: "Both axes are logarithmic: each step is ten times the one before.".into(),
        x: Axis::number("rank of the domain"),
        y: Axis::number("pages fetched"),
        series: vec![Series::by_rank("domains", sizes)],
        ..LogLogChart::default()
    };
    let text = "A few domains are large and most are small, here as on the real Web.";
    Section { chart: Some(chart.render()), ..section("Domain sizes", text) }
}

fn outcomes(summary: &Summary) -> Section {
    let tone = |name: &str| match name.as_bytes() {
        [b'2', ..] => Tone::Good,
        [b'3', ..] => Tone::Quiet,
        _ => Tone::Bad,
    };
    let fetched = summary.outcomes.iter().map(|(name, &count)| (name.clone(), count, tone(name)));
    let refused =
        summary.refused.iter().map(|(name, &count)| (format!("not asked: {name}"), count, Tone::Plain));
    let mut all: Vec<_> = fetched.chain(refused).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let chart = BarChart {
        title: "What became of the URLs".into(),
        reading: "One bar per HTTP status or failure, and per reason not to ask.".into(),
        axis: Axis::number("URLs"),
        bars: all.into_iter().map(|(label, count, tone)| Bar { label, value: count as f64, tone }).collect(),
    };
    let text = "The simulated Web fails as often as the real one did in the large crawls of the literature: dead names, \
                closed connections, errors, redirects, and hosts whose robots.txt says no.";
    Section { chart: Some(chart.render()), ..section("Outcomes", text) }
}

fn largest(summary: &Summary) -> Section {
    let rows = summary.domain_pages.iter().take(DOMAINS_SHOWN);
    let table = Table {
        columns: vec![Column::text("Domain"), Column::number("Pages")],
        rows: rows.map(|(domain, pages)| vec![domain.clone(), format::integer(*pages)]).collect(),
    };
    Section { table: Some(table), ..section("Largest domains", "Those with the most pages fetched.") }
}
