//! Pages of the documentation that are made from the program itself: compared, or with `MATTOCK_UPDATE=1` rewritten.

use std::path::Path;

use mattock_env::Files;

use crate::help;
use crate::process::{Scratch, read, root};

const BEGIN: &str = "<!-- generated: MATTOCK_UPDATE=1 cargo test -p mattock-cli generated -->\n";
const END: &str = "<!-- end of what is generated -->\n";

/// Holds the generated part of a page against what it should be.
fn compare(page: &str, part: &str) {
    let path = root().join(page);
    let text = read(&path);
    let (before, rest) = text.split_once(BEGIN).expect("the page says where the generated part begins");
    let (present, after) = rest.split_once(END).expect("the page says where the generated part ends");
    if std::env::var_os("MATTOCK_UPDATE").is_some() {
        write(&path, &format!("{before}{BEGIN}{part}{END}{after}"));
    } else {
        assert!(
            present == part,
            "{page} is out of date; `MATTOCK_UPDATE=1 cargo test -p mattock-cli generated` rewrites it"
        );
    }
}

fn write(path: &Path, text: &str) {
    Files::real().write_atomic(path, text.as_bytes()).expect("the documentation can be written");
}

#[test]
fn generated_command_line() {
    let scratch = Scratch::new("generated_command_line");
    let mut part = String::new();
    for command in help::commands(&scratch) {
        let name = format!("mattock {}", command.join(" "));
        part += &format!("\n## {}\n\n```text\n{}```\n", name.trim(), help::text(&scratch, &command));
    }
    compare("docs/cli.md", &(part + "\n"));
}

#[test]
fn generated_configuration() {
    let scratch = Scratch::new("generated_configuration");
    let output = scratch.mattock(&["config", "--example"]);
    let example = String::from_utf8(output.stdout).unwrap();
    let flags = help::text(&scratch, &["crawl".to_owned()]);
    compare("docs/configuration.md", &tables(&example, &flags));
}

/// A table for each section of the example.
fn tables(example: &str, flags: &str) -> String {
    let mut text = String::new();
    let mut comment = String::new();
    // A comment holds for all keys up to the next one.
    let mut comment_ended = false;
    for line in example.lines() {
        if let Some(section) = section_of(line) {
            text += &format!(
                "\n### `{section}`\n\n| key | default | flag | when | meaning |\n|---|---|---|---|---|\n"
            );
            comment.clear();
        } else if let Some((key, value)) = key_of(line) {
            let (when, meaning) = split_when(&comment);
            let is_set = !line.starts_with('#');
            let default = if is_set { format!("`{value}`") } else { format!("none; like `{value}`") };
            text += &format!("| `{key}` | {default} | {} | {when} | {meaning} |\n", flag(key, flags));
            comment_ended = true;
        } else if let Some(words) = line.strip_prefix("# ") {
            if std::mem::take(&mut comment_ended) {
                comment.clear();
            }
            comment += if comment.is_empty() { "" } else { " " };
            comment += words;
        }
    }
    text + "\n"
}

/// `[section]` or `[[section]]`, which may be commented out.
fn section_of(line: &str) -> Option<&str> {
    let section = line.trim_start_matches("# ");
    (section.starts_with('[') && section.ends_with(']')).then_some(section)
}

fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start_matches("# ").split_once(" = ")?;
    key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).then_some((key, value))
}

/// `Meaning. (free)` in its two parts.
fn split_when(comment: &str) -> (&str, &str) {
    let parts = comment.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let (meaning, when) = parts.unwrap_or_else(|| panic!("{comment}: does not end in (fixed) or (free)"));
    (when, meaning)
}

fn flag(key: &str, flags: &str) -> String {
    let flag = format!("--{}", key.replace('_', "-"));
    let is_there = flags.lines().any(|line| line.split_whitespace().any(|word| word == flag));
    match key {
        "seeds" => "`SEED…`".into(),
        "headers" => "`--header`".into(),
        _ if is_there => format!("`{flag}`"),
        _ => String::new(),
    }
}

#[test]
fn every_outcome_is_explained() {
    let source = read(&root().join("crates/fetch/src/outcome.rs"));
    let names: Vec<&str> = source.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.contains(&"refused"), "the names are found: {names:?}");
    let page = read(&root().join("docs/politeness.md"));
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/politeness.md does not name the outcome `{name}`");
    }
}
