//! The commented example: documentation, default values and list of known keys in one.

/// What `mattock config --example` prints. Every key there is stands in it; a key that is commented out has no default.
pub const EXAMPLE: &str = r#"# Mattock's configuration. Every key is optional; the values here are the defaults.
# A flag on the command line goes before an environment variable, that before this file.
# Fixed: should stay as it is once a crawl has begun. Free: may be changed at every resume. Live: and while the crawl runs.

[crawl]
# Where to begin: http or https. (fixed; more can be added at a resume)
# seeds = ["http://example.com/"]
# How far links are followed: "host" (the seeds' hosts), "domain" (all hosts under the seeds' pay-level
# domains) or "any". (fixed)
scope = "domain"
# Stop after so many pages (responses with status 200). (live)
# max_pages = 1000
# Follow links at most so many steps away from a seed. (fixed)
# max_depth = 20
# How many pages of a domain are fetched before others have their turn: "unlimited" (in the order of the links), "equal"
# (each `budget_pages`), "broad" (more for domains that many others link to, `budget_pages` for the rest: keeps link farms
# in their place) or "popular-only" (nothing for domains that few others link to). Nothing is lost, only delayed. (fixed)
budget = "unlimited"
# Pages of a domain per pass. (fixed)
budget_pages = 10
# In which order: "breadth-first" (as they are found) or "short-paths-first" (the entrance of every site before its
# cellars). (free)
order = "breadth-first"
# How many parts the crawl is divided into, by domain, each on a core of its own; as many as the machine has cores, if nothing
# is said. (free)
# partitions = 2
# Memory for the frontier: what was seen, queues, hosts being crawled. The rest waits on disk. (free)
memory = "512MiB"

[links]
# Only URLs that begin like one of these are followed, written as URLs or as SURT ("com,example)/docs/", or
# Heritrix's "http://(com,example,)/docs/"); of several that fit, the longest decides. Seeds are fetched in any case. (free)
# allow_prefixes = ["https://example.com/docs/"]
# URLs that begin like one of these are not. (free)
# deny_prefixes = ["https://example.com/docs/old/"]
# Only URLs that one of these regular expressions matches. (free)
# allow_patterns = ["/articles?/[0-9]+"]
# URLs that one of these matches are not followed. (free)
# deny_patterns = ["[?&]print="]
# A file of hosts, domains, address ranges and URLs that must not be touched. It may be changed while the crawl runs. (free)
# blocklist = "blocked.txt"
# Only pages of these content types are stored. (free)
# store_types = ["text/html", "application/pdf"]
# Pages of these are not. (free)
# drop_types = ["video/*"]
# Longer URLs are not followed. (free)
url_bytes_max = 2000
# Paths with more segments are not followed. (free)
path_segments_max = 20
# Nor those in which a segment comes more often; twice as often if it is a number. (free)
segment_count_max = 3
# Nor queries with more parameters. (free)
parameters_max = 32
# Links with such a parameter do something when they are asked for, and are not followed. (free)
# acting_parameters = ["add-to-cart", "remove_item"]
# Whether sitemaps are read. (free)
sitemaps = true
# Sitemaps that one robots.txt can lead to. (free)
sitemap_files_max = 1000

[politeness]
# Time between the end of a response and the next request to the same host; 10s with `budget = "broad"`, if nothing
# is said. (live)
delay = "2s"
# The same for all hosts of one server (IP address). Half of `delay`, and at most a second, if nothing is said. (live)
# server_delay = "1s"
# The same for all hosts of one domain; "0s" is no limit. (live)
domain_delay = "0s"
# A host is also left alone for so many times as long as its last answer took; 0 if `delay` is 0. (free)
# duration_factor = 1.0
# A host or domain whose last pages were all copies of what it had is visited up to so many times more rarely; 1 is as
# often as others. (free)
stale_factor_max = 64.0
# A Crawl-delay in robots.txt is obeyed up to this. (live)
crawl_delay_max = "5m"
# How often a URL that failed for a passing reason is tried again, at most. (live)
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
# Time to find the address of a name. (free)
resolve_timeout = "30s"
# Time to connect. (free)
connect_timeout = "10s"
# Time for the TLS handshake. (free)
handshake_timeout = "10s"
# Time from the request to the first byte of the response. (free)
first_byte_timeout = "20s"
# Time from there to the end of the response's head. (free)
head_timeout = "30s"
# The longest silence in the middle of a body. (free)
idle_timeout = "20s"
# Time for everything; the body is cut there, and marked. (free)
total_timeout = "2m"
# Bytes a second that a body must bring on average, once `speed_grace` is over; slower ones are cut, and marked.
# "0" takes any speed. (free)
speed_min = "64B"
# How long a body may be slower than that. (free)
speed_grace = "30s"
# Longer bodies are cut there, and marked. (free)
body_max = "10MiB"
# Responses with a longer head fail. (free)
head_max = "256KiB"
# Servers that send more than this in a TLS handshake fail. (free)
handshake_max = "64KiB"
# Interim (1xx) responses before the real one. (free)
interim_max = 8
# As much of a body as is decoded (gzip, deflate, br, zstd) and looked at for links; it is stored as it came. (free)
decoded_max = "5MiB"
# A body that grows by more than this factor when it is decoded, once 1 MiB is out, is cut there. (free)
decode_ratio_max = 1000
# Bodies with more codings on top of each other are not decoded. (free)
codings_max = 2
# Redirects that are followed one after the other, each as a link of its own. (free)
redirects_max = 10
# Whether HTTP/2 is offered to servers over TLS. (free)
http2 = true
# Whether compressed content is asked for. (free)
compressed = true
# Request fields to send beside our own, with every request. One with credentials is a table that names the hosts it is for, and goes
# to no others: { name = "Authorization", value = { env = "TOKEN" }, hosts = ["www.example.com", ".example.org"] }. It goes over
# https alone, if the certificate is valid, unless a host is written as "http://www.example.com"; in the archive its value is left
# out. A value is a string, { env = "NAME" } or { file = "PATH" } (of mode 0600). (free)
# headers = ["Accept-Language: en"]

[network]
# Name servers; those of the machine if there is no such key. (free)
# dns = ["192.0.2.1:53"]
# Names whose addresses are known: a file like /etc/hosts, which is asked before any name server. It is read when a crawl begins and kept
# in its crawl.toml. The machine's own /etc/hosts is not looked at unless it is named here. (free)
# hosts = "our-hosts"
# Addresses are connected to only if they are public, or in one of these ranges. (free)
# allow_address = ["127.0.0.0/8"]
# Connect to another port than the URL says: for laboratories. (free)
# connect_port = ["80=8080"]
# URLs with which ports are fetched: "no-services" (all but those of mail, databases and the like), "any", or a list such
# as "80,443". (free)
ports = "no-services"
# Which addresses are looked for: "ipv4-first" (IPv6 where there is no other), "ipv6-first", "ipv4" or "ipv6". (free)
families = "ipv4-first"
# Names that a proxy may be asked for though they are local, as "localhost", "x.internal" and those without a dot are; with a dot in
# front also all below. (free)
# allow_name = ["wiki", ".corp.internal"]
# Everything goes through this HTTP proxy, which then finds the addresses: only those that stand in URLs, and local names, are judged
# here. A name and password stand in front: http://name:password@proxy.example:3128. So that they are not in crawl.toml, name where
# the URL is: { env = "NAME" } or { file = "PATH" } (of mode 0600). (free)
# proxy = "http://proxy.example:3128"

[tls]
# Whether a certificate that is not valid ends the fetch. It is checked in any case; an archive wants what the server
# says even so. (free)
verify = false
# Authorities that are trusted besides Mozilla's: files of certificates (PEM), relative to this one. What is in them is
# kept in crawl.toml. (free)
# extra_roots = ["our-authority.pem"]

[archive]
# How the names of WARC files begin. (free)
prefix = "mattock"
# A new file is begun at this size, 2GB at most. (free)
file_size = "1GB"
# "gzip" (.warc.gz, which every tool reads) or "zstd" (.warc.zst, faster and as small). (free)
compression = "gzip"
# Compression: 1 is fast; 12 is small with gzip, 19 with zstd. (free)
level = 1
# With zstd: what the first pages have in common becomes a dictionary, which makes small pages smaller. Not every reader of
# zstd takes it. (free)
dictionary = false
# A page whose bytes are those of one of so many stored before it, by the same partition, is stored as a revisit: a record
# that says where they are. Some 200 bytes of memory each; 0: every page is stored whole. (free)
revisits = 50000
# Whether it is looked up in each page's text in which languages it is, for the column `content_languages` of the index. Without it queries work that
# out from the archive when it is asked for. (free)
languages = true

[analyzers]
# Columns of your own, which queries of this crawl find by their names: WebAssembly modules, relative to this file. (free)
# modules = ["word_count.wasm"]
# Steps that such a module may take for one document; at most 10000000000. (free)
fuel = 100000000
# And the memory that it may have; at most 1GiB. (free)
memory_max = "64MiB"

[checkpoint]
# The whole state is saved at the latest after this time: what a crash can cost. (live)
every = "30s"
# And after so many pages. (live)
pages = 10000
# With less free space on the disk than this, the crawl saves its state and waits. (live)
disk_reserve = "256MiB"

[speed]
# Requests a second at most, of all partitions together; robots.txt counts too. (live)
# pages_per_s = 100.0
# Megabits received a second at most. (live)
# mbit_per_s = 50.0

[watch]
# An alert is raised with less free space on the disk than this. (live)
disk_free_min = "1GiB"
# And if nothing has come in for so long although URLs wait. (live)
stall = "10m"
# And if more than this share of look-ups of names fails. (live)
dns_failures = 0.5
# And if so many times more requests fail than in the hour before. (live)
errors_factor = 3.0
# And if the process has more memory than this; a quarter more than `crawl.memory` and 512MiB, if nothing is said. (live)
# memory_max = "1GiB"
# A command that the shell runs at every alert, with MATTOCK_ALERT, MATTOCK_TEXT and MATTOCK_DIR in its environment. (free)
# on_alert = "mail -s $MATTOCK_ALERT us@example.com"

[log]
# Nothing below this is logged: "debug", "info", "warn" or "error". (free)
level = "info"
# "json" (logs/mattock.jsonl, an object per line) or "text" (logs/mattock.log, for people). (free)
format = "json"
# A new file is begun at this size. (free)
file_size = "16MiB"
# So many files are kept; with 0 none is written. (free)
files = 8

# As many as are needed; the first entry that holds counts. Without any, `[speed]` holds all day.
# [[schedule]]
# From this time of day. (free)
# from = "08:00"
# To this one, which may be on the next day. (free)
# to = "18:00"
# On these days; on every one, if nothing is said. (free)
# days = ["mon", "tue", "wed", "thu", "fri"]
# In this time zone: "local", "UTC", or an offset like "+01:00". (free)
# timezone = "local"
# Requests a second at most; as `[speed]` says, if nothing is said. (free)
# pages_per_s = 20.0
# Megabits received a second at most; likewise. (free)
# mbit_per_s = 10.0
# Whether nothing is fetched at all. (free)
# pause = false
"#;

/// The section that a line begins, commented out or not.
fn section_of(line: &str) -> Option<&str> {
    let name = line.trim_start_matches("# ").strip_prefix('[')?.trim_start_matches('[');
    name.ends_with(']').then(|| name.trim_end_matches(']'))
}

/// The keys that the example shows, as `section.key`.
pub(crate) fn known_keys() -> Vec<String> {
    let mut section = "";
    let mut keys = Vec::new();
    for line in EXAMPLE.lines() {
        if let Some(name) = section_of(line) {
            section = name;
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
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
            Some(rest) if section_of(line).is_some() => rest,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}
