//! What must hold of a crawl that is over, whatever happened to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use mattock_crawl::check::check;
use mattock_crawl::{SavedCrawl, Summary};
use mattock_env::{Env, SimFiles, Time};
use mattock_fetch::FetchOutcome;
use mattock_frontier::{Finished, Frontier, FrontierOptions, Next, Politeness, Scope, ScopeRule, Servers};
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{AuditOptions, Truth, audit};
use xxhash_rust::xxh3::xxh3_64;

use super::{LOG, ROOT};

/// Everything that is wrong. `lossy`: the network was so bad that pages may have failed for good.
pub(super) fn all(env: &Env, journal: &Env, truth: &Truth, summary: &Summary, lossy: bool) -> Vec<String> {
    let mut problems = Vec::new();
    match archive(env, Path::new(ROOT), truth, lossy) {
        Ok(found) => problems.extend(found),
        Err(error) => problems.push(format!("the archive or the ledger cannot be read: {error}")),
    }
    match check(env, Path::new(ROOT), &mut |_| {}) {
        Ok(report) if report.whole && report.notes.is_empty() && report.state_hash.is_some() => {}
        Ok(report) => {
            let found = report.problems.iter().chain(&report.notes).take(5).map(ToString::to_string);
            problems.push(format!("`check` finds: {}", found.collect::<Vec<_>>().join("; ")));
        }
        Err(error) => problems.push(format!("`check` fails: {error}")),
    }
    match audit(&journal.files, Path::new(LOG), &AuditOptions::default()) {
        Ok(report) => {
            for (name, count) in [
                ("delay", report.delay_violations),
                ("Crawl-delay", report.crawl_delay_violations),
                ("robots.txt", report.robots_violations),
            ] {
                if count > 0 {
                    problems.push(format!("{count} violations of {name}: {report}"));
                }
            }
        }
        Err(error) => problems.push(format!("what the servers saw cannot be read: {error}")),
    }
    if summary.urls_queued > 0 {
        problems.push(format!("{} URLs are left", summary.urls_queued));
    }
    problems
}

/// What is wrong with a crawl that is over: archive, ledger and accounts against each other and the truth. `lossy`: pages may have
/// failed for good.
pub fn archive(
    env: &Env,
    root: &Path,
    truth: &Truth,
    lossy: bool,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut problems = Vec::new();
    let saved = SavedCrawl::open(env, root)?;
    for (index, counts) in saved.partitions().enumerate() {
        if counts.missing() != 0 || counts.queued + counts.in_flight > 0 {
            problems.push(format!("the accounts of partition {index} are not closed: {counts:?}"));
        }
    }
    let mut stored = BTreeMap::new();
    for (name, &length) in saved.archive() {
        let path = saved.warc().join(name);
        if env.files.entry(&path)?.is_none_or(|entry| entry.len != length) {
            problems.push(format!("{name} is not as long as the checkpoint says"));
        }
        let mut reader = WarcReader::open(&env.files, &path)?;
        loop {
            let offset = reader.whole_end();
            let Some(record) = reader.next_record()? else { break };
            if matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit)) {
                let url = record.target_uri().unwrap_or_default().to_owned();
                stored.insert((name.clone(), offset), (url, record.block.starts_with(b"HTTP/1.1 200")));
            }
        }
    }
    for entry in env.files.list(&saved.warc())? {
        if !saved.archive().contains_key(&entry.name) {
            problems.push(format!("{} is in no checkpoint", entry.name));
        }
    }
    let (mut rows, mut pages) = (BTreeSet::new(), BTreeSet::new());
    saved.rows(|row| {
        if !rows.insert(row.url.to_owned()) {
            problems.push(format!("{} was settled twice", row.url));
        }
        let Some(place) = &row.place else { return };
        match stored.remove(&(place.file.to_string(), place.offset)) {
            Some((url, _)) if url != row.url => {
                problems.push(format!("{} is not where the ledger says: {url} is", row.url));
            }
            Some((url, true)) => {
                pages.insert(url);
            }
            Some(_) => {}
            None => problems.push(format!("{} is not in the archive, or twice", row.url)),
        }
    })?;
    for (url, _) in stored
        .into_values()
        .filter(|(url, _)| !url.ends_with("/robots.txt") && !url.ends_with("/robots-rules.txt"))
    {
        problems.push(format!("{url} is in the archive and not in the ledger"));
    }
    // On a bad network a page may fail for good, and what only it links to is never found.
    if !lossy {
        problems.extend(truth.pages.difference(&pages).map(|url| format!("{url} is missing")));
    }
    problems.extend(pages.difference(&truth.pages).map(|url| format!("{url} should not have been fetched")));
    problems.retain(|problem| !problem.contains("/feed.xml should") && !problem.contains("/sitemap"));
    problems.truncate(20);
    Ok(problems)
}

/// Of everything on the disk.
pub(super) fn hash(disk: &SimFiles) -> u64 {
    let mut all = Vec::new();
    for (path, bytes) in disk.snapshot() {
        all.extend_from_slice(path.as_os_str().as_encoded_bytes());
        all.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    }
    xxh3_64(&all)
}

/// Has the frontier of the first partition believe that a page was visited.
pub(super) fn lose_a_visit(env: &Env, root: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let saved = SavedCrawl::open(env, root)?;
    if saved.number() == 0 {
        return Err("there is no checkpoint yet".into());
    }
    let politeness = Politeness { ..Politeness::with_delay(std::time::Duration::ZERO) };
    let options = FrontierOptions {
        checkpoint: saved.number(),
        ..FrontierOptions::new(Scope::new(ScopeRule::Any, None), politeness, "mattock")
    };
    let mut frontier =
        Frontier::open(env, &saved.frontier(0), options, Arc::new(Servers::new(std::time::Duration::ZERO)))?;
    let mut now = env.clock.now();
    for _ in 0..10_000 {
        match frontier.next(now)? {
            Next::Visit(visit) if visit.is_page() => {
                let finished = Finished {
                    visit,
                    outcome: FetchOutcome::Answered(200),
                    at: now,
                    took: std::time::Duration::ZERO,
                    retry_after_s: None,
                    robots: None,
                    content: None,
                };
                frontier.finished(finished, now)?;
                return Ok(frontier.save(saved.number(), now)?);
            }
            Next::Visit(visit) => frontier.abandoned(visit, now),
            Next::WaitUntil(time) => now = Time::max(time, now),
            _ => break,
        }
    }
    Err("nobody is to be visited".into())
}
