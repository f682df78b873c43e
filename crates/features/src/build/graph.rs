//! Graphs of hosts or domains as Common Crawl publishes them: one list of names by number, one of links by number.
//!
//! ```text
//! vertices   number <TAB> name with its labels in reverse order [<TAB> …]        7  org.example.www
//! edges      number <TAB> number                                                 7  12
//! ```
//!
//! A name becomes the URL of its home page, so that everything that can be asked of pages can be asked of these. Numbers are only good for
//! joining the lists: ids follow from the order of URLs, as always. Nothing needs to be sorted, and neither list needs to fit into memory:
//! both ends of the links get their names by a join of sorted pairs.

use std::path::Path;

use mattock_env::Files;
use mattock_weburl::WebUrl;

use super::list::{Inputs, Lines, number_in};
use super::{BuildOptions, Builder, Report};
use crate::error::{FeaturesError, Result};
use crate::generation::Counts;
use crate::sort::Scratch;
use crate::sort::pairs::{PairSorter, SortedPairs};

/// Builds a generation from a list of names and one of links. Nodes with links count as crawled.
///
/// A name that is none, and a link to or from a number without a name, are counted and left out.
pub fn build_from_graph(
    files: &Files,
    dir: &Path,
    options: &BuildOptions,
    vertices: Inputs<'_>,
    edges: Inputs<'_>,
    report: Report<'_>,
) -> Result<Counts> {
    let memory = options.memory;
    let half = BuildOptions { memory: memory / 2, ..options.clone() };
    let mut builder = Builder::begin(files, dir, &half, report)?;
    let scratch = Scratch::new(files, &builder.site.scratch);

    let names = read_names(&mut builder, vertices, PairSorter::new(&scratch, "names", memory / 8))?;
    let mut links = PairSorter::new(&scratch, "edges", memory / 8);
    let mut lines = Lines::new(edges);
    while let Some(pair) = lines.next_pair()? {
        links.push(pair)?;
        builder.step();
    }
    let mut named = PairSorter::new(&scratch, "named", memory / 8);
    join(&names, &links.finish()?, |source, target| match source {
        Some(source) => named.push((target, source)),
        None => {
            builder.refuse();
            Ok(())
        }
    })?;
    join(&names, &named.finish()?, |target, source| match target {
        Some(target) => {
            builder.pages.push((source, 0))?;
            builder.push_link(source, target)
        }
        None => {
            builder.refuse();
            Ok(())
        }
    })?;
    drop(names);
    builder.finish()
}

/// Reads the names; the number and the fingerprint of each.
fn read_names(builder: &mut Builder<'_>, vertices: Inputs<'_>, mut names: PairSorter) -> Result<SortedPairs> {
    let mut lines = Lines::new(vertices);
    while let Some(line) = lines.next()? {
        builder.step();
        let mut fields = line.split(|byte| *byte == b'\t');
        let Some((number, name)) = fields.next().and_then(number_in).zip(fields.next()) else {
            return Err(lines.wrong("there is no number, tab and name"));
        };
        match home_of(name) {
            Some(url) => names.push((number, builder.see(&url)?))?,
            None => builder.refuse(),
        }
    }
    let names = names.finish()?;
    let (mut stream, mut last) = (names.stream()?, None);
    while let Some((number, _)) = stream.next()? {
        if last.replace(number) == Some(number) {
            let what = format!("{number} has two names: are these the vertices of one graph?");
            return Err(FeaturesError::Input { name: "the vertices".into(), line: 0, what });
        }
    }
    drop(stream);
    Ok(names)
}

/// The home page of a host whose labels stand in reverse order.
fn home_of(reversed: &[u8]) -> Option<WebUrl> {
    let reversed = std::str::from_utf8(reversed).ok()?.trim();
    let mut url = String::with_capacity(reversed.len() + 8);
    url.push_str("http://");
    for (index, label) in reversed.rsplit('.').enumerate() {
        if index > 0 {
            url.push('.');
        }
        url.push_str(label);
    }
    url.push('/');
    // What is no name may be the beginning of another URL.
    WebUrl::parse(&url).ok().filter(|parsed| parsed.path_and_query() == "/")
}

/// Hands on every pair with the name of its first number, if it has one.
fn join(
    names: &SortedPairs,
    pairs: &SortedPairs,
    mut take: impl FnMut(Option<u64>, u64) -> Result<()>,
) -> Result<()> {
    let (mut names, mut pairs) = (names.stream()?, pairs.stream()?);
    let mut head = names.next()?;
    while let Some((number, other)) = pairs.next()? {
        while head.is_some_and(|(known, _)| known < number) {
            head = names.next()?;
        }
        take(head.filter(|(known, _)| *known == number).map(|(_, name)| name), other)?;
    }
    Ok(())
}
