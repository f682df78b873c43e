//! Who may ask: the first look at every request, before any route.
//!
//! | danger | answer |
//! |---|---|
//! | another site's name leads here (DNS rebinding) | the Host header must be a loopback name, an address, the name that was bound, or one that was given for a proxy |
//! | another site's page asks (CSRF, reading across origins) | Origin must be this host, or a name that was given for a proxy; fetches from other sites are refused |
//! | a form or a link changes something | changes are POSTs with `X-Mattock: 1`, which no other site can send, or with the token |
//! | somebody else on the network | nothing but the bare pages without the token or a session ([`gate`](crate::gate)); only at loopback may there be none |
//! | somebody else on this machine | the bare pages, and at loopback the counts for monitoring, which name no host and no URL |
//!
//! The Unix socket has none of this: its file can be opened by its owner alone, and browsers cannot reach it.

use std::net::IpAddr;

use http::{HeaderMap, Method, StatusCode, header};

use crate::answer::Problem;
use crate::gate::{Gate, Shown};

/// Where a connection came in, and what is asked of it there.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    /// The crawl's own socket.
    Socket,
    /// A TCP port.
    Port {
        /// Whether it is bound to loopback alone.
        loopback: bool,
        /// The names under which it is reached: the one that was bound, and those of proxies before it.
        names: Vec<String>,
        gate: Option<Gate>,
    },
}

/// What is known of who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// May have what there is without a token.
    Stranger,
    /// May have everything.
    Known,
}

/// What is asked for, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Whether the process lives, and the pages without any data.
    Open,
    /// Counts of the whole crawl, in which no host and no URL is named. Monitoring on this machine reads them without the token.
    Counts,
    /// Data.
    Data,
    /// Archived bytes in a frame, which cannot send headers: their tickets are looked at elsewhere.
    Ticketed,
}

impl Guard {
    /// What a browser that shows the token gets for it, if there is one.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        match self {
            Guard::Port { gate, .. } => gate.as_ref(),
            Guard::Socket => None,
        }
    }

    /// Lets a request pass, or says why not.
    pub(crate) fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        reach: Reach,
    ) -> Result<Standing, Problem> {
        let Guard::Port { loopback, names, gate } = self else { return Ok(Standing::Known) };
        let host = single(headers, header::HOST.as_str())?.unwrap_or_default();
        if !is_ours(host, *loopback, names) {
            return Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "foreign-host",
                "this console does not answer under that name; use the address that it was bound to",
            ));
        }
        let changes = method != Method::GET && method != Method::HEAD;
        if let Some(origin) = single(headers, header::ORIGIN.as_str())? {
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            let is_known =
                |authority: &str| names.iter().any(|name| bare(authority).is_some_and(|bare| bare == *name));
            if authority.is_none_or(|authority| authority != host && !is_known(authority)) {
                return Err(Problem::forbidden("pages of other origins may not ask"));
            }
        }
        if reach != Reach::Open || changes {
            // Browsers say where a request comes from; what they send by themselves says `none`.
            let site = single(headers, "sec-fetch-site")?;
            if site.is_some_and(|site| site != "same-origin" && site != "none") {
                return Err(Problem::forbidden("pages of other sites may not ask"));
            }
        }
        let shown = gate.as_ref().map(|gate| gate.shown(headers)).transpose()?;
        match shown {
            Some(Shown::Nothing) if reach == Reach::Counts && *loopback && !changes => Ok(Standing::Stranger),
            Some(Shown::Nothing | Shown::Wrong)
                if matches!(reach, Reach::Counts | Reach::Data) || changes =>
            {
                Err(unauthorized(shown))
            }
            Some(Shown::Nothing | Shown::Wrong) => Ok(Standing::Stranger),
            // Browsers send cookies by themselves.
            Some(Shown::Session) | None if changes && single(headers, "x-mattock")? != Some("1") => {
                Err(Problem::forbidden("changes need the header `X-Mattock: 1`"))
            }
            _ => Ok(Standing::Known),
        }
    }
}

fn unauthorized(shown: Option<Shown>) -> Problem {
    let detail = match shown {
        Some(Shown::Wrong) => {
            "that is not the console's token, or its session is over; take the address that was printed when it was started"
        }
        _ => {
            "send the console's token as `Authorization: Bearer TOKEN`, or open the address that was printed when it was started"
        }
    };
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

/// A header that must not be there twice: who reads which of them differs.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Problem::invalid(format!("the header {name} is there twice")));
    }
    let text = first.map(|value| value.to_str()).transpose();
    text.map_err(|_| Problem::invalid(format!("the header {name} has strange characters")))
}

/// The name or address in a Host header or an origin, without its port; `None` if it is none.
fn bare(host: &str) -> Option<String> {
    let bare = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) if port.is_empty() || port.starts_with(':') => address,
        Some(_) => return None,
        None => host.split_once(':').map_or(host, |(bare, _)| bare),
    };
    Some(bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase())
}

/// Whether a Host header names this console. The port is not looked at: it may be forwarded.
fn is_ours(host: &str, loopback: bool, names: &[String]) -> bool {
    let Some(bare) = bare(host) else { return false };
    if let Ok(address) = bare.parse::<IpAddr>() {
        // An address in the URL cannot be somebody else's name.
        return !loopback || address.to_canonical().is_loopback();
    }
    bare == "localhost" || names.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Token;
    use http::HeaderValue;
    use mattock_env::Random;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    fn status(guard: &Guard, method: Method, reach: Reach, pairs: &[(&'static str, &'static str)]) -> u16 {
        guard.check(&method, &headers(pairs), reach).map_or_else(|problem| problem.status.as_u16(), |_| 200)
    }

    fn local() -> Guard {
        Guard::Port { loopback: true, names: Vec::new(), gate: None }
    }

    fn remote() -> Guard {
        let gate = Gate::new(Token::new("correct horse battery").unwrap(), 7070, Random::from_seed(1));
        Guard::Port { loopback: false, names: vec!["crawler.example".into()], gate: Some(gate) }
    }

    #[test]
    fn a_proxy_has_a_name_of_its_own() {
        let guard = Guard::Port { loopback: true, names: vec!["console.example".into()], gate: None };
        let post = |host, origin| {
            let pairs =
                [("host", host), ("origin", origin), ("x-mattock", "1"), ("sec-fetch-site", "same-origin")];
            status(&guard, Method::POST, Reach::Data, &pairs)
        };
        assert_eq!(post("127.0.0.1:7070", "https://console.example"), 200);
        assert_eq!(post("console.example", "https://Console.example:8443"), 200);
        assert_eq!(post("127.0.0.1:7070", "https://evil.example"), 403);
        assert_eq!(post("127.0.0.1:7070", "null"), 403);
        assert_eq!(post("evil.example", "https://console.example"), 421);
    }

    #[test]
    fn hosts_are_ours_or_misdirected() {
        let get = |guard: &Guard, host| status(guard, Method::GET, Reach::Data, &[("host", host)]);
        for host in ["localhost", "localhost:7070", "127.0.0.1", "127.0.0.1:7070", "[::1]:7070", "LOCALHOST."]
        {
            assert_eq!(get(&local(), host), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "192.0.2.1",
            "",
            "[::1]evil",
            "127.0.0.1.evil.example:80",
        ] {
            assert_eq!(get(&local(), host), 421, "{host:?}");
        }
        assert_eq!(status(&local(), Method::GET, Reach::Open, &[]), 421);
        let open = |host| status(&remote(), Method::GET, Reach::Open, &[("host", host)]);
        assert_eq!(open("crawler.example:7070"), 200);
        assert_eq!(open("192.0.2.1:7070"), 200);
        assert_eq!(open("evil.example"), 421);
    }

    #[test]
    fn changes_need_a_header_that_no_other_site_can_send() {
        let host = ("host", "127.0.0.1:7070");
        let post = |more: &[(&'static str, &'static str)]| {
            status(&local(), Method::POST, Reach::Data, &[&[host], more].concat())
        };
        assert_eq!(post(&[]), 403);
        assert_eq!(post(&[("x-mattock", "1")]), 200);
        assert_eq!(post(&[("x-mattock", "1"), ("origin", "http://127.0.0.1:7070")]), 200);
        assert_eq!(post(&[("x-mattock", "1"), ("origin", "http://evil.example")]), 403);
        assert_eq!(post(&[("x-mattock", "1"), ("origin", "null")]), 403);
        assert_eq!(post(&[("x-mattock", "1"), ("origin", "http://127.0.0.1:8080")]), 403);
        assert_eq!(post(&[("x-mattock", "1"), ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[("x-mattock", "1"), ("x-mattock", "1")]), 400);
    }

    #[test]
    fn a_token_is_asked_for_all_data() {
        let host = ("host", "192.0.2.1:7070");
        let right = ("authorization", "Bearer correct horse battery");
        let get = |more: &[(&'static str, &'static str)], reach| {
            status(&remote(), Method::GET, reach, &[&[host], more].concat())
        };
        assert_eq!(get(&[], Reach::Data), 401);
        assert_eq!(get(&[("authorization", "Bearer correct horse batterz")], Reach::Data), 401);
        assert_eq!(get(&[("authorization", "Basic Y29ycmVjdA==")], Reach::Data), 401);
        assert_eq!(get(&[right], Reach::Data), 200);
        assert_eq!(get(&[], Reach::Open), 200);
        let post = |more: &[(&'static str, &'static str)]| {
            status(&remote(), Method::POST, Reach::Data, &[&[host], more].concat())
        };
        assert_eq!(post(&[("x-mattock", "1")]), 401);
        assert_eq!(post(&[right]), 200);
        assert_eq!(post(&[right, ("origin", "http://evil.example")]), 403);
    }

    #[test]
    fn counts_are_open_to_this_machine_alone() {
        let counts = |loopback, method, more: &[(&'static str, &'static str)]| {
            let Guard::Port { names, gate, .. } = remote() else { unreachable!("it is a port") };
            let guard = Guard::Port { loopback, names, gate };
            status(&guard, method, Reach::Counts, &[&[("host", "127.0.0.1:7070")], more].concat())
        };
        assert_eq!(counts(true, Method::GET, &[]), 200);
        assert_eq!(counts(false, Method::GET, &[]), 401);
        assert_eq!(counts(true, Method::POST, &[("x-mattock", "1")]), 401);
        assert_eq!(counts(true, Method::GET, &[("authorization", "Bearer something else, wrong")]), 401);
        assert_eq!(counts(true, Method::GET, &[("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(counts(true, Method::GET, &[("origin", "http://evil.example")]), 403);
    }

    #[test]
    fn a_session_alone_changes_nothing() {
        let guard = remote();
        let cookie = guard.gate().unwrap().admit().to_str().unwrap().split(';').next().unwrap().to_owned();
        let ask = |method, more: &[(&'static str, &'static str)]| {
            let mut headers = headers(&[&[("host", "192.0.2.1:7070")], more].concat());
            headers.append("cookie", HeaderValue::from_str(&cookie).unwrap());
            guard.check(&method, &headers, Reach::Data).map_err(|problem| problem.status.as_u16())
        };
        assert_eq!(ask(Method::GET, &[]), Ok(Standing::Known));
        assert_eq!(
            ask(Method::GET, &[("sec-fetch-site", "same-site")]),
            Err(403),
            "another port of this host"
        );
        assert_eq!(ask(Method::POST, &[]), Err(403));
        assert_eq!(ask(Method::POST, &[("x-mattock", "1")]), Ok(Standing::Known));
        assert_eq!(ask(Method::GET, &[("authorization", "Bearer something else, wrong")]), Err(401));
    }

    #[test]
    fn the_socket_is_guarded_by_its_file() {
        assert_eq!(status(&Guard::Socket, Method::POST, Reach::Data, &[]), 200);
    }
}
