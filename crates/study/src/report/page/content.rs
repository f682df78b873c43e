//! What the pages are: types, charsets, languages, lengths, copies, change.

use mattock_plot::chart::{Axis, Bar, BarChart, Tone};
use mattock_plot::format;
use mattock_plot::report::{Column, Command, Section, Table};

use super::super::{DataSet, Shares, Spread};
use super::parts::others;
use super::{charted, figures, section, shown};

pub(super) fn sections(data: &DataSet) -> Vec<Section> {
    let properties = &data.properties;
    let mut sections = vec![
        shares(data, "Content types", "pages", &properties.types, "properties.types"),
        shares(data, "Character encodings", "pages", &properties.charsets, "properties.charsets"),
        languages(data),
    ];
    sections.extend(lengths(data));
    sections.push(copies(data));
    sections.push(change(data));
    sections
}

/// The bars of a property, with what the archive has of each beside them.
pub(super) fn shares(data: &DataSet, title: &str, what: &str, shares: &Shares, figure: &str) -> Section {
    let named = |value: &str| if value.is_empty() { "(none)".to_owned() } else { shown(value) };
    let bars = shares.values.iter().map(|share| {
        let bar = Bar::new(named(&share.value), share.count as f64);
        if share.value.is_empty() { bar.toned(Tone::Quiet) } else { bar }
    });
    let chart = BarChart {
        title: title.into(),
        axis: Axis::number(what),
        bars: bars.chain(others(shares)).collect(),
        ..BarChart::default()
    };
    charted(data, title, data.definition(figure), &[figure], chart.render())
}

fn languages(data: &DataSet) -> Section {
    let content = &data.content;
    let bars = content.languages.values.iter().map(|share| match share.language.as_str() {
        "" => Bar::new("(too little text)", share.pages as f64).toned(Tone::Quiet),
        language => Bar::new(language, share.pages as f64),
    });
    let rest = (content.languages.others > 0)
        .then(|| Bar::new("others", content.languages.others as f64).toned(Tone::Quiet));
    let chart = BarChart {
        title: "Languages".into(),
        axis: Axis::number("HTML pages"),
        bars: bars.chain(rest).collect(),
        ..BarChart::default()
    };
    let of = match content.languages.of_all_pages {
        true => "all HTML pages".to_owned(),
        false => sample(data),
    };
    let text = format!("{} Of {of}.", data.definition("content.languages"));
    let mut section = charted(data, "Languages", &text, &["content.languages"], chart.render());
    if !content.languages.of_all_pages {
        let command = format!("mattock materialize {} language", data.repository);
        section
            .again
            .push(Command::new(command, "keeps the languages of all pages: the next report counts them"));
    }
    section
}

/// How the sample was drawn.
fn sample(data: &DataSet) -> String {
    let content = &data.content;
    let unreadable = match content.unreadable {
        0 => String::new(),
        count => format!(", {} of which could not be read", format::integer(count)),
    };
    if content.sample_probability >= 1.0 {
        return format!("all {} HTML pages{unreadable}", format::integer(content.sample_pages));
    }
    format!(
        "a sample of {} of {} HTML pages (probability {}, seed {}){unreadable}",
        format::integer(content.sample_pages),
        format::integer(content.html_pages),
        content.sample_probability,
        content.sample_seed
    )
}

/// A name, what is spread, and how its numbers are written.
type SpreadRow<'a> = (&'a str, &'a Spread, fn(f64) -> String);

/// The quantiles of several spreads, one a row.
fn quantiles(rows: &[SpreadRow<'_>]) -> Table {
    let head = ["Mean", "Least", "Quarter", "Median", "Three quarters", "99 %", "Most"];
    let mut columns = vec![Column::text("")];
    columns.extend(head.map(Column::number));
    let row = |(name, spread, written): &(&str, &Spread, fn(f64) -> String)| {
        let mut row = vec![(*name).to_owned(), written(spread.mean)];
        let values = [
            spread.least,
            spread.quarter,
            spread.median,
            spread.three_quarters,
            spread.percentile_99,
            spread.most,
        ];
        row.extend(values.map(|value| written(value as f64)));
        row
    };
    Table { columns, rows: rows.iter().map(row).collect() }
}

fn lengths(data: &DataSet) -> Vec<Section> {
    let mut sections = Vec::new();
    let content = &data.content;
    if let Some(spread) = &data.record_bytes {
        let chart = spread.chart("Sizes of records", Axis::bytes("bytes in the archive"), "pages");
        sections.push(Section {
            table: Some(quantiles(&[("record", spread, format::bytes)])),
            chart,
            ..section(data, "Sizes in the archive", data.definition("record_bytes"), &["record_bytes"])
        });
    }
    if let (Some(bytes), Some(characters)) = (&content.html_bytes, &content.text_characters) {
        let chart = bytes.chart("Lengths of pages", Axis::bytes("bytes of HTML"), "pages");
        let text = format!(
            "{} {} Of {}.",
            data.definition("content.html_bytes"),
            data.definition("content.text_characters"),
            sample(data)
        );
        let named = ["content.html_bytes", "content.text_characters", "content.sample_pages"];
        sections.push(Section {
            table: Some(quantiles(&[
                ("HTML", bytes, format::bytes),
                ("main text, characters", characters, format::short),
            ])),
            chart,
            ..section(data, "Lengths of pages", &text, &named)
        });
    }
    if let Some(ages) = &content.age_seconds {
        let chart = ages.chart("Ages of pages", Axis::seconds("age when fetched"), "pages");
        let text = format!("{} Of {}.", data.definition("content.age_seconds"), sample(data));
        sections.push(Section {
            table: Some(quantiles(&[("age", ages, format::duration)])),
            chart,
            ..section(data, "Ages of pages", &text, &["content.age_seconds"])
        });
    }
    sections
}

fn copies(data: &DataSet) -> Section {
    let copies = &data.copies;
    let share = |part: u64, whole: u64| {
        format!("{} ({})", format::integer(part), format::percent(part as f64, whole as f64))
    };
    let mut rows = vec![
        ("Different payloads", format::integer(copies.payloads), "copies.payloads"),
        ("Copies", share(copies.copies, copies.pages), "copies.copies"),
        ("URLs with the same payload, at most", format::integer(copies.urls_most), "copies.urls_most"),
    ];
    let mut text = String::new();
    match &copies.near {
        Some(near) => {
            rows.push((
                "Clusters of near-duplicates",
                format::integer(near.clusters),
                "copies.near.clusters",
            ));
            rows.push(("Near-duplicates", share(near.copies, near.texts), "copies.near.copies"));
        }
        None => text = missing(data, "copies.near", "Near-duplicates are not in it"),
    }
    if copies.near.is_some()
        && let Some(note) = note(data, "features")
    {
        text = note;
    }
    Section { table: Some(figures(data, &rows)), ..section(data, "Copies", &text, &["copies"]) }
}

/// Sentences on what is not here, why, and how to get it.
pub(super) fn missing(data: &DataSet, figures: &str, sentence: &str) -> String {
    match note(data, figures) {
        Some(note) => format!("{sentence}. {note}"),
        None => format!("{sentence}."),
    }
}

/// Why figures are missing or are of something else, and what to do about it.
pub(super) fn note(data: &DataSet, figures: &str) -> Option<String> {
    let missing = data.lacks(figures)?;
    let mut letters = missing.why.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let sentence: String = first.chain(letters).collect();
    let command = missing.command.as_ref().map(|command| format!(" This makes them: {command}"));
    Some(format!("{sentence}.{}", command.unwrap_or_default()))
}

fn change(data: &DataSet) -> Section {
    let (change, size) = (&data.change, &data.size);
    if change.urls_again == 0 {
        let text = "Every URL was fetched once, so that nothing can be said about change.";
        return section(data, "Change", text, &["size.instances_per_url"]);
    }
    let bars = size
        .instances_per_url
        .iter()
        .map(|of| Bar::new(format::counted(of.instances, "instance", "instances"), of.urls as f64));
    let chart = BarChart {
        title: "Instances of each URL".into(),
        axis: Axis::number("URLs"),
        bars: bars.collect(),
        ..BarChart::default()
    };
    let share = format::percent(change.changed as f64, change.instances_again as f64);
    let text = format!(
        "{} {} of {} ({share}) had changed.",
        data.definition("size.instances_per_url"),
        format::integer(change.changed),
        format::counted(change.instances_again, "instance fetched again", "instances fetched again"),
    );
    Section {
        table: change
            .seconds_between
            .as_ref()
            .map(|between| quantiles(&[("time between", between, format::duration)])),
        ..charted(data, "Change", &text, &["change", "size.instances_per_url"], chart.render())
    }
}
