//! Makes the client of a store: reqwest's, within one origin, with the addresses of [`Names`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper_util::client::proxy::matcher::Matcher;
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Url};

use super::names::{Names, Resolver};
use super::options::{configured, failed};
use super::service::Service;
use crate::address::{Address, Kind};
use crate::named::Named;

/// More redirects than this within a server lead nowhere.
const REDIRECTS_MAX: usize = 10;

/// Who is asked.
#[derive(Clone, Debug)]
pub(crate) enum Asking {
    /// A provider's endpoints, which the environment names or the provider itself.
    Provider(Arc<Names>),
    /// A Web server that a URL names.
    Web(Web),
}

/// A Web server: one origin.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    pub(super) names: Arc<Names>,
    /// The servers that the user has named.
    named: Arc<Named>,
    shared: Shared,
    url: String,
    /// Whether the environment names a proxy for it.
    pub(super) is_proxied: bool,
}

/// The clients of all Web servers, of which files may name many: one with a proxy and one without, for plain HTTP too or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<BTreeMap<(bool, bool), Client>>>);

impl Asking {
    /// Whoever has the store of an address.
    pub(crate) fn of(address: Address<'_>, names: Arc<Names>, named: Arc<Named>, shared: Shared) -> Asking {
        if address.kind != Kind::Http {
            return Asking::Provider(names);
        }
        let url = address.store.to_owned();
        let is_proxied = url.parse().is_ok_and(|url| Matcher::from_system().intercept(&url).is_some());
        Asking::Web(Web { names, named, shared, url, is_proxied })
    }

    pub(super) fn names(&self) -> &Arc<Names> {
        match self {
            Asking::Provider(names) | Asking::Web(Web { names, .. }) => names,
        }
    }
}

impl Web {
    /// Whether the user has named this server.
    pub(super) fn is_named(&self) -> bool {
        self.named.has(&self.url)
    }
}

/// Makes clients for one store.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Asking);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = match &self.0 {
            Asking::Provider(names) => client(options, names)?.build().map_err(failed)?,
            Asking::Web(web) => web.client(options)?,
        };
        Ok(HttpClient::new(Service { client, asking: self.0.clone() }))
    }
}

impl Web {
    /// The client that this server shares with others.
    fn client(&self, options: &ClientOptions) -> object_store::Result<Client> {
        let kind = (self.is_proxied, self.url.starts_with("http:"));
        let mut shared = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = shared.get(&kind) {
            return Ok(client.clone());
        }
        let builder = client(options, &self.names)?;
        // Without a proxy addresses are looked up here, and judged.
        let builder = if self.is_proxied { builder } else { builder.no_proxy() };
        Ok(shared.entry(kind).or_insert(builder.build().map_err(failed)?).clone())
    }
}

fn client(options: &ClientOptions, names: &Arc<Names>) -> object_store::Result<ClientBuilder> {
    let policy = |attempt: Attempt<'_>| if is_followed(&attempt) { attempt.follow() } else { attempt.stop() };
    let resolver = Arc::new(Resolver(names.clone()));
    Ok(configured(options)?.redirect(Policy::custom(policy)).dns_resolver(resolver))
}

/// Whether a redirect stays with its server and leads to an object: `/a` to `/a/` only says that there is a directory.
fn is_followed(attempt: &Attempt<'_>) -> bool {
    let (next, before) = (attempt.url(), attempt.previous());
    let leads =
        |last: &Url| last.origin() == next.origin() && next.path().strip_suffix('/') != Some(last.path());
    before.len() <= REDIRECTS_MAX && before.last().is_some_and(leads)
}
