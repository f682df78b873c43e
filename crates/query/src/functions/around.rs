//! Regular expressions with a look behind at their beginning and a look ahead at their end, `(?<=a)b(?=c)`: the text `b` between `a` and `c`.
//!
//! The engine's expressions cannot look around, which is what makes them fast on every text. At the two ends it can be had all the same: the
//! end becomes a group behind the text that was meant, and the beginning is looked at where one was found. `(?<!a)` is the opposite of
//! `(?<=a)`. Anywhere else it is an error that says so.

use regex::{Captures, Regex};

use super::pattern::compiled;

/// An expression that was taken apart.
pub(super) struct Around {
    /// The text that is meant; if there is something ahead, as the first group, and that behind it.
    body: Regex,
    has_ahead: bool,
    /// What must end, or must not, where the text begins.
    behind: Option<(Regex, bool)>,
    /// The groups in what is behind, which come first when groups are counted and have no text here.
    passed: usize,
}

impl Around {
    /// Takes a pattern apart; why that cannot be, if so.
    pub(super) fn new(pattern: &str) -> Result<Around, String> {
        let compiled = |pattern: &str| compiled(pattern).map_err(|error| error.to_string());
        let opened = [("(?<=", true), ("(?<!", false)];
        let behind =
            opened.into_iter().find_map(|(start, wanted)| Some((pattern.strip_prefix(start)?, wanted)));
        let (behind, rest) = match behind {
            Some((inside, wanted)) => {
                let close = closing(inside).ok_or("a group is not closed")?;
                let regex = compiled(&format!("(?:{})\\z", &inside[..close]))?;
                (Some((regex, wanted)), &inside[close + 1..])
            }
            None => (None, pattern),
        };
        let ahead = last_group(rest).and_then(|at| Some((&rest[..at], rest[at..].strip_prefix("(?=")?)));
        let (middle, ahead) = match ahead {
            Some((middle, ahead)) => (middle, Some(&ahead[..ahead.len() - 1])),
            None => (rest, None),
        };
        if looks_around(middle) {
            return Err("it can look behind at its beginning, as (?<=a) or (?<!a), and ahead at its end, as (?=b), and nowhere else; write what is around as a part of it, and the text that is meant as a group, whose number is the third argument".into());
        }
        if (behind.is_some() || ahead.is_some()) && has_choice(middle) {
            return Err("put what it chooses from by | into a group, as (?:a|b)".into());
        }
        let body = match ahead {
            Some(ahead) => compiled(&format!("({middle})(?:{ahead})"))?,
            None => compiled(middle)?,
        };
        let passed = behind.as_ref().map_or(0, |(regex, _)| regex.captures_len() - 1);
        Ok(Around { body, has_ahead: ahead.is_some(), behind, passed })
    }

    /// The number of groups, the whole among them.
    pub(super) fn groups(&self) -> usize {
        self.passed + self.body.captures_len() - usize::from(self.has_ahead)
    }

    /// The text of a group, as the pattern counts them.
    fn group<'t>(&self, captures: &Captures<'t>, group: usize) -> Option<&'t str> {
        let group = if group == 0 { 0 } else { group.checked_sub(self.passed).filter(|group| *group > 0)? };
        captures.get(group + usize::from(self.has_ahead)).map(|place| place.as_str())
    }

    /// The places of a group, from left to right; of places that have no such group, nothing.
    pub(super) fn find_all<'t>(&self, text: &'t str, group: usize) -> Vec<Option<&'t str>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((captures, next)) = self.next(text, at) {
            found.push(self.group(&captures, group));
            at = next;
        }
        found
    }

    /// The first place of a group.
    pub(super) fn find<'t>(&self, text: &'t str, group: usize) -> Option<&'t str> {
        // Captures cost more than a place alone.
        if group == 0 && !self.has_ahead && self.behind.is_none() {
            return self.body.find(text).map(|place| place.as_str());
        }
        let (captures, _) = self.next(text, 0)?;
        self.group(&captures, group)
    }

    /// The next place from `at` on, and where to go on behind it.
    fn next<'t>(&self, text: &'t str, at: usize) -> Option<(Captures<'t>, usize)> {
        let behind = |at: usize| at + text[at..].chars().next().map_or(1, char::len_utf8);
        let mut at = at;
        while at <= text.len() {
            let captures = self.body.captures_at(text, at)?;
            let place = captures.get(usize::from(self.has_ahead))?;
            let follows = |(regex, wanted): &(Regex, bool)| regex.is_match(&text[..place.start()]) == *wanted;
            if self.behind.as_ref().is_none_or(follows) {
                let next = if place.is_empty() { behind(place.end()) } else { place.end() };
                return Some((captures, next));
            }
            at = behind(place.start());
        }
        None
    }
}

/// The depth of groups before each letter that is neither escaped nor in a class.
fn letters(pattern: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut depth, mut class, mut escaped) = (0usize, 0usize, false);
    pattern.char_indices().filter_map(move |(at, letter)| {
        if escaped || letter == '\\' {
            escaped = !escaped;
            return None;
        }
        match letter {
            '[' => class += 1,
            ']' => class = class.saturating_sub(1),
            '(' if class == 0 => depth += 1,
            ')' if class == 0 => {
                depth = depth.saturating_sub(1);
                return Some((at, letter, depth));
            }
            _ => {}
        }
        let before = if letter == '(' && class == 0 { depth - 1 } else { depth };
        (class == 0).then_some((at, letter, before))
    })
}

/// Where the group ends that has begun before `inside`.
fn closing(inside: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, letter, _) in letters(inside) {
        match (letter, open) {
            ('(', _) => open += 1,
            (')', 0) => return Some(at),
            (')', _) => open -= 1,
            _ => {}
        }
    }
    None
}

/// Where the group begins that a pattern ends with.
fn last_group(pattern: &str) -> Option<usize> {
    let mut begin = None;
    let mut end = None;
    for (at, letter, depth) in letters(pattern) {
        match (letter, depth) {
            ('(', 0) => (begin, end) = (Some(at), None),
            (')', 0) => end = Some(at),
            _ => {}
        }
    }
    begin.filter(|_| end == Some(pattern.len().wrapping_sub(1)))
}

/// Whether there is a look around in a pattern.
fn looks_around(pattern: &str) -> bool {
    let begins =
        |at: usize| ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|around| pattern[at..].starts_with(around));
    letters(pattern).any(|(at, letter, _)| letter == '(' && begins(at))
}

/// Whether a pattern as a whole is a choice.
fn has_choice(pattern: &str) -> bool {
    letters(pattern).any(|(_, letter, depth)| letter == '|' && depth == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pattern: &str, text: &str) -> Vec<String> {
        let around = Around::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        around.find_all(text, 0).into_iter().map(|place| place.unwrap_or("-").to_owned()).collect()
    }

    #[test]
    fn what_is_around_is_no_part_of_what_is_found() {
        for (pattern, text, expected) in [
            ("(?<=/)(?:[a-z][a-z])(?=/)", "/en/de/x/fr", vec!["en", "de"]),
            ("(?<=/)(?:[a-z][a-z])(?=/)", "/en/de/fr/", vec!["en", "de", "fr"]),
            ("(?<=a|bb)c+", "ac bc bbcc", vec!["c", "cc"]),
            ("(?<!a)b", "ab bb b", vec!["b", "b", "b"]),
            ("[^()]+(?=[)])", "(one) two)", vec!["one", " two"]),
            ("(?<=é)x?", "éxé", vec!["x", ""]),
            ("\\(?<=", "(<=<=", vec!["(<=", "<="]),
            ("b|c", "abc", vec!["b", "c"]),
            ("(?<=\\()\\w+(?=\\))", "(a) b (c)", vec!["a", "c"]),
        ] {
            assert_eq!(all(pattern, text), expected, "{pattern}");
        }
    }

    #[test]
    fn groups_are_counted_as_they_are_written() {
        let around = Around::new("(?<=(/))(a)(b)(?=(/))").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((around.groups(), around.find_all("/ab/", 3)), (5, vec![Some("b")]));
        assert_eq!((around.find("/ab/", 0), around.find("/ab/", 1)), (Some("ab"), None));
        let plain = Around::new("(a)|b").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((plain.groups(), plain.find_all("ab", 1)), (2, vec![Some("a"), None]));
    }

    #[test]
    fn it_cannot_look_around_in_the_middle() {
        for pattern in ["a(?=b)c", "a(?!b)", "(?:(?<=a)b)", "(?<=a)b|c", "(?<=a", "(?<=(a)"] {
            assert!(Around::new(pattern).is_err(), "{pattern}");
        }
    }
}
