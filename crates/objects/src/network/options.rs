//! The options of a store's client, from the environment too, as reqwest has them: all that `object_store` makes of them in its own client.

use std::str::FromStr;
use std::time::Duration;

use object_store::{ClientConfigKey as Key, ClientOptions};
use reqwest::{Certificate, Client, ClientBuilder, NoProxy, Proxy};

pub(super) fn failed(error: reqwest::Error) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP client", source: Box::new(error) }
}

/// A client that is set up, but for whom it may ask.
pub(super) fn configured(options: &ClientOptions) -> object_store::Result<ClientBuilder> {
    let given = Given(options);
    // The length of what comes must be that of the object: nothing is compressed on the way.
    let mut builder = Client::builder()
        .https_only(!given.flag(Key::AllowHttp)?)
        .danger_accept_invalid_certs(given.flag(Key::AllowInvalidCertificates)?)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    if let Some(agent) = given.text(Key::UserAgent) {
        builder = builder.user_agent(agent);
    }
    if let Some(headers) = options.get_default_headers() {
        builder = builder.default_headers(headers.clone());
    }
    if let Some(url) = given.text(Key::ProxyUrl) {
        let excludes = given.text(Key::ProxyExcludes).and_then(|excludes| NoProxy::from_string(&excludes));
        builder = builder.proxy(Proxy::all(url).map_err(failed)?.no_proxy(excludes));
        if let Some(certificate) = given.text(Key::ProxyCaCertificate) {
            let certificate = Certificate::from_pem(certificate.as_bytes()).map_err(failed)?;
            builder = builder.add_root_certificate(certificate);
        }
    }
    if let Some(limit) = given.duration(Key::Timeout)? {
        builder = builder.timeout(limit);
    }
    if let Some(limit) = given.duration(Key::ConnectTimeout)? {
        builder = builder.connect_timeout(limit);
    }
    if let Some(limit) = given.duration(Key::PoolIdleTimeout)? {
        builder = builder.pool_idle_timeout(limit);
    }
    if let Some(count) = given.number(Key::PoolMaxIdlePerHost)? {
        builder = builder.pool_max_idle_per_host(count);
    }
    protocol(builder, &given)
}

/// Which version of HTTP is spoken, and how.
fn protocol(mut builder: ClientBuilder, given: &Given<'_>) -> object_store::Result<ClientBuilder> {
    if let Some(interval) = given.duration(Key::Http2KeepAliveInterval)? {
        builder = builder.http2_keep_alive_interval(interval);
    }
    if let Some(limit) = given.duration(Key::Http2KeepAliveTimeout)? {
        builder = builder.http2_keep_alive_timeout(limit);
    }
    if given.flag(Key::Http2KeepAliveWhileIdle)? {
        builder = builder.http2_keep_alive_while_idle(true);
    }
    if let Some(bytes) = given.number::<u32>(Key::Http2MaxFrameSize)? {
        builder = builder.http2_max_frame_size(bytes);
    }
    if given.flag(Key::Http1Only)? {
        builder = builder.http1_only();
    }
    if given.flag(Key::Http2Only)? {
        builder = builder.http2_prior_knowledge();
    }
    Ok(builder)
}

/// Options by key, as they were given.
struct Given<'a>(&'a ClientOptions);

impl Given<'_> {
    fn text(&self, key: Key) -> Option<String> {
        self.0.get_config_value(&key)
    }

    fn read<T>(&self, key: Key, read: impl Fn(&str) -> Option<T>) -> object_store::Result<Option<T>> {
        let bad = |text: &str| object_store::Error::Generic {
            store: "Config",
            source: format!("{text:?} cannot be read as {key:?}").into(),
        };
        self.text(key).map(|text| read(&text).ok_or_else(|| bad(&text))).transpose()
    }

    fn flag(&self, key: Key) -> object_store::Result<bool> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" | "y" => Some(true),
            "0" | "false" | "off" | "no" | "n" => Some(false),
            _ => None,
        };
        Ok(self.read(key, read)?.unwrap_or_default())
    }

    fn number<T: FromStr>(&self, key: Key) -> object_store::Result<Option<T>> {
        self.read(key, |text| text.parse().ok())
    }

    fn duration(&self, key: Key) -> object_store::Result<Option<Duration>> {
        self.read(key, |text| humantime::parse_duration(text).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told() {
        assert!(configured(&ClientOptions::new()).unwrap().build().is_ok());
        for (key, good, bad) in [
            (Key::AllowHttp, "yes", "perhaps"),
            (Key::Timeout, "2 minutes", "soon"),
            (Key::PoolMaxIdlePerHost, "4", "-4"),
            (Key::Http2MaxFrameSize, "16384", "large"),
        ] {
            assert!(configured(&ClientOptions::new().with_config(key, good)).is_ok());
            let error = configured(&ClientOptions::new().with_config(key, bad)).unwrap_err().to_string();
            assert!(error.contains(bad) && error.contains(&format!("{key:?}")), "{error}");
        }
        let proxied = ClientOptions::new().with_config(Key::ProxyUrl, "no proxy");
        assert!(configured(&proxied).is_err());
    }
}
