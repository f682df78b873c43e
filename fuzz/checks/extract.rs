//! What must hold for any body that is taken for a page.

use mattock_extract::{Options, detect_charset, extract};

pub(crate) fn check(bytes: &[u8]) {
    let few = Options { links_max: 50, target_bytes_max: 100, text_bytes_max: 1_000, ..Options::default() };
    let all = Options {
        embeds: true,
        forms: true,
        css: true,
        headings: true,
        text: true,
        product_token: "Mattock".to_owned(),
        detect: Some(detect_charset),
        ..few.clone()
    };
    for content_type in [None, Some("text/html; charset=utf-8"), Some("application/xhtml+xml")] {
        let found = extract(bytes, content_type, &all);
        assert!(found.links.len() <= 50);
        assert!(
            found
                .links
                .iter()
                .all(|link| !link.target.is_empty() && !link.target.contains(['\t', '\n', '\r']))
        );
        assert!(
            found
                .text
                .as_ref()
                .is_some_and(|text| text.len() <= 1_000 && !text.contains("  ") && !text.contains("\n\n"))
        );
        assert!(
            found.headings.iter().all(|heading| (1..=6).contains(&heading.level) && !heading.text.is_empty())
        );
        assert!(found.title.as_ref().is_none_or(|title| title.trim_ascii() == title));
        // Watching text and styles changes nothing of what else is found.
        let watched = extract(bytes, content_type, &Options { text: true, headings: true, ..few.clone() });
        let plain = extract(bytes, content_type, &few);
        assert_eq!(plain.links, watched.links);
        assert_eq!(
            (plain.title, plain.base, plain.language),
            (watched.title, watched.base, watched.language)
        );
    }
}
