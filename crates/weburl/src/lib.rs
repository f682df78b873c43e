//! Canonical URLs, hosts, pay-level domains, SURT keys and fingerprints.
//!
//! What the crawler means by "the same URL" is decided here and nowhere else. Seeds, extracted references and
//! redirect targets come in as text; out comes a [`WebUrl`], whose text is canonical: canonicalising it again
//! changes nothing. The frontier keeps fingerprints and texts, the repository keeps texts and SURT keys.
//!
//! Who feeds whom:
//!
//! - [`Canonicalizer`] holds the rules (documented there, in order) and turns text into a [`WebUrl`];
//! - [`Base`] resolves the references of one page;
//! - `scan` is the fast path of both: most URLs on the Web are canonical already, and one pass over the bytes
//!   proves it; everything else goes through the `url` crate;
//! - [`domain_of`], [`surt_of_host`] and [`Fingerprint`] work on the parts.
//!
//! Nothing here allocates more than the text of the URL that it returns, except on the slow path.

mod archive_key;
mod base;
mod canonicalizer;
mod domain;
mod error;
mod fingerprint;
mod parameters;
mod percent;
mod scan;
mod surt;
mod weburl;

pub use archive_key::archive_key;
pub use base::Base;
pub use canonicalizer::{Canonicalizer, LENGTH_MAX_DEFAULT, LENGTH_MAX_LIMIT};
pub use domain::domain_of;
pub use error::UrlError;
pub use fingerprint::Fingerprint;
pub use parameters::SESSION_PARAMETERS;
pub use surt::surt_of_host;
pub use weburl::{Scheme, WebUrl};
