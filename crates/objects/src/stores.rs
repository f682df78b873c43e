//! Clients of stores, made from the environment: one for each bucket, with the variables that the providers' own tools read.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;

use crate::address::{Address, Kind};
use crate::error::ObjectsError;

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

/// The client for the store of an address. May ask the network which region a bucket is in.
pub(crate) async fn connect(address: Address<'_>, url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
    is_compiled_in(address.kind, url)?;
    match address.kind {
        Kind::File => Ok(Arc::new(LocalFileSystem::new())),
        #[cfg(feature = "aws")]
        Kind::S3 => cloud::s3(address, url).await,
        #[cfg(feature = "gcp")]
        Kind::Google => cloud::google(address, url),
        #[cfg(feature = "azure")]
        Kind::Azure => cloud::azure(address, url),
        #[cfg(feature = "http")]
        Kind::Http => cloud::http(address, url),
        #[allow(unreachable_patterns, reason = "which patterns are left depends on the features")]
        _ => Err(ObjectsError::Scheme { url: url.to_owned(), scheme: address.store.to_owned() }),
    }
}

#[cfg(any(feature = "aws", feature = "gcp", feature = "azure", feature = "http"))]
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
    pub(super) async fn s3(address: Address<'_>, url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
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
    pub(super) fn google(address: Address<'_>, url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
        let plain = std::env::var("GOOGLE_BASE_URL").is_ok_and(|url| url.starts_with("http://"));
        let builder = client(plain)
            .fold(GoogleCloudStorageBuilder::from_env(), |builder, (key, value)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            })
            .with_bucket_name(address.name)
            .with_retry(retries(Kind::Google));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }

    #[cfg(feature = "azure")]
    pub(super) fn azure(address: Address<'_>, url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
        let plain = std::env::var_os("AZURE_STORAGE_USE_EMULATOR").is_some()
            || std::env::var("AZURE_STORAGE_ENDPOINT").is_ok_and(|url| url.starts_with("http://"));
        let builder = client(plain)
            .fold(MicrosoftAzureBuilder::from_env(), |builder, (key, value)| {
                builder.with_config(AzureConfigKey::Client(key), value)
            })
            .with_url(address.store)
            .with_retry(retries(Kind::Azure));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }

    #[cfg(feature = "http")]
    pub(super) fn http(address: Address<'_>, url: &str) -> Result<Arc<dyn ObjectStore>, ObjectsError> {
        let plain = address.store.starts_with("http://");
        let options =
            client(plain).fold(ClientOptions::new(), |options, (key, value)| options.with_config(key, value));
        let builder = object_store::http::HttpBuilder::new()
            .with_url(address.store)
            .with_client_options(options)
            .with_retry(retries(Kind::Http));
        Ok(Arc::new(builder.build().map_err(failed(url))?))
    }
}
