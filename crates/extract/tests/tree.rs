//! The tree-construction cases of html5lib: their inputs, with the full parser as the judge of what they link to. A link behind each
//! input shows in which state it left the scanner. Where the scanner is meant to differ, `tree_exceptions.txt` says why.

use std::path::PathBuf;

use mattock_extract::{Options, extract};

use crate::oracle;

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite is real files that lie outside the project")]
#[expect(clippy::print_stderr, reason = "a skipped suite says so")]
fn html5lib_cases() {
    let folder = std::env::var_os("MATTOCK_CONFORMANCE")
        .map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
            PathBuf::from,
        )
        .join("html5lib/tree-construction");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not here", folder.display());
        return;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "dat"));
    files.sort();
    let exceptions: Vec<(&str, usize)> = include_str!("tree_exceptions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .flat_map(|line| {
            let (file, numbers) = line.split_once(' ').expect("a file and numbers");
            numbers.split(' ').map(move |number| (file, number.parse().expect("a number")))
        })
        .collect();
    let mut excepted = vec![false; exceptions.len()];
    let (mut count, mut failures) = (0, Vec::new());
    for file in files {
        let suite = String::from_utf8_lossy(&std::fs::read(&file).expect("a readable file")).into_owned();
        let name = file.file_name().expect("a name").to_string_lossy();
        for (number, case) in format!("\n{suite}").split("\n#data\n").enumerate().skip(1) {
            let (input, rest) =
                case.split_once("\n#errors").unwrap_or((case.trim_start_matches("#errors"), ""));
            // Fragments have a context that no page has; scripts do not run here.
            if rest.contains("#document-fragment") || rest.contains("#script-on") {
                continue;
            }
            for html in [input.to_owned(), format!("{input}<a href=/probe>")] {
                count += 1;
                let options = Options { embeds: true, forms: true, ..Options::default() };
                let found = extract(html.as_bytes(), Some("text/html; charset=utf-8"), &options);
                let ours: oracle::Links =
                    found.links.into_iter().map(|link| (link.kind, link.target)).collect();
                let theirs = oracle::links(&html);
                if ours == theirs {
                    continue;
                }
                match exceptions.iter().position(|known| *known == (&*name, number)) {
                    Some(known) => excepted[known] = true,
                    None => failures
                        .push(format!("{name} {number}: {html}\n  expected {theirs:?}\n  found {ours:?}")),
                }
            }
        }
    }
    assert!(count > 2_000, "only {count} cases: the suite is not whole");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n{}", failures.len(), failures.join("\n"));
    for (exception, used) in exceptions.iter().zip(excepted) {
        assert!(used, "{exception:?} passes: take it off the list");
    }
}
