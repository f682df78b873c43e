//! Cases of our own: what each tag gives, limits, charsets, and bytes that mean harm.

use super::*;
use proptest::prelude::*;

fn everything() -> Options {
    Options { embeds: true, forms: true, product_token: "Mattock".to_owned(), ..Options::default() }
}

fn page(html: &str) -> Extracted {
    extract(html.as_bytes(), Some("text/html; charset=utf-8"), &everything())
}

fn links(html: &str) -> Vec<(LinkKind, String)> {
    page(html).links.into_iter().map(|link| (link.kind, link.target)).collect()
}

fn owned(expected: &[(LinkKind, &str)]) -> Vec<(LinkKind, String)> {
    expected.iter().map(|&(kind, target)| (kind, target.to_owned())).collect()
}

#[test]
fn every_kind_of_link() {
    use LinkKind::*;
    for (html, expected) in [
        ("<a href=/x>", &[(Anchor, "/x")][..]),
        ("<A HREF='/x' href=/y>", &[(Anchor, "/x")]),
        ("<a name=x>", &[]),
        ("<area href=/x>", &[(Area, "/x")]),
        ("<link rel=stylesheet href=x.css>", &[(Stylesheet, "x.css")]),
        ("<link rel='next' href=/2><link rel=prev href=/0>", &[(Next, "/2"), (Prev, "/0")]),
        ("<link rel=alternate type=application/rss+xml href=/feed>", &[(Alternate, "/feed")]),
        ("<link rel=preload imagesrcset='a 1x, b 2x' href=c>", &[(Image, "a"), (Image, "b"), (Preload, "c")]),
        ("<link rel=dns-prefetch href=//x>", &[]),
        ("<img src=a.png srcset='b.png 1x, data:,x 2x'>", &[(Image, "a.png"), (Image, "b.png")]),
        ("<image src=a.png>", &[(Image, "a.png")]),
        ("<input type=IMAGE src=a><input src=b>", &[(Image, "a")]),
        ("<iframe src=a></iframe><frame src=b>", &[(Frame, "a"), (Frame, "b")]),
        ("<script src=a.js></script>", &[(Script, "a.js")]),
        (
            "<video src=a poster=b><source src=c srcset=d></video><audio src=e><track src=f>",
            &[(Media, "a"), (Image, "b"), (Media, "c"), (Image, "d"), (Media, "e"), (Media, "f")],
        ),
        ("<embed src=a><object data=b></object>", &[(Object, "a"), (Object, "b")]),
        (
            "<form action=/s><form method=POST action=/p><form method=get action=/g>",
            &[(Form, "/s"), (Form, "/g")],
        ),
        ("<meta http-equiv=Refresh content='3; URL=/next'>", &[(Refresh, "/next")]),
        ("<noscript><a href=/n><img src=i></noscript>", &[(Anchor, "/n"), (Image, "i")]),
        (
            "<svg><a xlink:href=/s><a href=/t><image href=x><script src=y></svg>",
            &[(Anchor, "/s"), (Anchor, "/t")],
        ),
        (
            "<a href='javascript:x'><a href='mailto:x'><a href=''><a href=' #top '><a href='#'>",
            &[(Anchor, "#top")],
        ),
        ("<a href=\" /a&amp;b\n\tc \">", &[(Anchor, "/a&bc")]),
    ] {
        assert_eq!(links(html), owned(expected), "{html}");
    }
}

#[test]
fn what_is_not_asked_for_is_left_out() {
    let html = "<a href=a><img src=b srcset=c><script src=d></script><link rel=icon href=e><form action=f><link rel=canonical href=g>";
    let targets = |options: &Options| -> Vec<String> {
        extract(html.as_bytes(), None, options).links.into_iter().map(|link| link.target).collect()
    };
    assert_eq!(targets(&Options::default()), ["a", "g"]);
    assert_eq!(targets(&Options { embeds: true, ..Options::default() }), ["a", "b", "c", "d", "e", "g"]);
    assert_eq!(targets(&Options { forms: true, ..Options::default() }), ["a", "f", "g"]);
}

#[test]
fn head_matters() {
    let found = page(
        "<title>\n A &amp; <b> &copyB\n</title><title>2</title><base target=x><base href=' /b/ '><base href=/c/>\
         <link rel=canonical href=/1><link rel=canonical href=/2><meta http-equiv=refresh content=5>\
         <meta name=ROBOTS content='NoIndex, nofollow'><meta name=mattock content=noarchive><meta name=other content=none>\
         <a href=x rel='external NoFollow'><a href=#f>",
    );
    assert_eq!(found.title.as_deref(), Some("A & <b> ©B"));
    assert_eq!(found.base.as_deref(), Some("/b/"));
    assert_eq!(found.canonical.as_deref(), Some("/1"));
    assert_eq!(found.refresh, None);
    assert_eq!(found.robots_meta, ["NoIndex, nofollow", "noarchive"]);
    let anchors: Vec<_> = found.links.iter().filter(|link| link.kind == LinkKind::Anchor).collect();
    assert!(anchors[0].nofollow && !anchors[1].nofollow);
    assert_eq!(anchors[1].target, "#f", "a fragment counts where there is a base");
    assert_eq!(page("<svg><title>no</title></svg><title>yes</title>").title.as_deref(), Some("yes"));
    assert_eq!(page("<p>").title, None);
}

#[test]
fn languages() {
    let language = |html: &str| page(html).language;
    assert_eq!(language("<html lang=en-GB><html lang=de>").as_deref(), Some("en-GB"));
    assert_eq!(language("<html xml:lang='fr' >").as_deref(), Some("fr"));
    assert_eq!(language("<meta http-equiv=Content-Language content='de, en'>").as_deref(), Some("de"));
    assert_eq!(language("<html lang=''><p lang=en>"), None);
    assert_eq!(language("<html lang='<x>'>"), None);
}

#[test]
fn styles_are_read_if_asked() {
    let html = "<style>@import 'a.css'; p { background: url(b.png) }</style><p style=\"x:url('c&amp;d.png')\"><a href=e style='y:url(f)'><svg><style>url(g)</style></svg><b style='url(data:x)'>";
    let targets = |css| -> Vec<(LinkKind, String)> {
        extract(html.as_bytes(), None, &Options { css, ..Options::default() })
            .links
            .into_iter()
            .map(|link| (link.kind, link.target))
            .collect()
    };
    use LinkKind::{Anchor, Css};
    assert_eq!(targets(false), owned(&[(Anchor, "e")]));
    assert_eq!(
        targets(true),
        owned(&[(Css, "a.css"), (Css, "b.png"), (Css, "c&d.png"), (Css, "f"), (Anchor, "e")])
    );
}

#[test]
fn charsets() {
    let target =
        |body: &[u8], content_type| extract(body, content_type, &Options::default()).links[0].target.clone();
    assert_eq!(target(b"<a href=\xe4>", Some("text/html; charset=iso-8859-1")), "ä");
    assert_eq!(target(b"<a href=\xe4>", None), "ä");
    assert_eq!(
        target(b"<meta charset=shift_jis><a href='\x83\x5c\"'>", None),
        "ソ\"",
        "a trail byte that looks like a backslash"
    );
    assert_eq!(target("<a href=ä>".as_bytes(), None), "ä");
    assert_eq!(target(b"<a href=\xff>", Some("text/html; charset=utf-8")), "\u{fffd}");
    // A word further down than the prescan looks corrects a guess.
    let late = [b"<a href=\xe4>", " ".repeat(2_000).as_bytes(), b"<meta charset=windows-1251>"].concat();
    assert_eq!(target(&late, None), "д");
    let mut wide = vec![0xff, 0xfe];
    "<a href='ä&amp;<'>".encode_utf16().for_each(|unit| wide.extend(unit.to_le_bytes()));
    assert_eq!(target(&wide, None), "ä&<");
    assert_eq!(extract(&wide, None, &Options::default()).charset, encoding_rs::UTF_16LE);
    assert_eq!(
        target(b"\x1b$B$\"\x1b(B<a href=x\x1b$B$\"\x1b(B>", Some("text/html; charset=iso-2022-jp")),
        "xあ"
    );
}

#[test]
fn limits_are_counted() {
    let many = extract("<a href=x>".repeat(10_000).as_bytes(), None, &Options::default());
    assert_eq!((many.links.len(), many.links_dropped), (6_000, 4_000));
    let long = page(&format!(
        "<a href='{}'><a href=y><img src='data:{}'>",
        "x".repeat(100_000),
        "z".repeat(100_000)
    ));
    assert_eq!((long.links.len(), long.links_dropped), (1, 1));
    let sets = extract(format!("<img srcset='{}'>", "a 1x, ".repeat(10_000)).as_bytes(), None, &everything());
    assert_eq!((sets.links.len(), sets.links_dropped), (6_000, 4_000));
}

/// Each of these is quadratic, or deep, for some parser. A scanner that were either would not come back from this test.
#[test]
fn giant_inputs_end() {
    const N: usize = 500_000;
    for unit in [
        "<div>",
        "<ul><li>",
        "<a href=",
        "<a href='",
        "<a ",
        "<!--",
        "<!-- <!-- ",
        "</",
        "<![CDATA[",
        "<svg>",
        "<svg><foreignObject>",
        "<script>",
        "<script><!--<script>",
        "<title>",
        "<title></titl",
        "</title",
        "<",
        "&",
        "<a b=c ",
        "<a href=x&",
        "<meta charset=",
        "<?",
        "<!",
        "<select><option>",
        "a ",
        "\0",
        "<textarea>&#",
        "<img srcset='(,",
    ] {
        let body = unit.repeat(N);
        let found = extract(body.as_bytes(), None, &everything());
        assert!(found.links.len() <= 6_000, "{unit}");
        let closed =
            format!("{}'\">-->]]></script></title></textarea><a href=/last>", &body[..body.len().min(N)]);
        let _ = extract(closed.as_bytes(), None, &everything());
    }
}

proptest! {
    #[test]
    fn any_bytes(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let found = extract(&body, None, &everything());
        prop_assert!(found.links.iter().all(|link| !link.target.is_empty()));
    }

    #[test]
    fn any_soup(body in "(<a |<img |<meta |<link |href|src|srcset|content|charset|http-equiv|=|\"|'|>|</|<!--|-->|<script|<title|<svg|<!\\[CDATA\\[|&amp|&#|x|;|,| |\\x00|ä|shift_jis|refresh|url=|0){0,80}") {
        let found = extract(body.as_bytes(), None, &everything());
        prop_assert!(found.links.len() + found.links_dropped as usize <= body.len());
    }
}
