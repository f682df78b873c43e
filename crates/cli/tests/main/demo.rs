//! `mattock demo`, cut short.

use mattock_env::Files;

use crate::process::{Scratch, read};

#[test]
fn it_crawls_and_writes_a_report() {
    let scratch = Scratch::new("demo");
    let output = scratch.mattock(&["demo", "--seconds", "1", "--out", "here"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "here/report.html\n", "stdout is data");
    let report = read(&scratch.path().join("here/report.html"));
    assert!(report.contains("<svg") && report.ends_with("</html>\n"), "charts, and a whole page");
    let archives = Files::real().list(&scratch.path().join("here/warc")).unwrap();
    assert!(!archives.is_empty(), "what was crawled is kept");
    let (_, next) = said.split_once("What to try next:").unwrap();
    assert_eq!(next.matches("\n\n  ").count(), 6, "six commands: {next}");
    for command in ["query", "features build", "report", "simweb serve"] {
        assert!(next.contains(&format!("mattock {command}")), "{command}: {next}");
    }
    let query = next.lines().find(|line| line.contains("mattock query")).unwrap();
    let answer = scratch.command("sh").args(["-c", query]).output().unwrap();
    assert!(answer.status.success(), "{query}: {answer:?}");
}
