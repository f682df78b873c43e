//! `mattock check`

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use mattock_crawl::check::{CheckProgress, CheckReport, Finding, FindingKind, check, repair};
use mattock_env::{Env, UnixTime};
use mattock_index::{IndexCheck, check_index};
use mattock_study::{FeaturesCheck, check_features};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::exit::Ended;
use crate::output;

/// Findings that are shown; `--json` has more.
const SHOWN_MAX: usize = 20;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Ended> {
    let env = Env::real();
    let bar = (!args.quiet && std::io::stderr().is_terminal()).then(bar);
    let mut progress = |progress: CheckProgress<'_>| {
        if let Some(bar) = &bar {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            let name = progress.at.file_name().unwrap_or_default();
            bar.set_message(name.to_string_lossy().into_owned());
        }
    };
    let act = if args.repair { repair } else { check };
    let report = act(&env, &args.directory, &mut progress);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let found = Found {
        report: report?,
        features: check_features(&env.files, &args.directory),
        index: check_index(&env.files, &args.directory),
    };
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&show(&found, &args.directory))?;
    }
    Ok(if found.report.whole && found.made().next().is_none() { Ended::Done } else { Ended::Failed })
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
}

impl Found {
    /// What is wrong with what was made of the crawl.
    fn made(&self) -> impl Iterator<Item = &String> {
        let features = self.features.iter().flat_map(|features| &features.problems);
        features.chain(self.index.iter().flat_map(|index| &index.problems))
    }
}

fn bar() -> ProgressBar {
    let template = "{spinner} {elapsed} [{bar:24}] {bytes} of {total_bytes}, {bytes_per_sec}  {msg}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    ProgressBar::new(0).with_style(style.progress_chars("=> "))
}

/// The report for people.
fn show(found: &Found, directory: &Path) -> String {
    let report = &found.report;
    let mut text = String::new();
    let line = |text: &mut String, line: std::fmt::Arguments<'_>| {
        writeln!(text, "{line}").expect("a String takes everything");
    };
    let problems = report.problems.len() as u64 + report.problems_untold + found.made().count() as u64;
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
    let mut lines = vec![format!("\n{title}:")];
    lines.extend(findings.iter().take(SHOWN_MAX).map(|finding| format!("  - {finding}")));
    let more = findings.len().saturating_sub(SHOWN_MAX) as u64 + untold;
    if more > 0 {
        lines.push(format!("  … and {} more (--json has up to 1,000)", HumanCount(more)));
    }
    text.push_str(&lines.join("\n"));
    text.push('\n');
}
