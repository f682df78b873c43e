//! Megabytes a second over the HTML files in a folder: `cargo run --release -p mattock-extract --example speed -- DIR`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use mattock_extract::{Options, extract};

#[expect(clippy::disallowed_methods, reason = "an example run by hand reads real files")]
fn collect(folder: &Path, bodies: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, bodies);
        } else if path.extension().is_some_and(|extension| extension == "html")
            && let Ok(body) = std::fs::read(&path)
        {
            bodies.push(body);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "an example run by hand measures real time")]
#[expect(clippy::print_stdout, reason = "its output is what it is for")]
fn main() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/html");
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from(default), PathBuf::from);
    let mut bodies = Vec::new();
    collect(&folder, &mut bodies);
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    println!("{} files, {:.1} MB in {}", bodies.len(), bytes as f64 / 1e6, folder.display());
    for (name, embeds) in [("navigation", false), ("with embeds", true)] {
        let options = Options { embeds, ..Options::default() };
        let mut best = f64::INFINITY;
        let mut links = 0;
        for _ in 0..7 {
            let start = Instant::now();
            links = bodies
                .iter()
                .map(|body| extract(body, Some("text/html; charset=utf-8"), &options).links.len())
                .sum();
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{name}: {:.0} MB/s, {links} links, {:.1} µs for 20 KB",
            bytes as f64 / 1e6 / best,
            best / bytes as f64 * 20e9
        );
    }
}
