//! All that one fetch showed, in the order of its steps; serialised it is what `mattock fetch --json` prints.

use mattock_secret::without_login;
use mattock_weburl::WebUrl;
use serde::Serialize;

use super::addresses::Addresses;
use super::exchange::Fetched;
use super::page::PageReport;
use super::robots::RobotsReport;

/// The whole story of one URL. A step that was not reached is `null`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) url: Identity,
    pub(crate) addresses: Option<Addresses>,
    pub(crate) robots: Option<RobotsReport>,
    /// Whether the page was asked for.
    pub(crate) fetched: bool,
    pub(crate) fetch: Option<Fetched>,
    pub(crate) page: Option<PageReport>,
}

/// What the URL is to a crawl.
#[derive(Debug, Serialize)]
pub(crate) struct Identity {
    /// As it was given.
    pub(crate) given: String,
    pub(crate) canonical: String,
    pub(crate) host: String,
    pub(crate) domain: String,
    pub(crate) surt: String,
    pub(crate) fingerprint: String,
}

impl Identity {
    pub(crate) fn of(given: &str, url: &WebUrl) -> Identity {
        Identity {
            given: without_login(given),
            canonical: url.as_str().to_owned(),
            host: url.host().to_owned(),
            domain: url.domain().to_owned(),
            surt: url.surt(),
            fingerprint: url.fingerprint().to_string(),
        }
    }
}
