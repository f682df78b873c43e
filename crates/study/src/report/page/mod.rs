//! The figures as a page: which sections there are, in which order, and what stands above and below them.

mod content;
mod graph;
mod parts;
mod places;

use mattock_plot::chart::Svg;
use mattock_plot::format;
use mattock_plot::report::{Column, Command, Report, Section, Table, Tile};

use super::DataSet;
use super::ask::report_command;

/// Characters of a URL that a table shows.
const SHOWN_MAX: usize = 120;

/// The page.
pub(super) fn page(data: &DataSet) -> Report {
    let mut sections = parts::sections(data);
    sections.extend(content::sections(data));
    sections.extend(places::sections(data));
    sections.extend(graph::sections(data));
    sections.push(cite(data));
    Report {
        title: format!("The data set {}", data.name),
        subtitle: subtitle(data),
        tiles: tiles(data),
        sections,
        commands: Vec::new(),
    }
}

fn subtitle(data: &DataSet) -> String {
    let size = &data.size;
    let (Some(first), Some(last)) = (&size.first_fetch, &size.last_fetch) else {
        return "Nothing is stored yet.".into();
    };
    format!(
        "{} of {} in {}, fetched from {} to {}",
        format::counted(size.pages, "page", "pages"),
        format::counted(size.hosts, "host", "hosts"),
        format::counted(size.domains, "domain", "domains"),
        minute(first),
        minute(last)
    )
}

/// A time without its seconds.
fn minute(time: &str) -> String {
    match time.get(..16) {
        Some(minute) => format!("{} UTC", minute.replace('T', " ")),
        None => time.to_owned(),
    }
}

fn tiles(data: &DataSet) -> Vec<Tile> {
    let size = &data.size;
    let mut tiles = vec![
        Tile::new("Pages", format::integer(size.pages), "instances with status 200"),
        Tile::new("URLs", format::integer(size.urls), "with at least one instance"),
        Tile::new("Hosts", format::integer(size.hosts), "scheme, name and port"),
        Tile::new("Domains", format::integer(size.domains), "one label below the public suffix"),
        Tile::new("Archive", format::bytes(size.archive_bytes as f64), "compressed records of all instances"),
        Tile::new("Time", format::duration(size.seconds), "from the first fetch to the last"),
    ];
    let languages = &data.content.languages;
    if let Some(first) = languages.values.iter().find(|share| !share.language.is_empty()) {
        let share = format::percent(first.pages as f64, languages.pages() as f64);
        tiles.push(Tile::new("Language", first.language.clone(), format!("of {share} of the HTML pages")));
    }
    if let Some(links) = &data.links {
        let each = links.links as f64 / links.urls_crawled.max(1) as f64;
        tiles.push(Tile::new(
            "Links",
            format::integer(links.links),
            format!("{} for each crawled page", format::number(each)),
        ));
    }
    tiles
}

/// What to write into a paper, and what to type to get the same.
fn cite(data: &DataSet) -> Section {
    let size = &data.size;
    let span = match (&size.first_fetch, &size.last_fetch) {
        (Some(first), Some(last)) => format!(", fetched from {first} to {last}"),
        _ => String::new(),
    };
    let of_features = data.links.as_ref().map_or(String::new(), |links| {
        format!(
            " Links and near-duplicates are those of generation {} of the feature databases as it was built, whatever date is asked for.",
            links.generation
        )
    });
    let text = format!(
        "“{}”: {} of {} ({}) of {} in {}{span}. Crawled, stored or measured with Mattock {}.\n\n\
         Figures of a growing crawl hold for what was committed when the report was made. “--inserted-by” with the date of the last \
         insertion leaves out what came later, in this report as in any query.{of_features}",
        data.name,
        format::counted(size.instances, "instance", "instances"),
        format::counted(size.urls, "URL", "URLs"),
        format::counted(size.pages, "page", "pages"),
        format::counted(size.hosts, "host", "hosts"),
        format::counted(size.domains, "domain", "domains"),
        data.mattock,
    );
    let none = || format::NONE.to_owned();
    let mut rows = vec![
        vec!["Directory".into(), data.repository.clone()],
        vec!["First fetch".into(), size.first_fetch.clone().unwrap_or_else(none)],
        vec!["Last fetch".into(), size.last_fetch.clone().unwrap_or_else(none)],
        vec!["Last insertion".into(), size.last_insertion.clone().unwrap_or_else(none)],
        vec!["Instances".into(), format::integer(size.instances)],
        vec!["Program".into(), format!("Mattock {}", data.mattock)],
        vec![
            "Sample".into(),
            format!(
                "{} of HTML pages: probability {}, seed {}",
                format::counted(data.content.sample_pages, "document", "documents"),
                data.content.sample_probability,
                data.content.sample_seed
            ),
        ],
    ];
    if let Some(links) = &data.links {
        rows.push(vec!["Features".into(), format!("generation {}", links.generation)]);
    }
    let report = report_command(&data.repository, data.features.as_deref());
    let report = format!("{report} --seed {}{}", data.content.sample_seed, dates(data));
    let json = "the same figures as one JSON object, each with its definition and its command";
    let again =
        vec![Command::new(report.clone(), "this page"), Command::new(format!("{report} --json"), json)];
    let table = Table { columns: vec![Column::text("What"), Column::text("Value")], rows };
    Section { title: "How to cite and repeat".into(), text, table: Some(table), again, chart: None }
}

/// What leaves out all that comes later, and what this report has left out itself.
fn dates(data: &DataSet) -> String {
    let flag = |flag: &str, date: &Option<String>| match date {
        Some(date) => format!(" {flag} {date}"),
        None => String::new(),
    };
    flag("--as-of", &data.size.last_fetch) + &flag("--inserted-by", &data.size.last_insertion)
}

/// A section whose text is what its figures are, with what gives them again. `figures` are beginnings of their names.
fn section(data: &DataSet, title: &str, text: &str, figures: &[&str]) -> Section {
    Section { title: title.into(), text: text.into(), again: again(data, figures), ..Section::default() }
}

/// The same with a chart.
fn charted(data: &DataSet, title: &str, text: &str, figures: &[&str], chart: Svg) -> Section {
    Section { chart: Some(chart), ..section(data, title, text, figures) }
}

/// What gives figures again, each command once, with the figures that it gives.
fn again(data: &DataSet, figures: &[&str]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    let wanted = data.definitions.iter().filter(|definition| {
        figures.iter().any(|figure| {
            definition
                .figure
                .strip_prefix(figure)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    });
    for definition in wanted {
        match commands.iter_mut().find(|command| command.text == definition.command) {
            Some(command) => command.what += &format!(", {}", definition.figure),
            None => commands.push(Command::new(definition.command.clone(), definition.figure)),
        }
    }
    commands
}

/// A table of figures with what they are: name, value, figure.
fn figures(data: &DataSet, rows: &[(&str, String, &str)]) -> Table {
    Table {
        columns: vec![Column::text("Figure"), Column::number("Value"), Column::text("What it is")],
        rows: rows
            .iter()
            .map(|(name, value, figure)| {
                vec![(*name).to_owned(), value.clone(), data.definition(figure).to_owned()]
            })
            .collect(),
    }
}

/// A text from the Web, cut if it is too long for a table.
fn shown(text: &str) -> String {
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain(['…']).collect()
}
