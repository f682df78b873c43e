//! The little of HTTP/1.1 that a simulated server needs: request heads in, response heads out, dates both ways.
//!
//! [`parse`] reads one request head from the front of a connection's bytes, [`ResponseHead::write`] appends a head
//! to a buffer. Neither allocates (beyond the buffer's growth) nor uses formatting machinery: both lie on the way of
//! every page, and cost well under a microsecond together.

mod date;

pub(crate) use date::{DATE_BYTES, push_date, read_date};

/// More bytes than this in one request head are refused with 431.
pub(crate) const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;

/// Methods that are served; all others get 405.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
}

/// A request head, still in the connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead<'a> {
    /// Bytes of the head with its empty line: the next request starts after them.
    pub(crate) len: usize,
    pub(crate) method: Method,
    /// As in the `Host` line or the absolute target: any case, perhaps with a port.
    pub(crate) host: &'a str,
    /// Path and query; starts with a slash.
    pub(crate) target: &'a str,
    pub(crate) user_agent: &'a str,
    pub(crate) if_none_match: Option<&'a str>,
    /// Unix time.
    pub(crate) if_modified_since_s: Option<u64>,
    /// Whether the connection may be used again after the answer.
    pub(crate) keep_alive: bool,
    /// Whether the peer has to be told that it may: HTTP/1.0 closes unless both sides say otherwise.
    pub(crate) old: bool,
}

/// What the front of a connection's bytes is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// A whole head.
    Request(RequestHead<'a>),
    /// The beginning of one.
    Partial,
    /// Nothing that can be answered but with this status; the connection is no longer in step and must be closed.
    Refused(u16),
}

/// Reads one request head from the front of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Parsed<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let len = match request.parse(bytes) {
        Ok(httparse::Status::Complete(len)) if len <= HEAD_BYTES_MAX => len,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Parsed::Partial,
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Parsed::Refused(431),
        Err(_) => return Parsed::Refused(400),
    };
    let old = request.version == Some(0);
    let mut head = RequestHead {
        len,
        method: Method::Get,
        host: "",
        target: request.path.unwrap_or_default(),
        user_agent: "",
        if_none_match: None,
        if_modified_since_s: None,
        keep_alive: !old,
        old,
    };
    let mut host_lines = 0;
    for header in request.headers.iter() {
        // The lengths tell almost all other headers apart before a byte is compared.
        let name = header.name;
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => {
                host_lines += 1;
                head.host = std::str::from_utf8(header.value).unwrap_or_default();
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                head.keep_alive = keep_alive(header.value, head.keep_alive);
            }
            10 if name.eq_ignore_ascii_case("user-agent") => {
                head.user_agent = std::str::from_utf8(header.value).unwrap_or_default();
            }
            13 if name.eq_ignore_ascii_case("if-none-match") => {
                head.if_none_match = std::str::from_utf8(header.value).ok();
            }
            17 if name.eq_ignore_ascii_case("if-modified-since") => {
                head.if_modified_since_s = read_date(header.value);
            }
            // A body would have to be skipped to find the next request: answer and close instead.
            14 if name.eq_ignore_ascii_case("content-length") => head.keep_alive &= header.value == b"0",
            17 if name.eq_ignore_ascii_case("transfer-encoding") => head.keep_alive = false,
            _ => {}
        }
    }
    head.method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        _ => return Parsed::Refused(405),
    };
    if !split_absolute(&mut head) || host_lines > 1 || !is_host(head.host) {
        return Parsed::Refused(400);
    }
    Parsed::Request(head)
}

/// Takes `http://host/path` apart, which servers must understand; false if the target is neither that nor a path.
fn split_absolute(head: &mut RequestHead<'_>) -> bool {
    if head.target.starts_with('/') {
        return true;
    }
    let scheme = head.target.get(..7);
    if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://")) {
        return false;
    }
    let rest = &head.target[7..];
    let end = rest.find('/').unwrap_or(rest.len());
    head.host = &rest[..end];
    head.target = if end == rest.len() { "/" } else { &rest[end..] };
    true
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic())
}

fn keep_alive(value: &[u8], default: bool) -> bool {
    let mut keep = default;
    for token in value.split(|&byte| byte == b',') {
        let token = token.trim_ascii();
        if token.eq_ignore_ascii_case(b"close") {
            return false;
        }
        keep |= token.eq_ignore_ascii_case(b"keep-alive");
    }
    keep
}

/// The host without its port.
pub(crate) fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if host[colon + 1..].bytes().all(|byte| byte.is_ascii_digit()) => &host[..colon],
        _ => host,
    }
}

/// The parts of a response head.
#[derive(Debug)]
pub(crate) struct ResponseHead<'a> {
    pub(crate) status: u16,
    pub(crate) date: &'a [u8; DATE_BYTES],
    pub(crate) content_type: &'a str,
    pub(crate) content_length: usize,
    pub(crate) location: Option<&'a str>,
    pub(crate) retry_after_s: Option<u32>,
    /// Written as 16 hexadecimal digits.
    pub(crate) etag: Option<u64>,
    /// Unix time.
    pub(crate) last_modified_s: Option<u64>,
    pub(crate) keep_alive: bool,
    /// See [`RequestHead::old`].
    pub(crate) old: bool,
}

impl ResponseHead<'_> {
    /// Appends the head with its empty line.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        push_number(out, u64::from(self.status));
        out.push(b' ');
        out.extend_from_slice(reason(self.status).as_bytes());
        push_line(out, b"\r\nDate: ", self.date);
        if self.status != 304 {
            if !self.content_type.is_empty() {
                push_line(out, b"\r\nContent-Type: ", self.content_type.as_bytes());
            }
            out.extend_from_slice(b"\r\nContent-Length: ");
            push_number(out, self.content_length as u64);
        }
        if let Some(location) = self.location {
            push_line(out, b"\r\nLocation: ", location.as_bytes());
        }
        if let Some(seconds) = self.retry_after_s {
            out.extend_from_slice(b"\r\nRetry-After: ");
            push_number(out, u64::from(seconds));
        }
        if let Some(etag) = self.etag {
            out.extend_from_slice(b"\r\nETag: \"");
            for shift in (0..16).rev() {
                out.push(b"0123456789abcdef"[(etag >> (4 * shift)) as usize & 15]);
            }
            out.push(b'"');
        }
        if let Some(seconds) = self.last_modified_s {
            out.extend_from_slice(b"\r\nLast-Modified: ");
            push_date(out, seconds);
        }
        if self.status == 405 {
            out.extend_from_slice(b"\r\nAllow: GET, HEAD");
        }
        if !self.keep_alive {
            out.extend_from_slice(b"\r\nConnection: close");
        } else if self.old {
            out.extend_from_slice(b"\r\nConnection: keep-alive");
        }
        out.extend_from_slice(b"\r\n\r\n");
    }
}

fn push_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
}

/// Appends a number in decimal digits.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(text: &str) -> RequestHead<'_> {
        match parse(text.as_bytes()) {
            Parsed::Request(head) => head,
            other => panic!("{other:?} for {text:?}"),
        }
    }

    #[test]
    fn a_request_is_taken_apart() {
        let text = "GET /a?b HTTP/1.1\r\nHost: www.x-sim.com:80\r\nUser-Agent: mattock/1\r\nIf-None-Match: \"7\"\r\n\
                    If-Modified-Since: Sat, 09 Jun 2007 00:00:00 GMT\r\n\r\nGET /next";
        let head = request(text);
        assert_eq!(&text[head.len..], "GET /next");
        assert_eq!(
            (head.method, head.target, without_port(head.host)),
            (Method::Get, "/a?b", "www.x-sim.com")
        );
        assert_eq!((head.user_agent, head.if_none_match), ("mattock/1", Some("\"7\"")));
        assert_eq!(head.if_modified_since_s, Some(1_181_347_200));
        assert!(head.keep_alive);
    }

    #[test]
    fn connections_close_when_asked_to_or_when_a_body_follows() {
        for (line, keep) in [
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", false),
        ] {
            assert_eq!(request(line).keep_alive, keep, "{line:?}");
        }
    }

    #[test]
    fn absolute_targets_name_their_host() {
        let head = request("HEAD HTTP://b.c:8080/x HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((head.method, head.host, head.target), (Method::Head, "b.c:8080", "/x"));
        let head = request("GET http://b.c HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((head.host, head.target), ("b.c", "/"));
    }

    #[test]
    fn what_cannot_be_served_is_refused_with_its_status() {
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "y".repeat(HEAD_BYTES_MAX));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(HEADERS_MAX));
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: \r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\x16\x03\x01 no http", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            (&long, 431),
            (&long[..HEAD_BYTES_MAX], 431),
            (&many, 431),
        ] {
            assert_eq!(parse(text.as_bytes()), Parsed::Refused(status), "{text:?}");
        }
    }

    #[test]
    fn a_head_is_written_line_by_line() {
        let mut out = Vec::new();
        let mut head = ResponseHead {
            status: 503,
            date: b"Sat, 09 Jun 2007 00:00:00 GMT",
            content_type: "text/html",
            content_length: 12_345,
            location: Some("/x"),
            retry_after_s: Some(7),
            etag: Some(0x12_3456_789a_bcde),
            last_modified_s: Some(0),
            keep_alive: false,
            old: false,
        };
        head.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "HTTP/1.1 503 Service Unavailable\r\nDate: Sat, 09 Jun 2007 00:00:00 GMT\r\nContent-Type: text/html\r\n\
             Content-Length: 12345\r\nLocation: /x\r\nRetry-After: 7\r\nETag: \"00123456789abcde\"\r\n\
             Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: close\r\n\r\n"
        );
        let mut out = Vec::new();
        (head.status, head.keep_alive, head.old) = (304, true, true);
        head.write(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("Content-"), "{text}");
        assert!(text.ends_with("\r\nConnection: keep-alive\r\n\r\n"), "{text}");
    }

    #[test]
    fn every_beginning_of_a_request_is_partial() {
        let text = b"GET /some/path HTTP/1.1\r\nHost: www.x-sim.com\r\nA: b\r\n\r\n";
        for cut in 0..text.len() {
            assert_eq!(parse(&text[..cut]), Parsed::Partial, "{cut}");
        }
        assert!(matches!(parse(text), Parsed::Request(_)));
    }

    proptest! {
        #[test]
        fn garbage_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = read_date(&bytes);
        }

        #[test]
        fn numbers_are_written_as_they_are(number: u64) {
            let mut out = Vec::new();
            push_number(&mut out, number);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
