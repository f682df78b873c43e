//! The command line that crawls a world that is being served.

use std::net::SocketAddr;
use std::path::Path;

/// The port that URLs of the simulated Web leave out.
const URL_PORT: u16 = 80;

/// A `mattock crawl` command that crawls everything from `seeds`, which are served at these addresses.
pub fn crawl_command(seeds: &[String], dns: SocketAddr, http_port: u16, delay: &str, out: &Path) -> String {
    format!(
        "mattock crawl --out {} --scope any --delay {delay} --dns {dns} --connect-port {URL_PORT}={http_port} \
         --allow-address 127.0.0.0/8 {}",
        out.display(),
        seeds.join(" ")
    )
}
