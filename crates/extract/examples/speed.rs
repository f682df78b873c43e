//! Megabytes per second of CPU time over the HTML files in a folder, next to a full parser and, with the feature `compare`, to lol_html:
//! `cargo run --release -p mattock-extract --features compare --example speed -- [DIR]`.
//!
//! All of them find the links of the same pages in the same run, in turns, so that what else the machine does hits them alike; the best of the rounds
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
fn lol_html(body: &[u8]) -> usize {
    use lol_html::html_content::Element;
    use lol_html::{HtmlRewriter, Settings, element};
    let links = std::cell::RefCell::new(Vec::<String>::new());
    let keep = |element: &Element<'_, '_>, attribute: &str| {
        links.borrow_mut().extend(element.get_attribute(attribute));
        Ok(())
    };
    let settings = Settings::new()
        .append_element_content_handler(element!("a[href],area[href],link[href],base[href]", |element| keep(
            element, "href"
        )))
        .append_element_content_handler(element!("iframe[src],frame[src]", |element| keep(element, "src")))
        .append_element_content_handler(element!("meta[content]", |element| keep(element, "content")))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    if rewriter.write(body).is_ok() {
        let _ = rewriter.end();
    }
    black_box(&links).borrow().len()
}

#[expect(clippy::print_stdout, reason = "its output is what it is for")]
fn main() {
    const ROUNDS: usize = 7;
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/html");
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from(default), PathBuf::from);
    let mut bodies = Vec::new();
    collect(&folder, &mut bodies);
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    println!("{} files, {:.1} MB in {}", bodies.len(), bytes as f64 / 1e6, folder.display());
    let all =
        Options { embeds: true, forms: true, css: true, text: true, headings: true, ..Options::default() };
    let entrants: Vec<Entrant> = vec![
        ours("navigation", Options::default()),
        ours("with embeds", Options { embeds: true, ..Options::default() }),
        ours("with text and headings", Options { text: true, headings: true, ..Options::default() }),
        ours("with everything", all),
        #[cfg(feature = "compare")]
        ("lol_html", Box::new(lol_html)),
        ("html5ever, no tree kept", Box::new(|body| tree::links(&String::from_utf8_lossy(body)))),
    ];
    let mut best = vec![(f64::INFINITY, 0); entrants.len()];
    for _ in 0..ROUNDS {
        for ((_, run), best) in entrants.iter().zip(&mut best) {
            let start = mattock_env::thread_cpu_seconds().unwrap_or_default();
            let links = bodies.iter().map(|body| run(body)).sum();
            let seconds = mattock_env::thread_cpu_seconds().unwrap_or_default() - start;
            *best = (best.0.min(seconds), links);
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
