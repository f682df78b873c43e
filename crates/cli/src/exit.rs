//! From a result to an exit code and a last word.

use std::path::Path;
use std::process::ExitCode;

use mattock_console::ConsoleError;
use mattock_crawl::{ConfigError, CrawlError};
use mattock_env::Env;
use mattock_features::FeaturesError;
use mattock_graph::GraphError;
use mattock_query::QueryError;
use mattock_simweb::{ServeError, SimwebError};
use mattock_study::StudyError;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    /// What was asked for did not come about, and why was said already.
    Failed,
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
        Ok(Ended::Failed) => ExitCode::from(1),
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Err(error) => {
            // A closed pipe (`mattock … | head`) is how readers say that they have enough.
            let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
            if error.downcast_ref().is_some_and(closed) {
                return ExitCode::SUCCESS;
            }
            say!("error: {}", told(&error));
            ExitCode::from(if is_usage(&error) { 2 } else { 1 })
        }
    }
}

/// The error with its causes, as far as it does not name them itself.
fn told(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |text, cause| {
        let cause = cause.to_string();
        match text.as_str() {
            "" => cause,
            _ if text.contains(&cause) => text,
            _ => format!("{text}: {cause}"),
        }
    })
}

/// A text file that the user named; one that cannot be read was named wrongly.
pub(crate) fn read_named(env: &Env, path: &Path) -> anyhow::Result<String> {
    let bytes =
        env.files.read(path).map_err(|error| Usage(format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || error.is::<ConfigError>()
        || error.is::<SimwebError>()
        || error.downcast_ref::<QueryError>().is_some_and(QueryError::is_of_query)
        || error.is::<GraphError>()
        || matches!(error.downcast_ref(), Some(FeaturesError::Missing { .. } | FeaturesError::NoUrls { .. }))
        || matches!(error.downcast_ref(), Some(StudyError::Empty { .. }))
        || matches!(error.downcast_ref(), Some(ServeError::TimeScale(_)))
        || matches!(
            error.downcast_ref(),
            Some(ConsoleError::Address { .. } | ConsoleError::NoToken { .. } | ConsoleError::WeakToken)
        )
        || matches!(
            error.downcast_ref(),
            Some(
                CrawlError::Config(_)
                    | CrawlError::NoSeed
                    | CrawlError::NotACrawl { .. }
                    | CrawlError::NoCrawl { .. }
            )
        )
}
