//! How much there is, how it was crawled, and when.

use mattock_plot::chart::{Axis, Bar, BarChart, LineChart, Series, Tone};
use mattock_plot::format;
use mattock_plot::report::{Column, Section, Table};

use super::super::{CrawlFigures, DataSet, Shares};
use super::{charted, figures, section};

pub(super) fn sections(data: &DataSet) -> Vec<Section> {
    let mut sections = vec![size(data)];
    if let Some(crawl) = &data.crawl {
        sections.push(account(data, crawl));
        sections.push(settings(crawl));
    }
    sections.push(outcomes(data));
    sections.push(course(data));
    sections
}

fn size(data: &DataSet) -> Section {
    let size = &data.size;
    let (copies, change) = (&data.copies, &data.change);
    let mut rows = vec![
        ("Instances", format::integer(size.instances), "size.instances"),
        ("Pages", format::integer(size.pages), "size.pages"),
        ("URLs", format::integer(size.urls), "size.urls"),
        ("Hosts", format::integer(size.hosts), "size.hosts"),
        ("Domains", format::integer(size.domains), "size.domains"),
        ("Archive", format::bytes(size.archive_bytes as f64), "size.archive_bytes"),
        ("Cut", format::integer(size.truncated), "size.truncated"),
        ("Revisits", format::integer(size.revisits), "size.revisits"),
        ("Payloads", format::integer(copies.payloads), "copies.payloads"),
        ("HTML pages", format::integer(data.content.html_pages), "content.html_pages"),
    ];
    if change.urls_again > 0 {
        rows.push(("Fetched again", format::integer(change.instances_again), "change.instances_again"));
    }
    let named = ["size", "copies.payloads", "content.html_pages"];
    Section { table: Some(figures(data, &rows)), ..section(data, "Size", "", &named) }
}

fn account(data: &DataSet, crawl: &CrawlFigures) -> Section {
    let state = match (&crawl.end, crawl.running, crawl.checkpoint) {
        (_, _, 0) => "The crawl has made no checkpoint yet.".to_owned(),
        (_, true, number) => format!("The crawl is running; this is what checkpoint {number} holds."),
        (Some(end), _, number) => {
            let end = match end.as_str() {
                "complete" => "nothing was left to fetch",
                "max-pages" => "its page limit was reached",
                _ => "it was stopped",
            };
            format!("The last run ended because {end}; this is what checkpoint {number} holds.")
        }
        (None, _, number) => format!("The crawl does not run; this is what checkpoint {number} holds."),
    };
    let books = if crawl.accounted() == crawl.discovered {
        "Every URL that was discovered is fetched, failed, refused or queued: the numbers below add up."
    } else {
        "The numbers below do not add up to the URLs discovered: “mattock check” says more."
    };
    let mut rows = vec![
        ("Discovered", format::integer(crawl.discovered), "crawl.discovered"),
        ("Fetched", format::integer(crawl.fetched), "crawl.fetched"),
        ("Failed", format::integer(crawl.failed), "crawl.failed"),
        ("Refused", format::integer(crawl.refused), "crawl.refused"),
        ("Queued", format::integer(crawl.queued), "crawl.queued"),
        ("Received", format::bytes(crawl.received_bytes as f64), "crawl.received_bytes"),
    ];
    if let Some(speed) = data.course.pages_per_second {
        rows.push(("Speed", format!("{}/s", format::number(speed)), "course.pages_per_second"));
    }
    Section {
        table: Some(figures(data, &rows)),
        ..section(data, "The crawl", &format!("{state} {books}"), &["crawl"])
    }
}

fn settings(crawl: &CrawlFigures) -> Section {
    Section {
        title: "Settings of the crawl".into(),
        text: "The keys are those of the configuration file; all others have their defaults or do not change what was fetched.".into(),
        table: Some(Table {
            columns: vec![Column::text("Key"), Column::text("Value")],
            rows: crawl
                .settings
                .iter()
                .map(|setting| vec![setting.key.clone(), super::shown(&setting.value)])
                .collect(),
        }),
        ..Section::default()
    }
}

fn tone(outcome: &str) -> Tone {
    match outcome.as_bytes() {
        [b'2', ..] => Tone::Good,
        [b'3', ..] => Tone::Quiet,
        _ => Tone::Bad,
    }
}

/// What a crawl says became of its URLs, or what the archive has.
fn outcomes(data: &DataSet) -> Section {
    let mut bars: Vec<Bar> = match &data.crawl {
        Some(crawl) => {
            let fetched =
                crawl.outcomes.iter().map(|(name, count)| Bar::new(name, *count as f64).toned(tone(name)));
            let refused = crawl
                .refusals
                .iter()
                .map(|(name, count)| Bar::new(format!("not asked: {name}"), *count as f64));
            fetched.chain(refused).collect()
        }
        None => {
            let statuses = &data.properties.statuses;
            let told = statuses.values.iter();
            let told = told.map(|share| Bar::new(&share.value, share.count as f64).toned(tone(&share.value)));
            told.chain(others(statuses)).collect()
        }
    };
    bars.sort_by(|one, two| two.value.total_cmp(&one.value).then_with(|| one.label.cmp(&two.label)));
    let (text, named): (String, &[&str]) = match &data.crawl {
        Some(_) => (
            format!("{} {}", data.definition("crawl.outcomes"), data.definition("crawl.refusals")),
            &["crawl.outcomes", "crawl.refusals", "properties.statuses"],
        ),
        None => (data.definition("properties.statuses").to_owned(), &["properties.statuses"]),
    };
    // An archive has instances, of some URLs several, and knows nothing of what was not asked for.
    let (title, reading, unit) = match &data.crawl {
        Some(_) => (
            "What became of the URLs",
            "One bar for each HTTP status or failure, and for each reason not to ask.",
            "URLs",
        ),
        None => ("What servers have answered", "One bar for each HTTP status.", "instances"),
    };
    let chart = BarChart { title: title.into(), reading: reading.into(), axis: Axis::number(unit), bars };
    charted(data, "Outcomes", &text, named, chart.render())
}

/// The bar of everything that is not told by itself.
pub(super) fn others(shares: &Shares) -> Option<Bar> {
    (shares.others > 0).then(|| Bar::new("others", shares.others as f64).toned(Tone::Quiet))
}

fn course(data: &DataSet) -> Section {
    let course = &data.course;
    let length = course.stretch_seconds.max(1) as f64;
    // Each stretch is drawn in its middle.
    let points = course
        .stretches
        .iter()
        .enumerate()
        .map(|(at, stretch)| ((at as f64 + 0.5) * length, stretch.pages as f64 / length));
    let (unit, factor) = if length >= 86_400.0 { ("pages a day", 86_400.0) } else { ("pages a second", 1.0) };
    let chart = LineChart {
        title: "Pages over time".into(),
        reading: format!("Each point is the mean of {}.{}", format::duration(length), dates(data)),
        x: Axis::seconds("time since the first fetch"),
        y: Axis::number(unit),
        series: vec![Series::new("", points.map(|(x, y)| (x, y * factor)))],
    };
    let mean = course.pages_per_second.map_or_else(String::new, |speed| {
        format!(" {} on average: {}", rate(speed), lowered(data.definition("course.pages_per_second")))
    });
    let text = format!("{}{mean}", data.definition("course.stretches"));
    charted(data, "Course of time", &text, &["course"], chart.render())
}

/// From when to when, since the axis has no dates.
fn dates(data: &DataSet) -> String {
    match (&data.size.first_fetch, &data.size.last_fetch) {
        (Some(first), Some(last)) => format!(" The first fetch was at {first}, the last at {last}."),
        _ => String::new(),
    }
}

/// Pages a second, or a day where they are few.
fn rate(per_second: f64) -> String {
    if per_second >= 0.01 {
        return format!("{} pages a second", format::number(per_second));
    }
    format!("{} pages a day", format::number(per_second * 86_400.0))
}

/// A sentence as a part of another one.
fn lowered(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
