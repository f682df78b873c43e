//! Clients of stores, made from the environment: one for each bucket, with the variables that the providers' own tools read.

use std::sync::Arc;

use mattock_secret::Secret;
use object_store::path::Path;
use object_store::{Error, ListResult, ObjectStore};

use crate::address::{Address, Kind};
use crate::error::ObjectsError;
use crate::named::Named;
#[cfg(feature = "network")]
use crate::network::{self, Asking, Connector, Names, Shared};

/// Whether this program has the code for a kind of store.
pub(crate) fn is_compiled_in(kind: Kind, url: &str) -> Result<(), ObjectsError> {
    let (there, store) = match kind {
        Kind::File => (true, "files"),
        Kind::S3 => (cfg!(feature = "aws"), "S3"),
        Kind::Google => (cfg!(feature = "gcp"), "Google Cloud Storage"),
        Kind::Azure => (cfg!(feature = "azure"), "Azure"),
        Kind::Http => (cfg!(feature = "http"), "HTTP"),
    };
    there.then_some(()).ok_or_else(|| ObjectsError::NotCompiled { url: url.to_owned(), store })
}

/// Whether the environment says who is asking; otherwise only the machine itself can, if it is one of the provider's.
pub(crate) fn has_credentials(kind: Kind) -> bool {
    let names: &[&str] = match kind {
        Kind::File | Kind::Http => return true,
        Kind::S3 => &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SKIP_SIGNATURE",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ],
        Kind::Google => &[
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_SKIP_SIGNATURE",
            "SERVICE_ACCOUNT",
        ],
        Kind::Azure => &[
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCESS_KEY",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_TOKEN",
            "AZURE_STORAGE_CLIENT_ID",
            "AZURE_CLIENT_ID",
            "AZURE_STORAGE_USE_EMULATOR",
            "AZURE_SKIP_SIGNATURE",
            "AZURE_USE_AZURE_CLI",
        ],
    };
    names.iter().any(|name| std::env::var_os(name).is_some())
}

/// The keys and tokens that the environment holds, so that they can be left out of what is said. The clients read them by themselves.
pub(crate) fn secrets() -> Vec<Secret> {
    const NAMES: [&str; 10] = [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_ACCESS_KEY",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_STORAGE_TOKEN",
        "AZURE_CLIENT_SECRET",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
    ];
    let values = NAMES.iter().filter_map(|name| std::env::var(name).ok());
    // Short ones are no keys, and might be part of any word.
    values.filter(|value| value.len() >= 8).map(Secret::new).collect()
}

/// Makes clients, which ask the same addresses for the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stores {
    /// Other names than those of this process.
    #[cfg(feature = "network")]
    pub(crate) names: Option<Arc<Names>>,
    #[cfg(feature = "network")]
    shared: Shared,
}

impl Stores {
    /// The client for the store of an address. May ask the network which region a bucket is in.
    #[cfg_attr(not(feature = "network"), expect(unused_variables, reason = "there is no network"))]
    pub(crate) async fn connect(
        &self,
        address: Address<'_>,
        url: &str,
        named: Arc<Named>,
    ) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        is_compiled_in(address.kind, url)?;
        #[cfg(feature = "network")]
        let connector = {
            let names = self.names.clone().unwrap_or_else(Names::of_this_process);
            Connector(Asking::of(address, names, named, self.shared.clone()))
        };
        match address.kind {
            // Whoever has the files of this machine has these.
            Kind::File => Err(ObjectsError::NotHere { url: url.to_owned() }),
            #[cfg(feature = "aws")]
            Kind::S3 => cloud::s3(address, url, connector).await,
            #[cfg(feature = "gcp")]
            Kind::Google => cloud::google(address, url, connector),
            #[cfg(feature = "azure")]
            Kind::Azure => cloud::azure(address, url, connector),
            #[cfg(feature = "http")]
            Kind::Http => cloud::http(address, url, connector),
            #[allow(unreachable_patterns, reason = "which patterns are left depends on the features")]
            _ => Err(ObjectsError::Scheme { url: url.to_owned(), scheme: address.store.to_owned() }),
        }
    }
}

/// Objects and prefixes directly below a path.
pub(crate) async fn listed(store: &dyn ObjectStore, path: &Path) -> Result<ListResult, Error> {
    let listing = store.list_with_delimiter(Some(path));
    #[cfg(feature = "network")]
    let listing = network::together(listing);
    listing.await
}

/// Whether a Web server has said by this error that it does not tell which files it has: no answer that it gave is a list.
pub(crate) fn lists_nothing(error: &Error) -> bool {
    #[cfg(feature = "network")]
    return !network::failed_on_the_way(error);
    #[cfg(not(feature = "network"))]
    return matches!(error, Error::NotSupported { .. });
}

#[cfg(feature = "network")]
mod cloud {
    use std::time::Duration;

    use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, RetryConfig};

    use super::*;

    fn failed(url: &str) -> impl Fn(object_store::Error) -> ObjectsError {
        move |error| ObjectsError::store(url, &error)
    }

    /// A failure that may pass is waited for; that nobody says who is asking does not pass.
    fn retries(kind: Kind) -> RetryConfig {
        let patient = has_credentials(kind);
        RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() },
            max_retries: if patient { 8 } else { 1 },
            retry_timeout: Duration::from_secs(60),
        }
    }

    /// How we ask, unless the environment says otherwise.
    fn client(plain: bool) -> impl Iterator<Item = (ClientConfigKey, &'static str)> {
        let asks = [
            (ClientConfigKey::UserAgent, concat!("mattock/", env!("CARGO_PKG_VERSION"))),
            (ClientConfigKey::Timeout, "120 seconds"),
            (ClientConfigKey::ConnectTimeout, "10 seconds"),
        ];
        asks.into_iter().chain(plain.then_some((ClientConfigKey::AllowHttp, "true")))
    }

    #[cfg(feature = "aws")]
    pub(super) async fn s3(
        address: Address<'_>,
        url: &str,
        connector: Connector,
    ) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, resolve_bucket_region};
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let endpoint =
            ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].map(|name| std::env::var(name).ok());
        let endpoint = endpoint.into_iter().flatten().next();
        // Who writes `http:` means it.
        let plain = endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let builder = AmazonS3Builder::from_env();
        let mut builder = client(plain)
            .fold(builder, |builder, (key, value)| builder.with_config(AmazonS3ConfigKey::Client(key), value))
            .with_bucket_name(address.name)
            .with_http_connector(connector)
            .with_retry(retries(Kind::S3));
        if let Some(endpoint) = &endpoint {
            builder = builder.with_endpoint(endpoint);
        } else if !is_set("AWS_REGION") && !is_set("AWS_DEFAULT_REGION") {
            let region =
                resolve_bucket_region(address.name, &ClientOptions::new()).await.map_err(failed(url))?;
            builder = builder.with_region(region);
        }
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }

    #[cfg(feature = "gcp")]
    pub(super) fn google(
        address: Address<'_>,
        url: &str,
        connector: Connector,
    ) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
        let plain = std::env::var("GOOGLE_BASE_URL").is_ok_and(|url| url.starts_with("http://"));
        let builder = client(plain)
            .fold(GoogleCloudStorageBuilder::from_env(), |builder, (key, value)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            })
            .with_bucket_name(address.name)
            .with_http_connector(connector)
            .with_retry(retries(Kind::Google));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }

    #[cfg(feature = "azure")]
    pub(super) fn azure(
        address: Address<'_>,
        url: &str,
        connector: Connector,
    ) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
        let plain = std::env::var_os("AZURE_STORAGE_USE_EMULATOR").is_some()
            || std::env::var("AZURE_STORAGE_ENDPOINT").is_ok_and(|url| url.starts_with("http://"));
        let builder = client(plain)
            .fold(MicrosoftAzureBuilder::from_env(), |builder, (key, value)| {
                builder.with_config(AzureConfigKey::Client(key), value)
            })
            .with_url(address.store)
            .with_http_connector(connector)
            .with_retry(retries(Kind::Azure));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }

    #[cfg(feature = "http")]
    pub(super) fn http(
        address: Address<'_>,
        url: &str,
        connector: Connector,
    ) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        let plain = address.store.starts_with("http://");
        let options =
            client(plain).fold(ClientOptions::new(), |options, (key, value)| options.with_config(key, value));
        let builder = object_store::http::HttpBuilder::new()
            .with_url(address.store)
            .with_client_options(options)
            .with_http_connector(connector)
            .with_retry(retries(Kind::Http));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }
}
