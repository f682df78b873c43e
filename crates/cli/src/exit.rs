//! From a result to an exit code and a last word.

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::builder::Styles;
use mattock_console::ConsoleError;
use mattock_crawl::{ConfigError, CrawlError};
use mattock_features::FeaturesError;
use mattock_graph::GraphError;
use mattock_printable::{Layout, terminal};
use mattock_query::QueryError;
use mattock_simweb::{ServeError, SimwebError};
use mattock_study::StudyError;

use crate::args::{Args, line};
use crate::places;

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

/// The last word of a command line that is not understood; also help and the version, which are no errors. Arguments may come from a list of
/// others (`xargs mattock get`): with anything among them that does not show, the words have no colours, which are escape sequences too.
pub(crate) fn refused(error: &clap::Error) -> ExitCode {
    let plain = Args::command().styles(Styles::plain()).try_get_matches_from(line());
    let words = plain.err().map(|error| error.render().ansi().to_string()).unwrap_or_default();
    match terminal(&words, Layout::Lines) {
        Cow::Owned(_) => say_on!("{words}"),
        // Whoever does not listen is not told.
        Cow::Borrowed(_) => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

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
pub(crate) fn read_named(path: &Path) -> anyhow::Result<String> {
    let bytes = places::named()
        .read(path)
        .map_err(|error| Usage(format!("cannot read {}: {error}", path.display())))?;
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
                    | CrawlError::Untrusted { .. }
                    | CrawlError::NoSeed
                    | CrawlError::NotACrawl { .. }
                    | CrawlError::NoCrawl { .. }
            )
        )
}
