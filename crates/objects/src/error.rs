//! What can go wrong with object stores. Each message has the URL, and what to do.

use std::error::Error as _;
use std::io;

use object_store::Error;

use crate::address::{Address, Kind};
use crate::stores;

/// See the module. Callers see it as an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// Nobody knows this scheme.
    #[error(
        "{url}: `{scheme}` is not among the schemes that are known: write file:///path, s3://bucket/prefix, gs://bucket/prefix, \
             az://container/prefix or https://server/prefix"
    )]
    Scheme {
        /// As it was written.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// This program was made without it.
    #[error("{url}: this program was built without {store}: build it with `--features cloud`")]
    NotCompiled {
        /// As it was written.
        url: String,
        /// The kind of store.
        store: &'static str,
    },
    /// A `file:` URL with a host.
    #[error("{url}: files of other machines cannot be read: write file:///path, with three slashes")]
    FileHost {
        /// As it was written.
        url: String,
    },
    /// There is nothing between the slashes.
    #[error("{url} names no bucket: write SCHEME://BUCKET/PREFIX")]
    NoStore {
        /// As it was written.
        url: String,
    },
    /// The key is none.
    #[error(
        "{url}: what is behind the bucket is no key: leave out empty parts, `.`, `..` and control characters"
    )]
    Key {
        /// As it was written.
        url: String,
    },
    /// There is a query or a fragment.
    #[error("{url}: what is behind the `?` or `#` cannot be kept with every object: leave it out")]
    Query {
        /// As it was written.
        url: String,
    },
    /// The store answered otherwise, or not at all.
    #[error("{url}: {why}{hint}")]
    Store {
        /// The object or prefix.
        url: String,
        /// What the store or the network said.
        why: String,
        /// What to do.
        hint: String,
        /// What kind of failure it is.
        kind: io::ErrorKind,
    },
    /// What is to be put cannot be read, or the user has had enough.
    #[error("{0}")]
    Source(#[from] io::Error),
    /// There is no thread.
    #[error(
        "the thread that speaks to object stores cannot be started, or has ended: this is a bug if there is memory left"
    )]
    Engine,
}

impl ObjectsError {
    /// What a store said of `url`.
    pub(crate) fn store(url: &str, error: &Error) -> ObjectsError {
        let why = told(error);
        let kind = match error {
            // Lists say so in words of their own.
            _ if ["NoSuchBucket", "ContainerNotFound"].iter().any(|word| why.contains(word)) => {
                io::ErrorKind::NotFound
            }
            Error::NotFound { .. } => io::ErrorKind::NotFound,
            Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
            Error::NotSupported { .. } | Error::NotImplemented { .. } => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::Other,
        };
        let address = Address::parse(url).ok();
        let hint = address.map(|address| hint(address, kind)).unwrap_or_default();
        ObjectsError::Store { url: url.to_owned(), why, hint, kind }
    }
}

/// The error and those causes that it does not name itself.
fn told(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hint(address: Address<'_>, kind: io::ErrorKind) -> String {
    let denied = kind == io::ErrorKind::PermissionDenied;
    match (address.kind, kind) {
        (Kind::S3 | Kind::Google | Kind::Azure, io::ErrorKind::NotFound) => {
            format!("\nhint: there may be no `{}`: check its name, region and endpoint", address.name)
        }
        (store, _) if denied || !stores::has_credentials(store) => match store {
            Kind::S3 => "\nhint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_REGION, AWS_ENDPOINT_URL where they are needed), or \
                         AWS_SKIP_SIGNATURE=true for a bucket that everybody may read"
                .to_owned(),
            Kind::Google => "\nhint: set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or GOOGLE_SKIP_SIGNATURE=true for a \
                             bucket that everybody may read"
                .to_owned(),
            Kind::Azure => "\nhint: set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true for a container \
                            that everybody may read"
                .to_owned(),
            Kind::File | Kind::Http => String::new(),
        },
        _ => String::new(),
    }
}

impl From<ObjectsError> for io::Error {
    fn from(error: ObjectsError) -> io::Error {
        let kind = match error {
            ObjectsError::Source(error) => return error,
            ObjectsError::Store { kind, .. } => kind,
            ObjectsError::Engine => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error.to_string())
    }
}
