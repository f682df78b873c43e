//! Names: of domains, hosts, sections and pages, each with its exact inverse and without a table of names.
//!
//! A domain's index goes through a seeded permutation of 30 bits (a Feistel network) and is spelled in five
//! syllables, `-sim` and a suffix that goes with the domain's language: `latirovebe-sim.co.uk`. The `-sim` keeps a
//! crawler that is pointed the wrong way from asking a real site. To decode a name, undo the steps and spell it
//! again: what does not come out the same is not a name of this world.

use crate::mix::{Tag, below, mix};

const HALF_BITS: u32 = 15;
const HALF_MASK: u64 = (1 << HALF_BITS) - 1;
const SYLLABLES: usize = 5;
const CONSONANTS: &[u8; 16] = b"bcdfghklmnprstvz";
const VOWELS: &[u8; 4] = b"aeio";
const MARK: &str = "-sim.";

/// Languages, by the code that HTML uses. The index into this list is the language's number everywhere.
pub const LANGUAGES: [&str; 8] = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"];

/// How many domains of 64 speak each language.
const LANGUAGE_WEIGHTS: [u64; 8] = [30, 8, 6, 6, 4, 4, 3, 3];

/// Suffixes by language; the first is twice as likely as the others.
const SUFFIXES: [&[&str]; 8] = [
    &["com", "org", "net", "co.uk", "info", "org.uk"],
    &["de", "com", "at", "net", "org"],
    &["fr", "com", "be", "org"],
    &["es", "com", "com.ar", "com.mx", "org"],
    &["it", "com", "org"],
    &["com.br", "pt", "org.br"],
    &["nl", "com", "be"],
    &["pl", "com.pl", "com"],
];

/// First labels of a domain's hosts from the second on; then come `h17`, `h18`, …
const LABELS: [&str; 16] = [
    "news", "blog", "shop", "forum", "docs", "media", "wiki", "support", "archive", "mail", "dev", "static",
    "events", "jobs", "research", "mirror",
];

/// Names of sections; a host has up to eight of them.
pub(crate) static SECTIONS: [PaddedWord; 32] = pad_all([
    "news", "articles", "products", "people", "travel", "science", "sports", "music", "reviews", "archive",
    "guides", "reports", "projects", "history", "culture", "recipes", "health", "gallery", "letters",
    "market", "books", "games", "events", "topics", "library", "notes", "courses", "places", "members",
    "services", "stories", "research",
]);

/// Words of slugs.
pub(crate) static SLUG_WORDS: [PaddedWord; 64] = pad_all([
    "amber", "basin", "canal", "delta", "ember", "fjord", "grove", "harbor", "island", "jungle", "kettle",
    "lantern", "meadow", "needle", "orchard", "prairie", "quarry", "river", "saddle", "tunnel", "upland",
    "valley", "willow", "yonder", "zephyr", "anchor", "bridge", "candle", "drift", "engine", "feather",
    "garden", "hollow", "ivory", "jacket", "kernel", "ladder", "marble", "nickel", "oyster", "pepper",
    "quiver", "ribbon", "silver", "timber", "urchin", "violet", "walnut", "yellow", "zenith", "arrow",
    "bellow", "copper", "dollar", "easel", "fabric", "glider", "hammer", "indigo", "jasper", "kindle",
    "linen", "mirror", "nutmeg",
]);

/// A word of at most 15 bytes, padded with zeros; the last byte is its length.
pub(crate) type PaddedWord = [u8; 16];

/// Pads a word.
pub(crate) const fn pad(text: &str) -> PaddedWord {
    let bytes = text.as_bytes();
    assert!(bytes.len() <= 15);
    let mut word = [0u8; 16];
    let mut at = 0;
    while at < bytes.len() {
        word[at] = bytes[at];
        at += 1;
    }
    word[15] = bytes.len() as u8;
    word
}

const fn pad_all<const N: usize>(words: [&str; N]) -> [PaddedWord; N] {
    let mut padded = [[0u8; 16]; N];
    let mut at = 0;
    while at < N {
        padded[at] = pad(words[at]);
        at += 1;
    }
    padded
}

/// Appends a padded word: 16 bytes in one move, then back to the length. A copy of the exact length would be a call.
#[inline]
pub(crate) fn push_word(word: &PaddedWord, out: &mut Vec<u8>) {
    let end = out.len() + usize::from(word[15]);
    out.extend_from_slice(word);
    out.truncate(end);
}

/// The names of one world.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    seed: u64,
    domains: u64,
    rounds: [u64; 4],
}

impl Names {
    pub(crate) fn new(seed: u64, domains: u64) -> Self {
        let rounds = [0, 1, 2, 3].map(|round| mix(seed, Tag::NameRound, round, 0));
        Self { seed, domains, rounds }
    }

    /// The language of a domain.
    pub(crate) fn language(&self, domain: u64) -> u8 {
        let mut rest = mix(self.seed, Tag::Language, domain, 0) & 63;
        for (language, &weight) in LANGUAGE_WEIGHTS.iter().enumerate() {
            if rest < weight {
                return language as u8;
            }
            rest -= weight;
        }
        0
    }

    /// Appends the name of a domain.
    pub(crate) fn write_domain(&self, domain: u64, out: &mut Vec<u8>) {
        let mut code = self.permute(domain);
        let mut letters = [0u8; 2 * SYLLABLES];
        for pair in letters.chunks_exact_mut(2) {
            pair[0] = CONSONANTS[(code & 15) as usize];
            pair[1] = VOWELS[(code >> 4 & 3) as usize];
            code >>= 6;
        }
        out.extend_from_slice(&letters);
        out.extend_from_slice(b"-sim.");
        out.extend_from_slice(self.suffix(domain).as_bytes());
    }

    /// The domain that a name ends in, and what stands before it (without the dot).
    pub(crate) fn parse<'a>(&self, name: &'a str) -> Option<(u64, &'a str)> {
        let mark = name.rfind(MARK)?;
        let start = mark.checked_sub(2 * SYLLABLES)?;
        let bytes = name.as_bytes();
        let mut code = 0u64;
        for pair in bytes[start..mark].chunks_exact(2).rev() {
            let consonant = CONSONANTS.iter().position(|letter| *letter == pair[0])? as u64;
            let vowel = VOWELS.iter().position(|letter| *letter == pair[1])? as u64;
            code = code << 6 | vowel << 4 | consonant;
        }
        let domain = self.unpermute(code);
        if domain >= self.domains || &name[mark + MARK.len()..] != self.suffix(domain) {
            return None;
        }
        match start {
            0 => Some((domain, "")),
            _ if bytes[start - 1] == b'.' && start > 1 => Some((domain, &name[..start - 1])),
            _ => None,
        }
    }

    fn suffix(&self, domain: u64) -> &'static str {
        let list = SUFFIXES[self.language(domain) as usize];
        let choice = below(mix(self.seed, Tag::Suffix, domain, 0), list.len() as u64 + 1) as usize;
        list[choice.saturating_sub(1)]
    }

    fn permute(&self, index: u64) -> u64 {
        let (mut left, mut right) = (index >> HALF_BITS, index & HALF_MASK);
        for &round in &self.rounds {
            (left, right) = (right, left ^ (mix(round, Tag::NameRound, right, 1) & HALF_MASK));
        }
        left << HALF_BITS | right
    }

    fn unpermute(&self, code: u64) -> u64 {
        let (mut left, mut right) = (code >> HALF_BITS, code & HALF_MASK);
        for &round in self.rounds.iter().rev() {
            (left, right) = (right ^ (mix(round, Tag::NameRound, left, 1) & HALF_MASK), left);
        }
        left << HALF_BITS | right
    }
}

/// Appends the label of a domain's host 1, 2, …
pub(crate) fn write_label(index: u32, out: &mut Vec<u8>) {
    match LABELS.get(index as usize - 1) {
        Some(label) => out.extend_from_slice(label.as_bytes()),
        None => {
            out.push(b'h');
            write_number(u64::from(index), out);
        }
    }
}

/// The index of the host with this label.
pub(crate) fn parse_label(label: &str) -> Option<u32> {
    if let Some(position) = LABELS.iter().position(|known| *known == label) {
        return Some(position as u32 + 1);
    }
    let index = u32::try_from(parse_number(label.strip_prefix('h')?)?).ok()?;
    (index as usize > LABELS.len()).then_some(index)
}

/// Appends a number in decimal.
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        out.push(b'0' + number as u8);
        return;
    }
    let mut digits = [0u8; 20];
    let count = number.ilog10() as usize + 1;
    for digit in digits[..count].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let end = out.len() + count;
    out.extend_from_slice(&digits);
    out.truncate(end);
}

/// Reads a number as [`write_number`] writes it: no sign, no leading zero.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

/// Appends a hash as 16 hexadecimal digits.
pub(crate) fn write_hex(hash: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0u8; 16];
    for (i, digit) in text.iter_mut().enumerate() {
        *digit = DIGITS[(hash >> (60 - 4 * i) & 15) as usize];
    }
    out.extend_from_slice(&text);
}

/// Reads what [`write_hex`] wrote.
pub(crate) fn parse_hex(text: &str) -> Option<u64> {
    let valid = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if valid { u64::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(names: &Names, domain: u64) -> String {
        let mut out = Vec::new();
        names.write_domain(domain, &mut out);
        String::from_utf8(out).expect("names are ASCII")
    }

    proptest! {
        #[test]
        fn a_name_leads_back_to_its_domain(seed: u64, domain in 0u64..1 << 30) {
            let names = Names::new(seed, 1 << 30);
            let text = name(&names, domain);
            prop_assert_eq!(names.parse(&text), Some((domain, "")));
            let longer = format!("a.b.{text}");
            prop_assert_eq!(names.parse(&longer), Some((domain, "a.b")));
            let glued = format!("x{text}");
            prop_assert_eq!(names.parse(&glued), None);
        }

        #[test]
        fn what_is_not_a_name_is_refused(text in "[a-z.-]{0,30}") {
            prop_assert_eq!(Names::new(1, 1_000).parse(&text), None);
        }

        #[test]
        fn labels_lead_back(index in 1u32..5_000_000) {
            let mut out = Vec::new();
            write_label(index, &mut out);
            prop_assert_eq!(parse_label(std::str::from_utf8(&out).expect("ASCII")), Some(index));
        }

        #[test]
        fn numbers_lead_back(number: u64) {
            let mut out = Vec::new();
            write_number(number, &mut out);
            prop_assert_eq!(parse_number(std::str::from_utf8(&out).expect("ASCII")), Some(number));
            out.clear();
            write_hex(number, &mut out);
            prop_assert_eq!(parse_hex(std::str::from_utf8(&out).expect("ASCII")), Some(number));
        }
    }

    #[test]
    fn a_domain_outside_the_world_has_no_name() {
        let all = Names::new(4, 1 << 30);
        let few = Names::new(4, 100);
        assert_eq!(few.parse(&name(&all, 99)), Some((99, "")));
        assert_eq!(few.parse(&name(&all, 100)), None);
        assert_eq!(parse_label("h3"), None, "the third host has a word");
        assert_eq!(parse_number("007"), None);
    }
}
