//! Prints what a URL costs, in nanoseconds: `cargo run --release -p mattock-weburl --example speed`.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{hint::black_box, time::Duration};

use mattock_weburl::{Base, Canonicalizer, Fingerprint, UrlError, WebUrl, domain_of};

/// As links are on real pages.
const ABSOLUTE: [&str; 10] = [
    "https://www.example.com/",
    "https://www.example.com/news/2024/05/17/a-rather-long-headline-that-somebody-thought-of.html",
    "http://example.co.uk/products/category/item-12345",
    "https://en.wiki.example.org/wiki/Web_crawler",
    "https://shop.example.de/search?q=blue+shoes&page=2&sort=price",
    "https://blog.example.github.io/tags/rust/",
    "http://forum.example.net/viewtopic.php?f=12&t=34567&start=20",
    "https://cdn.example.com/assets/documents/report-2023-final.pdf",
    "https://www.example.jp/%E3%83%8B%E3%83%A5%E3%83%BC%E3%82%B9/index.html",
    "https://example.com:8443/about#team",
];

const RELATIVE: [&str; 10] = [
    "/",
    "/about/contact.html",
    "/news/2024/05/17/a-rather-long-headline",
    "item-12346",
    "page.php?id=12&lang=en",
    "?page=3",
    "#top",
    "../other/item",
    "/products/category/item-99999?ref=list",
    "mailto:someone@example.com",
];

/// Median of several runs, in nanoseconds per item.
fn measure<T>(items: &[&str], mut work: impl FnMut(&str) -> T) -> f64 {
    const ROUNDS: u32 = 20_000;
    let mut runs: Vec<Duration> = (0..7)
        .map(|_| {
            #[expect(clippy::disallowed_methods, reason = "a benchmark measures the real clock")]
            let start = std::time::Instant::now();
            for _ in 0..ROUNDS {
                for item in items {
                    black_box(work(black_box(item)));
                }
            }
            start.elapsed()
        })
        .collect();
    runs.sort();
    runs[3].as_nanos() as f64 / f64::from(ROUNDS) / items.len() as f64
}

fn main() -> Result<(), UrlError> {
    let rules = Canonicalizer::default();
    let page = WebUrl::parse("https://www.example.com/products/category/item-12345?x=y")?;
    let base = Base::new(&page);
    let urls = ABSOLUTE.map(|text| WebUrl::parse(text).expect("the samples are URLs"));
    let hosts = urls.each_ref().map(WebUrl::host_name);
    let texts = urls.each_ref().map(WebUrl::as_str);
    let report = |what: &str, nanoseconds: f64| println!("{what:<40} {nanoseconds:>8.0} ns");

    report("parse, already canonical (fast path)", measure(&ABSOLUTE, |text| rules.parse(text)));
    report("parse, slow path", measure(&ABSOLUTE, |text| rules.parse_without_scan(text)));
    report("join, relative (fast path)", measure(&RELATIVE, |text| base.join(text)));
    report("join, relative, slow path", measure(&RELATIVE, |text| base.join_without_scan(text, &rules)));
    report("join, absolute (fast path)", measure(&ABSOLUTE, |text| base.join(text)));
    report("base of a page", measure(&[""], |_| Base::new(&page)));
    report("domain of a host name", measure(&hosts, |host| domain_of(host).len()));
    report("fingerprint", measure(&texts, Fingerprint::of));
    report("surt", urls.iter().map(|url| measure(&[""], |_| url.surt())).sum::<f64>() / urls.len() as f64);
    Ok(())
}
