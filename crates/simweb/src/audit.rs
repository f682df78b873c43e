//! The audit log: every HTTP request as the servers saw it, and the auditor that judges a crawler by it.
//!
//! The HTTP server fills an [`AuditLog`]; [`audit`] reads the file afterwards, rebuilds the world from its first line
//! and says whether politeness and robots.txt were kept. A crawler cannot embellish this: the log is written on the
//! other side of the wire.
//!
//! The file is text. Its first line carries all that the auditor needs; then comes one line per request, in order of
//! arrival, with columns separated by tabs:
//!
//! ```text
//! # mattock-simweb-audit 1 {"seed":7,"delay_ms":100,"params":{…}}
//! # nanoseconds  server  host  path  status  bytes  method  kind
//! 1502345  127.64.0.3  www.balo-sim.com  /robots.txt  200  312  GET  robots
//! ```
//!
//! - nanoseconds: monotonic, since the log was made, when the whole head of the request had been read;
//! - server: the address that the request came to; host: from the request, lower case, without port; path: with query;
//! - status: 0 if the server reset the connection or stayed silent; bytes: of the answer with its head;
//! - kind: `robots` for `/robots.txt` (and what it redirects to under that name), else `page`.
//!
//! What could not be read as a request has `-` for host and path. A line is torn only at the end of the file, when
//! the process was killed; what is lost then is at most what came in [`FLUSH_INTERVAL`].

mod auditor;
mod fetched;
mod line;
mod lines;
mod log;
mod report;

use std::net::Ipv4Addr;
use std::time::Duration;

use mattock_env::Time;
use serde::{Deserialize, Serialize};

use crate::Params;

pub use auditor::{AuditError, AuditOptions, audit};
pub use log::AuditLog;
pub use report::{AuditReport, AuditedRequest, Examples, Gap, MalformedLine};

/// What the first line of every log starts with: the format's name and version.
const MAGIC: &str = "# mattock-simweb-audit 1 ";
const COLUMNS: &str = "# nanoseconds\tserver\thost\tpath\tstatus\tbytes\tmethod\tkind\n";

/// A request is in the file at most this long after it came.
pub(crate) const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

/// What the auditor must know of the world that was served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditHeader {
    /// The world's seed.
    pub seed: u64,
    /// The delay between two requests to one host that crawlers were asked to keep, if any.
    pub delay_ms: Option<u64>,
    /// The world's parameters.
    pub params: Params,
}

/// One request, on its way to the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) time: Time,
    pub(crate) server: Ipv4Addr,
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
    pub(crate) is_head: bool,
}

/// Whether a path asks for robots.txt; also where redirects may have moved it.
fn is_robots(path: &str) -> bool {
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    path.ends_with("/robots.txt") || path == "/robots-rules.txt"
}
