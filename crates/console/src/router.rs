//! From a request to its answer: guard, route, checked input, and the desk's word.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use mattock_env::{Clock, Env};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::answer::{Answer, Body, Problem, secure};
use crate::assets;
use crate::desk::Desk;
use crate::guard::{Guard, Reach, Standing};
use crate::input::{Input, decoded, pairs};
use crate::live::Live;
use crate::places::Place;
use crate::routes::{Handler, ROUTES, Route};
use crate::token::Tickets;

/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest body that is read.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 10;
/// Requests that read the disk at once: they must not take it from the crawl.
const READERS: usize = 2;
/// Requests that wait for that.
const READERS_WAITING_MAX: usize = 32;

/// Answers requests.
pub(crate) struct Router {
    desk: Arc<Desk>,
    live: Live,
    clock: Clock,
    tickets: Tickets,
    readers: Semaphore,
    waiting: Semaphore,
}

impl Router {
    pub(crate) fn new(env: &Env, desk: Arc<Desk>, live: Live) -> Router {
        Router {
            desk,
            live,
            clock: env.clock.clone(),
            tickets: Tickets::new(env.clock.clone(), env.random.fork("tickets")),
            readers: Semaphore::new(READERS),
            waiting: Semaphore::new(READERS_WAITING_MAX),
        }
    }

    /// Answers one request, whatever it is. Its connection keeps its place from when it shows that it may ask.
    pub(crate) async fn answer<B>(&self, request: Request<B>, guard: &Guard, place: &Place) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes> + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        match self.respond(request, guard, place).await {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        }
    }

    async fn respond<B>(
        &self,
        request: Request<B>,
        guard: &Guard,
        place: &Place,
    ) -> Result<Response<Body>, Problem>
    where
        B: hyper::body::Body<Data = Bytes> + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        let asset = assets::find(path);
        let reach = match path {
            _ if asset.is_some() => Reach::Open,
            "/healthz" | "/metrics" => Reach::Counts,
            "/view" => Reach::Ticketed,
            _ => Reach::Data,
        };
        let standing = guard.check(&parts.method, &parts.headers, reach)?;
        if standing == Standing::Known {
            place.recognise();
        }
        let get = parts.method == Method::GET || parts.method == Method::HEAD;
        let query = parts.uri.query().unwrap_or_default();
        match asset {
            Some(_) if !get => return Ok(not_allowed("GET, HEAD")),
            Some(_) if path == "/" && query.contains("token=") => return admit(query, guard),
            Some(asset) => return Ok(asset.into_response()),
            None => {}
        }
        let method = if get { &Method::GET } else { &parts.method };
        let (route, captured) = match find(method, path)? {
            Found::Route(route, captured) => (route, captured),
            Found::OtherMethod(allowed) => return Ok(not_allowed(allowed)),
            Found::Nothing => {
                return Err(Problem::not_found("there is nothing here; /api/v1/openapi.json lists what is"));
            }
        };
        if reach == Reach::Ticketed && standing == Standing::Stranger && !query.contains("ticket=") {
            return Err(no_ticket());
        }
        let body = if get { None } else { Some(self.read_object(&parts.headers, body).await?) };
        let input = Input::read(route.params, &captured, query, body.as_ref())?;
        self.handle(route, input, guard, standing).await
    }

    /// Reads a body that must be a JSON object, or nothing at all.
    async fn read_object<B>(&self, headers: &http::HeaderMap, body: B) -> Result<Map<String, Value>, Problem>
    where
        B: hyper::body::Body<Data = Bytes> + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let read = self.clock.timeout(BODY_TIMEOUT, Limited::new(body, BODY_BYTES_MAX).collect()).await;
        let Ok(read) = read else { return Err(Problem::invalid("the body did not come in time")) };
        let bytes = read.map_err(|error| match error.is::<http_body_util::LengthLimitError>() {
            true => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                format!("a body has at most {BODY_BYTES_MAX} bytes"),
            ),
            false => Problem::invalid("the body could not be read"),
        })?;
        let bytes = bytes.to_bytes();
        if bytes.is_empty() {
            return Ok(Map::new());
        }
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not-json",
                "send the body as `Content-Type: application/json`",
            ));
        }
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(Problem::invalid("the body must be a JSON object")),
            Err(error) => Err(Problem::invalid(format!("the body is no JSON: {error}"))),
        }
    }

    async fn handle(
        &self,
        route: &'static Route,
        input: Input,
        guard: &Guard,
        standing: Standing,
    ) -> Result<Response<Body>, Problem> {
        match route.handler {
            Handler::Quick(work) => work(&self.desk, &input).map(Answer::into_response),
            Handler::Slow(work) => self.apart(work, input).await,
            Handler::Live => self.live.stream(),
            Handler::History => Ok(Answer::json(&self.live.history()).into_response()),
            Handler::Ticket => {
                let ticket = self.tickets.issue(&subject(&input)?);
                Ok(Answer::json(&serde_json::json!({ "ticket": ticket })).into_response())
            }
            Handler::Login => {
                let done = serde_json::json!({ "done": "this browser may ask from now on" });
                let mut response = Answer::json(&done).into_response();
                if let Some(gate) = guard.gate() {
                    response.headers_mut().insert(header::SET_COOKIE, gate.admit());
                }
                Ok(response)
            }
            Handler::View(work) => {
                let good =
                    || Ok(self.tickets.redeem(input.text("ticket").unwrap_or_default(), &subject(&input)?));
                if standing == Standing::Stranger && !good()? {
                    return Err(no_ticket());
                }
                self.apart(work, input).await
            }
        }
    }

    /// Does what reads the disk on another thread.
    async fn apart(
        &self,
        work: fn(&Desk, &Input) -> Result<Answer, Problem>,
        input: Input,
    ) -> Result<Response<Body>, Problem> {
        let busy = || {
            Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "busy",
                "too many requests wait for the disk; try again later",
            )
        };
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let _reader = self.readers.acquire().await.map_err(|_| busy())?;
        let desk = self.desk.clone();
        match tokio::task::spawn_blocking(move || work(&desk, &input)).await {
            Ok(answer) => answer.map(Answer::into_response),
            Err(_) => {
                Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this request broke down"))
            }
        }
    }
}

/// Answers the address that was printed: a browser that shows the token gets a session, and an address without it in any case. What is no
/// token is not complained about: the page asks for one.
fn admit(query: &str, guard: &Guard) -> Result<Response<Body>, Problem> {
    let given = pairs(query)?.into_iter().find(|(name, _)| name == "token");
    let mut response = Response::new(http_body_util::Empty::<Bytes>::new().boxed_unsync());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
    if let (Some((_, given)), Some(gate)) = (given, guard.gate())
        && gate.is_token(&given)
    {
        response.headers_mut().insert(header::SET_COOKIE, gate.admit());
    }
    secure(&mut response, false);
    Ok(response)
}

fn no_ticket() -> Problem {
    let detail = "ask for a ticket first: POST /api/v1/tickets";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

/// What a ticket is for.
fn subject(input: &Input) -> Result<String, Problem> {
    Ok(format!("{} {}", input.count("n", 0), input.asked("u")?.url()))
}

fn not_allowed(allowed: &'static str) -> Response<Body> {
    let problem = Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        format!("only {allowed} can be done here"),
    );
    let mut response = problem.into_response();
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

enum Found {
    Route(&'static Route, Vec<(&'static str, String)>),
    OtherMethod(&'static str),
    Nothing,
}

fn find(method: &Method, path: &str) -> Result<Found, Problem> {
    let mut other = (false, false);
    for route in ROUTES {
        let Some(captured) = captures(route.path, path)? else { continue };
        if route.method() == *method {
            return Ok(Found::Route(route, captured));
        }
        if route.change { other.1 = true } else { other.0 = true }
    }
    Ok(match other {
        (false, false) => Found::Nothing,
        (true, false) => Found::OtherMethod("GET, HEAD"),
        (false, true) => Found::OtherMethod("POST"),
        (true, true) => Found::OtherMethod("GET, HEAD, POST"),
    })
}

/// What a path has in the places that a pattern leaves open.
fn captures(pattern: &'static str, path: &str) -> Result<Option<Vec<(&'static str, String)>>, Problem> {
    let (mut names, mut words) = (pattern.split('/'), path.split('/'));
    let mut captured = Vec::new();
    loop {
        match (names.next(), words.next()) {
            (None, None) => break,
            (Some(name), Some(word)) => {
                match name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                    Some(name) => captured.push((name, word)),
                    None if name == word => {}
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }
    }
    captured
        .into_iter()
        .map(|(name, word)| Ok((name, decoded(word, false)?)))
        .collect::<Result<_, _>>()
        .map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_before_they_are_decoded() {
        let matched = |pattern, path| captures(pattern, path).unwrap();
        assert_eq!(matched("/a/b", "/a/b"), Some(vec![]));
        assert_eq!(matched("/a/b", "/a/b/"), None);
        let host = matched("/hosts/{host}", "/hosts/http%3A%2F%2Fa.com%3A81").unwrap();
        assert_eq!(host, [("host", "http://a.com:81".to_owned())]);
        assert!(captures("/hosts/{host}", "/hosts/%ff").is_err());
        assert!(matches!(find(&Method::GET, "/api/v1/pause"), Ok(Found::OtherMethod("POST"))));
        assert!(matches!(find(&Method::DELETE, "/api/v1/blocks"), Ok(Found::OtherMethod("GET, HEAD, POST"))));
    }
}
