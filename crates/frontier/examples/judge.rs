//! Prints what the judgement of a link costs, in nanoseconds: `cargo run --release -p mattock-frontier --example judge`.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::hint::black_box;

use mattock_env::thread_cpu_seconds;
use mattock_frontier::blocklist::{Blocklist, Blocks};
use mattock_frontier::novelty::{Novelty, simhash};
use mattock_frontier::traps::{Limits, Traps};
use mattock_frontier::{Link, Scope, ScopeRule};
use mattock_weburl::WebUrl;

/// As links are on real pages.
const LINKS: [&str; 10] = [
    "https://www.example.com/",
    "https://www.example.com/news/2024/05/17/a-rather-long-headline-that-somebody-thought-of.html",
    "http://www.example.com/products/category/item-12345",
    "https://en.example.com/wiki/Web_crawler",
    "https://shop.example.com/search?q=blue+shoes&page=2&sort=price",
    "https://blog.example.com/tags/rust/",
    "http://forum.example.com/viewtopic.php?f=12&t=34567&start=20",
    "https://cdn.example.com/assets/documents/report-2023-final.pdf",
    "https://www.example.com/%E3%83%8B%E3%83%A5%E3%83%BC%E3%82%B9/index.html",
    "https://example.com:8443/about",
];

/// Median of several runs, in nanoseconds of this thread's CPU time per item: others may use the machine too.
fn measure<I, T>(items: &[I], mut work: impl FnMut(&I) -> T) -> f64 {
    const ROUNDS: u32 = 5_000;
    let mut runs: Vec<f64> = (0..7)
        .map(|_| {
            let start = thread_cpu_seconds();
            for _ in 0..ROUNDS {
                for item in items {
                    black_box(work(black_box(item)));
                }
            }
            thread_cpu_seconds() - start
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    runs[3] * 1e9 / f64::from(ROUNDS) / items.len() as f64
}

fn scope(rule: ScopeRule) -> Scope {
    let mut scope = Scope::new(rule, Some(20));
    for text in LINKS {
        scope.include(&WebUrl::parse(text).expect("the samples are URLs"));
    }
    scope
}

/// A text of so many bytes, of words as long as English ones.
fn text(bytes: usize) -> String {
    let mut text = String::new();
    let mut state = 1u64;
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = 1 + (state >> 60) as usize * (state >> 32) as usize % 10;
        text.extend((0..length).map(|at| char::from(b'a' + (state >> (at + 20)) as u8 % 26)));
        text.push(if state >> 33 & 15 == 0 { '.' } else { ' ' });
    }
    text.truncate(bytes);
    text
}

fn main() -> Result<(), mattock_frontier::scope::RuleError> {
    let links = LINKS.map(|text| Link::page(WebUrl::parse(text).expect("the samples are URLs"), 3));
    let prefixes: Vec<String> = (0..100).map(|number| format!("com,example,h{number})/")).collect();
    let expressions = [r"/calendar/\d{4}", r"[?&]print=", r"\.(jpg|png|gif)$", r"/(login|logout)\b"];
    let surt = scope(ScopeRule::Any).with_prefixes(&[], &prefixes)?;
    let regex = scope(ScopeRule::Any).with_patterns(&[], &expressions.map(str::to_owned))?;
    for (name, scope) in [
        ("scope any", scope(ScopeRule::Any)),
        ("scope domain", scope(ScopeRule::Domain)),
        ("scope host", scope(ScopeRule::Host)),
        ("scope with 100 prefixes", surt),
        ("scope with 4 expressions", regex),
    ] {
        println!("{name:32} {:6.0} ns/link", measure(&links, |link| scope.refuses(link)));
    }
    let mut traps = Traps::new(Limits::default());
    println!("{:32} {:6.0} ns/link", "traps", measure(&links, |link| traps.judge(&link.url)));
    let both = scope(ScopeRule::Domain);
    let cost = measure(&links, |link| (both.refuses(link), traps.judge(&link.url)));
    println!("{:32} {cost:6.0} ns/link", "scope domain and traps");

    let list = Blocklist::default();
    let mut reader = list.reader();
    let cost = measure(&links, |link| reader.current().refuses(&link.url));
    println!("{:32} {cost:6.0} ns/link", "blocklist, empty");
    let lines: Vec<String> = (0..1_000_000).map(|number| format!("farm{number}.com")).collect();
    list.replace(Blocks::parse(&lines.join("\n"))?);
    let cost = measure(&links, |link| reader.current().refuses(&link.url));
    println!("{:32} {cost:6.0} ns/link", "blocklist, a million domains");

    for bytes in [200, 1_024, 8_192, 65_536] {
        let text = [text(bytes)];
        let cost = measure(&text, |text| simhash(text)) * 1_024.0 / bytes as f64;
        println!("{:32} {cost:6.0} ns/KB", format!("simhash of {bytes} bytes"));
    }
    let mut novelty = Novelty::new(16_384);
    let mut number = 0u64;
    let cost = measure(&[()], |()| {
        number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        novelty.page(number % 10_000 * 0x2545_f491_4f6c_dd1d, true, Some(number));
        novelty.factor(number)
    });
    println!("{:32} {cost:6.0} ns/page", "novelty");
    Ok(())
}
