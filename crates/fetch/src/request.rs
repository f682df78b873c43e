//! Request heads. Most of a head is the same for every URL of a crawl and is put together once.
//!
//! A head with secrets in it is written twice: as it is sent, and as it is recorded, with the values of those fields
//! [left out](mattock_secret::LEFT_OUT). Most have none and are written once.

use mattock_secret::{LEFT_OUT, Secret};
use mattock_weburl::{Scheme, WebUrl};
use zeroize::Zeroizing;

use crate::options::Identity;
use crate::{ClientOptions, Credential};

/// What a response named so that a later request can ask "only if it changed since".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` field, as received.
    pub etag: Option<String>,
    /// The `Last-Modified` field, as received.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to ask by.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// A request head.
pub(crate) struct RequestHead {
    /// As it is kept: without secrets.
    pub(crate) recorded: Vec<u8>,
    /// As it is sent, if that is something else.
    pub(crate) secret: Option<Zeroizing<Vec<u8>>>,
    /// Whether it has credentials for the site: whose site it is must then be certain.
    pub(crate) has_credentials: bool,
}

/// Writes request heads.
#[derive(Debug)]
pub(crate) struct RequestWriter {
    /// What follows the value of `Host`, up to the last field's end.
    common: Vec<u8>,
    credentials: Vec<Credential>,
    /// The value of `Proxy-Authorization`, if there is one.
    authorization: Option<Secret>,
    proxied: bool,
}

impl RequestWriter {
    pub(crate) fn new(options: &ClientOptions) -> RequestWriter {
        let Identity { user_agent, from } = &options.identity;
        let mut common = Vec::with_capacity(256);
        push(&mut common, &["\r\n"]);
        push_field(&mut common, "User-Agent", user_agent);
        if let Some(from) = from {
            push_field(&mut common, "From", from);
        }
        push_field(&mut common, "Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5");
        if options.compressed {
            push_field(&mut common, "Accept-Encoding", "gzip, deflate, br, zstd");
        }
        for field in &options.fields {
            push_field(&mut common, &field.name, &field.value.0);
        }
        RequestWriter {
            common,
            credentials: options.credentials.clone(),
            authorization: options.proxy.as_ref().and_then(|proxy| proxy.authorization.clone()),
            proxied: options.proxy.is_some(),
        }
    }

    /// The request for a page.
    pub(crate) fn get(&self, url: &WebUrl, validators: Option<&Validators>) -> RequestHead {
        let mut secrets: Vec<(&str, &Secret)> = Vec::new();
        for credential in self.credentials.iter().filter(|credential| credential.is_for(url)) {
            secrets.push((&credential.name, &credential.value));
        }
        let has_credentials = !secrets.is_empty();
        if let Some(value) = self.authorization.as_ref().filter(|_| self.is_in_the_clear(url)) {
            secrets.push(("Proxy-Authorization", value));
        }
        let recorded = self.head(url, validators, secrets.iter().map(|&(name, _)| (name, LEFT_OUT)));
        let secret = (!secrets.is_empty()).then(|| {
            let exposed = secrets.iter().map(|&(name, value)| (name, value.expose()));
            Zeroizing::new(self.head(url, validators, exposed))
        });
        RequestHead { recorded, secret, has_credentials }
    }

    /// Whether the proxy reads the request: in a tunnel it does not.
    fn is_in_the_clear(&self, url: &WebUrl) -> bool {
        self.proxied && url.scheme() == Scheme::Http
    }

    fn head<'a>(
        &self,
        url: &WebUrl,
        validators: Option<&Validators>,
        fields: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<u8> {
        let (path, authority) = (url.path_and_query(), url.authority());
        let mut request = Vec::with_capacity(self.common.len() + path.len() + 2 * authority.len() + 64);
        match self.is_in_the_clear(url) {
            true => push(&mut request, &["GET ", url.as_str()]),
            false => push(&mut request, &["GET ", path]),
        }
        push(&mut request, &[" HTTP/1.1\r\nHost: ", authority]);
        request.extend_from_slice(&self.common);
        fields.for_each(|(name, value)| push_field(&mut request, name, value));
        if let Some(etag) = validators.and_then(|validators| validators.etag.as_deref()) {
            push_field(&mut request, "If-None-Match", etag);
        }
        if let Some(date) = validators.and_then(|validators| validators.last_modified.as_deref()) {
            push_field(&mut request, "If-Modified-Since", date);
        }
        request.extend_from_slice(b"\r\n");
        request
    }

    /// The request for a tunnel through the proxy.
    pub(crate) fn tunnel(&self, url: &WebUrl) -> Zeroizing<Vec<u8>> {
        let target = format!("{}:{}", url.host_name(), url.port());
        let mut request = Zeroizing::new(Vec::with_capacity(1024));
        push(&mut request, &["CONNECT ", &target, " HTTP/1.1\r\nHost: ", &target, "\r\n"]);
        if let Some(value) = &self.authorization {
            push_field(&mut request, "Proxy-Authorization", value.expose());
        }
        request.extend_from_slice(b"\r\n");
        request
    }
}

fn push(request: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| request.extend_from_slice(part.as_bytes()));
}

/// Control characters are left out: what comes from a configuration or from another server's response must not become
/// a line of its own.
fn push_field(request: &mut Vec<u8>, name: &str, value: &str) {
    push(request, &[name, ": "]);
    request.extend(value.bytes().filter(|&byte| byte >= b' ' && byte != 0x7f));
    push(request, &["\r\n"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Proxy};

    fn options() -> ClientOptions {
        let identity = Identity { user_agent: "digger/1".to_owned(), from: Some("me@x.org".to_owned()) };
        ClientOptions::new(identity)
    }

    fn get(options: &ClientOptions, url: &str, validators: Option<&Validators>) -> String {
        sent(&RequestWriter::new(options).get(&WebUrl::parse(url).unwrap(), validators))
    }

    fn sent(head: &RequestHead) -> String {
        let bytes = head.secret.as_ref().map_or(&head.recorded[..], |secret| secret);
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_request_says_what_is_wanted_and_who_asks() {
        let mut options = options();
        options.fields.push(Field::new("Accept-Language", "de").unwrap());
        assert_eq!(
            get(&options, "http://x.org:8080/a?b", None),
            "GET /a?b HTTP/1.1\r\nHost: x.org:8080\r\nUser-Agent: digger/1\r\nFrom: me@x.org\r\n\
             Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\
             Accept-Language: de\r\n\r\n"
        );
    }

    #[test]
    fn validators_make_it_conditional_and_cannot_smuggle() {
        let validators = Validators {
            etag: Some("\"a\"\r\nX: y".to_owned()),
            last_modified: Some("yesterday".to_owned()),
        };
        let request = get(&options(), "http://x.org/", Some(&validators));
        assert!(
            request.ends_with("If-None-Match: \"a\"X: y\r\nIf-Modified-Since: yesterday\r\n\r\n"),
            "{request}"
        );
    }

    #[test]
    fn a_proxy_gets_the_whole_url_or_a_tunnel() {
        let mut options = options();
        let authorization = Some(Secret::new("Basic abc"));
        options.proxy = Some(Proxy { host: "proxy".to_owned(), port: 3128, authorization });
        let clear = get(&options, "http://x.org/a", None);
        assert!(clear.starts_with("GET http://x.org/a HTTP/1.1\r\nHost: x.org\r\n"), "{clear}");
        assert!(clear.contains("Proxy-Authorization: Basic abc\r\n"), "{clear}");
        let secret = get(&options, "https://x.org/a", None);
        assert!(secret.starts_with("GET /a HTTP/1.1\r\n") && !secret.contains("Proxy-Auth"), "{secret}");
        let tunnel = RequestWriter::new(&options).tunnel(&WebUrl::parse("https://x.org/a").unwrap());
        assert_eq!(
            String::from_utf8(tunnel.to_vec()).unwrap(),
            "CONNECT x.org:443 HTTP/1.1\r\nHost: x.org:443\r\nProxy-Authorization: Basic abc\r\n\r\n"
        );
    }
    #[test]
    fn what_is_recorded_leaves_secrets_out_and_says_so() {
        let mut options = options();
        let authorization = Some(Secret::new("Basic abc"));
        options.proxy = Some(Proxy { host: "proxy".to_owned(), port: 3128, authorization });
        let sites = vec!["x.org".parse().unwrap(), "http://x.org".parse().unwrap()];
        options.credentials.push(Credential::new("X-Api-Key", &Secret::new("k3y"), sites).unwrap());
        let writer = RequestWriter::new(&options);
        let head = |url: &str| writer.get(&WebUrl::parse(url).unwrap(), None);
        for (url, key, password) in [
            ("http://x.org/a", true, true),
            ("https://x.org/a", true, false),
            ("http://y.org/a", false, true),
            ("https://y.org/a", false, false),
        ] {
            let head = head(url);
            let sent = sent(&head);
            assert_eq!(sent.contains("\r\nX-Api-Key: k3y\r\n"), key, "{sent}");
            assert_eq!(sent.contains("\r\nProxy-Authorization: Basic abc\r\n"), password, "{sent}");
            assert_eq!((head.has_credentials, head.secret.is_some()), (key, key || password), "{url}");
            let recorded = String::from_utf8(head.recorded).unwrap();
            let left_out = sent.replace("k3y", "(left out)").replace("Basic abc", "(left out)");
            assert_eq!(recorded, left_out, "{url}");
        }
        assert!(!format!("{writer:?} {options:?}").contains("k3y"), "{writer:?}");
    }
}
