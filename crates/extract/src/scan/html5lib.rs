//! The tokenizer cases of html5lib, as far as they concern tags: every start tag with its attributes, and every end tag.
//! Where the scanner is meant to differ, `html5lib_exceptions.txt` names the case and why.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Scanner;
use crate::links::attribute_text;
use crate::names::{Tag, Values};
use crate::watch::Watch;

#[derive(Debug, PartialEq)]
enum Token {
    Start { name: String, attributes: BTreeMap<String, String>, self_closing: bool },
    End(String),
}

/// Remembers every tag the way the suite writes it.
#[derive(Default)]
struct Recorder {
    attributes: BTreeMap<String, String>,
    tokens: Vec<Token>,
}

/// The standard's tokenizer lowers names and replaces NULs as it goes; the scanner compares without doing so.
fn name_of(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).to_ascii_lowercase().replace('\0', "\u{fffd}")
}

impl<'a> Watch<'a> for Recorder {
    fn attribute(&mut self, name: &'a [u8], value: &'a [u8]) {
        let value = attribute_text(value, encoding_rs::UTF_8).into_owned();
        self.attributes.entry(name_of(name)).or_insert(value);
    }

    fn start(&mut self, name: &'a [u8], self_closing: bool, _foreign: bool) {
        let attributes = std::mem::take(&mut self.attributes);
        self.tokens.push(Token::Start { name: name_of(name), attributes, self_closing });
    }

    fn end(&mut self, name: &'a [u8]) {
        self.tokens.push(Token::End(name_of(name)));
    }
}

/// What the scanner sees of `input`, from one of the states the suite starts in.
fn scanned(input: &str, state: &str, last_start_tag: Option<&str>) -> Vec<Token> {
    // The standard makes every line end a line feed before it tokenizes.
    let input = input.replace("\r\n", "\n").replace('\r', "\n");
    // A section is reached through foreign content; it is cut from the result again.
    let (input, passed) =
        if state == "CDATA section state" { (format!("<svg><![CDATA[{input}"), 1) } else { (input, 0) };
    let mut scanner = Scanner::new(input.as_bytes(), false, Recorder::default());
    scanner.raw = match state {
        "PLAINTEXT state" => Some(Tag::Plaintext),
        "Script data state" => Some(Tag::Script),
        // Both end at the end tag of the last start tag, and without one never.
        "RCDATA state" | "RAWTEXT state" => Some(
            last_start_tag
                .map_or(Tag::Plaintext, |name| Tag::of(name.as_bytes()).expect("an element with raw text")),
        ),
        _ => None,
    };
    let mut values = Values::default();
    while scanner.next_tag(&mut values).is_some() {}
    scanner.watch.tokens.split_off(passed)
}

/// What the suite says.
fn expected(output: &Value) -> Vec<Token> {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let tokens = output.as_array().expect("a list").iter();
    tokens
        .filter_map(|token| match token[0].as_str()? {
            "StartTag" => Some(Token::Start {
                name: text(&token[1]),
                attributes: token[2]
                    .as_object()?
                    .iter()
                    .map(|(name, value)| (name.clone(), text(value)))
                    .collect(),
                self_closing: token[3] == true,
            }),
            "EndTag" => Some(Token::End(text(&token[1]))),
            _ => None,
        })
        .collect()
}

/// Some cases are escaped twice, to carry what JSON cannot; halves of surrogate pairs are nothing in UTF-8 either.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(4);
        let number = u32::from_str_radix(digits, 16).expect("four digits");
        out.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
        out.push_str(rest);
    }
    out
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite is real files that lie outside the project")]
#[expect(clippy::print_stderr, reason = "a skipped suite says so")]
fn tokenizer_cases() {
    const FILES: [&str; 14] = [
        "contentModelFlags",
        "domjs",
        "entities",
        "escapeFlag",
        "namedEntities",
        "numericEntities",
        "pendingSpecChanges",
        "test1",
        "test2",
        "test3",
        "test4",
        "unicodeChars",
        "unicodeCharsProblematic",
        "xmlViolation",
    ];
    let folder = std::env::var("MATTOCK_CONFORMANCE")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance").to_owned());
    let exceptions: Vec<(&str, String)> = include_str!("html5lib_exceptions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once('\t').expect("a state, a tab, an input"))
        .map(|(state, input)| (state, serde_json::from_str(input).expect("a string in JSON")))
        .collect();
    let mut excepted = vec![false; exceptions.len()];
    let (mut count, mut failures) = (0, Vec::new());
    for file in FILES {
        let path = format!("{folder}/html5lib/tokenizer/{file}.test");
        let Ok(suite) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {path} is not here");
            return;
        };
        let suite: Value = serde_json::from_str(&suite).unwrap();
        let cases = suite.get("tests").or(suite.get("xmlViolationTests")).and_then(Value::as_array).unwrap();
        for case in cases {
            let escaped = case["doubleEscaped"] == true;
            let input = case["input"].as_str().unwrap();
            let input = if escaped { unescaped(input) } else { input.to_owned() };
            let expected = expected(&case["output"]);
            let data = vec![Value::from("Data state")];
            for state in case["initialStates"].as_array().unwrap_or(&data) {
                let state = state.as_str().unwrap();
                let found = scanned(&input, state, case["lastStartTag"].as_str());
                count += 1;
                if found == expected {
                    continue;
                }
                match exceptions.iter().position(|known| known.0 == state && known.1 == input) {
                    Some(known) => excepted[known] = true,
                    None => failures.push(format!(
                        "{file}: {state}\t{}\n  expected {expected:?}\n  found {found:?}",
                        Value::from(input.as_str())
                    )),
                }
            }
        }
    }
    assert!(count > 6_500, "only {count} cases: the suite is not whole");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n{}", failures.len(), failures.join("\n"));
    for (exception, used) in exceptions.iter().zip(excepted) {
        assert!(used, "{exception:?} passes: take it off the list");
    }
}
