//! Request heads. Most of a head is the same for every URL of a crawl and is put together once.

use mattock_weburl::{Scheme, WebUrl};

use crate::ClientOptions;
use crate::options::Identity;

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

/// Writes request heads.
#[derive(Debug)]
pub(crate) struct RequestWriter {
    /// What follows the value of `Host`, up to the last field's end.
    common: Vec<u8>,
    /// `Proxy-Authorization` with its value and line end, or nothing.
    authorization: Vec<u8>,
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
        let mut authorization = Vec::new();
        if let Some(value) = options.proxy.as_ref().and_then(|proxy| proxy.authorization.as_ref()) {
            push_field(&mut authorization, "Proxy-Authorization", &value.0);
        }
        RequestWriter { common, authorization, proxied: options.proxy.is_some() }
    }

    /// The request for a page.
    pub(crate) fn get(&self, url: &WebUrl, validators: Option<&Validators>) -> Vec<u8> {
        let (path, authority) = (url.path_and_query(), url.authority());
        let mut request = Vec::with_capacity(self.common.len() + path.len() + 2 * authority.len() + 64);
        // In the clear the proxy reads the request; in a tunnel it does not.
        let in_the_clear = self.proxied && url.scheme() == Scheme::Http;
        match in_the_clear {
            true => push(&mut request, &["GET ", url.as_str()]),
            false => push(&mut request, &["GET ", path]),
        }
        push(&mut request, &[" HTTP/1.1\r\nHost: ", authority]);
        request.extend_from_slice(&self.common);
        if in_the_clear {
            request.extend_from_slice(&self.authorization);
        }
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
    pub(crate) fn tunnel(&self, url: &WebUrl) -> Vec<u8> {
        let target = format!("{}:{}", url.host_name(), url.port());
        let mut request = Vec::with_capacity(256);
        push(&mut request, &["CONNECT ", &target, " HTTP/1.1\r\nHost: ", &target, "\r\n"]);
        request.extend_from_slice(&self.authorization);
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
    use crate::{Field, FieldValue, Proxy};

    fn options() -> ClientOptions {
        let identity = Identity { user_agent: "digger/1".to_owned(), from: Some("me@x.org".to_owned()) };
        ClientOptions::new(identity)
    }

    fn get(options: &ClientOptions, url: &str, validators: Option<&Validators>) -> String {
        String::from_utf8(RequestWriter::new(options).get(&WebUrl::parse(url).unwrap(), validators)).unwrap()
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
        let authorization = Some(FieldValue::new("Basic abc").unwrap());
        options.proxy = Some(Proxy { host: "proxy".to_owned(), port: 3128, authorization });
        let clear = get(&options, "http://x.org/a", None);
        assert!(clear.starts_with("GET http://x.org/a HTTP/1.1\r\nHost: x.org\r\n"), "{clear}");
        assert!(clear.contains("Proxy-Authorization: Basic abc\r\n"), "{clear}");
        let secret = get(&options, "https://x.org/a", None);
        assert!(secret.starts_with("GET /a HTTP/1.1\r\n") && !secret.contains("Proxy-Auth"), "{secret}");
        let tunnel = RequestWriter::new(&options).tunnel(&WebUrl::parse("https://x.org/a").unwrap());
        assert_eq!(
            String::from_utf8(tunnel).unwrap(),
            "CONNECT x.org:443 HTTP/1.1\r\nHost: x.org:443\r\nProxy-Authorization: Basic abc\r\n\r\n"
        );
    }
}
