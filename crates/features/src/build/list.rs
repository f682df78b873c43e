//! Links of others: lists as text, one link or one node a line.
//!
//! Read line by line from any [`BufRead`]: files are opened, and uncompressed, by the caller, each when the one before is at its end.

use std::io::{BufRead, Read as _};
use std::path::Path;

use mattock_env::Files;
use mattock_weburl::WebUrl;

use super::{BuildOptions, Builder, Report, build_from_ids};
use crate::error::{FeaturesError, Result};
use crate::generation::Counts;

/// The longest line that is read.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// As many nodes a graph of numbers may have: every number up to the greatest takes a place, whether it has links or not.
const NODES_MAX: u64 = 1 << 32;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// `source<TAB>target`, both URLs. What is no URL of the Web is counted and left out.
    Urls,
    /// `source<TAB>target`, both numbers from 0 on, as Common Crawl's edge files have them. `#` begins a remark.
    Ids,
    /// The first line is the number of nodes, and each line after it has the targets of the next node, with spaces between: WebGraph's
    /// ASCII graphs.
    Adjacency,
}

/// A text that is read line by line.
pub struct Input<'a> {
    /// What messages call it.
    pub name: String,
    /// The text.
    pub text: Box<dyn BufRead + 'a>,
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// Texts that are opened one after the other, and are one list.
pub type Inputs<'a> = Box<dyn Iterator<Item = Result<Input<'a>>> + 'a>;

/// Builds a generation from a list. `name` is for messages.
pub fn build_from_list(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    kind: ListKind,
    name: &str,
    input: impl BufRead,
    report: Report<'_>,
) -> Result<Counts> {
    let input = Input { name: name.into(), text: Box::new(input) };
    build_from_lists(files, dir, options, kind, Box::new(std::iter::once(Ok(input))), report)
}

/// Builds a generation from a list that is in several texts.
pub fn build_from_lists(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    kind: ListKind,
    inputs: Inputs<'_>,
    report: Report<'_>,
) -> Result<Counts> {
    let mut lines = Lines::new(inputs);
    match kind {
        ListKind::Urls => from_urls(files, dir, options, lines, report),
        ListKind::Ids => {
            let mut failed = false;
            let links = std::iter::from_fn(move || {
                if failed {
                    return None;
                }
                let link = lines.next_link().transpose();
                failed = matches!(link, Some(Err(_)));
                link
            });
            build_from_ids(files, dir, options, None, links, report)
        }
        ListKind::Adjacency => {
            let nodes = match lines.next()? {
                Some(line) => number_in(line),
                None => None,
            };
            let nodes = nodes.ok_or_else(|| lines.wrong("the first line is not the number of nodes"))?;
            if nodes > NODES_MAX {
                return Err(lines.wrong(&too_great(nodes - 1)));
            }
            let links = Adjacency { lines, targets: Vec::new(), at: 0, source: None, nodes, failed: false };
            build_from_ids(files, dir, options, Some(nodes), links, report)
        }
    }
}

fn from_urls(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    mut lines: Lines<'_>,
    report: Report<'_>,
) -> Result<Counts> {
    let mut builder = Builder::begin(files, dir, options, report)?;
    // Links of one page usually stand together.
    let mut last: Option<(Vec<u8>, WebUrl)> = None;
    while let Some(line) = lines.next()? {
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            return Err(lines.wrong("there is no tab between two URLs"));
        };
        let (source, target) = (&line[..tab], &line[tab + 1..]);
        if last.as_ref().is_none_or(|(text, _)| text != source) {
            last = parse(source).map(|url| (source.to_vec(), url));
        }
        match last.as_ref().zip(parse(target)) {
            Some(((_, source), target)) => builder.link(source, &target)?,
            None => builder.refuse(),
        }
    }
    builder.finish()
}

fn too_great(node: u64) -> String {
    format!(
        "node {node}: numbers go from 0 to {}, and every number up to the greatest is a node; number them anew, or give them names (--list cc)",
        NODES_MAX - 1
    )
}

fn parse(text: &[u8]) -> Option<WebUrl> {
    std::str::from_utf8(text).ok().and_then(|text| WebUrl::parse(text).ok())
}

/// The lines of several texts, one after the other.
pub(super) struct Lines<'a> {
    inputs: Inputs<'a>,
    input: Option<Input<'a>>,
    line: Vec<u8>,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(inputs: Inputs<'a>) -> Lines<'a> {
        Lines { inputs, input: None, line: Vec::new(), number: 0 }
    }

    /// The next line, without its end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        while !self.fill()? {
            // Of the last one the name stays, for messages.
            match self.inputs.next() {
                Some(input) => (self.input, self.number) = (Some(input?), 0),
                None => return Ok(None),
            }
        }
        while matches!(self.line.last(), Some(b'\n' | b'\r')) {
            self.line.pop();
        }
        Ok(Some(&self.line))
    }

    /// Reads a line of the text that is open; false at its end.
    fn fill(&mut self) -> Result<bool> {
        let Some(input) = &mut self.input else { return Ok(false) };
        self.number += 1;
        let read = input.text.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| self.wrong(&error.to_string()))? as u64;
        if read == LINE_BYTES_MAX {
            return Err(self.wrong("the line is longer than 256 MiB: is this such a list?"));
        }
        Ok(read > 0)
    }

    /// The next pair of nodes.
    fn next_link(&mut self) -> Result<Option<(u64, u64)>> {
        let pair = self.next_pair()?;
        if let Some(node) = pair.map(|(source, target)| source.max(target)).filter(|node| *node >= NODES_MAX)
        {
            return Err(self.wrong(&too_great(node)));
        }
        Ok(pair)
    }

    pub(super) fn next_pair(&mut self) -> Result<Option<(u64, u64)>> {
        loop {
            match self.next()? {
                None => return Ok(None),
                Some(line) if line.is_empty() || line[0] == b'#' => {}
                Some(line) => {
                    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
                    let pair = fields.next().and_then(number_in).zip(fields.next().and_then(number_in));
                    let pair = pair.ok_or_else(|| self.wrong("there are no two numbers"))?;
                    return Ok(Some(pair));
                }
            }
        }
    }

    pub(super) fn wrong(&self, what: &str) -> FeaturesError {
        let name = self.input.as_ref().map_or("the list", |input| input.name.as_str());
        FeaturesError::Input { name: name.into(), line: self.number, what: what.into() }
    }
}

pub(super) fn number_in(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    // The greatest number of all has none after it, and there is one node more than the greatest number.
    (!text.is_empty() && text.len() < 20)
        .then(|| {
            text.iter().try_fold(0_u64, |number, byte| {
                Some(number * 10 + u64::from(byte.is_ascii_digit().then(|| byte - b'0')?))
            })
        })
        .flatten()
}

struct Adjacency<'a> {
    lines: Lines<'a>,
    targets: Vec<u64>,
    at: usize,
    source: Option<u64>,
    nodes: u64,
    failed: bool,
}

impl Adjacency<'_> {
    /// The next line's targets; false at the end.
    fn fill(&mut self) -> Result<bool> {
        let source = self.source.map_or(0, |source| source + 1);
        if source >= self.nodes {
            return Ok(false);
        }
        let Some(line) = self.lines.next()? else {
            return Err(self.lines.wrong(&format!("the list ends before node {source} of {}", self.nodes)));
        };
        let fields = line.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
        let targets = fields.map(number_in).collect::<Option<Vec<_>>>();
        self.targets = targets.ok_or_else(|| self.lines.wrong("a target is no number"))?;
        (self.at, self.source) = (0, Some(source));
        Ok(true)
    }
}

impl Iterator for Adjacency<'_> {
    type Item = Result<(u64, u64)>;

    fn next(&mut self) -> Option<Result<(u64, u64)>> {
        loop {
            if let (Some(source), Some(target)) = (self.source, self.targets.get(self.at)) {
                self.at += 1;
                return Some(Ok((source, *target)));
            }
            if self.failed {
                return None;
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
