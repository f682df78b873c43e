//! The public suffix list's own tests: `name domain` on a line, `null` where a name has no registrable domain.

use mattock_weburl::{WebUrl, domain_of};

use crate::exceptions::PUBLIC_SUFFIXES;

/// What the suite expects, in our terms: the whole name where it has no registrable domain.
#[test]
fn the_list_s_own_tests() {
    let Some(suite) = crate::conformance::read("psl/tests/tests.txt") else { return };
    let mut checked = 0;
    for line in suite.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let (name, expected) = line.split_once(' ').expect("two words on a line");
        if PUBLIC_SUFFIXES.iter().any(|(exception, _)| *exception == name) {
            continue;
        }
        let punycode = |name: &str| match WebUrl::parse(&format!("http://{name}/")) {
            Ok(url) => (url.host_name().to_owned(), url.domain().to_owned()),
            Err(error) => panic!("{line}: {error}"),
        };
        let (host_name, domain) = punycode(name);
        let expected = if expected == "null" { host_name.clone() } else { punycode(expected).0 };
        assert_eq!(domain, expected, "{line}");
        assert_eq!(domain_of(&host_name), expected, "{line}");
        checked += 1;
    }
    assert!(checked > 70, "only {checked} lines were understood");
}
