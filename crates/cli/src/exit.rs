//! From a result to an exit code and a last word.

use std::process::ExitCode;

use mattock_crawl::{ConfigError, CrawlError};
use mattock_simweb::SimwebError;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    /// By the user; the state is safe.
    Interrupted,
}

/// Wrong usage that the argument parser could not notice.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub(crate) fn code(result: anyhow::Result<Ended>) -> ExitCode {
    match result {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Err(error) => {
            // A closed pipe (`mattock … | head`) is how readers say that they have enough.
            let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
            if error.downcast_ref().is_some_and(closed) {
                return ExitCode::SUCCESS;
            }
            eprintln!("error: {error:#}");
            ExitCode::from(if is_usage(&error) { 2 } else { 1 })
        }
    }
}

fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || error.is::<ConfigError>()
        || error.is::<SimwebError>()
        || matches!(
            error.downcast_ref(),
            Some(CrawlError::Config(_) | CrawlError::NoSeed | CrawlError::NotACrawl { .. })
        )
}
