//! What a check has found, for people: what there is, then what is wrong with it, then what can be done.

use std::fmt::Display;
use std::path::Path;

use indicatif::{HumanBytes, HumanCount};
use mattock_crawl::check::{CheckReport, FindingKind};
use mattock_env::UnixTime;

use super::Found;
use super::archives::ArchivesCheck;
use crate::output;

/// Findings that are shown; `--json` has more.
const SHOWN_MAX: usize = 20;
/// What can be done about archives that no checkpoint counts.
const ARCHIVES_ADVICE: &str =
    "put archives back that were moved, or restore them from copies; all other records in them can be read";

/// The report.
pub(super) fn show(found: &Found, directory: &Path) -> String {
    let Found { report, features, index, archives, kept } = found;
    let shown = directory.display();
    let mut lines = vec![match found.problems() {
        0 => format!("{shown} is whole."),
        1 => format!("{shown}: one thing is wrong."),
        problems => format!("{shown}: {} things are wrong.", HumanCount(problems)),
    }];
    if report.checkpoint > 0 {
        lines.extend(of_crawl(report));
    }
    if let Some(index) = index {
        lines.push(format!("  index       {} part(s) as they were written", HumanCount(index.parts)));
    }
    if let Some(archives) = archives {
        lines.extend(of_archives(archives));
    }
    if let Some(kept) = kept {
        lines.push(format!(
            "  columns     {} file(s) of kept columns as they were written",
            HumanCount(kept.files)
        ));
    }
    if let Some(features) = features {
        let generation = features.generation.map(|number| format!("generation {number}"));
        lines.push(format!("  features    {}", generation.as_deref().unwrap_or("none that can be read")));
    }
    if let Some(index) = index {
        list(&mut lines, "Wrong with the index", &index.problems, 0);
    }
    if let Some(archives) = archives {
        list(&mut lines, "Wrong with archives", &archives.problems, archives.problems_untold);
    }
    if let Some(kept) = kept {
        list(&mut lines, "Wrong with kept columns", &kept.problems, 0);
    }
    if let Some(features) = features {
        list(&mut lines, "Wrong with features", &features.problems, 0);
    }
    list(&mut lines, "Repaired", &report.repaired, 0);
    list(&mut lines, "Wrong", &report.problems, report.problems_untold);
    list(&mut lines, "Worth knowing", &report.notes, 0);
    let mut kinds: Vec<FindingKind> = report.problems.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    let mut advice: Vec<&str> = kinds.into_iter().map(FindingKind::advice).collect();
    advice
        .extend(archives.as_ref().filter(|archives| !archives.problems.is_empty()).map(|_| ARCHIVES_ADVICE));
    advice.dedup();
    list(&mut lines, "What can be done", &advice, 0);
    lines.push(String::new());
    lines.join("\n")
}

/// What there is of a crawl.
fn of_crawl(report: &CheckReport) -> Vec<String> {
    let time = UnixTime::from_micros(report.checkpoint_unix_s * 1_000_000);
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let running =
        if report.running { "; the crawl is running, and what is younger was not looked at" } else { "" };
    let mut lines = vec![
        format!("  checkpoint  {} of {time}{running}", report.checkpoint),
        format!(
            "  state       {} partition{}, {} URLs: {} are settled, {} wait",
            report.partitions,
            plural(report.partitions),
            HumanCount(report.urls_seen),
            HumanCount(report.urls_settled),
            HumanCount(report.urls_open)
        ),
    ];
    lines.extend(report.state_hash.iter().map(|hash| format!("  state hash  {hash}")));
    lines.push(format!(
        "  archive     {} file{}, {}: {} records, {} of them responses",
        HumanCount(report.archive_files),
        plural(report.archive_files),
        HumanBytes(report.archive_bytes),
        HumanCount(report.records),
        HumanCount(report.responses)
    ));
    lines.push(format!(
        "  ledger      {} rows; {} pages are in the archive as they say",
        HumanCount(report.rows),
        HumanCount(report.pages)
    ));
    lines
}

/// What there is in archives that no checkpoint counts.
fn of_archives(archives: &ArchivesCheck) -> Vec<String> {
    let mut lines = vec![format!(
        "  archives    {}: {} records; {} of {} documents of the index are in them as it says",
        HumanCount(archives.files),
        HumanCount(archives.records),
        HumanCount(archives.pages),
        HumanCount(archives.rows)
    )];
    for (count, what) in [
        (archives.unlisted, "document(s) in them that the index does not have"),
        (archives.unverified, "record(s) without a checksum or a digest that could be verified"),
        (archives.too_large, "record(s) that are too large to be read"),
    ] {
        if count > 0 {
            lines.push(format!("              {} {what}", HumanCount(count)));
        }
    }
    lines
}

/// The first findings, and how many there are more.
fn list(lines: &mut Vec<String>, title: &str, findings: &[impl Display], untold: u64) {
    if findings.is_empty() {
        return;
    }
    lines.push(format!("\n{title}:"));
    lines.extend(
        findings.iter().take(SHOWN_MAX).map(|finding| format!("  - {}", output::line(&finding.to_string()))),
    );
    let more = findings.len().saturating_sub(SHOWN_MAX) as u64 + untold;
    if more > 0 {
        lines.push(format!("  … and {} more (--json has up to 1,000)", HumanCount(more)));
    }
}
