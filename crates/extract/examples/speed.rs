//! Megabytes per second of CPU time over the HTML files in a folder, next to a full parser and, with the feature `compare`, to lol_html:
//! `cargo run --release -p mattock-extract --features compare --example speed -- [DIR [NAME [ROUNDS]]]`.
//!
//! All of them find the links of each page in turn, so that what else the machine does hits them alike; the best of the rounds
//! counts. The full parser gets its text already decoded and keeps no tree, which flatters it.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use mattock_extract::{Options, extract};

#[path = "speed/tree.rs"]
mod tree;

#[expect(clippy::disallowed_methods, reason = "an example run by hand reads real files")]
fn collect(folder: &Path, bodies: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, bodies);
        } else if path.extension().is_some_and(|extension| extension == "html")
            && let Ok(body) = std::fs::read(&path)
        {
            bodies.push(body);
        }
    }
}

/// A rival: its name, and how many links it finds in a page.
type Entrant = (&'static str, Box<dyn Fn(&[u8]) -> usize>);

fn ours(name: &'static str, options: Options) -> Entrant {
    (
        name,
        Box::new(move |body| {
            black_box(extract(body, Some("text/html; charset=utf-8"), &options)).links.len()
        }),
    )
}

#[cfg(feature = "compare")]
fn lol_html(body: &[u8], embeds: bool) -> usize {
    use lol_html::html_content::Element;
    use lol_html::{HtmlRewriter, Settings, element};
    let links = std::cell::RefCell::new(Vec::<String>::new());
    let keep = |element: &Element<'_, '_>, attribute: &str| {
        links.borrow_mut().extend(element.get_attribute(attribute));
        Ok(())
    };
    let mut settings = Settings::new()
        .append_element_content_handler(element!("a[href],area[href],link[href],base[href]", |element| keep(
            element, "href"
        )))
        .append_element_content_handler(element!("iframe[src],frame[src]", |element| keep(element, "src")))
        .append_element_content_handler(element!("meta[content]", |element| keep(element, "content")))
        .with_strict(false);
    if embeds {
        settings = settings
            .append_element_content_handler(element!(
                "img[src],script[src],source[src],video[src],audio[src],track[src],embed[src],input[src]",
                |element| keep(element, "src")
            ))
            .append_element_content_handler(element!("img[srcset],source[srcset]", |element| keep(
                element, "srcset"
            )))
            .append_element_content_handler(element!("object[data]", |element| keep(element, "data")))
            .append_element_content_handler(element!("video[poster]", |element| keep(element, "poster")));
    }
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(body).is_ok() {
        let _ = rewriter.end();
    }
    black_box(&links).borrow().len()
}

/// CPU time of this thread. Pages take microseconds, so this is the clock that is exact at every moment.
fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[expect(clippy::print_stdout, reason = "its output is what it is for")]
fn main() {
    let rounds =
        std::env::args().nth(3).map_or(10, |text| text.parse::<usize>().expect("a number of rounds"));
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/html");
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from(default), PathBuf::from);
    let mut bodies = Vec::new();
    collect(&folder, &mut bodies);
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    println!("{} files, {:.1} MB in {}", bodies.len(), bytes as f64 / 1e6, folder.display());
    let all =
        Options { embeds: true, forms: true, css: true, text: true, headings: true, ..Options::default() };
    let only = std::env::args().nth(2).unwrap_or_default();
    let mut entrants: Vec<Entrant> = vec![
        ours("navigation", Options::default()),
        ours("with embeds", Options { embeds: true, ..Options::default() }),
        ours("with text and headings", Options { text: true, headings: true, ..Options::default() }),
        ours("with everything", all),
        #[cfg(feature = "compare")]
        ("lol_html, navigation", Box::new(|body| lol_html(body, false))),
        #[cfg(feature = "compare")]
        ("lol_html, with embeds", Box::new(|body| lol_html(body, true))),
        ("html5ever, no tree kept", Box::new(|body| tree::links(&String::from_utf8_lossy(body)))),
    ];
    entrants.retain(|(name, _)| name.starts_with(&only));
    let mut best = vec![(f64::INFINITY, 0); entrants.len()];
    for round_number in 0..rounds {
        let mut round = vec![(0.0, 0); entrants.len()];
        for body in &bodies {
            // Whoever comes after a big one finds strange caches, so every other round goes backwards.
            for turn in 0..entrants.len() {
                let turn = if round_number % 2 == 0 { turn } else { entrants.len() - 1 - turn };
                let ((_, run), sum) = (&entrants[turn], &mut round[turn]);
                // A page that was just fetched lies in the cache.
                black_box(body.iter().step_by(64).fold(0, |sum, &byte| sum ^ byte));
                let start = cpu_seconds();
                sum.1 += run(body);
                sum.0 += cpu_seconds() - start;
            }
        }
        for (best, round) in best.iter_mut().zip(round) {
            *best = (best.0.min(round.0), round.1);
        }
    }
    let ours = best.first().map_or(f64::NAN, |best| best.0);
    for ((name, _), (seconds, links)) in entrants.iter().zip(best) {
        println!(
            "{name:<26} {:>6.0} MB/s, {:>6.1} µs for 20 KB, {links:>6} links, {:>5.1} × navigation's time",
            bytes as f64 / 1e6 / seconds,
            seconds / bytes as f64 * 20e9,
            seconds / ours
        );
    }
}
