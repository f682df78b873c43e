//! What must hold for any `robots.txt`, and for any bytes that claim to be its stored form.

use mattock_robots::{BODY_BYTES_MAX, CRAWL_DELAY_MAX, Directives, Robots};

pub(crate) fn check(bytes: &[u8]) {
    let robots = Robots::parse(bytes, "Mattock");
    assert!(robots.crawl_delay().is_none_or(|delay| delay <= CRAWL_DELAY_MAX));
    assert!(robots.rules_count() <= bytes.len().min(BODY_BYTES_MAX));
    let text = String::from_utf8_lossy(bytes);
    let own = text.get(..text.floor_char_boundary(200)).unwrap_or_default();
    let stored = robots.to_bytes();
    let back = Robots::from_bytes(&stored).expect("what was stored can be read");
    assert_eq!(back, robots);
    for path in ["/", "/robots.txt", "/a/b.html?c=%2F*$", "/ä", own] {
        let verdict = robots.verdict(path);
        assert_eq!(verdict.allowed, robots.allows(path));
        assert_eq!(verdict, back.verdict(path));
    }
    if let Ok(stored) = Robots::from_bytes(bytes) {
        assert_eq!(Robots::from_bytes(&stored.to_bytes()), Ok(stored));
    }
    let directives = Directives::parse(&text);
    assert_eq!(
        directives.merge(Directives::parse_header(&text, "Mattock")).merge(directives).noindex,
        directives.noindex || Directives::parse_header(&text, "Mattock").noindex
    );
}
