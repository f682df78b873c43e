//! What is wrong with a query, and where: shown as the line of the query with a caret under the place.

use std::fmt;

use mattock_printable::{Layout, terminal};

/// A part of a query's text, in bytes. Empty if something is missing there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl Span {
    /// From `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// From the beginning of this to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }
}

/// An error in the text of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The whole text.
    pub text: String,
    /// Where it is wrong; not known for some errors of SQL.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Complaint {
    /// `message` about the part of `text` at `span`.
    pub fn at(text: &str, span: Span, message: impl Into<String>) -> Complaint {
        Complaint { text: text.to_string(), span: Some(span), message: message.into(), hint: None }
    }

    /// `message` about a text as a whole.
    pub(crate) fn of(text: &str, message: impl Into<String>) -> Complaint {
        Complaint { text: text.to_string(), span: None, message: message.into(), hint: None }
    }

    /// The same with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Complaint {
        self.hint = Some(hint.into());
        self
    }

    /// The line in which the place is: its number from 1, its text, and the place in it in bytes.
    fn line(&self, span: Span) -> (usize, &str, usize, usize) {
        let start = floor(&self.text, span.start);
        let begin = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        let number = self.text[..begin].matches('\n').count() + 1;
        let stop = floor(&self.text, span.end).clamp(start, end);
        (number, &self.text[begin..end], start - begin, stop - begin)
    }
}

/// The last place not after `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.message)?;
        let Some(span) = self.span else {
            return match &self.hint {
                Some(hint) => write!(formatter, "; {hint}"),
                None => Ok(()),
            };
        };
        let (number, line, start, end) = self.line(span);
        let number = number.to_string();
        let margin = " ".repeat(number.len());
        let line = line.replace('\t', " ");
        // Piece by piece, so that the carets stand below what they are about, however it is shown.
        let [before, meant, after] = [&line[..start], &line[start..end], &line[end..]]
            .map(|piece| terminal(piece, Layout::Line).into_owned());
        let carets = unicode_width::UnicodeWidthStr::width(meant.as_str()).max(1);
        let shown = format!("{before}{meant}{after}");
        let before = unicode_width::UnicodeWidthStr::width(before.as_str());
        writeln!(formatter, "\n{margin} |\n{number} | {shown}")?;
        write!(formatter, "{margin} | {}{}", " ".repeat(before), "^".repeat(carets))?;
        match &self.hint {
            Some(hint) => write!(formatter, " {hint}"),
            None => Ok(()),
        }
    }
}

/// The name that was probably meant: the nearest by Damerau and Levenshtein, or one that holds it as a part; none if all are far.
pub fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let lower = name.to_lowercase();
        let mut distance = strsim::damerau_levenshtein(&asked, &lower) * 2;
        // `mime_type` for `content_mime_type`, `host` for `url_host_name`: a part that was asked for counts as a small slip.
        if asked.len() >= 3 && lower.split('_').any(|part| part == asked)
            || asked.len() >= 4 && lower.ends_with(&asked)
        {
            distance = distance.min(5);
        }
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    let (distance, name) = best?;
    (distance <= 2 * (asked.len() / 3).max(1) || distance <= 5 && asked.len() >= 3).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = "select url\nwhere fetsch_status = 200";
        let complaint = Complaint::at(text, Span::new(17, 30), "there is no column `fetsch_status`")
            .hint("did you mean `fetch_status`?");
        assert_eq!(
            complaint.to_string(),
            "there is no column `fetsch_status`\n  |\n2 | where fetsch_status = 200\n  |       ^^^^^^^^^^^^^ did you mean `fetch_status`?"
        );
    }

    #[test]
    fn a_place_outside_the_text_or_within_a_letter_is_no_panic() {
        for (start, end) in [(0, 99), (5, 1), (1, 2), (99, 99)] {
            assert!(Complaint::at("é\tx", Span::new(start, end), "x").to_string().contains('^'));
        }
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let names = ["url", "url_host_name", "content_mime_type", "fetch_time", "title"];
        for (asked, found) in [
            ("ulr", Some("url")),
            ("fetchtime", Some("fetch_time")),
            ("host", Some("url_host_name")),
            ("mime_type", Some("content_mime_type")),
            ("Titel", Some("title")),
            ("elephant", None),
            ("xyz", None),
        ] {
            assert_eq!(nearest(asked, names), found, "{asked}");
        }
    }
}
