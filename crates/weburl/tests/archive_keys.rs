//! Keys of replay indexes, next to those that pywb computes.
//!
//! `archive_keys.tsv` has 500 made URLs, each with the key that the package `surt` 0.3.1 has for it, which pywb uses: capitals, users, ports, names in
//! several scripts, addresses, steps, escapes, sessions of all kinds, fragments, and paths of 2.5 to 4.5 kB. `cargo xtask ci --only warc` asks pywb itself
//! for the same URLs.

use mattock_weburl::{WebUrl, archive_key};

#[test]
fn keys_are_those_of_pywb() {
    let lines: Vec<_> =
        include_str!("archive_keys.tsv").lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!(lines.len(), 500);
    for (url, key) in lines {
        assert_eq!(archive_key(url).as_deref(), Some(key), "{url}");
        assert!(WebUrl::parse_archived(url).is_ok(), "{url}");
    }
}
