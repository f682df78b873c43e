//! What can go wrong with object stores. Each message has the URL, and what to do.

use std::error::Error as _;
use std::io;

use mattock_secret::LEFT_OUT;
use object_store::Error;

use crate::address::{Address, Kind};
use crate::stores;

/// Parameters of URLs that let whoever has them in.
const SIGNED: [&str; 4] = ["sig=", "X-Amz-Signature=", "X-Amz-Security-Token=", "X-Goog-Signature="];

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
    /// No bucket can have this name.
    #[error("{url} names no bucket or container: their names are made of letters, digits, `-`, `_` and `.`")]
    Bucket {
        /// As it was written.
        url: String,
    },
    /// No server can have this name.
    #[error("{url} names no server: write https://SERVER/PREFIX or https://SERVER:PORT/PREFIX")]
    Server {
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
    /// There is a name or a password before the server.
    #[error(
        "{url}: a name and a password in a URL would stand in every row, and in what is published: leave them out, or fetch the file \
         by other means and name it here"
    )]
    Login {
        /// The rest of it.
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
    /// A Web server that only serves files.
    #[error("{url}: the server does not tell which files it has: ask for what is there by its name")]
    NoList {
        /// The prefix.
        url: String,
    },
    /// Something else is there than a moment ago.
    #[error("{url} has become shorter while it was read: ask again")]
    Shorter {
        /// The object.
        url: String,
    },
    /// A file of this machine, which is no matter of a store.
    #[error("{url} is a file of this machine, and cannot be reached from here: write its path")]
    NotHere {
        /// As it was written.
        url: String,
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
    #[cfg(feature = "network")]
    if let Some(refused) = crate::network::refused(error) {
        return refused.to_string();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    without_secrets(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A text without the keys that the environment holds, and without what a signed URL says of them: clients quote the URL that they asked.
fn without_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    for secret in stores::secrets() {
        let quoted =
            percent_encoding::utf8_percent_encode(secret.expose(), percent_encoding::NON_ALPHANUMERIC);
        text = text.replace(&quoted.to_string(), LEFT_OUT).replace(secret.expose(), LEFT_OUT);
    }
    for parameter in SIGNED {
        let mut rest = text.as_str();
        let mut shown = String::new();
        while let Some(at) = rest.find(parameter) {
            let (before, value) = rest.split_at(at + parameter.len());
            shown = shown + before + LEFT_OUT;
            rest =
                value.trim_start_matches(|letter: char| !letter.is_whitespace() && !"&)\"".contains(letter));
        }
        text = shown + rest;
    }
    text
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
            ObjectsError::NoList { .. } => io::ErrorKind::Unsupported,
            ObjectsError::Shorter { .. } => io::ErrorKind::UnexpectedEof,
            ObjectsError::Engine => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_urls_are_shown_without_what_signs_them() {
        let text = "Error performing GET https://a.blob.core.windows.net/c/x?sv=1&sig=s3cret%3D&se=2 in 1ms (X-Amz-Signature=s3cret)";
        let shown = "Error performing GET https://a.blob.core.windows.net/c/x?sv=1&sig=(left out)&se=2 in 1ms (X-Amz-Signature=(left out))";
        assert_eq!(without_secrets(text), shown);
        assert_eq!(without_secrets("nothing signed"), "nothing signed");
    }
}
