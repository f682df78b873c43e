//! The steps of a fetch as people read them: one block of text per step, each ending in a line end.

use std::fmt::Write;

use indicatif::HumanCount;

use super::addresses::Addresses;
use super::exchange::{Body, Fetched, Leads, Outcome, Timings, Tls};
use super::handshake::Handshake;
use super::page::PageReport;
use super::report::Identity;
use super::robots::RobotsReport;
use super::rules::Group;
use super::text::milliseconds;

/// Links that are shown if not all are asked for.
const LINKS_SHOWN: usize = 10;
/// Names of a certificate that are shown.
const NAMES_SHOWN: usize = 5;

/// A line with its label; a label that is empty goes on with the one before.
fn line(out: &mut String, label: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{label:<12} {text}");
}

impl Identity {
    pub(crate) fn show(&self) -> String {
        let mut out = String::new();
        line(&mut out, "URL", &self.canonical);
        if self.given != self.canonical {
            line(&mut out, "", &format!("the canonical form of {}", self.given));
        }
        line(&mut out, "", &format!("host {}, domain {}", self.host, self.domain));
        out
    }
}

impl Addresses {
    pub(crate) fn show(&self) -> String {
        let mut out = String::new();
        if let Some(proxy) = &self.proxy {
            line(&mut out, "proxy", &format!("{proxy}, which finds the addresses"));
            return out;
        }
        let asked = match self.name_servers.as_slice() {
            [] if self.written => " from the hosts file".to_owned(),
            [] => String::new(),
            servers => format!(" from {} in {}", servers.join(", "), milliseconds(self.ms)),
        };
        if let Some(failure) = self.failure {
            line(&mut out, "addresses", &format!("none{asked}: {failure}"));
        }
        for (number, found) in self.found.iter().enumerate() {
            let guard = match (found.permitted, found.public) {
                (true, true) => "public",
                (true, false) => "not public, but allowed",
                (false, _) => "not public: forbidden (--allow-address permits it)",
            };
            let label = if number == 0 { "addresses" } else { "" };
            let asked = if number == 0 { asked.as_str() } else { "" };
            line(&mut out, label, &format!("{} ({guard}){asked}", found.address));
        }
        out
    }
}

impl RobotsReport {
    pub(crate) fn show(&self) -> String {
        let mut out = String::new();
        let mut label = "robots.txt";
        if let Some(file) = &self.file {
            line(&mut out, std::mem::take(&mut label), &format!("{file}, {} bytes", self.bytes));
        }
        for asked in &self.requests {
            let place = asked.address.as_ref().map_or(String::new(), |address| format!(" at {address}"));
            let text = format!("{}{place}: {}, {}", asked.url, asked.outcome, milliseconds(asked.ms));
            line(&mut out, std::mem::take(&mut label), &text);
        }
        if self.bytes > 0 {
            let group = match self.group {
                Group::Named => format!("the group for {}", self.agent),
                Group::Everybody => format!("the group for everybody (none is for {})", self.agent),
                Group::None => format!("no group for {} or everybody", self.agent),
            };
            let opened = self
                .group_lines
                .iter()
                .map(|line| format!("line {}: {}", line.line, line.text.trim()))
                .collect::<Vec<_>>();
            let opened = if opened.is_empty() { String::new() } else { format!(", {}", opened.join("; ")) };
            line(&mut out, "", &format!("{group}{opened}, {} rules", self.rules));
        }
        if self.cut {
            line(&mut out, "", "longer than 500 KiB: the rest is not read");
        }
        if let Some(seconds) = self.crawl_delay_s {
            line(&mut out, "", &format!("Crawl-delay: {seconds} s"));
        }
        for sitemap in &self.sitemaps {
            line(&mut out, "", &format!("Sitemap: {}", super::text::printable(sitemap.as_bytes())));
        }
        let verdict = if self.allowed { "allowed" } else { "forbidden" };
        line(&mut out, "verdict", &format!("{verdict} ({})", self.reason));
        out
    }
}

impl Fetched {
    pub(crate) fn show(&self) -> String {
        let mut out = String::new();
        if let Some(address) = &self.address {
            line(&mut out, "connection", &format!("{address}, {}", self.protocol));
        }
        if let Some(tls) = &self.tls {
            out += &tls.show();
        }
        out += &self.timings_ms.show();
        for (number, text) in self.request.iter().enumerate() {
            let _ = writeln!(out, "{}> {text}", if number == 0 { "\n" } else { "" });
        }
        if let Some(status_line) = &self.status_line {
            let _ = writeln!(out, "\n< {status_line}");
        }
        for (name, value) in &self.fields {
            let _ = writeln!(out, "< {name}: {value}");
        }
        out.push('\n');
        if let Some(body) = &self.body {
            out += &body.show();
        }
        out += &self.outcome.show();
        match &self.redirect {
            Some(Leads::To(target)) => line(&mut out, "redirect", &format!("to {target}")),
            Some(Leads::Refused(reason)) => line(&mut out, "redirect", &format!("to nowhere: {reason}")),
            None => {}
        }
        out
    }
}

impl Tls {
    fn show(&self) -> String {
        let mut out = String::new();
        let alpn = self.handshake.as_ref().and_then(|shown| shown.alpn.as_ref());
        let alpn = alpn.map_or(String::new(), |alpn| format!(", ALPN {alpn}"));
        match (&self.version, &self.cipher_suite) {
            (Some(version), Some(suite)) => line(&mut out, "TLS", &format!("{version}, {suite}{alpn}")),
            _ => line(&mut out, "TLS", &format!("no connection came about{alpn}")),
        }
        if let Some(handshake) = &self.handshake {
            out += &handshake.show();
        } else if let Some(verdict) = &self.verdict {
            line(&mut out, "certificate", verdict);
        }
        if let Some(fingerprint) = &self.fingerprint {
            line(&mut out, "", &format!("SHA-256 {fingerprint}"));
        }
        out
    }
}

impl Handshake {
    fn show(&self) -> String {
        let mut out = String::new();
        if let Some(failure) = &self.failure {
            line(&mut out, "", &format!("the handshake fails: {failure}"));
            return out;
        }
        let verdict = match &self.flaw {
            None => "verified".to_owned(),
            Some(flaw) => format!("not valid: {flaw}"),
        };
        line(&mut out, "certificate", &verdict);
        let Some(certificate) = &self.certificate else {
            line(&mut out, "", "it cannot be read");
            return out;
        };
        line(&mut out, "", &format!("of {}", certificate.subject));
        line(&mut out, "", &format!("by {} ({} certificates sent)", certificate.issuer, self.chain));
        line(&mut out, "", &format!("from {} to {}", certificate.not_before, certificate.not_after));
        let more = certificate.names.len().saturating_sub(NAMES_SHOWN);
        let mut names = certificate.names.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            names += &format!(" and {more} more");
        }
        if !names.is_empty() {
            line(&mut out, "", &format!("for {names}"));
        }
        out
    }
}

impl Timings {
    fn show(&self) -> String {
        let steps = [
            ("DNS", self.dns),
            ("connect", self.connect),
            ("TLS", self.tls),
            ("first byte", self.first_byte),
            ("rest", self.rest),
            ("total", Some(self.total)),
        ];
        let steps = steps.iter().filter_map(|(name, ms)| Some(format!("{name} {}", milliseconds((*ms)?))));
        let mut out = String::new();
        line(&mut out, "time", &steps.collect::<Vec<_>>().join(", "));
        out
    }
}

impl Body {
    fn show(&self) -> String {
        let mut text = format!("{} bytes", HumanCount(self.bytes as u64));
        if let Some(cut) = &self.truncated {
            text += &format!(", cut ({cut})");
        }
        if !self.codings.is_empty() {
            let decoded = HumanCount(self.decoded_bytes as u64);
            text += &format!(", {}: {decoded} bytes decoded ({})", self.codings.join(", "), self.decoding);
        }
        let mut out = String::new();
        line(&mut out, "body", &text);
        out
    }
}

impl Outcome {
    fn show(&self) -> String {
        let mut follows = match self.retries {
            0 => "final, a crawl would not ask again".to_owned(),
            1 => format!("a crawl would ask once more, after {} s", self.wait_s),
            n => format!("a crawl would ask up to {n} times more, first after {} s", self.wait_s),
        };
        if self.host_waits {
            follows += ", and leave the whole host alone until then";
        }
        if let Some(seconds) = self.retry_after_s {
            follows += &format!("; Retry-After {seconds} s");
        }
        let mut out = String::new();
        line(&mut out, "outcome", &format!("{}: {follows}", self.name));
        out
    }
}

impl PageReport {
    pub(crate) fn show(&self, all_links: bool) -> String {
        let mut out = String::new();
        let kind = self.content_type.as_deref().unwrap_or("no Content-Type");
        let charset = self.charset.map_or(String::new(), |charset| format!(", read as {charset}"));
        let unread = if self.html { "" } else { ", not read for links" };
        line(&mut out, "type", &format!("{kind}{charset}{unread}"));
        let known = [("title", &self.title), ("language", &self.language), ("canonical", &self.canonical)];
        for (label, text) in known {
            if let Some(text) = text {
                line(&mut out, label, text);
            }
        }
        for tag in &self.x_robots_tag {
            line(&mut out, "directives", &format!("X-Robots-Tag: {tag}"));
        }
        for meta in &self.robots_meta {
            line(&mut out, "directives", &format!("meta robots: {meta}"));
        }
        if self.html {
            let dropped = match self.links_dropped {
                0 => String::new(),
                dropped => format!(", {dropped} more beyond the limits"),
            };
            let counted = format!("{}, {} to follow{dropped}", self.links_found, self.links_followed);
            line(&mut out, "links", &counted);
        }
        let shown = if all_links { self.links.len() } else { LINKS_SHOWN };
        for link in self.links.iter().take(shown) {
            let because = link.because.map_or(String::new(), |because| format!(" (not followed: {because})"));
            line(&mut out, "", &format!("{:<9} {}{because}", link.kind, link.url));
        }
        if self.links.len() > shown {
            line(&mut out, "", &format!("… {} more (--links shows all)", self.links.len() - shown));
        }
        out
    }
}
