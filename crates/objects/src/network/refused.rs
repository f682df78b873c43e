//! Refusals: servers that are not asked, and answers that are not taken. Each message says what to do.

use std::error::Error;

use object_store::client::{HttpError, HttpErrorKind};

/// A refusal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// A server that only files name, and that is not on the public network.
    #[error(
        "{server} is named by what was read, and it is no public server ({why}): it is asked only if you name it yourself, with \
         `mattock import DIR URL` for an archive there"
    )]
    Local {
        /// Its origin.
        server: String,
        /// Its address, or what its name means.
        why: String,
    },
    /// A redirect.
    #[error(
        "the server sends readers on to {place}, on another server than the one that was named: if you trust it, name that URL instead"
    )]
    Elsewhere {
        /// The URL that it leads to.
        place: String,
    },
    /// A redirect again and again.
    #[error("the server sends readers on without end: whoever keeps it must mend that")]
    Circles,
    /// A range was asked for.
    #[error(
        "the server answers with a whole file where a part of it was asked for: a repository can be read only from servers that know \
         byte ranges (`Accept-Ranges: bytes`)"
    )]
    Whole,
    /// More bytes than were asked for.
    #[error(
        "the server announces {announced} bytes where {wanted} were asked for: ask again if the file was just replaced; otherwise the server is broken"
    )]
    More {
        /// How many it announces.
        announced: u64,
        /// How many were asked for.
        wanted: u64,
    },
    /// An answer that has no length by itself, a listing for instance.
    #[error(
        "the server's answer is longer than {limit} bytes, which no answer of this kind is: nothing of it is taken"
    )]
    Long {
        /// How much is taken.
        limit: u64,
    },
    /// This is none that can be asked.
    #[error("{0:?} is no URL that can be asked")]
    Url(String),
}

impl From<Refused> for HttpError {
    fn from(refused: Refused) -> HttpError {
        // Of this kind nothing is asked again.
        HttpError::new(HttpErrorKind::Unknown, refused)
    }
}

/// The refusal, if that is why it came to an error.
pub(crate) fn refused<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Refused> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// Whether there was no answer, so that nothing can be said of the server.
pub(crate) fn failed_on_the_way(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<HttpError>())
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}
