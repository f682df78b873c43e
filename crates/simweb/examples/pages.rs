//! Prints what a page costs, in microseconds: `cargo run --release -p mattock-simweb --example pages`.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use mattock_env::cpu_seconds;
use mattock_simweb::{Params, Preset, Request, World};

/// Splits a canonical URL of the world into host and path.
fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("worlds are plain HTTP");
    rest.split_at(rest.find('/').expect("a canonical URL has a path"))
}

fn main() {
    for preset in [Preset::Small, Preset::Large] {
        let world = World::new(Params::preset(preset), 1);
        // A sample as a crawler sees it: pages found by following links.
        let mut urls = world.seeds();
        let mut next = 0;
        while urls.len() < 20_000 && next < urls.len() {
            let links = world.links(&urls[next], 0);
            urls.extend(links.into_iter().skip(next % 7).step_by(11));
            next += 1;
        }
        let mut body = Vec::with_capacity(256 * 1024);
        let (mut pages, mut bytes) = (0u64, 0u64);
        // CPU time, which neighbours disturb less than the clock; its ticks are 10 ms, so for about a second.
        let start_s = cpu_seconds().unwrap_or(0.0);
        for _ in 0..4 {
            for url in &urls {
                let (host, path_and_query) = split(url);
                let request = Request { host, path_and_query, ..Request::default() };
                let answer = world.answer(&request, 1_000, &mut body);
                if answer.status == 200 {
                    pages += 1;
                    bytes += body.len() as u64;
                }
            }
        }
        let cpu_us = (cpu_seconds().unwrap_or(0.0) - start_s) * 1e6;
        println!(
            "{preset}: {:.1} µs a page, {:.0} bytes a page, {:.2} GB/s ({} URLs)",
            cpu_us / pages as f64,
            bytes as f64 / pages as f64,
            bytes as f64 / cpu_us / 1e3,
            urls.len()
        );
    }
}
