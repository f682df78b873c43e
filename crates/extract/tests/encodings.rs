//! The encoding cases of html5lib.

use std::path::PathBuf;

use mattock_extract::{Options, extract};

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite is real files that lie outside the project")]
#[expect(clippy::print_stderr, reason = "a skipped suite says so")]
fn html5lib_cases() {
    let folder = std::env::var_os("MATTOCK_CONFORMANCE")
        .map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
            PathBuf::from,
        )
        .join("html5lib/encoding");
    let (mut count, mut failures) = (0, Vec::new());
    for file in ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"] {
        let Ok(suite) = std::fs::read(folder.join(file)) else {
            eprintln!("skipped: {} is not here", folder.join(file).display());
            return;
        };
        for case in split(&suite, b"#data\n").into_iter().skip(1) {
            let parts = split(case, b"\n#encoding\n");
            let [body, label] = parts.as_slice() else { continue };
            let label = label.split(|&b| b == b'\n').next().expect("a label");
            let expected = encoding_rs::Encoding::for_label(label).expect("a known label");
            // The suite's default is windows-1252; plain ASCII means the same in UTF-8, which is ours.
            let plain = expected == encoding_rs::WINDOWS_1252 && body.is_ascii();
            let found = extract(body, None, &Options::default()).charset;
            count += 1;
            if found != expected && !(plain && found == encoding_rs::UTF_8) {
                failures.push(format!(
                    "{file}: {} instead of {}: {}",
                    found.name(),
                    expected.name(),
                    String::from_utf8_lossy(body)
                ));
            }
        }
    }
    assert!(count > 50, "only {count} cases: the suite is not whole");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n{}", failures.len(), failures.join("\n"));
}

fn split<'a>(bytes: &'a [u8], mark: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
        parts.push(&rest[..at]);
        rest = &rest[at + mark.len()..];
    }
    parts.push(rest);
    parts
}
