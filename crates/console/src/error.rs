//! Why a console cannot be.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use mattock_crawl::CrawlError;

/// What can go wrong with a console.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// Nothing can be bound to this.
    #[error("{text:?} is no address for a console; write it like 127.0.0.1:7070")]
    Address {
        /// What was given.
        text: String,
    },
    /// Everybody on the network could steer the crawl.
    #[error(
        "the console would be open to the network at {address}; leave `--console-token none` away, or bind 127.0.0.1"
    )]
    NoToken {
        /// Where.
        address: SocketAddr,
    },
    /// The token is none.
    #[error(
        "a console's token has 16 to 512 printable ASCII characters; `openssl rand -hex 16` makes a good one"
    )]
    WeakToken,
    /// Another process has it, or it may not be bound.
    #[error("the console cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The socket of the crawl cannot be made.
    #[error("cannot listen at the socket {}: {source}", path.display())]
    Socket {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start the console's thread: {0}")]
    Thread(io::Error),
    /// Nobody crawls there.
    #[error("no crawl is running in {}; start it with `mattock crawl --out {}`", path.display(), path.display())]
    NotRunning {
        /// The crawl's directory.
        path: PathBuf,
    },
    /// The crawl went away while it was asked, or says something that is not understood.
    #[error("cannot speak with the crawl: {0}; is it of the same version, and still running?")]
    Talk(String),
    /// The crawl did not do what it was asked.
    #[error("{detail}")]
    Refused {
        /// The name of the reason.
        error: String,
        /// In words.
        detail: String,
    },
    /// The crawl's directory cannot be read.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
}
