//! A table for people, as wide as the terminal. Widths are settled by the first rows, so that rows can be shown as they come;
//! what does not fit is cut with an ellipsis.

use std::borrow::Cow;
use std::io::{self, Write};

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use mattock_printable::{Layout, terminal};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Sink;
use super::cell::text;

/// So many rows settle the widths.
const ROWS_LOOKED_AT: usize = 200;
/// No more of a cell is looked at: it will not be shown.
const CELL_BYTES_MAX: usize = 2_000;
/// What stands between columns.
const GAP: &str = "  ";
/// A column is not made narrower than this to make room for others.
const WIDTH_MIN: usize = 8;

/// See the module.
pub struct TableSink<W> {
    out: W,
    width: usize,
    names: Vec<String>,
    /// Numbers stand to the right.
    right: Vec<bool>,
    widths: Vec<usize>,
    waiting: Vec<Vec<String>>,
    shown: bool,
}

impl<W: Write> TableSink<W> {
    /// Writes to `out`, lines of at most `width` cells.
    pub fn new(out: W, width: usize) -> TableSink<W> {
        TableSink {
            out,
            width,
            names: Vec::new(),
            right: Vec::new(),
            widths: Vec::new(),
            waiting: Vec::new(),
            shown: false,
        }
    }

    /// Settles the widths and shows what has waited.
    fn settle(&mut self) -> io::Result<()> {
        self.shown = true;
        let mut widths: Vec<usize> = self.names.iter().map(|name| name.width()).collect();
        for row in &self.waiting {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        fit(&mut widths, self.width.saturating_sub(GAP.len() * self.names.len().saturating_sub(1)));
        self.widths = widths;
        let names = std::mem::take(&mut self.names);
        self.show(&names)?;
        let rules: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
        self.show(&rules)?;
        for row in std::mem::take(&mut self.waiting) {
            self.show(&row)?;
        }
        Ok(())
    }

    fn show(&mut self, cells: &[String]) -> io::Result<()> {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                line.push_str(GAP);
            }
            let cell = cut(cell, self.widths[at]);
            let blanks = " ".repeat(self.widths[at].saturating_sub(cell.width()));
            if self.right[at] {
                line.push_str(&blanks);
            }
            line.push_str(&cell);
            if !self.right[at] {
                line.push_str(&blanks);
            }
        }
        writeln!(self.out, "{}", line.trim_end())
    }
}

/// Makes columns narrower, the widest first, until all of them fit.
fn fit(widths: &mut [usize], room: usize) {
    loop {
        let total: usize = widths.iter().sum();
        let Some(widest) = widths.iter().copied().max() else { return };
        if total <= room || widest <= WIDTH_MIN {
            return;
        }
        let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(0).max(WIDTH_MIN);
        let count = widths.iter().filter(|width| **width == widest).count();
        let step = (total - room).div_ceil(count).min(widest - next).max(1);
        for width in widths.iter_mut().filter(|width| **width == widest) {
            *width -= step;
        }
    }
}

/// A cell on one line, cut to a width.
fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_string();
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in cell.chars() {
        let size = letter.width().unwrap_or(0);
        if used + size > width.saturating_sub(1) {
            break;
        }
        used += size;
        kept.push(letter);
    }
    kept.push('…');
    kept
}

/// White space of every kind becomes one blank, and what a terminal would obey is named.
fn on_one_line(cell: &str) -> String {
    let mut end = cell.len().min(CELL_BYTES_MAX);
    while !cell.is_char_boundary(end) {
        end -= 1;
    }
    let mut line = String::new();
    for letter in cell[..end].chars() {
        if letter.is_whitespace() {
            if !line.ends_with(' ') && !line.is_empty() {
                line.push(' ');
            }
        } else {
            line.push(letter);
        }
    }
    match terminal(&line, Layout::Line) {
        Cow::Borrowed(_) => line,
        Cow::Owned(shown) => shown,
    }
}

impl<W: Write> Sink for TableSink<W> {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        self.names = schema.fields().iter().map(|field| on_one_line(field.name())).collect();
        self.right = schema.fields().iter().map(|field| field.data_type().is_numeric()).collect();
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            let mut cells = Vec::with_capacity(batch.num_columns());
            for column in batch.columns() {
                let mut cell = String::new();
                if column.is_valid(row) {
                    text(column.as_ref(), row, &mut cell);
                }
                cells.push(on_one_line(&cell));
            }
            if self.shown {
                self.show(&cells)?;
            } else {
                self.waiting.push(cells);
                if self.waiting.len() >= ROWS_LOOKED_AT {
                    self.settle()?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.shown {
            self.settle()?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_way_widest_first() {
        for (given, room, wanted) in [
            (vec![10, 100, 5], 60, vec![10, 45, 5]),
            (vec![100, 100], 60, vec![30, 30]),
            (vec![4, 4], 60, vec![4, 4]),
            (vec![50, 50, 3], 5, vec![8, 8, 3]),
            (vec![], 5, vec![]),
        ] {
            let mut widths = given;
            fit(&mut widths, room);
            assert_eq!(widths, wanted);
        }
    }

    #[test]
    fn cells_are_cut_by_what_they_take_and_obey_nobody() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("日本語文字", 6), "日本…");
        assert_eq!(on_one_line("a\n\t b\u{1b}[31mc\u{202e}d"), r"a b\u{1b}[31mc\u{202e}d");
    }
}
