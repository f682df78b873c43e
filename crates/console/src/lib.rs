//! The operator's desk: a crawl seen and steered from a browser, over REST, by Prometheus and on the command line.
//!
//! ```text
//!  browser ──TCP──► guard ──► router ──► desk ──► Control, Snapshot, Events      (a crawl that runs in this process)
//!  mattock ctl ─socket──┘        │          └───► directory at its last checkpoint (any crawl)
//!                                └► pages, OpenAPI, metrics, live updates
//! ```
//!
//! [`Console`] is a thread with a server in it; [`Desk`] is what it shows and does. The pages are embedded in the program, work offline and
//! put nothing into themselves as markup. What servers of the Web have sent is shown as text, or in a frame in which nothing runs.
//!
//! Costs: a look at the crawl's gauges a second, and what is asked for; see `mattock bench console`.

mod answer;
mod archive;
mod assets;
mod bind;
mod census;
mod client;
mod desk;
mod error;
mod gate;
mod guard;
mod input;
mod live;
mod metrics;
mod openapi;
mod patient;
mod places;
mod router;
mod routes;
mod server;
mod socket;
mod token;
mod words;

pub use bind::{Access, Bind};
pub use client::{Client, SOCKET, TOKEN_FILE, Updates};
pub use desk::{Desk, Running};
pub use error::ConsoleError;
pub use server::Console;
pub use token::Token;
