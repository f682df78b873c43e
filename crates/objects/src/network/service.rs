//! One request: whether it may be asked, and whether the answer is one to it.

use async_trait::async_trait;
use http::header::{CONTENT_LENGTH, LOCATION, RANGE};
use http::{Method, StatusCode};
use hyper_util::client::legacy::connect::HttpInfo;
use mattock_guard::AddressGuard;
use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::{Client, Url};

use super::connector::{Asking, Web};
use super::limits::{ANSWER_BYTES_MAX, Capped, words};
use super::refused::Refused;

/// reqwest's client within the rules of this module's parent.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) client: Client,
    pub(super) asking: Asking,
}

/// A request, as far as it counts for the answer.
struct Asked {
    url: Url,
    method: Method,
    /// Bytes of the range, if there is one.
    range: Option<u64>,
}

impl Asked {
    fn of(request: &HttpRequest) -> Result<Asked, HttpError> {
        let text = request.uri().to_string();
        let url = Url::parse(&text).map_err(|_| Refused::Url(shortened(&text)))?;
        let range = request.headers().get(RANGE).and_then(|value| bytes_of(value.to_str().ok()?));
        Ok(Asked { url, method: request.method().clone(), range })
    }

    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

/// A URL as it can be named: what is behind the path may be what lets whoever has it in.
fn shown(mut url: Url) -> String {
    url.set_query(None);
    url.set_fragment(None);
    // Not every URL has a place for them.
    let _ = (url.set_username(""), url.set_password(None));
    shortened(url.as_str())
}

/// An error is for people: nobody reads a URL of kilobytes.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 300;
    let end = text.floor_char_boundary(SHOWN);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

/// How many bytes `bytes=10-19` asks for.
fn bytes_of(range: &str) -> Option<u64> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asked = Asked::of(&request)?;
        if let Asking::Web(web) = &self.asking {
            self.permit(web, &asked).await?;
        }
        let response = match HttpService::call(&self.client, request).await {
            Ok(response) => response,
            Err(error) => {
                if matches!((&self.asking, error.kind()), (Asking::Provider(_), HttpErrorKind::Connect)) {
                    self.asking.names().renew(asked.host());
                }
                return Err(error);
            }
        };
        if let Some(info) = response.extensions().get::<HttpInfo>() {
            self.asking.names().answered(asked.host(), info.remote_addr().ip());
        }
        self.checked(&asked, response).await
    }
}

impl Service {
    /// Whether a server may be asked. The addresses that are judged here are those that are connected to: a name keeps them.
    async fn permit(&self, web: &Web, asked: &Asked) -> Result<(), HttpError> {
        if web.is_named() {
            return Ok(());
        }
        let (guard, host) = (AddressGuard::default(), asked.host());
        let local = |why: String| Refused::Local { server: asked.url.origin().ascii_serialization(), why };
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let addresses = match address {
            Ok(address) => vec![address],
            Err(_) if web.is_proxied && guard.permits_name(host) => return Ok(()),
            Err(_) if web.is_proxied => return Err(local(format!("{host} is a local name")).into()),
            Err(_) => {
                let found = web.names.clone().find(host).await;
                found.map_err(|error| HttpError::new(HttpErrorKind::Connect, error))?
            }
        };
        match addresses.into_iter().find(|address| !guard.permits(*address)) {
            Some(address) => Err(local(format!("its address is {address}")).into()),
            None => Ok(()),
        }
    }

    /// The answer, if it is one to what was asked, and no more of it than that.
    async fn checked(&self, asked: &Asked, response: HttpResponse) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = response.into_parts();
        let is_web = matches!(self.asking, Asking::Web(_));
        if parts.status.is_redirection()
            && let Some(place) = parts.headers.get(LOCATION)
        {
            // One that could be followed was.
            let place = place.to_str().unwrap_or_default();
            let next = asked.url.join(place).map_err(|_| Refused::Url(shortened(place)))?;
            if next.origin() != asked.url.origin() {
                return Err(Refused::Elsewhere { place: shown(next) }.into());
            }
            if !is_web || !next.path().ends_with('/') {
                return Err(Refused::Circles.into());
            }
            // So Web servers say that something is a directory. There is no object of this name.
            parts.status = StatusCode::NOT_FOUND;
        }
        if !parts.status.is_success() {
            // Servers that list nothing say so in these ways. `object_store` asks again after 501, and takes 404 for an empty directory.
            let lists_nothing = matches!(parts.status, StatusCode::NOT_IMPLEMENTED | StatusCode::NOT_FOUND);
            if is_web && lists_nothing && asked.method.as_str() == "PROPFIND" {
                parts.status = StatusCode::METHOD_NOT_ALLOWED;
            }
            return Ok(HttpResponse::from_parts(parts, words(body).await.into()));
        }
        let announced =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let body = match asked.range {
            _ if asked.method == Method::HEAD => body,
            Some(_) if parts.status != StatusCode::PARTIAL_CONTENT => return Err(Refused::Whole.into()),
            Some(wanted) => {
                if let Some(announced) = announced.filter(|announced| *announced > wanted) {
                    return Err(Refused::More { announced, wanted }.into());
                }
                HttpResponseBody::new(Capped::range(body, wanted))
            }
            None if announced.is_some_and(|announced| announced > ANSWER_BYTES_MAX) => {
                return Err(Refused::Long { limit: ANSWER_BYTES_MAX }.into());
            }
            None => HttpResponseBody::new(Capped::answer(body)?),
        };
        Ok(HttpResponse::from_parts(parts, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_as_it_can_be_named() {
        let url = |text: &str| shown(Url::parse(text).unwrap());
        assert_eq!(url("https://me:s3cret@a.example/b?sig=s3cret#c"), "https://a.example/b");
        assert_eq!(url("data:x"), "data:x");
        assert_eq!(url(&format!("http://a.example/{}", "ä".repeat(500))).chars().count(), 301);
    }

    #[test]
    fn ranges_are_as_long_as_they_say() {
        assert_eq!(bytes_of("bytes=10-19"), Some(10));
        assert_eq!(bytes_of("bytes=0-0"), Some(1));
        for none in ["bytes=10-", "bytes=-5", "bytes=9-5", "bytes=0-18446744073709551615", "lines=1-2", ""] {
            assert_eq!(bytes_of(none), None, "{none}");
        }
    }
}
