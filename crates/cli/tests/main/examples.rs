//! The examples in README.md and docs, run as they stand, so that they stay true.
//!
//! A fenced block marked `console` is a piece of a session. A line that begins with `$ ` is a command, run by `sh` in
//! a directory that all blocks of a file share; the lines below it are what stdout and stderr show, in which `…` stands
//! for any text within a line and a line `...` for any lines. `… &` starts a server: it is awaited until it has
//! printed as many lines as are shown, and gets Ctrl-C at `$ kill -INT %1` or at the end of the file. Ports that
//! a server's first line shows are replaced by free ones, there and in all that follows.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};

use mattock_env::Files;

use crate::process::{MATTOCK, Scratch, interrupt, read, root};

/// A command and what it shows.
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    let mut begun = false;
    for (number, line) in (1..).zip(text.lines()) {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => (inside, begun) = (line == "```console", false),
            (true, _) if line == "```" => inside = false,
            (true, Some(command)) => {
                begun = true;
                steps.push(Step { line: number, command: command.to_owned(), expected: Vec::new() });
            }
            (true, None) => {
                assert!(begun, "line {number}: a block begins with a command");
                steps.last_mut().expect("one has begun").expected.push(line.to_owned());
            }
        }
    }
    steps
}

/// Whether a line is what the documentation says.
fn line_matches(pattern: &str, line: &str) -> bool {
    let (pattern, line) = (pattern.trim_end(), line.trim_end());
    let Some((head, rest)) = pattern.split_once('…') else { return pattern == line };
    let Some(mut line) = line.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('…').map_or(("", rest), |(middle, tail)| (middle, tail));
    for part in middle.split('…') {
        let Some(at) = line.find(part) else { return false };
        line = &line[at + part.len()..];
    }
    line.ends_with(tail)
}

fn lines_match(patterns: &[String], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => (0..=lines.len()).any(|n| lines_match(rest, &lines[n..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, below)| line_matches(first, line) && lines_match(rest, below)),
    }
}

/// The ports in the command that `simweb serve` prints.
fn ports(line: &str) -> Vec<String> {
    let after = |mark: &str| line.split_once(mark).and_then(|(_, rest)| rest.split(' ').next());
    [after("--dns 127.0.0.1:"), after("--connect-port 80=")]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}

/// A text with some of its numbers replaced: whole ones only, all at once.
fn with_numbers<'a>(text: &str, replacement: impl Fn(&str) -> Option<&'a String>) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut rest = text;
    let mut result = String::new();
    while let Some(start) = rest.find(is_digit) {
        result += &rest[..start];
        let number = &rest[start..];
        let number = &number[..number.find(|c| !is_digit(c)).unwrap_or(number.len())];
        result += replacement(number).map_or(number, String::as_str);
        rest = &rest[start + number.len()..];
    }
    result + rest
}

/// Examples must not reach the real Web: names of the simulated one end in `-sim` and a suffix.
fn assert_harmless(command: &str) {
    for (at, _) in command.match_indices("://") {
        // A file of this machine.
        if command[..at].ends_with("file") {
            continue;
        }
        let host = command[at + 3..].split(['/', ' ', '"', '\'']).next().unwrap_or_default();
        assert!(host.contains("-sim."), "{command}: this may leave the machine; mark the block `sh`");
    }
}

/// Both outputs of a command through one pipe, in the order in which a terminal would show them.
fn start(mut command: Command) -> (Child, BufReader<std::io::PipeReader>) {
    let (reader, writer) = std::io::pipe().expect("the system has pipes");
    command.stdout(writer.try_clone().expect("a pipe can be shared")).stderr(writer);
    let child = command.spawn().expect("there is a shell");
    (child, BufReader::new(reader))
}

/// Runs the steps of one file.
struct Session {
    scratch: Scratch,
    server: Option<(Child, BufReader<std::io::PipeReader>)>,
    /// As shown, and as they are.
    ports: Vec<(String, String)>,
}

impl Session {
    fn shell(&self, command: &str) -> (Child, BufReader<std::io::PipeReader>) {
        let directory = MATTOCK.rsplit_once('/').expect("a whole path").0;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = self.scratch.command("sh");
        shell.args(["-c", command]).env("PATH", format!("{directory}:{path}"));
        start(shell)
    }

    fn run(&mut self, step: &Step) -> String {
        assert_harmless(&step.command);
        if step.command == "kill -INT %1" {
            return self.stop();
        }
        if let Some(command) = step.command.strip_suffix(" &") {
            return self.serve(command, &step.expected);
        }
        let command = with_numbers(&step.command, |number| {
            Some(&self.ports.iter().find(|(shown, _)| shown == number)?.1)
        });
        let (mut child, mut output) = self.shell(&command);
        let mut text = String::new();
        output.read_to_string(&mut text).expect("output is text");
        child.wait().expect("it has ended");
        self.as_shown(text)
    }

    fn serve(&mut self, command: &str, expected: &[String]) -> String {
        assert!(self.server.is_none(), "{command}: one server at a time");
        // `exec`, so that the signal reaches the server and not the shell around it.
        let shown = expected.first().map_or(Vec::new(), |line| ports(line));
        let free = shown
            .iter()
            .fold(command.to_owned(), |text, port| text.replace(&format!("-port {port}"), "-port 0"));
        let (child, mut output) = self.shell(&format!("exec {free}"));
        let mut text = String::new();
        for _ in 0..expected.len().max(1) {
            output.read_line(&mut text).expect("output is text");
        }
        self.server = Some((child, output));
        self.ports = shown.into_iter().zip(ports(text.lines().next().unwrap_or_default())).collect();
        self.as_shown(text)
    }

    fn stop(&mut self) -> String {
        let (mut child, mut output) = self.server.take().expect("a server runs");
        interrupt(&child);
        let mut text = String::new();
        output.read_to_string(&mut text).expect("output is text");
        child.wait().expect("it has ended");
        self.as_shown(text)
    }

    fn as_shown(&self, text: String) -> String {
        with_numbers(&text, |number| Some(&self.ports.iter().find(|(_, real)| real == number)?.0))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.stop();
        }
    }
}

fn check(name: &str) {
    let text = read(&root().join(name));
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{name} has no example that could be run");
    let scratch = Scratch::new(&format!("examples_{}", name.replace(['/', '.'], "_")));
    let mut session = Session { scratch, server: None, ports: Vec::new() };
    for step in &steps {
        let shown = session.run(step);
        let lines: Vec<&str> = shown.lines().collect();
        let expected = step.expected.join("\n");
        assert!(
            lines_match(&step.expected, &lines),
            "{name}:{}: $ {}\n--- the documentation shows\n{expected}\n--- it prints\n{shown}",
            step.line,
            step.command
        );
    }
}

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn crawl() {
    check("docs/crawl.md");
}

#[test]
fn fetch() {
    check("docs/fetch.md");
}

#[test]
fn simulated_web() {
    check("docs/simulated-web.md");
}

#[test]
fn configuration() {
    check("docs/configuration.md");
}

#[test]
fn archive() {
    check("docs/archive.md");
}

#[test]
fn checking() {
    check("docs/check.md");
}

#[test]
fn politeness() {
    check("docs/politeness.md");
}

#[test]
fn lab() {
    check("docs/lab.md");
}

#[test]
fn why() {
    check("docs/why.md");
}

#[test]
fn watching_and_steering() {
    check("docs/console.md");
}

#[test]
fn asking() {
    check("docs/query.md");
}

#[test]
fn features() {
    check("docs/features.md");
}

#[test]
fn copies() {
    check("docs/duplicates.md");
}

#[test]
fn what_pages_are_about() {
    check("docs/terms.md");
}

#[test]
fn links() {
    check("docs/graph.md");
}

#[test]
fn a_report() {
    check("docs/report.md");
}

#[test]
fn object_storage() {
    check("docs/object-storage.md");
}

#[test]
fn columns_of_your_own() {
    check("docs/analyzers.md");
}

#[test]
fn no_page_with_examples_is_forgotten() {
    let checked = [
        "crawl.md",
        "fetch.md",
        "simulated-web.md",
        "configuration.md",
        "archive.md",
        "check.md",
        "console.md",
        "politeness.md",
        "lab.md",
        "why.md",
        "query.md",
        "features.md",
        "analyzers.md",
        "object-storage.md",
        "report.md",
        "graph.md",
        "duplicates.md",
        "terms.md",
        "trust.md",
    ];
    for file in Files::real().list(&root().join("docs")).unwrap() {
        if file.name.ends_with(".md") && !checked.contains(&file.name.as_str()) {
            let text = read(&root().join("docs").join(&file.name));
            assert!(steps(&text).is_empty(), "docs/{} has examples: give it a test here", file.name);
        }
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let docs = Files::real().list(&root().join("docs")).unwrap();
    let pages =
        docs.iter().filter(|file| file.name.ends_with(".md")).map(|file| format!("docs/{}", file.name));
    for page in pages.chain(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned)) {
        let path = root().join(&page);
        for link in read(&path).split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if !link.is_empty() && !link.contains("://") {
                let target = path.parent().unwrap().join(link);
                let entry = Files::real().entry(&target).unwrap();
                assert!(entry.is_some(), "{page} links to {link}, which is not there");
            }
        }
    }
}

#[test]
fn files_that_pages_name_are_there() {
    let docs = Files::real().list(&root().join("docs")).unwrap();
    let pages =
        docs.iter().filter(|file| file.name.ends_with(".md")).map(|file| format!("docs/{}", file.name));
    for page in pages.chain(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned)) {
        for code in read(&root().join(&page)).split('`').skip(1).step_by(2) {
            let is_path = code.starts_with("crates/") && !code.contains(['*', ' ']) && !code.contains("NAME");
            if is_path {
                let entry = Files::real().entry(&root().join(code)).unwrap();
                assert!(entry.is_some(), "{page} names {code}, which is not there");
            }
        }
    }
}

#[test]
fn patterns_match_what_they_say_and_nothing_else() {
    for (pattern, line, matches) in [
        ("abc", "abc ", true),
        ("abc", "abcd", false),
        ("a…c", "abbc", true),
        ("a…c", "abb", false),
        ("…", "", true),
        ("a…b…c", "a1b2c", true),
        ("a…b…c", "a1c", false),
        ("a…a", "a", false),
    ] {
        assert_eq!(line_matches(pattern, line), matches, "{pattern} and {line}");
    }
    let other = "5".to_owned();
    assert_eq!(with_numbers("80, 8080 and 180: 80", |n| (n == "80").then_some(&other)), "5, 8080 and 180: 5");
    let patterns = ["a", "...", "b"].map(str::to_owned);
    assert!(lines_match(&patterns, &["a", "b"]) && lines_match(&patterns, &["a", "x", "b", "b"]));
    assert!(!lines_match(&patterns, &["a", "x"]) && !lines_match(&patterns, &["a", "b", "x"]));
}
