//! `mattock why`

use indicatif::HumanCount;
use mattock_crawl::{Answer, Instance, Known, RobotsVerdict, Why};
use mattock_env::UnixTime;
use mattock_weburl::WebUrl;

use crate::args::look::WhyArgs;
use crate::exit::Ended;
use crate::output;
use crate::places;

pub(crate) fn run(args: &WhyArgs) -> anyhow::Result<Ended> {
    let urls = args.urls.iter().map(|url| WebUrl::parse(url)).collect::<Result<Vec<_>, _>>()?;
    let answers = mattock_crawl::why(&places::bound([args.dir.as_path()]), &args.dir, &urls)?;
    for (index, why) in answers.iter().enumerate() {
        if args.json {
            output::print_json(why)?;
        } else {
            let gap = if index > 0 { "\n" } else { "" };
            output::print(&format!("{gap}{}", explained(why)))?;
        }
    }
    Ok(Ended::Done)
}

/// A line with a heading in front; none for an empty text.
fn line(out: &mut String, heading: &str, text: &str) {
    if !text.is_empty() {
        *out += &format!("  {heading:<12}{}\n", output::line(text));
    }
}

fn at(time: UnixTime) -> String {
    time.to_seconds_string()
}

fn explained(why: &Why) -> String {
    let mut out = format!("{}\n", why.url);
    let (heading, texts) = told(why);
    for (index, text) in texts.iter().enumerate() {
        line(&mut out, if index == 0 { heading } else { "" }, text);
    }
    if let Answer::Fetched { instances } | Answer::Failed { instances } = &why.answer {
        instances.iter().for_each(|instance| record(&mut out, instance));
    }
    if let Some(robots) = &why.robots {
        line(&mut out, "robots.txt", &ruled(robots));
    }
    line(&mut out, "as of", &as_of(why));
    out
}

/// Where it is: a word, and what there is to say.
fn told(why: &Why) -> (&'static str, Vec<String>) {
    let waits = |texts: Vec<String>| ("waits", texts);
    match &why.answer {
        Answer::NeverSeen { refusal, max_depth } => ("never seen", never_seen(why, *refusal, *max_depth)),
        Answer::Arriving => {
            ("on its way", vec!["a link to it was found; whether it is the first is being looked up".into()])
        }
        Answer::Budgeting => {
            ("on its way", vec!["how many domains link to its domain is being looked up".into()])
        }
        Answer::Budgeted { .. } => waits(budgeted(&why.answer)),
        Answer::Ready { band, ahead } => {
            waits(vec![format!("for room on the workbench, in band {band}; {} before it", urls(*ahead))])
        }
        Answer::BehindHost { ahead, not_before } => waits(vec![
            format!("behind its host, on disk; {} of the same host before it", urls(*ahead)),
            turn(why, *not_before),
        ]),
        Answer::OnBench { ahead: 0, not_before, attempt, rules } => waits(vec![
            format!("it is the next one of its host, or was under way{}{}", tries(*attempt), unknown(*rules)),
            turn(why, *not_before),
        ]),
        Answer::OnBench { ahead, not_before, attempt, rules } => waits(vec![
            format!(
                "for its host; {} of the same host before it{}{}",
                urls(*ahead),
                tries(*attempt),
                unknown(*rules)
            ),
            turn(why, *not_before),
        ]),
        Answer::Again { attempt, next } => {
            ("waits", vec![format!("for another try, not before {}{}", at(*next), tries(*attempt))])
        }
        Answer::Disallowed if why.robots.as_ref().is_some_and(|robots| robots.closed.is_some()) => {
            let text = "robots.txt could not be had, which forbids everything: it was never asked for";
            ("disallowed", vec![text.into()])
        }
        Answer::Disallowed => ("disallowed", vec!["robots.txt forbids it: it was never asked for".into()]),
        Answer::Refused { refusal: Some(refusal) } => {
            ("refused", vec![format!("when its turn came ({refusal}): {}", explanation(refusal))])
        }
        Answer::Refused { refusal: None } => {
            let text = "when its turn came: by robots.txt or the blocklist as they were then; what they say now would allow it";
            ("refused", vec![text.into()])
        }
        Answer::Fetched { instances } => ("fetched", instances.iter().map(visited).collect()),
        Answer::Failed { instances } => ("failed", instances.iter().map(visited).collect()),
    }
}

fn urls(count: u64) -> String {
    if count == 1 { "1 URL".to_owned() } else { format!("{} URLs", HumanCount(count)) }
}

fn tries(attempt: u8) -> String {
    match attempt {
        0 => String::new(),
        1 => "; one try has failed".to_owned(),
        tries => format!("; {tries} tries have failed"),
    }
}

fn unknown(rules: Known) -> &'static str {
    match rules {
        Known::Yes => "",
        Known::No => "; the host's robots.txt is not known yet, and is asked for first",
        Known::Outdated => "; the host's robots.txt is outdated, and is asked for first",
    }
}

/// When its host may be visited.
fn turn(why: &Why, not_before: UnixTime) -> String {
    if !why.running {
        return "its host is left alone for a full delay when the crawl goes on".to_owned();
    }
    format!("its host is left alone until {}, and longer if its server or domain must be", at(not_before))
}

fn never_seen(why: &Why, refusal: Option<&'static str>, max_depth: Option<u32>) -> Vec<String> {
    let forbidden = why.robots.as_ref().is_some_and(|robots| !robots.allowed);
    let mut texts = vec![match refusal {
        Some(refusal) => format!("a link to it is refused ({refusal}): {}", explanation(refusal)),
        None if why.url.ends_with("/robots.txt") => {
            "no page that was fetched links to it; every host is asked for it before anything else".to_owned()
        }
        None if forbidden => "no page that was fetched links to it; robots.txt would forbid it".to_owned(),
        None => "no page that was fetched links to it; such a link would be followed".to_owned(),
    }];
    if let (None, Some(depth)) = (refusal, max_depth) {
        texts.push(format!("unless it is more than {depth} links away from a seed (--max-depth)"));
    }
    texts
}

fn budgeted(answer: &Answer) -> Vec<String> {
    let Answer::Budgeted { queue, reading, ahead, budget, in_degree, proven } = answer else {
        return Vec::new();
    };
    let mut texts = vec![match (queue, reading) {
        (Some(queue), Some(reading)) => {
            format!(
                "for its domain's turn, in queue {queue} (queue {reading} is being read); {} before it",
                urls(*ahead)
            )
        }
        _ => format!("over budget, in QF, to be looked at again; {} before it", urls(*ahead)),
    }];
    let linked = in_degree.map(|count| {
        format!(
            "; {} link to it",
            if count == 1 { "1 domain".into() } else { format!("{} domains", HumanCount(count)) }
        )
    });
    texts.push(format!(
        "its domain's budget was {} per pass{}",
        HumanCount((*budget).into()),
        linked.unwrap_or_default()
    ));
    if *proven == Some(false) {
        texts.push("that is too few to let it have its turn before others".to_owned());
    }
    texts
}

fn visited(instance: &Instance) -> String {
    let links = if instance.depth == 1 { "1 link".to_owned() } else { format!("{} links", instance.depth) };
    format!("{} at {}, {links} from a seed, in {} ms", instance.outcome, at(instance.time), instance.took_ms)
}

fn record(out: &mut String, instance: &Instance) {
    if let (Some(file), Some(offset), Some(length)) = (&instance.file, instance.offset, instance.length) {
        line(out, "record", &format!("warc/{file}, offset {offset}, {length} bytes"));
    } else if instance.outcome == "200" {
        line(out, "record", "none: pages of its content type are not kept");
    }
    if let Some(digest) = &instance.digest {
        let cut = if instance.truncated { ", cut short" } else { "" };
        line(out, "body", &format!("{digest}{cut}"));
    }
}

fn ruled(robots: &RobotsVerdict) -> String {
    let verdict = match (&robots.rule, robots.line, robots.closed) {
        (_, _, Some(closed)) => format!("could not be had ({closed}), which forbids everything"),
        (Some(rule), Some(line), None) => {
            format!("{} it by line {line} ({rule})", if robots.allowed { "allows" } else { "forbids" })
        }
        _ => "allows it (no rule matches)".to_owned(),
    };
    let asked = if robots.closed.is_some() { "asked for" } else { "fetched" };
    let fetched = robots.fetched.map_or(String::new(), |time| format!("; {asked} at {}", at(time)));
    format!("{verdict}{fetched}; valid until {}", at(robots.valid_until))
}

fn as_of(why: &Why) -> String {
    let running = if why.running { "; the crawl is running, and may be further by now" } else { "" };
    match why.checkpoint {
        0 => format!("the beginning: there is no checkpoint yet{running}"),
        number => format!("checkpoint {number}, made at {}{running}", at(why.time)),
    }
}

/// What a reason to refuse a link means.
fn explanation(refusal: &str) -> &'static str {
    match refusal {
        "out-of-scope" => "it lies outside the scope (--scope, links.allow_prefixes, links.allow_patterns)",
        "too-deep" => "it is too many links away from a seed (--max-depth)",
        "denied-prefix" => "it begins with one of links.deny_prefixes",
        "denied-pattern" => "it matches one of links.deny_patterns",
        "blocked-host" => "the blocklist names its host",
        "blocked-domain" => "the blocklist names its domain",
        "blocked-address" => "the blocklist names its address",
        "blocked-url" => "it matches a URL of the blocklist",
        "url-too-long" => "it is longer than URLs of pages are (links.url_bytes_max)",
        "path-too-deep" => "its path has too many segments (links.path_segments_max)",
        "path-repeats" => "its path says the same again and again, as traps do",
        "too-many-parameters" => "its query has too many parameters",
        "query-explosion" => "its path has too many combinations of parameters already",
        "not-requested" => "the crawl does not ask for it (--order)",
        "too-many-redirects" => "too many redirects lead to it",
        "acting-link" => "one of its parameters does something (links.acting_parameters)",
        _ => "by a rule of the configuration",
    }
}
