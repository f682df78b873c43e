//! What a person sees while a crawl runs, and when it is over.
//!
//! On a terminal one line that is redrawn; elsewhere a plain line every few seconds. All of it on stderr.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use mattock_crawl::steer::{Paused, PausedBy};
use mattock_crawl::{Control, End, Progress, Summary};
use mattock_env::{Clock, Time};

use crate::output;
use crate::progress::Says as _;

const REDRAW: Duration = Duration::from_millis(200);
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// Speed is the mean over this window.
const WINDOW: usize = 10;

/// A progress display.
pub(crate) struct Display {
    progress: Arc<Progress>,
    control: Control,
    bar: Option<ProgressBar>,
    quiet: bool,
    last: Vec<(Time, u64, u64)>,
}

impl Display {
    pub(crate) fn new(
        progress: Arc<Progress>,
        control: Control,
        max_pages: Option<u64>,
        quiet: bool,
    ) -> Display {
        let bar = (!quiet && output::is_watched()).then(|| bar(max_pages));
        Display { progress, control, bar, quiet, last: Vec::new() }
    }

    /// Shows progress until it is dropped.
    pub(crate) async fn run(mut self, clock: Clock) {
        let mut plain_next = clock.now() + PLAIN_EVERY;
        let mut told = None;
        loop {
            clock.sleep(REDRAW).await;
            let now = clock.now();
            let trouble = self.progress.trouble();
            if trouble != told {
                // This is for people even if they asked for nothing: the crawl waits for them.
                let news = trouble.as_deref().unwrap_or("going on");
                match &self.bar {
                    Some(bar) => bar.says_above(news),
                    None => say!("{news}"),
                }
                told = trouble;
            }
            let line = self.line(now);
            match &self.bar {
                Some(bar) => {
                    bar.set_position(self.progress.read().pages);
                    bar.says(line);
                }
                None if !self.quiet && now >= plain_next => {
                    plain_next = now + PLAIN_EVERY;
                    say!("{:>5.0} s  {line}", now.as_seconds());
                }
                None => {}
            }
        }
    }

    fn line(&mut self, now: Time) -> String {
        let reading = self.progress.read();
        if self.last.len() == WINDOW {
            self.last.remove(0);
        }
        self.last.push((now, reading.pages, reading.bytes));
        let (then, pages, bytes) = self.last[0];
        let seconds = now.since(then).as_secs_f64().max(0.001);
        let paused = match self.control.paused().first() {
            Some(Paused { by: PausedBy::Operator, .. }) => "paused by its operator  ",
            Some(Paused { by: PausedBy::Schedule, .. }) => "paused by its schedule  ",
            Some(Paused { by: PausedBy::Disk, .. }) => "paused for room on the disk  ",
            None => "",
        };
        format!(
            "{paused}{} pages  {:.0} pages/s  {:.1} MB/s  {} queued  {} hosts  {} open  {} errors",
            HumanCount(reading.pages),
            (reading.pages - pages) as f64 / seconds,
            (reading.bytes - bytes) as f64 / seconds / 1e6,
            HumanCount(reading.queued),
            HumanCount(reading.hosts),
            reading.in_flight,
            HumanCount(reading.errors),
        )
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(max_pages: Option<u64>) -> ProgressBar {
    let (bar, template) = match max_pages {
        Some(pages) => (ProgressBar::new(pages), "{spinner} {elapsed} [{bar:24}] {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {elapsed} {msg}"),
    };
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    bar.set_style(style.progress_chars("=> "));
    bar
}

/// The end of a crawl in a few lines.
pub(crate) fn print_summary(summary: &Summary, out: &Path) {
    let end = match summary.end {
        End::Complete => "Complete: nothing is left to fetch.".to_owned(),
        End::MaxPages => {
            format!("The page limit is reached; {} URLs still wait.", HumanCount(summary.urls_queued))
        }
        End::Stopped => format!("Stopped; {} URLs still wait.", HumanCount(summary.urls_queued)),
    };
    let seconds = summary.seconds.max(0.001);
    say!("\n{end}");
    say!(
        "  pages      {} from {} domains, {}",
        HumanCount(summary.pages),
        HumanCount(summary.domains),
        HumanBytes(summary.bytes)
    );
    say!("  URLs seen  {}", HumanCount(summary.urls_seen));
    say!(
        "  time       {} ({:.1} s of CPU)",
        if seconds < 10.0 {
            format!("{seconds:.1} s")
        } else {
            HumanDuration(Duration::from_secs_f64(seconds)).to_string()
        },
        summary.cpu_seconds
    );
    let counted = |counts: &std::collections::BTreeMap<String, u64>| {
        let mut counts: Vec<_> = counts.iter().collect();
        counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        counts
            .iter()
            .map(|(name, count)| format!("{name} × {}", HumanCount(**count)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !summary.outcomes.is_empty() {
        say!("  outcomes   {}", counted(&summary.outcomes));
    }
    if !summary.refused.is_empty() {
        say!("  refused    {}", counted(&summary.refused));
    }
    say!("  archive    {}", out.join("warc").display());
}

/// What kept a crawl from getting a single page, the most frequent cause first; `None` if it got one.
pub(crate) fn all_failed(summary: &Summary) -> Option<String> {
    let came_in = |outcome: &str| outcome.parse().is_ok_and(|status: u16| (200..300).contains(&status));
    if summary.pages > 0 || summary.outcomes.keys().any(|outcome| came_in(outcome)) {
        return None;
    }
    let failed = |outcome: &&String| !outcome.parse().is_ok_and(|status: u16| status < 400);
    let mut causes: Vec<(&String, u64)> = summary
        .outcomes
        .iter()
        .filter(|(name, _)| failed(name))
        .map(|(name, count)| (name, *count))
        .collect();
    causes.extend(summary.refused.iter().map(|(name, count)| (name, *count)));
    // Those of equal number stand in the order of their names.
    let most = causes.iter().map(|(_, count)| *count).max()?;
    let (name, count) = causes.into_iter().find(|(_, count)| *count == most)?;
    let explained = match name.as_str() {
        "robots" => "robots.txt forbids them",
        "robots-unreachable" => {
            "robots.txt could not be had, which forbids everything: the hosts do not answer, their names do not \
             exist, or their addresses are not public (`--allow-address` permits others)"
        }
        "out-of-scope" => "they lead out of the scope (`--scope` widens it)",
        "no-such-name" => "the name does not exist",
        "refused" => "nothing listens there",
        "forbidden-address" => "the address is not public (`--allow-address` permits others)",
        "certificate" => "the certificate is not valid",
        _ => "",
    };
    let explained = if explained.is_empty() { String::new() } else { format!(": {explained}") };
    Some(format!("{name} × {}{explained}", HumanCount(count)))
}
