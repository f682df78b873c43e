//! What the Web puts into URLs, headers and names stays text.

use mattock_plot::markup;
use mattock_query::Cancel;
use mattock_study::report::{CrawlFigures, ReportOptions, Setting};

use crate::report::world::{Doc, ENGLISH, World};

const SCRIPT: &str = "<script>alert('x')</script>";

#[test]
fn nothing_of_the_web_becomes_markup() {
    let docs: Vec<Doc> = (0..30)
        .map(|number| {
            let url = format!("http://host{number}.example.org/{SCRIPT}?\"'&{}", "long/".repeat(number * 10));
            let mut doc = Doc::page(&url, number as i64, &format!("{SCRIPT}{ENGLISH}"));
            doc.kind = format!("text/html{SCRIPT}{number}; charset={SCRIPT}\u{202e}{number}");
            doc.fields = format!("Last-Modified: {SCRIPT}\r\n");
            doc
        })
        .collect();
    let world = World::new(&docs);
    let pages: Vec<&str> = docs.iter().map(|doc| doc.url.as_str()).collect();
    world.link(&pages.iter().map(|page| (*page, pages.as_slice())).collect::<Vec<_>>());
    let crawl = CrawlFigures {
        checkpoint: 3,
        end: Some(SCRIPT.into()),
        outcomes: [(SCRIPT.into(), 3)].into(),
        refusals: [(SCRIPT.into(), 3)].into(),
        settings: vec![Setting { key: SCRIPT.into(), value: SCRIPT.into() }],
        ..CrawlFigures::default()
    };
    let mut data = world.report_with(&ReportOptions::default(), Some(crawl), &Cancel::new()).unwrap();
    data.name = SCRIPT.into();
    data.repository = format!("'{SCRIPT}'");
    let html = data.to_html();
    let names = markup::check(&html);
    for name in ["script", "img", "a", "iframe", "object", "link", "form"] {
        assert!(!names.iter().any(|found| found == name), "{name}");
    }
    assert!(html.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script") && !html.contains('\u{202e}'));
    for word in ["src=", "href=", "url(", "@import"] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.len() < 600_000, "a page stays small: {} bytes", html.len());
    assert_eq!(data.properties.types.values.len(), 20, "types are not told without end");
    assert_eq!(data.properties.types.others, 10);
}
