//! One self-contained HTML page: figures, charts, tables, and the commands to try next.
//!
//! `mattock demo`, `mattock report` and the experiments fill a [`Report`]; its reader opens the file in a browser, on a
//! desk or a phone, or prints it. There are no scripts and nothing is loaded: the page's own content security policy
//! forbids it, so a hostile title from the Web that slipped through would still do nothing. All text is escaped.

mod html;
mod style;

use crate::chart::Svg;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The heading, also the browser's title.
    pub title: String,
    /// One line under it.
    pub subtitle: String,
    /// The figures that matter most.
    pub tiles: Vec<Tile>,
    /// The parts, in order.
    pub sections: Vec<Section>,
    /// What to type next.
    pub commands: Vec<Command>,
}

impl Report {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        html::page(self)
    }
}

/// One figure with its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// What it is: "Pages".
    pub label: String,
    /// The figure, formatted: "12,345".
    pub value: String,
    /// What to make of it: "612 per second"; may be empty.
    pub hint: String,
}

impl Tile {
    /// A tile.
    pub fn new(label: impl Into<String>, value: impl Into<String>, hint: impl Into<String>) -> Tile {
        Tile { label: label.into(), value: value.into(), hint: hint.into() }
    }
}

/// A part of the page: any of text, chart and table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Plain text; an empty line starts a new paragraph.
    pub text: String,
    /// A chart, with its line on how to read it.
    pub chart: Option<Svg>,
    /// A table, under the chart.
    pub table: Option<Table>,
    /// What gives the same figures again; folded away until the reader wants to see it.
    pub again: Vec<Command>,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; missing cells are empty, cells beyond the columns are not shown.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Numbers are set to the right, so that digits stand under each other.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Column {
        Column { title: title.into(), numeric: true }
    }
}

/// A command for the reader to type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The command line.
    pub text: String,
    /// What it does.
    pub what: String,
}

impl Command {
    /// A command.
    pub fn new(text: impl Into<String>, what: impl Into<String>) -> Command {
        Command { text: text.into(), what: what.into() }
    }
}
