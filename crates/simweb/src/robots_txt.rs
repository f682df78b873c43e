//! The robots.txt of a host: what it says, and, known without parsing it, what it forbids.
//!
//! Kinds are drawn by weight. `forbids` answers from the kind alone, for the crawler called `mattock`; a test holds it
//! against a real parser reading the generated text. A mirror has a robots.txt of its own, about its content's sections.

use crate::hosts::{Host, PathStyle};
use crate::mix::{Tag, below, mix};
use crate::names::LANGUAGES;
use crate::world::World;

/// The path of the rules.
pub(crate) const ROBOTS_PATH: &str = "/robots.txt";
/// Where redirected rules are found at last; the first is one redirect away, the second two.
const MOVED: [&str; 2] = ["/robots-rules.txt", "/policy/robots.txt"];

/// The name under which robots.txt files may single this crawler out.
pub const AGENT: &str = "mattock";

/// What kind of robots.txt a host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RobotsKind {
    Missing,
    Empty,
    AllowAll,
    Sections,
    Wildcard,
    Agent,
    Override,
    Delay,
    DisallowAll,
    Unavailable,
    Refused,
    Redirected,
    Untidy,
    Verbose,
}

const KINDS: [RobotsKind; 14] = [
    RobotsKind::Missing,
    RobotsKind::Empty,
    RobotsKind::AllowAll,
    RobotsKind::Sections,
    RobotsKind::Wildcard,
    RobotsKind::Agent,
    RobotsKind::Override,
    RobotsKind::Delay,
    RobotsKind::DisallowAll,
    RobotsKind::Unavailable,
    RobotsKind::Refused,
    RobotsKind::Redirected,
    RobotsKind::Untidy,
    RobotsKind::Verbose,
];

/// The robots.txt of one host.
#[derive(Clone, Debug)]
pub(crate) struct RobotsFile {
    pub(crate) kind: RobotsKind,
    /// Sections that are disallowed where the kind disallows sections.
    first: u8,
    second: u8,
    /// Which of the kind's variants it is.
    variant: u8,
    /// What an overriding Allow line has after the section.
    stem: String,
}

/// What a request for a robots.txt, or for a place it has moved to, gets.
pub(crate) enum RobotsReply {
    Body,
    Status(u16),
    Redirect(u16, &'static str),
}

impl World {
    /// The kind of a host's robots.txt, mirrors included.
    pub(crate) fn robots_kind(&self, domain: u64, index: u32) -> RobotsKind {
        if domain == 0 && index == 0 {
            return RobotsKind::AllowAll;
        }
        let total: u64 = self.robots_weights.iter().map(|&weight| u64::from(weight)).sum();
        if total == 0 {
            return RobotsKind::Missing;
        }
        let mut rest = below(mix(self.seed, Tag::RobotsKind, domain, u64::from(index)), total);
        let mut kind = RobotsKind::Missing;
        for (candidate, &weight) in KINDS.iter().zip(&self.robots_weights) {
            if rest < u64::from(weight) {
                kind = *candidate;
                break;
            }
            rest -= u64::from(weight);
        }
        match kind {
            RobotsKind::DisallowAll | RobotsKind::Unavailable if !self.is_expendable(domain, index) => {
                RobotsKind::AllowAll
            }
            kind => kind,
        }
    }

    /// The robots.txt of a host, whose pages are those of `content`.
    pub(crate) fn robots_file(&self, domain: u64, index: u32, content: &Host) -> RobotsFile {
        let hash = mix(self.seed, Tag::RobotsDetail, domain, u64::from(index));
        let letter = match content.style {
            PathStyle::Number => format!("{}", 1 + hash % 9),
            PathStyle::Query => format!("page.php?id={}", 1 + hash % 9),
            _ => char::from(b'a' + (hash % 14) as u8).to_string(),
        };
        RobotsFile {
            kind: self.robots_kind(domain, index),
            first: below(hash, u64::from(content.sections)) as u8,
            second: below(hash.rotate_left(16), u64::from(content.sections)) as u8,
            variant: (hash >> 8) as u8 % 6,
            stem: letter,
        }
    }

    /// Whether a robots.txt forbids a canonical path and query to `mattock`.
    pub(crate) fn robots_forbids(&self, robots: &RobotsFile, content: &Host, path: &str) -> bool {
        if path == ROBOTS_PATH {
            return false;
        }
        let in_section = |section: u8| {
            let mut prefix = Vec::with_capacity(24);
            self.write_section(content, section, &mut prefix);
            path.as_bytes().strip_prefix(prefix.as_slice()).map(<[u8]>::to_vec)
        };
        match robots.kind {
            RobotsKind::Missing
            | RobotsKind::Empty
            | RobotsKind::AllowAll
            | RobotsKind::Delay
            | RobotsKind::Refused => false,
            RobotsKind::DisallowAll | RobotsKind::Unavailable => true,
            RobotsKind::Sections | RobotsKind::Redirected | RobotsKind::Untidy | RobotsKind::Verbose => {
                in_section(robots.first).is_some() || in_section(robots.second).is_some()
            }
            RobotsKind::Wildcard => {
                path.contains("?print=") || path.contains("&print=") || path.ends_with(".cgi")
            }
            RobotsKind::Agent => robots.variant.is_multiple_of(2) && in_section(robots.first).is_some(),
            RobotsKind::Override => match robots.variant % 3 {
                0 => in_section(robots.first).is_some_and(|rest| !rest.starts_with(robots.stem.as_bytes())),
                1 => in_section(robots.first).is_some(),
                _ => false,
            },
        }
    }

    /// What a path answers if it belongs to the robots.txt, and `None` if it does not.
    pub(crate) fn robots_reply(&self, robots: &RobotsFile, path: &str) -> Option<RobotsReply> {
        let redirected = robots.kind == RobotsKind::Redirected;
        let hops = usize::from(robots.variant % 2) + 1;
        if redirected && MOVED[..hops].contains(&path) {
            let last = path == MOVED[hops - 1];
            return Some(if last { RobotsReply::Body } else { RobotsReply::Redirect(302, MOVED[1]) });
        }
        if path != ROBOTS_PATH {
            return None;
        }
        Some(match robots.kind {
            RobotsKind::Missing => RobotsReply::Status(404),
            RobotsKind::Unavailable => RobotsReply::Status(503),
            RobotsKind::Refused => RobotsReply::Status(403),
            RobotsKind::Redirected => RobotsReply::Redirect(301, MOVED[0]),
            _ => RobotsReply::Body,
        })
    }

    /// Appends the text of a robots.txt.
    pub(crate) fn write_robots(&self, robots: &RobotsFile, content: &Host, out: &mut Vec<u8>) {
        let section = |section: u8| {
            let mut prefix = Vec::with_capacity(24);
            self.write_section(content, section, &mut prefix);
            String::from_utf8(prefix).expect("sections are ASCII")
        };
        let (first, second) = (section(robots.first), section(robots.second));
        let sections = format!("User-agent: *\nDisallow: {first}\nDisallow: {second}\n");
        let text = match robots.kind {
            RobotsKind::AllowAll if robots.variant < 3 => "User-agent: *\nAllow: /\n".to_owned(),
            RobotsKind::AllowAll => "User-agent: *\nDisallow:\n".to_owned(),
            RobotsKind::Sections | RobotsKind::Redirected => sections,
            RobotsKind::Wildcard => {
                "User-agent: *\nDisallow: /*?print=\nDisallow: /*&print=\nDisallow: /*.cgi$\n".to_owned()
            }
            RobotsKind::Agent if robots.variant.is_multiple_of(2) => {
                format!("User-agent: *\nAllow: /\n\nUser-agent: {AGENT}\nDisallow: {first}\n")
            }
            RobotsKind::Agent => "User-agent: *\nDisallow: /\n\nUser-agent: Mattock\nDisallow:\n".to_owned(),
            RobotsKind::Override => match robots.variant % 3 {
                0 => format!("User-agent: *\nDisallow: {first}\nAllow: {first}{}\n", robots.stem),
                1 => format!("User-agent: *\nAllow: /\nDisallow: {first}\n"),
                _ => format!("User-agent: *\nDisallow: {first}\nAllow: {first}\n"),
            },
            RobotsKind::Delay => {
                format!("User-agent: *\nCrawl-delay: {}\nDisallow:\n", self.params.crawl_delay_s)
            }
            RobotsKind::DisallowAll => "User-agent: *\nDisallow: /\n".to_owned(),
            RobotsKind::Untidy => format!(
                "\u{feff}USER-AGENT : * # everybody\r\nnoise without a colon\r\n  disallow:{first}   \r\n\
                 Foo: bar\r\n\r\nDisAllow : {second} # and this\r\n"
            ),
            RobotsKind::Verbose => {
                let line =
                    format!("# These rules are for the {} edition.\n", LANGUAGES[content.language as usize]);
                format!("{}{sections}{}", line.repeat(40), line.repeat(4))
            }
            RobotsKind::Empty | RobotsKind::Missing | RobotsKind::Unavailable | RobotsKind::Refused => {
                String::new()
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}
