//! The page being written.

use super::style::PAGE;
use super::{Command, Report, Section, Table, Tile};
use crate::chart::{STYLE, Svg};
use mattock_printable::html as escaped;

/// Nothing may be loaded or run; styles are the page's own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

pub(super) fn page(report: &Report) -> String {
    let title = escaped(&report.title);
    let mut out = String::with_capacity(16 * 1024);
    out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    out.push_str(&format!(
        "<title>{title}</title>\n<style>\n{PAGE}{STYLE}</style>\n</head>\n<body>\n<main>\n"
    ));
    out.push_str(&format!("<header>\n<h1>{title}</h1>\n"));
    element(&mut out, "p", &report.subtitle);
    out.push_str("</header>\n");
    tiles(&mut out, &report.tiles);
    for part in &report.sections {
        section(&mut out, part);
    }
    commands(&mut out, &report.commands);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// An element with text, or nothing if there is no text.
fn element(out: &mut String, name: &str, text: &str) {
    if !text.trim().is_empty() {
        out.push_str(&format!("<{name}>{}</{name}>\n", escaped(text.trim())));
    }
}

fn tiles(out: &mut String, tiles: &[Tile]) {
    if tiles.is_empty() {
        return;
    }
    out.push_str("<dl class=\"tiles\">\n");
    for tile in tiles {
        let (label, value) = (escaped(&tile.label), escaped(&tile.value));
        out.push_str(&format!("<div class=\"tile\"><dt>{label}</dt><dd class=\"figure\">{value}</dd>"));
        if !tile.hint.is_empty() {
            out.push_str(&format!("<dd class=\"hint\">{}</dd>", escaped(&tile.hint)));
        }
        out.push_str("</div>\n");
    }
    out.push_str("</dl>\n");
}

fn section(out: &mut String, section: &Section) {
    out.push_str("<section>\n");
    element(out, "h2", &section.title);
    for paragraph in section.text.split("\n\n") {
        element(out, "p", paragraph);
    }
    if let Some(svg) = &section.chart {
        chart(out, svg);
    }
    if let Some(rows) = &section.table {
        table(out, rows);
    }
    if !section.again.is_empty() {
        out.push_str("<details>\n<summary>How to get these figures again</summary>\n");
        list(out, &section.again);
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
}

/// Both shapes; the style shows the one that fits.
fn chart(out: &mut String, svg: &Svg) {
    out.push_str("<figure>\n");
    out.push_str(svg.wide());
    out.push_str(svg.narrow());
    if !svg.reading().is_empty() {
        out.push_str("<figcaption><b>How to read this:</b> ");
        out.push_str(&escaped(svg.reading()));
        out.push_str("</figcaption>\n");
    }
    out.push_str("</figure>\n");
}

fn table(out: &mut String, table: &Table) {
    if table.columns.is_empty() {
        return;
    }
    let class = |numeric: bool| if numeric { " class=\"number\"" } else { "" };
    out.push_str("<div class=\"scroll\">\n<table>\n<thead><tr>");
    for column in &table.columns {
        out.push_str(&format!("<th scope=\"col\"{}>{}</th>", class(column.numeric), escaped(&column.title)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (at, column) in table.columns.iter().enumerate() {
            let cell = row.get(at).map_or("", String::as_str);
            out.push_str(&format!("<td{}>{}</td>", class(column.numeric), escaped(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn commands(out: &mut String, commands: &[Command]) {
    if commands.is_empty() {
        return;
    }
    out.push_str("<section>\n<h2>What to try next</h2>\n");
    list(out, commands);
    out.push_str("</section>\n");
}

fn list(out: &mut String, commands: &[Command]) {
    out.push_str("<ul class=\"commands\">\n");
    for command in commands {
        out.push_str("<li>");
        if !command.what.is_empty() {
            out.push_str(&format!("<span>{}</span>", escaped(&command.what)));
        }
        out.push_str(&format!("<code>{}</code></li>\n", escaped(&command.text)));
    }
    out.push_str("</ul>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Bar, BarChart};
    use crate::markup;
    use crate::report::Column;
    use proptest::prelude::*;

    fn full(text: &str) -> Report {
        let chart = BarChart { title: text.into(), bars: vec![Bar::new(text, 1.0)], ..BarChart::default() };
        Report {
            title: text.into(),
            subtitle: text.into(),
            tiles: vec![Tile::new(text, text, text)],
            sections: vec![Section {
                title: text.into(),
                text: format!("{text}\n\n{text}"),
                chart: Some(chart.render()),
                table: Some(Table {
                    columns: vec![Column::text(text), Column::number(text)],
                    rows: vec![vec![text.into()], vec![text.into(), text.into(), "beyond".into()]],
                }),
                again: vec![Command::new(text, text)],
            }],
            commands: vec![Command::new(text, text)],
        }
    }

    #[test]
    fn a_page_has_its_parts() {
        let html = full("crawl").to_html();
        let names = markup::check(&html);
        for (name, count) in [
            ("h1", 1),
            ("h2", 2),
            ("svg", 2),
            ("figcaption", 1),
            ("th", 2),
            ("td", 4),
            ("details", 1),
            ("code", 2),
        ] {
            assert_eq!(names.iter().filter(|other| *other == name).count(), count, "{name}");
        }
        assert!(html.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
        assert!(html.contains("How to read this:") && html.contains("width=device-width"));
        assert!(!html.contains("beyond"));
    }

    #[test]
    fn nothing_is_loaded() {
        let html = full("crawl").to_html();
        for word in ["src=", "href=", "url(", "@import", "http://", "https://", "<script"] {
            assert!(!html.contains(word), "{word}");
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let html = full("<script>alert(1)</script><img onerror='x'>").to_html();
        let names = markup::check(&html);
        assert!(!names.iter().any(|name| name == "script" || name == "img"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }

    #[test]
    fn an_empty_report_is_a_page() {
        let names = markup::check(&Report::default().to_html());
        assert!(names.iter().any(|name| name == "h1") && !names.iter().any(|name| name == "section"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn no_text_breaks_the_page(text in any::<String>(), marked in "[<>&\"'/!a-c =\n-]{0,40}") {
            markup::check(&full(&text).to_html());
            markup::check(&full(&marked).to_html());
        }
    }
}
