//! The `tree` step: rules for files that no other tool checks.
//!
//! Text is searched line by line, without parsing, which is quick and good enough: a rule that misfires on an honest
//! line is a reason to write the line differently.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// Past this many lines, a source file most likely holds two things. A warning: sometimes it is one long table.
const LINES_MAX: usize = 500;

/// Directories that exist on one machine only. Spelt in two parts, so that this file passes its own check.
const MACHINE_PATHS: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// What unfinished or switched-off code looks like, and what to do instead.
const UNFINISHED: [(&str, &str); 3] = [
    (concat!("to", "do!("), "finish it, or return an error that says what is missing"),
    (concat!("unimple", "mented!("), "finish it, or return an error that says what is missing"),
    (concat!("#[ign", "ore"), "a test that does not run proves nothing: mend it or delete it"),
];

/// The disk without bounds. A command that works in a directory must reach nothing else, whatever the files in it say.
const UNBOUND: [&str; 3] = ["Files::real()", "Env::real()", "unbound()"];
const UNBOUND_ADVICE: &str = "reaches the whole disk: take `places::of` or `places::bound` for the directories of a command, `places::named` for one file that the user has typed";

/// Whether the code of a file is bound to the directories that a command was given. Commands without a directory say so by `unbound`.
fn is_bound(file: &str) -> bool {
    let without_directory = ["bench", "ctl", "fetch", "lab", "robots", "simweb", "analyzer"];
    let free = |name: &str| file == format!("crates/cli/src/commands/{name}.rs");
    file.starts_with("crates/cli/src/")
        && file != "crates/cli/src/places.rs"
        && !without_directory.iter().any(|name| free(name))
}

/// What makes text of others harmless by hand, each time in another way. `printable` alone may, since it is where somebody looks after it.
const BY_HAND: [&str; 7] = [
    concat!(".is_con", "trol()"),
    concat!("escape_de", "fault()"),
    concat!("escape_de", "bug()"),
    // Marks of direction, in a pattern.
    concat!("'\\u{2", "02"),
    concat!("'\\u{2", "06"),
    concat!("\"&l", "t;\""),
    concat!("\\u{:0", "4x}"),
];
/// What leads out of the binary around its outlets, also where clippy was told not to look.
const OUTLETS: [&str; 5] = [
    concat!("io::std", "out("),
    concat!("io::std", "err("),
    concat!("print", "!("),
    concat!("print", "ln!("),
    concat!("ProgressDraw", "Target"),
];
/// Where both may be.
const PRINTABLE: &str = "crates/printable/";
const OUTPUT: &str = "crates/cli/src/output.rs";

const TEXT_EXTENSIONS: [&str; 10] = ["rs", "toml", "md", "py", "sh", "html", "css", "js", "yml", "sql"];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let files = files(workspace)?;
    let mut report = Report::default();
    for file in files.iter().filter(|file| is_text(file)) {
        let bytes = match std::fs::read(workspace.root().join(file)) {
            Ok(bytes) => bytes,
            // Known to git, but deleted in the working tree.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {file}")),
        };
        match String::from_utf8(bytes) {
            Ok(text) => report.check_file(file, &text),
            Err(_) => report.errors.push(format!("{file}: not UTF-8")),
        }
    }
    if let Ok(architecture) = std::fs::read_to_string(workspace.root().join("ARCHITECTURE.md")) {
        report.check_architecture(&files, &architecture);
    }
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    for error in &report.errors {
        eprintln!("{error}");
    }
    if !report.errors.is_empty() {
        bail!("{} lines break a house rule", report.errors.len());
    }
    eprintln!("{} files, {} warnings", files.len(), report.warnings.len());
    Ok(())
}

/// The files that are or could be committed.
fn files(workspace: &Workspace) -> Result<Vec<String>> {
    let mut command = workspace.command("git");
    // CI often runs as another user than the owner of the checkout; we only list files.
    command.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let list = process::output(command).context("this step asks git for the list of files")?;
    Ok(list.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect())
}

/// Fixtures and corpora hold the Web's bytes, which keep no rules.
fn is_text(file: &str) -> bool {
    let path = Path::new(file);
    let data = ["fixtures", "corpus", "corpora", "seeds", "snapshots"];
    let known =
        path.extension().is_some_and(|extension| TEXT_EXTENSIONS.iter().any(|text| extension == *text));
    (known || file.starts_with(".ci/")) && !path.iter().any(|part| data.iter().any(|name| part == *name))
}

#[derive(Default)]
struct Report {
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl Report {
    fn check_file(&mut self, file: &str, text: &str) {
        for (number, line) in (1..).zip(text.split('\n')) {
            if line.ends_with('\r') {
                self.errors.push(format!("{file}:{number}: ends in CR LF; use LF"));
            }
            if let Some(path) = machine_path(line) {
                self.errors.push(format!("{file}:{number}: `{path}` exists on one machine only"));
            }
            if file.ends_with(".rs") && !line.trim_start().starts_with("//") {
                for (sign, advice) in UNFINISHED {
                    if line.contains(sign) {
                        self.errors.push(format!("{file}:{number}: `{sign}`: {advice}"));
                    }
                }
                if is_bound(file) {
                    for sign in UNBOUND.iter().filter(|sign| line.contains(*sign)) {
                        self.errors.push(format!("{file}:{number}: `{sign}` {UNBOUND_ADVICE}"));
                    }
                }
            }
        }
        if file.ends_with(".rs") && !is_test(file) {
            let lines = lines_before_tests(text);
            self.check_outlets(file, text.lines().take(lines));
            self.check_handed(file, text.lines().take(lines));
            if lines > LINES_MAX {
                self.warnings
                    .push(format!("{file}: {lines} lines before its tests; is there a second thing in it?"));
            }
        }
    }

    /// One way to print: see `printable`.
    fn check_outlets<'a>(&mut self, file: &str, lines: impl Iterator<Item = &'a str>) {
        let is_binary = file.starts_with("crates/cli/src/") && file != OUTPUT;
        for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let by_hand = BY_HAND.iter().find(|sign| !file.starts_with(PRINTABLE) && line.contains(*sign));
            if let Some(sign) = by_hand {
                self.errors
                    .push(format!("{file}:{number}: `{sign}`: let a function of mattock_printable do it"));
            }
            if let Some(sign) = OUTLETS.iter().find(|sign| is_binary && line.contains(*sign)) {
                self.errors.push(format!("{file}:{number}: `{sign}`: use say! or the functions of {OUTPUT}"));
            }
        }
    }

    /// A library is handed the world, bound as its caller has bound it.
    fn check_handed<'a>(&mut self, file: &str, lines: impl Iterator<Item = &'a str>) {
        const MAKERS: [&str; 4] = ["env", "cli", "lab", "xtask"];
        let makes = |name: &&str| file.starts_with(&format!("crates/{name}/"));
        if MAKERS.iter().any(makes) || !file.contains("/src/") {
            return;
        }
        for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for sign in UNBOUND[..2].iter().filter(|sign| line.contains(*sign)) {
                self.errors.push(format!(
                    "{file}:{number}: `{sign}` reaches the whole disk: let the caller hand it over"
                ));
            }
        }
    }

    fn check_architecture(&mut self, files: &[String], architecture: &str) {
        for name in files.iter().filter_map(|file| file.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
        {
            let named = [format!("`{name}`"), format!("`mattock-{name}`"), format!("crates/{name}")];
            if !named.iter().any(|form| architecture.contains(form)) {
                self.errors.push(format!("ARCHITECTURE.md: does not say what the crate `{name}` is for"));
            }
        }
    }
}

/// The first path of a machine in the line: it begins a word (so it is no part of a URL) and leads to something.
fn machine_path(line: &str) -> Option<&str> {
    for prefix in MACHINE_PATHS {
        for (start, _) in line.match_indices(prefix) {
            let before = line[..start].chars().next_back();
            let begins =
                before.is_none_or(|character| character.is_whitespace() || "\"'`(=<[,:".contains(character));
            let rest = &line[start..];
            let leads = rest[prefix.len()..].starts_with(|character: char| character.is_alphanumeric());
            if begins && leads {
                let end =
                    rest.find(|character: char| character.is_whitespace() || "\"'`)>],".contains(character));
                return Some(&rest[..end.unwrap_or(rest.len())]);
            }
        }
    }
    None
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs") || file.ends_with("_tests.rs")
}

fn lines_before_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_start =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
    lines.windows(2).position(is_start).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(file: &str, text: &str) -> Vec<String> {
        let mut report = Report::default();
        report.check_file(file, text);
        report.errors
    }

    #[test]
    fn paths_of_a_machine_are_found_and_urls_are_not() {
        let path = MACHINE_PATHS[0].to_owned() + "ada/mattock";
        assert_eq!(machine_path(&format!("see {path}, or not")), Some(path.as_str()));
        assert_eq!(machine_path(&format!("root = \"{path}\"")), Some(path.as_str()));
        assert_eq!(machine_path(&path), Some(path.as_str()));
        assert_eq!(machine_path(&format!("http://example.org{path}")), None);
        assert_eq!(machine_path(&format!("Disallow: {}", MACHINE_PATHS[0])), None);
    }

    #[test]
    fn unfinished_code_is_found_outside_comments() {
        let sign = UNFINISHED[0].0;
        assert_eq!(errors("crates/a/src/lib.rs", &format!("fn f() {{\n    {sign})\n}}\n")).len(), 1);
        assert!(errors("crates/a/src/lib.rs", &format!("// no {sign}) here\n")).is_empty());
        assert!(errors("README.md", &format!("no {sign}) here\n")).is_empty());
        let switched_off = format!("{} = \"slow\"]\nfn f() {{}}\n", UNFINISHED[2].0);
        assert!(errors("crates/a/src/lib.rs", &switched_off)[0].starts_with("crates/a/src/lib.rs:1: "));
    }

    #[test]
    fn there_is_one_way_to_print() {
        for sign in BY_HAND {
            let line = format!("fn f() {{\n    {sign}\n}}\n");
            assert_eq!(errors("crates/a/src/lib.rs", &line).len(), 1, "{sign}");
            assert!(errors("crates/printable/src/letters.rs", &line).is_empty());
            assert!(errors("crates/a/tests/main/hostile.rs", &line).is_empty());
            assert!(
                errors("crates/a/src/lib.rs", &format!("#[cfg(test)]\nmod tests {{\n{line}}}\n")).is_empty()
            );
        }
        for sign in OUTLETS {
            let line = format!("fn f() {{\n    std::{sign}\n}}\n");
            let found = errors("crates/cli/src/commands/get.rs", &line);
            assert!(
                found.len() == 1 && found[0].starts_with("crates/cli/src/commands/get.rs:2: "),
                "{found:?}"
            );
            assert!(
                errors(OUTPUT, &line).is_empty() && errors("crates/a/examples/speed.rs", &line).is_empty()
            );
        }
        assert!(errors("crates/cli/src/commands/get.rs", "    bar.says_above(\"eprint\");\n").is_empty());
    }

    #[test]
    fn libraries_are_handed_the_world() {
        let line = format!("fn f() {{\n    {}\n}}\n", UNBOUND[0]);
        assert_eq!(errors("crates/objects/src/objects.rs", &line).len(), 1);
        for free in ["crates/env/src/user.rs", "crates/lab/src/served.rs", "crates/objects/tests/main/url.rs"]
        {
            assert!(errors(free, &line).is_empty(), "{free}");
        }
        assert!(errors("crates/a/src/lib.rs", &format!("#[cfg(test)]\nmod tests {{\n{line}}}\n")).is_empty());
    }

    #[test]
    fn carriage_returns_are_found() {
        assert_eq!(errors("README.md", "one\r\ntwo\n"), ["README.md:1: ends in CR LF; use LF"]);
    }

    #[test]
    fn long_files_are_warned_of_without_their_tests() {
        let warnings = |file: &str, lines: usize| {
            let mut report = Report::default();
            let tests = "#[cfg(test)]\nmod tests {\n}\n".to_owned() + &"//\n".repeat(1000);
            report.check_file(file, &("//\n".repeat(lines) + &tests));
            report.warnings.len()
        };
        assert_eq!(warnings("crates/a/src/lib.rs", LINES_MAX), 0);
        assert_eq!(warnings("crates/a/src/lib.rs", LINES_MAX + 1), 1);
        assert_eq!(warnings("crates/a/tests/crash.rs", LINES_MAX + 1), 0);
    }

    #[test]
    fn the_architecture_names_every_crate() {
        let files =
            ["crates/env/Cargo.toml", "crates/drum/Cargo.toml", "crates/drum/src/lib.rs"].map(str::to_owned);
        let mut report = Report::default();
        report.check_architecture(&files, "| `env` | clock |");
        assert_eq!(report.errors, ["ARCHITECTURE.md: does not say what the crate `drum` is for"]);
    }

    #[test]
    fn the_webs_bytes_keep_no_rules() {
        assert!(is_text("crates/a/src/lib.rs") && is_text(".ci/run"));
        assert!(!is_text("crates/a/tests/fixtures/page.html") && !is_text("crates/a/logo.png"));
    }
}
