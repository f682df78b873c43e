//! `mattock check`: a crawl, and what was made of it; or a repository that has documents but no crawl's state.

mod archives;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use indicatif::{HumanBytes, HumanCount, ProgressBar};
use mattock_crawl::CrawlError;
use mattock_crawl::check::{CheckProgress, CheckReport, Finding, FindingKind, check, repair};
use mattock_env::{Env, UnixTime, is_url, located};
use mattock_index::{IndexCheck, Manifest, check_index};
use mattock_study::{FeaturesCheck, check_features};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress;
use archives::ArchivesCheck;

/// Findings that are shown; `--json` has more.
const SHOWN_MAX: usize = 20;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    let root = places::absolute(&args.directory)?;
    let bar = progress::bar(args.quiet, 0, BAR);
    let mut progress = |progress: CheckProgress<'_>| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        at(&bar, progress.at);
    };
    let act = if args.repair { repair } else { check };
    // A crawl is checked where it was made.
    let crawl = match is_url(&root) {
        true => Err(CrawlError::NoCrawl { path: root.clone() }),
        false => act(&env, &args.directory, &mut progress),
    };
    let index = check_index(&env.files, &args.directory);
    let report = match crawl {
        Err(CrawlError::NoCrawl { .. }) if index.is_some() && args.repair => {
            let message = "there is no crawl to repair, but documents of archives; `mattock index --rebuild` makes parts of the index anew that are lost";
            return Err(Usage(format!("{}: {message}", args.directory.display())).into());
        }
        Err(CrawlError::NoCrawl { .. }) if index.is_some() => {
            CheckReport { whole: true, has_lost_state: true, ..CheckReport::default() }
        }
        crawl => crawl?,
    };
    // What ledgers have was held against the archive already.
    let has_ledgers = !report.has_lost_state;
    let sound = index.iter().flat_map(|index| &index.sound);
    let unknown: Vec<PathBuf> =
        sound.filter(|(_, imported)| *imported || !has_ledgers).map(|(path, _)| path.clone()).collect();
    let kept = if has_ledgers { BTreeSet::new() } else { kept_archives(&env, &root) };
    let archives = match unknown.is_empty() && kept.is_empty() {
        true => None,
        false => {
            let cancel = progress::interruptible();
            bar.set_position(0);
            bar.set_length(bytes_of(&env, &root, &kept));
            let found = archives::check(&env, &args.directory, unknown, kept, &cancel, &bar)?;
            if cancel.is_cancelled() {
                bar.finish_and_clear();
                say!("Stopped: not all archives were read.");
                return Ok(Ended::Interrupted);
            }
            Some(found)
        }
    };
    bar.finish_and_clear();
    let mut found = Found { report, features: check_features(&env.files, &args.directory), archives, index };
    let is_made_well = found.made().next().is_none();
    found.report.whole &= is_made_well;
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&show(&found, &args.directory))?;
    }
    Ok(if found.report.whole { Ended::Done } else { Ended::Failed })
}

/// The archives of a crawl whose state is gone, as rows name them.
fn kept_archives(env: &Env, root: &Path) -> BTreeSet<String> {
    let present = env.files.list(&root.join("warc")).unwrap_or_default();
    present.into_iter().filter(|entry| !entry.is_dir).map(|entry| format!("warc/{}", entry.name)).collect()
}

/// What there is to read, as far as that is known beforehand.
fn bytes_of(env: &Env, root: &Path, kept: &BTreeSet<String>) -> u64 {
    let imported = Manifest::read(&env.files, root).map_or_else(|_| Vec::new(), |index| index.imported);
    let files = kept.iter().chain(&imported).filter_map(|name| env.files.entry(&located(root, name)).ok()?);
    files.map(|entry| entry.len).sum()
}

/// Shows which file is being read.
fn at(bar: &ProgressBar, path: &Path) {
    bar.set_message(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
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
}

impl Found {
    /// What is wrong with what was made of the crawl.
    fn made(&self) -> impl Iterator<Item = &String> {
        let features = self.features.iter().flat_map(|features| &features.problems);
        let archives = self.archives.iter().flat_map(|archives| &archives.problems);
        features.chain(self.index.iter().flat_map(|index| &index.problems)).chain(archives)
    }
}

const BAR: &str = "{spinner} {elapsed} [{bar:24}] {bytes} of {total_bytes}, {bytes_per_sec}  {msg}";

/// The report for people.
fn show(found: &Found, directory: &Path) -> String {
    let report = &found.report;
    let mut text = String::new();
    let line = |text: &mut String, line: std::fmt::Arguments<'_>| {
        writeln!(text, "{line}").expect("a String takes everything");
    };
    let untold = found.archives.as_ref().map_or(0, |archives| archives.problems_untold);
    let problems =
        report.problems.len() as u64 + report.problems_untold + found.made().count() as u64 + untold;
    match problems {
        0 => line(&mut text, format_args!("{} is whole.", directory.display())),
        1 => line(&mut text, format_args!("{}: one thing is wrong.", directory.display())),
        _ => line(
            &mut text,
            format_args!("{}: {} things are wrong.", directory.display(), HumanCount(problems)),
        ),
    }
    if report.checkpoint > 0 {
        let time = UnixTime::from_micros(report.checkpoint_unix_s * 1_000_000);
        let running =
            if report.running { "; the crawl is running, and what is younger was not looked at" } else { "" };
        line(&mut text, format_args!("  checkpoint  {} of {time}{running}", report.checkpoint));
        line(
            &mut text,
            format_args!(
                "  state       {} partition{}, {} URLs: {} are settled, {} wait",
                report.partitions,
                if report.partitions == 1 { "" } else { "s" },
                HumanCount(report.urls_seen),
                HumanCount(report.urls_settled),
                HumanCount(report.urls_open)
            ),
        );
        if let Some(hash) = &report.state_hash {
            line(&mut text, format_args!("  state hash  {hash}"));
        }
        line(
            &mut text,
            format_args!(
                "  archive     {} file{}, {}: {} records, {} of them responses",
                HumanCount(report.archive_files),
                if report.archive_files == 1 { "" } else { "s" },
                HumanBytes(report.archive_bytes),
                HumanCount(report.records),
                HumanCount(report.responses)
            ),
        );
        line(
            &mut text,
            format_args!(
                "  ledger      {} rows; {} pages are in the archive as they say",
                HumanCount(report.rows),
                HumanCount(report.pages)
            ),
        );
    }
    if let Some(index) = &found.index {
        line(
            &mut text,
            format_args!("  index       {} part(s) as they were written", HumanCount(index.parts)),
        );
        if !index.problems.is_empty() {
            line(&mut text, format_args!("\nWrong with the index:"));
            index.problems.iter().for_each(|problem| line(&mut text, format_args!("  - {problem}")));
        }
    }
    if let Some(archives) = &found.archives {
        line(
            &mut text,
            format_args!(
                "  archives    {}: {} records; {} of {} documents of the index are in them as it says",
                HumanCount(archives.files),
                HumanCount(archives.records),
                HumanCount(archives.pages),
                HumanCount(archives.rows)
            ),
        );
        if archives.too_large > 0 {
            let count = HumanCount(archives.too_large);
            line(&mut text, format_args!("              {count} record(s) are too large to be verified"));
        }
        if !archives.problems.is_empty() {
            line(&mut text, format_args!("\nWrong with archives:"));
            shown(&mut text, &archives.problems, archives.problems_untold);
        }
    }
    if let Some(features) = &found.features {
        let generation = features
            .generation
            .map_or("none that can be read".into(), |number| format!("generation {number}"));
        line(&mut text, format_args!("  features    {generation}"));
        if !features.problems.is_empty() {
            line(&mut text, format_args!("\nWrong with features:"));
            features.problems.iter().for_each(|problem| line(&mut text, format_args!("  - {problem}")));
        }
    }
    for (title, findings, untold) in [
        ("Repaired", &report.repaired, 0),
        ("Wrong", &report.problems, report.problems_untold),
        ("Worth knowing", &report.notes, 0),
    ] {
        list(&mut text, title, findings, untold);
    }
    let mut kinds: Vec<FindingKind> = report.problems.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    let mut advice: Vec<&str> = kinds.into_iter().map(FindingKind::advice).collect();
    advice.dedup();
    if !advice.is_empty() {
        line(&mut text, format_args!("\nWhat can be done:"));
        advice.iter().for_each(|advice| line(&mut text, format_args!("  - {advice}")));
    }
    text
}

fn list(text: &mut String, title: &str, findings: &[Finding], untold: u64) {
    if findings.is_empty() {
        return;
    }
    writeln!(text, "\n{title}:").expect("a String takes everything");
    shown(text, findings, untold);
}

/// The first of them, and how many there are more.
fn shown(text: &mut String, findings: &[impl std::fmt::Display], untold: u64) {
    let mut lines: Vec<String> =
        findings.iter().take(SHOWN_MAX).map(|finding| format!("  - {finding}")).collect();
    let more = findings.len().saturating_sub(SHOWN_MAX) as u64 + untold;
    if more > 0 {
        lines.push(format!("  … and {} more (--json has up to 1,000)", HumanCount(more)));
    }
    text.push_str(&lines.join("\n"));
    text.push('\n');
}
