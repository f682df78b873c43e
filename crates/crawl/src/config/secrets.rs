//! What a configuration holds that is not for everybody: the proxy's URL with its password, and header fields for some sites.
//!
//! A secret can stand in the configuration, or be referred to: `{ env = "NAME" }`, `{ file = "PATH" }`. What is referred to is fetched when a
//! run begins ([`RawConfig::fetch_secrets`]) and never written down: `crawl.toml` keeps the reference. Whoever
//! only looks at a crawl's directory needs none of it.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use mattock_env::Files;
use mattock_fetch::{Credential, Field, Proxy, Site, is_credential_name};
use mattock_secret::{Secret, Source, SourceError};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::checked::{Files as Read, wrong};
use super::{Config, ConfigError, RawConfig, values};

/// A proxy that nobody can reach, for those who do not go there.
const UNREAD_PROXY: &str = "http://secret-not-read.invalid:1";

/// A secret of a configuration: where it is and, once it was fetched, what it is.
#[derive(Clone)]
pub struct RawSecret {
    source: Source,
    fetched: Option<Secret>,
}

impl RawSecret {
    /// One that is to be fetched from there.
    pub fn new(source: Source) -> RawSecret {
        RawSecret { source, fetched: None }
    }

    /// Where it is.
    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    /// The secret, if it stands in the configuration or was fetched.
    pub(super) fn get(&self) -> Option<&Secret> {
        match &self.source {
            Source::Here(secret) => Some(secret),
            _ => self.fetched.as_ref(),
        }
    }

    /// Fetches it, unless that was done.
    pub(super) fn fetch(&mut self, files: &Files) -> Result<(), SourceError> {
        if self.get().is_none() {
            self.fetched = Some(self.source.read(files)?);
        }
        Ok(())
    }

    /// Whether a secret stands in the configuration itself.
    pub(super) fn is_here(&self) -> bool {
        matches!(self.source, Source::Here(_))
    }
}

impl fmt::Debug for RawSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(out)
    }
}

impl PartialEq for RawSecret {
    fn eq(&self, other: &RawSecret) -> bool {
        self.source == other.source
    }
}

impl From<&str> for RawSecret {
    fn from(text: &str) -> RawSecret {
        RawSecret::new(text.into())
    }
}

impl Serialize for RawSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.source.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawSecret, D::Error> {
        Source::deserialize(deserializer).map(RawSecret::new)
    }
}

/// A request field of the user's own.
#[derive(Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RawHeader {
    /// `Name: value`, for everybody.
    Line(String),
    /// One whose value is a secret, for some.
    Secret(RawCredential),
}

/// A request field that some sites may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCredential {
    /// Its name.
    pub name: String,
    /// Its value, or where that is.
    pub value: RawSecret,
    /// The sites that it is for.
    pub hosts: Vec<String>,
}

impl fmt::Debug for RawHeader {
    /// Without values: what should be a secret may have been written as if it were none.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawHeader::Line(line) => write!(out, "Line({:?}: …)", line.split_once(':').map(|(name, _)| name)),
            RawHeader::Secret(credential) => credential.fmt(out),
        }
    }
}

impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawHeader, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = RawHeader;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("\"Name: value\" or { name = \"…\", value = …, hosts = [\"www.example.com\"] }")
            }

            fn visit_str<E: de::Error>(self, line: &str) -> Result<RawHeader, E> {
                Ok(RawHeader::Line(line.to_owned()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<RawHeader, M::Error> {
                RawCredential::deserialize(MapAccessDeserializer::new(map)).map(RawHeader::Secret)
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl RawConfig {
    /// Its secrets, each with its key.
    pub(super) fn secrets(&mut self) -> impl Iterator<Item = (&'static str, &mut RawSecret)> {
        let headers = self.fetch.headers.iter_mut().flatten().filter_map(|header| match header {
            RawHeader::Secret(credential) => Some(("fetch.headers", &mut credential.value)),
            RawHeader::Line(_) => None,
        });
        headers.chain(self.network.proxy.iter_mut().map(|proxy| ("network.proxy", proxy)))
    }

    /// Fetches the secrets that it refers to, for a run that needs them. They are not written down.
    pub fn fetch_secrets(&mut self, files: &Files) -> Result<(), ConfigError> {
        self.secrets().try_for_each(|(key, secret)| {
            let failed = |error: SourceError| error.to_string();
            secret.fetch(files).map_err(|error| ConfigError::Value {
                place: None,
                key,
                message: failed(error),
            })
        })
    }

    /// Places elsewhere that its secrets are taken from or, of a proxy, sent to: the key, the place in words that hold no secret, and the file
    /// that it is in. Whose word they are is asked before anything of it happens.
    pub(crate) fn secret_places(&self) -> Vec<(&'static str, String, Option<PathBuf>)> {
        let place = |source: &Source| match source {
            Source::Here(_) => None,
            Source::Env(name) => Some((format!("the environment's {name}"), None)),
            Source::File(path) => Some((path.display().to_string(), Some(path.clone()))),
        };
        let mut places = Vec::new();
        for header in self.fetch.headers.iter().flatten() {
            if let RawHeader::Secret(credential) = header
                && let Some((from, file)) = place(&credential.value.source)
            {
                let hosts = credential.hosts.join(", ");
                places.push((
                    "fetch.headers",
                    format!("{} out of {from}, for {hosts}", credential.name),
                    file,
                ));
            }
        }
        if let Some(proxy) = &self.network.proxy {
            let (shown, file) = place(&proxy.source).unwrap_or_else(|| {
                let parsed = proxy.get().and_then(|text| values::proxy(text.expose()).ok());
                let shown = parsed.map(|proxy| format!("{}:{}", proxy.host, proxy.port));
                (shown.unwrap_or_else(|| "a text that names none".to_owned()), None)
            });
            places.push(("network.proxy", shown, file));
        }
        places
    }

    /// Whether a secret stands in it, so that a file that it is written to must be private. A proxy that wants no password is none.
    pub fn holds_secret(&self) -> bool {
        let proxy = self.network.proxy.as_ref().filter(|proxy| proxy.is_here());
        let password = proxy.and_then(RawSecret::get).is_some_and(|proxy| proxy.expose().contains('@'));
        let is_secret = |header: &RawHeader| match header {
            RawHeader::Secret(credential) => credential.value.is_here(),
            RawHeader::Line(line) => line.split_once(':').is_some_and(|(name, _)| is_credential_name(name)),
        };
        password || self.fetch.headers.iter().flatten().any(is_secret)
    }
}

impl Config {
    /// What whoever begins a run should know of it: where secrets go in the clear, and what passes the guard.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(proxy) = &self.proxy {
            let is_near = proxy.host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
            if proxy.authorization.is_some() && !is_near {
                warnings.push(format!(
                    "the name and the password for the proxy {} go to it in the clear; use one that is reached by a tunnel",
                    proxy.host
                ));
            }
            let passes = "the proxy finds the addresses of names, past the guard that refuses private ones; let the proxy refuse \
                          those itself, or pages can lead the crawl to whatever it reaches";
            warnings.push(passes.to_owned());
        }
        for credential in &self.credentials {
            let sites: Vec<String> = credential.in_the_clear().map(ToString::to_string).collect();
            if !sites.is_empty() {
                let (name, sites) = (credential.name(), sites.join(", "));
                warnings.push(format!(
                    "`{name}` goes to {sites} in the clear, for everybody on the way to read; leave out `http://` to send it over https only"
                ));
            }
        }
        warnings
    }
}

/// The parser's message. It shows the line that is wrong, unless secrets may stand there or in what it says of a value.
pub(super) fn explained(error: &toml::de::Error, text: &str) -> String {
    if !["proxy", "header"].iter().any(|key| text.contains(key)) {
        return error.to_string().trim_end().to_owned();
    }
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let (line, column) =
        (before.matches('\n').count() + 1, before.rsplit('\n').next().map_or(0, str::len) + 1);
    let message = error.message();
    let message = match (message.find("string \""), message.rfind('"')) {
        (Some(begin), Some(end)) if begin + 8 <= end => {
            format!("{}…{}", &message[..begin + 8], &message[end..])
        }
        _ => message.to_owned(),
    };
    format!("line {line}, column {column}: {message}")
}

/// The proxy, of which a URL with a name and a password may be a secret.
pub(super) fn proxy(raw: Option<&RawSecret>, files: Read) -> Result<Option<Proxy>, ConfigError> {
    const KEY: &str = "network.proxy";
    let Some(raw) = raw else { return Ok(None) };
    let text = match (raw.get(), files) {
        (Some(secret), _) => secret.expose(),
        (None, Read::Read) => return Err(unfetched(KEY)),
        (None, Read::Unread | Read::Saved) => UNREAD_PROXY,
    };
    values::proxy(text).map(Some).map_err(wrong(KEY))
}

/// Fields for everybody, and those for some sites.
pub(super) fn headers(
    raw: Option<&[RawHeader]>,
    files: Read,
) -> Result<(Vec<Field>, Vec<Credential>), ConfigError> {
    const KEY: &str = "fetch.headers";
    let (mut fields, mut credentials) = (Vec::new(), Vec::new());
    for header in raw.unwrap_or_default() {
        match header {
            RawHeader::Line(line) => {
                let field = values::header(line).map_err(wrong(KEY))?;
                if !is_credential_name(field.name()) {
                    fields.push(field);
                } else if files != Read::Saved {
                    return Err(wrong(KEY)(format!(
                        "`{0}` is a field of credentials, which only those they are for may see; write \
                         {{ name = \"{0}\", value = {{ env = \"VARIABLE\" }}, hosts = [\"www.example.com\"] }} in the configuration",
                        field.name()
                    )));
                }
            }
            RawHeader::Secret(raw) => {
                credentials.extend(credential(raw, files).map_err(|error| match error {
                    Some(message) => wrong(KEY)(message),
                    None => unfetched(KEY),
                })?)
            }
        }
    }
    Ok((fields, credentials))
}

/// The field, if its value is known or need not be; the error is `None` if it should be.
fn credential(raw: &RawCredential, files: Read) -> Result<Option<Credential>, Option<String>> {
    if raw.hosts.is_empty() {
        return Err(Some(format!("`{}` has no hosts; name those that may see it", raw.name)));
    }
    let sites: Result<Vec<Site>, _> = raw.hosts.iter().map(|host| host.parse()).collect();
    let sites = sites.map_err(|error| Some(format!("the hosts of `{}`: {error}", raw.name)))?;
    let nothing = Secret::new("");
    let value = match (raw.value.get(), files) {
        (None, Read::Read) => return Err(None),
        (value, _) => value.unwrap_or(&nothing),
    };
    let checked = Credential::new(&raw.name, value, sites).map_err(|error| Some(error.to_string()))?;
    Ok(raw.value.get().is_some().then_some(checked))
}

fn unfetched(key: &'static str) -> ConfigError {
    wrong(key)("its secret was not fetched; this is a bug".to_owned())
}

#[cfg(test)]
mod tests;
