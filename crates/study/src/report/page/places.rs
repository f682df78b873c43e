//! Where the pages are from: protocols, top-level domains, domains, hosts, and how deep they lie.

use mattock_plot::chart::{Axis, LogLogChart, Series};
use mattock_plot::format;
use mattock_plot::report::{Column, Section, Table};

use super::super::{DataSet, NameSize, Names};
use super::content::shares;
use super::{charted, section, shown};

/// Names that are written into the chart.
const LABELS: usize = 3;
/// Names that are told by their bytes.
const BY_BYTES: usize = 5;

pub(super) fn sections(data: &DataSet) -> Vec<Section> {
    let properties = &data.properties;
    let mut sections = vec![
        shares(data, "Protocols", "instances", &properties.protocols, "properties.protocols"),
        shares(
            data,
            "Top-level domains",
            "pages",
            &properties.top_level_domains,
            "properties.top_level_domains",
        ),
        sizes(data),
        names(data, "Largest domains", "Domain", &properties.domains, "properties.domains"),
        names(data, "Largest hosts", "Host", &properties.hosts, "properties.hosts"),
    ];
    if !properties.depths.values.is_empty() {
        sections.push(shares(data, "Depth", "instances", &properties.depths, "properties.depths"));
    }
    sections
}

/// Ranks and pages; of names with equally many pages the first and the last.
fn ranks(sizes: &[NameSize]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut before = 0;
    for size in sizes {
        let (first, last) = (before + 1, before + size.names);
        points.push((first as f64, size.pages as f64));
        if last > first {
            points.push((last as f64, size.pages as f64));
        }
        before = last;
    }
    points
}

fn sizes(data: &DataSet) -> Section {
    let properties = &data.properties;
    let largest = properties.domains.by_pages.iter().take(LABELS).zip(1..);
    let chart = LogLogChart {
        title: "Pages of each domain and host, by rank".into(),
        reading:
            "The largest is on the left. Both axes are logarithmic: each step is ten times the one before."
                .into(),
        x: Axis::number("rank"),
        y: Axis::number("pages"),
        series: vec![
            Series::new("domains", ranks(&properties.domains.sizes)),
            Series::new("hosts", ranks(&properties.hosts.sizes)),
        ],
        labels: largest
            .map(|(share, rank)| ((f64::from(rank), share.count as f64), share.value.clone()))
            .collect(),
        ..LogLogChart::default()
    };
    let text = data.definition("properties.domains.sizes");
    let named = ["properties.domains.sizes", "properties.hosts.sizes"];
    charted(data, "Sizes of domains and hosts", text, &named, chart.render())
}

fn names(data: &DataSet, title: &str, column: &str, names: &Names, figure: &str) -> Section {
    let pages = data.size.pages as f64;
    let rows = names.by_pages.iter().map(|share| {
        vec![
            shown(&share.value),
            format::integer(share.count),
            format::percent(share.count as f64, pages),
            format::bytes(share.archive_bytes as f64),
        ]
    });
    let table = Table {
        columns: vec![
            Column::text(column),
            Column::number("Pages"),
            Column::number("Share"),
            Column::number("In the archive"),
        ],
        rows: rows.collect(),
    };
    let by_bytes: Vec<String> = names
        .by_bytes
        .iter()
        .take(BY_BYTES)
        .map(|share| format!("{} ({})", shown(&share.value), format::bytes(share.archive_bytes as f64)))
        .collect();
    let most = match by_bytes.is_empty() {
        true => String::new(),
        false => format!("\n\nThe most bytes have {}.", by_bytes.join(", ")),
    };
    let named = [format!("{figure}.by_pages"), format!("{figure}.by_bytes")];
    let text = format!("{}{most}", data.definition(&named[0]));
    Section { table: Some(table), ..section(data, title, &text, &[&named[0], &named[1]]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_size_are_drawn_by_their_first_and_last_rank() {
        let size = |pages, names| NameSize { pages, names };
        let points = ranks(&[size(900, 1), size(10, 4), size(1, 100)]);
        assert_eq!(points, [(1.0, 900.0), (2.0, 10.0), (5.0, 10.0), (6.0, 1.0), (105.0, 1.0)]);
    }
}
