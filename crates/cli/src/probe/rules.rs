//! Which group of a robots.txt was read, and how a line of it was written.
//!
//! The rules themselves are [`Robots`]' business. It keeps only what decides; whoever debugs a file also wants to see the
//! lines, so they are found again here: a line opens a group for an agent if it does so in a file of its own.

use mattock_robots::{BODY_BYTES_MAX, Robots};
use serde::Serialize;

use super::text::printable;

/// Files with more lines than this that open groups for us are not shown further.
const LINES_SHOWN_MAX: usize = 8;
/// No product token: tokens have no blanks.
const NOBODY: &str = " ";

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FileLine {
    /// From 1.
    pub(crate) line: u32,
    /// As it is written.
    pub(crate) text: String,
}

/// Whose rules were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Group {
    /// Those that name the agent.
    Named,
    /// Those for everybody (`*`).
    Everybody,
    /// There are none for the agent.
    None,
}

/// The group that holds for an agent, and the lines that open it.
pub(super) fn group(body: &[u8], agent: &str) -> (Group, Vec<FileLine>) {
    let body = &body[..body.len().min(BODY_BYTES_MAX)];
    let (mut named, mut global) = (Vec::new(), Vec::new());
    for (number, raw) in lines(body) {
        // Most lines are rules; the parser need not look at those.
        if !raw.to_ascii_lowercase().windows(5).any(|word| word == b"agent") {
            continue;
        }
        let alone = [raw, b"\nDisallow: /\n"].concat();
        let line = || FileLine { line: number, text: printable(raw) };
        if !Robots::parse(&alone, NOBODY).allows("/") {
            global.push(line());
        } else if !Robots::parse(&alone, agent).allows("/") {
            named.push(line());
        }
    }
    let (group, mut lines) = match (named.is_empty(), global.is_empty()) {
        (false, _) => (Group::Named, named),
        (true, false) => (Group::Everybody, global),
        (true, true) => (Group::None, Vec::new()),
    };
    lines.truncate(LINES_SHOWN_MAX);
    (group, lines)
}

/// A line as it is written, `None` in files of UTF-16.
pub(super) fn line(body: &[u8], number: u32) -> Option<FileLine> {
    let wide = body.starts_with(&[0xff, 0xfe]) || body.starts_with(&[0xfe, 0xff]);
    let (line, raw) = lines(body).find(|(found, _)| *found == number).filter(|_| !wide)?;
    Some(FileLine { line, text: printable(raw.trim_ascii()) })
}

/// The lines with their numbers, ended as the parser ends them: by CR, LF or both.
fn lines(body: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let mut number = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.strip_prefix(b"\r\n").or(after.get(1..)).unwrap_or_default();
        number += 1;
        Some((number, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] =
        b"User-agent: *\r\nDisallow: /\r\n\r\nuser agent : OurBot/2.0 # us\r\nAllow: /a\r\nUser-Agent: b\nUSERAGENT: ourbot\r";

    fn numbers(agent: &str) -> (Group, Vec<u32>) {
        let (group, lines) = group(FILE, agent);
        (group, lines.iter().map(|line| line.line).collect())
    }

    #[test]
    fn groups_are_found_as_the_parser_finds_them() {
        assert_eq!(numbers("ourbot"), (Group::Named, vec![4, 7]));
        assert_eq!(numbers("b"), (Group::Named, vec![6]));
        assert_eq!(numbers("other"), (Group::Everybody, vec![1]));
        assert_eq!(group(b"Disallow: /", "a"), (Group::None, vec![]));
        assert_eq!(group(b"", "a"), (Group::None, vec![]));
    }

    #[test]
    fn lines_are_numbered_as_the_parser_numbers_them() {
        for path in ["/x", "/a"] {
            let rule = Robots::parse(FILE, "ourbot").verdict(path).rule;
            if let Some(rule) = rule {
                assert_eq!(line(FILE, rule.line).unwrap().text, "Allow: /a");
            }
        }
        let global = Robots::parse(FILE, "x").verdict("/x").rule.unwrap();
        assert_eq!(line(FILE, global.line), Some(FileLine { line: 2, text: "Disallow: /".into() }));
        assert_eq!(line(b"\xff\xfea", 1), None);
    }
}
