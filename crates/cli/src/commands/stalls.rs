//! `mattock stalls`

use indicatif::{HumanBytes, HumanCount};
use mattock_crawl::{Stalls, Status};

use crate::args::look::StallsArgs;
use crate::exit::Ended;
use crate::output;
use crate::places;

/// Hosts that are shown.
const HOSTS: usize = 3;

pub(crate) fn run(args: &StallsArgs) -> anyhow::Result<Ended> {
    let stalls = mattock_crawl::stalls(&places::bound([args.dir.as_path()]), &args.dir)?;
    if args.json {
        output::print_json(&stalls)?;
    } else {
        output::print(&explained(&stalls))?;
    }
    Ok(Ended::Done)
}

fn explained(stalls: &Stalls) -> String {
    let mut out = format!("{}\n", stalls.sentence);
    let mut line = |heading: &str, text: String| out += &format!("  {heading:<12}{}\n", output::line(&text));
    if let Some(live) = &stalls.live {
        now(live, &mut line);
    }
    let counted = |counts: Vec<(&str, u64)>| {
        counts
            .iter()
            .map(|(name, count)| format!("{name} × {}", HumanCount(*count)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !stalls.waiting.is_empty() {
        line("waiting for", counted(stalls.waiting.iter().map(|(name, count)| (*name, *count)).collect()));
    }
    if stalls.hosts > 0 {
        let (hosts, waiting) = (HumanCount(stalls.hosts), HumanCount(stalls.hosts_waiting));
        line("hosts", format!("{hosts} have URLs, {waiting} of them had to be left alone"));
        let largest = stalls.largest.iter().take(HOSTS).map(|(name, urls)| (name.as_str(), *urls)).collect();
        line("largest", counted(largest));
    }
    if !stalls.refused.is_empty() {
        let mut refused: Vec<(&str, u64)> =
            stalls.refused.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        refused.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        line("refused", counted(refused));
    }
    line(
        "as of",
        match stalls.checkpoint {
            0 => "the beginning: there is no checkpoint yet".to_owned(),
            number => format!(
                "checkpoint {number}, made at {}, with {} pages",
                stalls.time.to_seconds_string(),
                HumanCount(stalls.pages)
            ),
        },
    );
    for advice in &stalls.advice {
        line("what helps", advice.clone());
    }
    out
}

fn now(live: &Status, line: &mut impl FnMut(&str, String)) {
    let seconds = live.seconds as u64;
    line(
        "running",
        format!(
            "for {seconds} s: {} pages, {:.1} pages/s, {:.2} MB/s lately",
            HumanCount(live.pages),
            live.pages_per_s,
            live.bytes_per_s / 1e6
        ),
    );
    let cpu = live.cpu.map_or(String::new(), |cpu| format!(", {cpu:.2} cores busy"));
    let free =
        live.free_bytes.map_or(String::new(), |bytes| format!(", {} free on the disk", HumanBytes(bytes)));
    line(
        "machine",
        format!(
            "{} of {} connections in use ({} look up addresses){cpu}{free}",
            live.in_flight, live.connections, live.locating
        ),
    );
}
