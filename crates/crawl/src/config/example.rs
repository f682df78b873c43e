//! The commented example: documentation, default values and list of known keys in one.

/// What `mattock config --example` prints. Every key there is stands in it; a key that is commented out has no default.
pub const EXAMPLE: &str = r#"# Mattock's configuration. Every key is optional; the values here are the defaults.
# A flag on the command line goes before an environment variable, that before this file.
# Fixed: should stay as it is once a crawl has begun. Free: may be changed at every resume.

[crawl]
# Where to begin: http or https. (fixed; more can be added at a resume)
# seeds = ["http://example.com/"]
# How far links are followed: "host" (the seeds' hosts), "domain" (all hosts under the seeds' pay-level
# domains) or "any". (fixed)
scope = "domain"
# Stop after so many pages (responses with status 200). (free)
# max_pages = 1000
# Follow links at most so many steps away from a seed. (fixed)
# max_depth = 20

[politeness]
# Time between the end of a response and the next request to the same host. (free)
delay = "2s"
# A Crawl-delay in robots.txt is obeyed up to this. (free)
crawl_delay_max = "5m"
# How often a URL that failed for a passing reason is tried again, at most. (free)
retries = 2

[identity]
# The product token: the name under which robots.txt addresses us. (fixed)
product = "mattock"
# Where people find out who crawls and why: a URL or an e-mail address. It becomes part of the User-Agent. (free)
# contact = "https://example.com/our-crawl"
# The e-mail address that goes into the From field. (free)
# from = "crawl@example.com"

[fetch]
# Connections open at once. (free)
connections = 256
# Time limits: to connect, to the first byte of a response, between two reads, for everything. (free)
connect_timeout = "10s"
first_byte_timeout = "20s"
idle_timeout = "20s"
total_timeout = "2m"
# Longer bodies are cut there, and marked. (free)
body_max = "10MiB"

[network]
# Name servers; those of the machine if there is no such key. (free)
# dns = ["192.0.2.1:53"]
# Addresses are connected to only if they are public, or in one of these ranges. (free)
# allow_address = ["127.0.0.0/8"]
# Connect to another port than the URL says: for laboratories. (free)
# connect_port = ["80=8080"]

[archive]
# How the names of WARC files begin. (free)
prefix = "mattock"
# A new file is begun at this size. (free)
file_size = "1GB"
# Compression: 1 is fast, 12 is small. (free)
level = 1
"#;

/// The keys that the example shows, as `section.key`.
pub(super) fn known_keys() -> Vec<String> {
    let mut section = "";
    let mut keys = Vec::new();
    for line in EXAMPLE.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        {
            keys.push(format!("{section}.{key}"));
        }
    }
    keys
}

/// The example with every key switched on.
#[cfg(test)]
pub(super) fn with_all_keys() -> String {
    EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => rest,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}
