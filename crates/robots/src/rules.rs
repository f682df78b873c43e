//! The rules for one product token: built once from a file, asked before every request.
//!
//! Filled by [`Robots::parse`] in one pass; read by the frontier. All patterns lie in one byte pool; rules are sorted
//! by precedence (longest first, allow before disallow), so that the first match decides and the rest are not looked at.

use std::time::Duration;

use crate::DisallowReason;
use crate::lines::{Field, Line, as_utf8, is_blank, lines};
use crate::pattern::{Side, has_escaped_query, matches, normalise};

/// As much of a `robots.txt` as is read; RFC 9309 asks for at least this.
pub const BODY_BYTES_MAX: usize = 500 * 1024;

/// The longest crawl delay that is remembered; a file that asks for more gets this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(86_400);

/// The rules of a host for one product token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    /// In order of precedence.
    pub(crate) rules: Vec<Rule>,
    /// The normalised patterns of the rules, one after the other, in their order.
    pub(crate) patterns: Vec<u8>,
    pub(crate) crawl_delay: Option<Duration>,
    pub(crate) sitemaps: Vec<String>,
    pub(crate) disallow_reason: Option<DisallowReason>,
    pub(crate) truncated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rule {
    start: u32,
    pub(crate) len: u32,
    pub(crate) line: u32,
    /// Octets of the normalised pattern, asterisks and dollar included.
    octets: u32,
    pub(crate) allow: bool,
    pub(crate) anchored: bool,
    /// The pattern has a question mark, hence is compared in the second spelling.
    query: bool,
}

impl Rule {
    /// The rule whose normalised `pattern` lies at `start` in the pool.
    pub(crate) fn new(pattern: &[u8], start: usize, line: u32, allow: bool, anchored: bool) -> Rule {
        let narrow = |number: usize| {
            u32::try_from(number).expect("a file is cut at 500 KiB, and normalising at most triples it")
        };
        let len = narrow(pattern.len());
        let query = pattern.contains(&b'?');
        Rule { start: narrow(start), len, line, octets: len + u32::from(anchored), allow, anchored, query }
    }

    /// Of two rules that match, the one with the lesser key decides.
    pub(crate) fn precedence(&self) -> impl Ord + use<> {
        (std::cmp::Reverse(self.octets), !self.allow, self.line)
    }
}

/// What the rules say about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The rule that decided; none if no rule matches, or if the whole host is closed.
    pub rule: Option<RuleRef>,
}

/// Where a deciding rule stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRef {
    /// The line in the file, from 1.
    pub line: u32,
    /// The rule in its normalised spelling, such as `disallow: /private/*.html$`.
    pub text: String,
}

impl Robots {
    /// Reads a `robots.txt` for `product_token`. Never fails: what is not understood is skipped.
    pub fn parse(body: &[u8], product_token: &str) -> Robots {
        let truncated = body.len() > BODY_BYTES_MAX;
        let body = if truncated { whole_lines(body, BODY_BYTES_MAX) } else { body };
        let text = as_utf8(body);
        let mut named = Collected::default();
        let mut global = Collected::default();
        let mut sitemaps = Vec::new();
        // The group under way: whom it is for, and whether its rules have begun. Lines that RFC 9309 does not define end no group of rules,
        // but a delay belongs to the agents right above it.
        let (mut for_named, mut for_global, mut rules_begun) = (false, false, false);
        let (mut delays_named, mut delays_global, mut delays_begun) = (false, false, false);
        for line in lines(&text) {
            match line.field {
                Field::UserAgent => {
                    if rules_begun {
                        (for_named, for_global, rules_begun) = (false, false, false);
                    }
                    if delays_begun {
                        (delays_named, delays_global, delays_begun) = (false, false, false);
                    }
                    match agent(line.value, product_token) {
                        Agent::Named => (for_named, delays_named) = (true, true),
                        Agent::Global => (for_global, delays_global) = (true, true),
                        Agent::Other => {}
                    }
                    named.seen |= for_named;
                }
                Field::Allow | Field::Disallow => {
                    (rules_begun, delays_begun) = (true, true);
                    if for_named {
                        named.rule(line);
                    }
                    // Kept only as long as it may still be needed.
                    if for_global && !named.seen {
                        global.rule(line);
                    }
                }
                Field::CrawlDelay => {
                    delays_begun = true;
                    if let Some(delay) = crawl_delay(line.value) {
                        if delays_named {
                            named.crawl_delay = named.crawl_delay.max(Some(delay));
                        }
                        if delays_global {
                            global.crawl_delay = global.crawl_delay.max(Some(delay));
                        }
                    }
                }
                Field::Sitemap => {
                    if !line.cut && !line.value.is_empty() {
                        sitemaps.push(String::from_utf8_lossy(line.value).into_owned());
                    }
                }
            }
        }
        let mut chosen = if named.seen { named } else { global };
        chosen.rules.sort_by_key(Rule::precedence);
        chosen.rules.shrink_to_fit();
        // In the order they are looked at, and in the order the byte form keeps.
        let mut patterns = Vec::with_capacity(chosen.patterns.len());
        for rule in &mut chosen.rules {
            let start = patterns.len();
            patterns.extend_from_slice(&chosen.patterns[rule.start as usize..][..rule.len as usize]);
            *rule = Rule::new(&patterns[start..], start, rule.line, rule.allow, rule.anchored);
        }
        Robots {
            rules: chosen.rules,
            patterns,
            crawl_delay: chosen.crawl_delay,
            sitemaps,
            disallow_reason: None,
            truncated,
        }
    }

    /// No rules: everything may be fetched.
    pub fn allow_all() -> Robots {
        Robots::default()
    }

    /// A closed host: nothing but `/robots.txt` itself may be fetched.
    pub fn disallow_all(reason: DisallowReason) -> Robots {
        Robots { disallow_reason: Some(reason), ..Robots::default() }
    }

    /// Decides about one path with its query, and says by which rule. `/robots.txt` itself is always allowed.
    pub fn verdict(&self, path_and_query: &str) -> Verdict {
        if path_and_query == "/robots.txt" {
            return Verdict { allowed: true, rule: None };
        }
        if self.disallow_reason.is_some() {
            return Verdict { allowed: false, rule: None };
        }
        match self.deciding(path_and_query) {
            Some(rule) => Verdict {
                allowed: rule.allow,
                rule: Some(RuleRef { line: rule.line, text: self.text(rule) }),
            },
            None => Verdict { allowed: true, rule: None },
        }
    }

    /// [`Robots::verdict`] without the reason, and without allocating for it.
    pub fn allows(&self, path_and_query: &str) -> bool {
        path_and_query == "/robots.txt"
            || (self.disallow_reason.is_none() && self.deciding(path_and_query).is_none_or(|rule| rule.allow))
    }

    /// The delay the host asks for between requests, at most [`CRAWL_DELAY_MAX`]; of several, the longest.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps the file names, in its order, unresolved and unchecked.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The same, and they are forgotten here: whoever reads them once need not keep them for as long as the rules.
    pub fn take_sitemaps(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sitemaps)
    }

    /// Why the whole host is closed, if it is.
    pub fn disallow_reason(&self) -> Option<DisallowReason> {
        self.disallow_reason
    }

    /// Whether the file was longer than [`BODY_BYTES_MAX`], so that rules may be missing. To be logged.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// The rules that hold for this token, in the order in which they are asked: the first that matches decides.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = RuleRef> {
        self.rules.iter().map(|rule| RuleRef { line: rule.line, text: self.text(*rule) })
    }

    /// How many rules hold for this token.
    pub fn rules_count(&self) -> usize {
        self.rules.len()
    }

    fn deciding(&self, path_and_query: &str) -> Option<Rule> {
        if self.rules.is_empty() {
            return None;
        }
        let mut path = Vec::with_capacity(path_and_query.len() + 16);
        if !path_and_query.starts_with('/') {
            path.push(b'/');
        }
        normalise(path_and_query.as_bytes(), Side::Url, false, &mut path);
        let decoded = has_escaped_query(&path).then(|| {
            let mut decoded = Vec::with_capacity(path.len());
            normalise(&path, Side::Url, true, &mut decoded);
            decoded
        });
        let in_query = decoded.as_deref().unwrap_or(&path);
        let found = self.rules.iter().find(|rule| {
            matches(self.pattern(rule), rule.anchored, if rule.query { in_query } else { &path })
        });
        found.copied()
    }

    pub(crate) fn pattern(&self, rule: &Rule) -> &[u8] {
        &self.patterns[rule.start as usize..][..rule.len as usize]
    }

    fn text(&self, rule: Rule) -> String {
        let field = if rule.allow { "allow" } else { "disallow" };
        let end = if rule.anchored { "$" } else { "" };
        format!("{field}: {}{end}", String::from_utf8_lossy(self.pattern(&rule)))
    }
}

/// Rules on their way into a [`Robots`].
#[derive(Default)]
struct Collected {
    seen: bool,
    rules: Vec<Rule>,
    patterns: Vec<u8>,
    crawl_delay: Option<Duration>,
}

impl Collected {
    fn rule(&mut self, line: Line<'_>) {
        let allow = line.field == Field::Allow;
        // A pattern that lost its end matches more than was written: right for what forbids, wrong for what allows.
        if line.cut && allow {
            return;
        }
        // An empty pattern says nothing; one that starts otherwise can match no path.
        if !matches!(line.value.first(), Some(b'/' | b'*')) {
            return;
        }
        let (anchored, value) = match line.value {
            [value @ .., b'$'] => (true, value),
            value => (false, value),
        };
        let start = self.patterns.len();
        normalise(value, Side::Pattern, value.contains(&b'?'), &mut self.patterns);
        self.rules.push(Rule::new(&self.patterns[start..], start, line.number, allow, anchored));
    }
}

enum Agent {
    Named,
    Global,
    Other,
}

/// Whom a `user-agent` value means: its leading token counts, a version or comment behind it does not.
fn agent(value: &[u8], product_token: &str) -> Agent {
    if let [b'*', rest @ ..] = value
        && rest.first().is_none_or(|&b| is_blank(b))
    {
        return Agent::Global;
    }
    let word =
        |accept: fn(u8) -> bool| &value[..value.iter().position(|&b| !accept(b)).unwrap_or(value.len())];
    let token = word(|b| b.is_ascii_alphabetic() || b == b'-' || b == b'_');
    // Our token may hold digits, though the RFC's may not.
    let loose = word(|b| !is_blank(b) && b != b'/');
    let is_ours = |name: &[u8]| !name.is_empty() && name.eq_ignore_ascii_case(product_token.as_bytes());
    if is_ours(token) || is_ours(loose) { Agent::Named } else { Agent::Other }
}

/// Seconds with an optional fraction or exponent; anything else, and anything negative, is no delay.
fn crawl_delay(value: &[u8]) -> Option<Duration> {
    let number = value.split(|&b| is_blank(b)).next()?;
    if !number.first()?.is_ascii_digit() && number.first() != Some(&b'.') {
        return None;
    }
    if !number.iter().all(|b| b.is_ascii_digit() || b".eE+-".contains(b)) {
        return None;
    }
    let seconds: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
    Some(Duration::try_from_secs_f64(seconds).map_or(CRAWL_DELAY_MAX, |delay| delay.min(CRAWL_DELAY_MAX)))
}

/// The lines of a longer body that lie within `limit`. One that goes on behind it is left out: half a rule is another rule.
fn whole_lines(body: &[u8], limit: usize) -> &[u8] {
    let (read, rest) = body.split_at(limit);
    match rest.first() {
        Some(b'\n' | b'\r') => read,
        _ => &read[..memchr::memrchr2(b'\n', b'\r', read).map_or(0, |end| end + 1)],
    }
}

#[cfg(test)]
mod tests;
