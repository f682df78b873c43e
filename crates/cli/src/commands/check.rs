//! `mattock check`: a crawl, and what was made of it; or a repository that has documents but no crawl's state.

mod archives;
mod show;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use mattock_crawl::CrawlError;
use mattock_crawl::check::{CheckProgress, CheckReport, Finding, FindingKind, check, repair};
use mattock_env::{Env, is_url, located};
use mattock_index::{IndexCheck, Manifest, check_index};
use mattock_query::{KeptCheck, check_kept};
use mattock_study::{FeaturesCheck, check_features};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::signals::Patience;
use archives::ArchivesCheck;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::of([args.directory.as_path()]);
    let root = places::absolute(&args.directory)?;
    let bar = progress::bar(args.quiet, 1, BAR);
    let index = check_index(&env.files, &args.directory);
    let list = Manifest::read(&env.files, &root).unwrap_or_default();
    let mut report = crawl(&env, args, index.is_some(), &bar)?;
    for (name, extent) in list.extents.iter().filter(|(name, _)| list.imported.contains(name)) {
        // One that is missing, or has become empty, is told below.
        let entry = env.files.entry(&located(&root, name)).ok().flatten();
        if let Some(entry) = entry.filter(|entry| entry.len > extent.bytes) {
            let more = entry.len - extent.bytes;
            let what = format!(
                "it has grown by {more} bytes since it was imported: `mattock import` takes what is new"
            );
            find(&mut report, FindingKind::ArchiveFile, name, &what);
        }
    }
    // What a checkpoint counts was held against its ledgers already.
    let is_known = report.checkpoint > 0;
    let sound = index.iter().flat_map(|index| &index.sound);
    let parts: Vec<PathBuf> =
        sound.filter(|(_, imported)| *imported || !is_known).map(|(path, _)| path.clone()).collect();
    let mut names: BTreeSet<String> = list.imported.iter().cloned().collect();
    if report.has_lost_state || !is_known && !list.covered.is_empty() {
        names.extend(kept_archives(&env, &root));
    }
    let archives = match parts.is_empty() && names.is_empty() {
        true => None,
        false => {
            let cancel = progress::interruptible(Patience::with([&args.directory]));
            let entries = names.iter().filter_map(|name| env.files.entry(&located(&root, name)).ok()?);
            bar.set_position(0);
            bar.set_length(entries.map(|entry| entry.len).sum());
            let found = archives::check(&env, &args.directory, parts, names, &cancel, &bar)?;
            if cancel.is_cancelled() {
                bar.finish_and_clear();
                say!("Stopped: not all archives were read.");
                return Ok(Ended::Interrupted);
            }
            Some(found)
        }
    };
    bar.finish_and_clear();
    let features = check_features(&env.files, &args.directory);
    let mut found = Found { report, features, archives, index, kept: check_kept(&env.files, &root) };
    found.report.whole = found.problems() == 0;
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&show::show(&found, &args.directory))?;
    }
    Ok(if found.report.whole { Ended::Done } else { Ended::Failed })
}

/// Checks the crawl, or repairs it. Where there is none, but an index of documents, there is nothing to tell of it.
fn crawl(env: &Env, args: &CheckArgs, has_index: bool, bar: &ProgressBar) -> anyhow::Result<CheckReport> {
    let shown = args.directory.display();
    let mut progress = |progress: CheckProgress<'_>| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        at(bar, progress.at);
    };
    // A crawl is checked where it was made.
    let found = match (is_url(&args.directory), args.repair) {
        (true, _) => Err(CrawlError::NoCrawl { path: args.directory.clone() }),
        (false, true) => repair(env, &args.directory, &mut progress),
        (false, false) => check(env, &args.directory, &mut progress),
    };
    match found {
        Err(CrawlError::NoCrawl { .. }) if !has_index => {
            let message = "there is neither a crawl (crawl.toml) nor a repository (index/INDEX)";
            Err(Usage(format!("{shown}: {message}")).into())
        }
        Err(CrawlError::NoCrawl { .. }) if args.repair => {
            let message = "there is no crawl that could be repaired, but documents of archives; without --repair it is told what is wrong with them";
            Err(Usage(format!("{shown}: {message}")).into())
        }
        Err(CrawlError::NoCrawl { .. }) => {
            let mut report = CheckReport { has_lost_state: true, ..CheckReport::default() };
            if env.files.list(&args.directory.join("state")).is_ok_and(|state| !state.is_empty()) {
                let what = "it is missing, and without it the state of the crawl, which is there, cannot be looked at";
                find(&mut report, FindingKind::Configuration, "crawl.toml", what);
            }
            Ok(report)
        }
        found => Ok(found?),
    }
}

fn find(report: &mut CheckReport, kind: FindingKind, file: &str, what: &str) {
    report.problems.push(Finding {
        kind,
        file: file.to_owned(),
        offset: None,
        what: what.to_owned(),
        url: None,
    });
}

/// The archives of a crawl whose state is gone, as rows name them.
fn kept_archives(env: &Env, root: &Path) -> impl Iterator<Item = String> {
    let present = env.files.list(&root.join("warc")).unwrap_or_default().into_iter();
    // A publication that was killed has left one that is not whole.
    let is_archive =
        |name: &str| [".warc", ".arc"].iter().any(|ending| name.contains(ending)) && !name.ends_with(".tmp");
    present
        .filter(move |entry| !entry.is_dir && is_archive(&entry.name))
        .map(|entry| format!("warc/{}", entry.name))
}

/// Shows which file is being read.
fn at(bar: &ProgressBar, path: &Path) {
    bar.says(path.file_name().unwrap_or_default().to_string_lossy());
}

/// What was found of a crawl, and of what was built from it.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: CheckReport,
    /// Nothing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeaturesCheck>,
    /// Nothing if nobody has asked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<IndexCheck>,
    /// Nothing if ledgers know all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    archives: Option<ArchivesCheck>,
    /// Nothing if no column was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<KeptCheck>,
}

impl Found {
    /// How many things are wrong.
    fn problems(&self) -> u64 {
        let made = |problems: Option<&Vec<String>>| problems.map_or(0, |problems| problems.len() as u64);
        let archives = self.archives.as_ref();
        self.report.problems.len() as u64
            + self.report.problems_untold
            + made(self.features.as_ref().map(|features| &features.problems))
            + made(self.index.as_ref().map(|index| &index.problems))
            + made(self.kept.as_ref().map(|kept| &kept.problems))
            + archives.map_or(0, |archives| archives.problems.len() as u64 + archives.problems_untold)
    }
}

const BAR: &str = "{spinner} {elapsed} [{bar:24}] {bytes} of {total_bytes}, {bytes_per_sec}  {msg}";
