//! `mattock duplicates`: pages that say nearly the same, and hosts that mirror each other.

use std::ops::ControlFlow;

use indicatif::HumanCount;
use mattock_env::Env;
use mattock_features::{Direction, Features, Grain, Shingles, Urls, candidate_probability};
use mattock_graph::{
    DuplicateCounts, DuplicateOptions, Duplicates, Inlinks, MirrorOptions, Preference, beside_clusters,
    duplicates, duplicates_within, mirrors,
};
use mattock_study::{FEATURES, Values, keep_column_of};
use serde::Serialize;

use crate::args::duplicates::DuplicatesArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places;
use crate::progress;
use crate::repository;
use crate::rows::{Cell, Kind, Rows};
use crate::signals::Patience;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    counts: DuplicateCounts,
    threshold: f64,
}

/// Below this threshold many pairs that would do are not looked at.
const LOOKED_AT: f64 = 0.7;

pub(crate) fn run(args: &DuplicatesArgs) -> anyhow::Result<Ended> {
    let env = &places::bound([args.dir.as_path()]);
    let features = Features::open(&env.files, &args.dir.join(FEATURES))?;
    let urls = features.urls()?;
    let shingles = features.shingles()?.ok_or_else(|| no_content(&args.dir))?;
    duplicates_within(shingles.len(), features.link_size(Grain::Pages, Direction::In)?, args.memory)?;
    if args.threshold < LOOKED_AT && !args.quiet {
        say!("{}", rarely_looked_at(args.threshold));
    }
    let Some(found) = find(args, &features, &urls, &shingles)? else {
        say!("Stopped: nothing was found out, and nothing kept.");
        return Ok(Ended::Interrupted);
    };
    if !args.quiet {
        say!("{}", told(&found.counts()));
    }
    // Before the rows: whoever reads them may have enough of them at any time.
    if !args.no_keep {
        keep(env, args, &features, &shingles, &found)?;
    }
    match (args.json, args.clusters, args.hosts) {
        (true, ..) => output::print_json(&Summary { counts: found.counts(), threshold: args.threshold })?,
        (_, true, _) => members(args, &urls, &shingles, &found)?,
        (_, _, true) => hosts(args, &features, &urls, &shingles, &found)?,
        _ => clusters(args, &urls, &found)?,
    }
    Ok(Ended::Done)
}

/// What to do where there are features, but none of what pages say.
pub(crate) fn no_content(dir: &std::path::Path) -> Usage {
    Usage(format!(
        "the features of {} know nothing of what pages say: they were built of links alone, or no page has text; \
         `mattock features build` makes them of a repository",
        dir.display()
    ))
}

/// What a low threshold does not find.
fn rarely_looked_at(threshold: f64) -> String {
    let share = candidate_probability(threshold) * 100.0;
    format!("warning: of pairs with a resemblance of {threshold} only {share:.0} in 100 are looked at")
}

/// Estimates and weights are known to three digits or so.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn find(
    args: &DuplicatesArgs,
    features: &Features,
    urls: &Urls,
    shingles: &Shingles,
) -> anyhow::Result<Option<Duplicates>> {
    let inlinks = || -> mattock_features::Result<Inlinks> {
        let links = features.links(Grain::Pages, Direction::In)?;
        Ok(Box::new(move |page| links.degree(page)))
    };
    let url_length = |page| Ok(urls.url(page)?.map_or(0, |url| url.len()));
    let preference = Preference { inlinks: &inlinks, url_length: &url_length };
    let options = DuplicateOptions { threshold: args.threshold, memory: args.memory };
    let cancel = progress::interruptible(Patience::Long);
    let bar = progress::bar(args.quiet, 1000, "{bar:30} {percent} % of the comparisons, {eta} left");
    let found = duplicates(shingles, &options, &preference, &mut |share| {
        bar.set_position((share * 1000.0) as u64);
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    Ok(found?)
}

/// A row for each cluster.
fn clusters(args: &DuplicatesArgs, urls: &Urls, found: &Duplicates) -> anyhow::Result<()> {
    let columns = [
        ("cluster", Kind::Integer),
        ("pages", Kind::Integer),
        ("distinct", Kind::Integer),
        ("url", Kind::Text),
    ];
    let mut rows = Rows::begin(&args.rows, &columns)?;
    for cluster in &found.clusters {
        let url = urls.url(cluster.representative)?.unwrap_or_default();
        rows.push(&[
            Cell::count(cluster.representative),
            Cell::count(cluster.pages.len() as u64),
            Cell::count(cluster.distinct),
            Cell::Text(&url),
        ])?;
    }
    rows.finish().map(drop)
}

/// A row for each page that is in a cluster, the representative first.
fn members(
    args: &DuplicatesArgs,
    urls: &Urls,
    shingles: &Shingles,
    found: &Duplicates,
) -> anyhow::Result<()> {
    let columns = [("cluster", Kind::Integer), ("resemblance", Kind::Float), ("url", Kind::Text)];
    let mut rows = Rows::begin(&args.rows, &columns)?;
    for cluster in &found.clusters {
        let first = shingles.print(cluster.representative)?;
        let others = cluster.pages.iter().filter(|page| **page != cluster.representative);
        for page in [&cluster.representative].into_iter().chain(others) {
            let resemblance = match (first, shingles.print(*page)?) {
                (Some(one), Some(two)) => rounded(one.resemblance(&two)),
                _ => 0.0,
            };
            let url = urls.url(*page)?.unwrap_or_default();
            rows.push(&[Cell::count(cluster.representative), Cell::Float(resemblance), Cell::Text(&url)])?;
        }
    }
    rows.finish().map(drop)
}

/// A row for each pair of mirrored hosts.
fn hosts(
    args: &DuplicatesArgs,
    features: &Features,
    urls: &Urls,
    shingles: &Shingles,
    found: &Duplicates,
) -> anyhow::Result<()> {
    let hosts = features.hosts()?;
    let columns = [
        ("one", Kind::Text),
        ("two", Kind::Text),
        ("pages_one", Kind::Integer),
        ("pages_two", Kind::Integer),
        ("common", Kind::Integer),
        ("same", Kind::Integer),
        ("score", Kind::Float),
    ];
    let mut rows = Rows::begin(&args.rows, &columns)?;
    let memory = beside_clusters(shingles.len(), args.memory);
    let options = MirrorOptions { memory, ..MirrorOptions::default() };
    for mirror in mirrors(urls, &hosts, shingles, found, &options)? {
        let [one, two] = [mirror.one, mirror.two].map(|host| hosts.host(host).unwrap_or_default());
        rows.push(&[
            Cell::Text(&one),
            Cell::Text(&two),
            Cell::count(mirror.pages_one),
            Cell::count(mirror.pages_two),
            Cell::count(mirror.common),
            Cell::count(mirror.same),
            Cell::Float(rounded(mirror.score)),
        ])?;
    }
    rows.finish().map(drop)
}

fn told(counts: &DuplicateCounts) -> String {
    format!(
        "{} pages with text, {} of them in {} clusters; {} could be left out ({:.1} %), {} of these have the very sketch of another",
        HumanCount(counts.pages),
        HumanCount(counts.clustered),
        HumanCount(counts.clusters),
        HumanCount(counts.redundant),
        counts.redundant_share * 100.0,
        HumanCount(counts.exact)
    )
}

/// Keeps for each page with text the id of the page that stands for it: its own, if it is in no cluster.
fn keep(
    env: &Env,
    args: &DuplicatesArgs,
    features: &Features,
    shingles: &Shingles,
    found: &Duplicates,
) -> anyhow::Result<()> {
    let representatives = found.representatives();
    let value = |page: u64| {
        let has_text = !shingles.places(page..page + 1).is_empty();
        let at = representatives.binary_search_by_key(&page, |(page, _)| *page);
        let cluster = at.map_or(page, |at| representatives[at].1);
        has_text.then(|| i64::try_from(cluster).unwrap_or(i64::MAX))
    };
    let memory = beside_clusters(shingles.len(), args.memory);
    keep_column_of(&env.files, features, "cluster", Values::Integers(&value), memory)?;
    if !args.quiet {
        say!("{}", repository::kept(env, &args.dir, "cluster"));
    }
    Ok(())
}
