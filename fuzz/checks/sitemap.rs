//! What must hold for any body that is taken for a sitemap.

use mattock_robots::sitemap::{Kind, Limits, parse};

pub(crate) fn check(bytes: &[u8]) {
    let limits = Limits { decoded_bytes_max: 1 << 20, urls_max: 100, url_bytes_max: 200 };
    for content_type in [None, Some("text/xml; charset=iso-8859-1")] {
        let sitemap = parse(bytes, content_type, &limits);
        assert!(sitemap.entries.len() <= 100 && sitemap.children.len() <= 100);
        assert!(sitemap.kind != Kind::Unknown || (sitemap.entries.is_empty() && sitemap.children.is_empty()));
        assert!(sitemap.kind == Kind::Index || sitemap.children.is_empty());
        for url in sitemap.entries.iter().map(|entry| &entry.url).chain(&sitemap.children) {
            // A text of Western bytes may grow in UTF-8.
            assert!(!url.is_empty() && url.len() <= 600 && url.trim_ascii() == url);
        }
        assert_eq!(sitemap, parse(bytes, content_type, &limits));
    }
}
