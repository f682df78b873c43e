//! `mattock url`: a URL as crawls and indexes know it. Nothing is asked of anybody.

use std::fmt::Write as _;

use mattock_crawl::partition_of;
use mattock_weburl::{Fingerprint, WebUrl, archive_key};
use serde::Serialize;

use crate::args::probe::UrlArgs;
use crate::exit::Ended;
use crate::output;

/// All that follows from the text of a URL.
#[derive(Debug, Serialize)]
struct Told<'a> {
    given: &'a str,
    /// Why it is no URL to crawl; all but the replay key is missing then.
    error: Option<String>,
    #[serde(flatten)]
    known: Option<Known>,
    replay_key: Option<String>,
}

#[derive(Debug, Serialize)]
struct Known {
    url: String,
    host: String,
    domain: String,
    surt: String,
    fingerprint: String,
    host_fingerprint: String,
    domain_fingerprint: String,
    partition: Option<usize>,
}

pub(crate) fn run(args: &UrlArgs) -> anyhow::Result<Ended> {
    let told: Vec<Told<'_>> = args.texts.iter().map(|text| look(text, args.partitions)).collect();
    if args.json {
        output::print_json(&serde_json::json!({ "urls": told }))?;
    } else {
        let pages: Vec<String> = told.iter().map(|told| told.show(args.partitions)).collect();
        output::print(&pages.join("\n"))?;
    }
    Ok(if told.iter().all(|told| told.error.is_none()) { Ended::Done } else { Ended::Failed })
}

fn look(given: &str, partitions: Option<usize>) -> Told<'_> {
    let parsed = WebUrl::parse(given);
    let replay_key = archive_key(given);
    let hex = |fingerprint: Fingerprint| format!("{:016x}", fingerprint.0);
    match parsed {
        Err(error) => Told { given, error: Some(error.to_string()), known: None, replay_key },
        Ok(url) => {
            let known = Known {
                host: url.host().to_owned(),
                domain: url.domain().to_owned(),
                surt: url.surt(),
                fingerprint: hex(url.fingerprint()),
                host_fingerprint: hex(url.host_fingerprint()),
                domain_fingerprint: hex(url.domain_fingerprint()),
                partition: partitions.map(|count| partition_of(&url, count)),
                url: url.as_str().to_owned(),
            };
            Told { given, error: None, known: Some(known), replay_key }
        }
    }
}

impl Told<'_> {
    fn show(&self, partitions: Option<usize>) -> String {
        let mut out = String::new();
        let mut line = |label: &str, text: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{label:<13}{text}");
        };
        match &self.known {
            Some(known) => {
                line("URL", &known.url);
                if known.url != self.given {
                    line("", &format!("the canonical form of {}", self.given));
                }
                line("host", &known.host);
                line("domain", &known.domain);
                line("SURT", &known.surt);
            }
            None => line("URL", &format!("none to crawl: {}", self.error.as_deref().unwrap_or_default())),
        }
        if let Some(key) = &self.replay_key {
            line("replay key", key);
        }
        if let Some(known) = &self.known {
            line("fingerprint", &known.fingerprint);
            line("", &format!("host {}, domain {}", known.host_fingerprint, known.domain_fingerprint));
            if let (Some(partition), Some(count)) = (known.partition, partitions) {
                line("partition", &format!("{partition}, of 0 to {}", count - 1));
            }
        }
        out
    }
}
