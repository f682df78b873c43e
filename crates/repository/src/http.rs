//! HTTP in records: how a received response head becomes the stored one, and how a stored response is taken apart again.
//!
//! A record must be readable on its own, so its head must tell the truth about the bytes that follow it. The fetcher
//! removes the transfer coding (chunks); a stored `Transfer-Encoding: chunked` would then be a lie that makes
//! readers look for chunk sizes in the page. Everything else stays as it was received, byte for byte.

use memchr::memchr;

mod body;
mod codings;
mod response;

pub use body::{Body, BodyDecoder, Flaw};
pub use response::{Response, parse_response};

/// Appends the head to store for a body of `body_len` bytes.
///
/// - If it has a `Transfer-Encoding` field: that and every `Content-Length` go, `Content-Length: {body_len}` comes
///   in at the end. Without one nothing is changed, not even a wrong `Content-Length`: that is what the server said.
/// - Exactly one blank line ends it, and there is none before that: lines of nothing but white space, which some
///   readers take for the end, are left out, and so is what follows the first blank line.
/// - Lines that continue a removed field go with it.
pub fn stored_head(head: &[u8], body_len: usize, out: &mut Vec<u8>) {
    let coded = lines(head).any(|line| has_name(line, b"transfer-encoding"));
    let mut removing = false;
    for line in lines(head) {
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            removing = coded && (has_name(line, b"transfer-encoding") || has_name(line, b"content-length"));
        }
        if removing {
            continue;
        }
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\r\n");
        }
    }
    if coded {
        use std::io::Write as _;
        write!(out, "Content-Length: {body_len}\r\n").expect("a Vec takes everything");
    }
    // As it was received, for a head of bare line feeds too.
    let bare = lines(head).last().is_some_and(|line| line.ends_with(b"\n") && !line.ends_with(b"\r\n"));
    out.extend_from_slice(if bare && !coded { b"\n" } else { b"\r\n" });
}

/// The lines of a head with their ends, up to the first blank line; blank lines before the first line and lines of
/// white space are skipped.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = head;
    let mut first = true;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(end);
            rest = after;
            let blank = matches!(line, b"\n" | b"\r\n");
            if blank && !first {
                return None;
            }
            if !blank && !line.iter().all(|byte| *byte <= b' ') {
                first = false;
                return Some(line);
            }
        }
    })
}

fn has_name(line: &[u8], name: &[u8]) -> bool {
    // White space before the colon is against the rules, but servers send it and clients accept it.
    memchr(b':', line).is_some_and(|colon| line[..colon].trim_ascii_end().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored(head: &str, body_len: usize) -> String {
        let mut out = Vec::new();
        stored_head(head.as_bytes(), body_len, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_head_without_transfer_coding_is_kept_byte_for_byte() {
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-LENGTH:99\r\nX: a\r\n  folded\r\nEmpty:\r\n\r\n",
            "HTTP/1.0 200 OK\nServer: old\n\n",
            "HTTP/1.1 304 Not Modified\r\n\r\n",
        ] {
            assert_eq!(stored(head, 5), head);
        }
    }

    #[test]
    fn a_removed_transfer_coding_is_replaced_by_the_length() {
        assert_eq!(
            stored("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n", 20),
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n"
        );
        assert_eq!(
            stored(
                "HTTP/1.1 200 OK\r\ncontent-length: 7\r\nTRANSFER-ENCODING :\r\n gzip,\r\n\tchunked\r\nA: b\r\n\r\n",
                0
            ),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n"
        );
    }

    #[test]
    fn the_head_ends_once() {
        assert_eq!(stored("HTTP/1.1 200 OK", 0), "HTTP/1.1 200 OK\r\n\r\n");
        assert_eq!(stored("HTTP/1.1 200 OK\r\nA: b\r\n", 0), "HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
        assert_eq!(
            stored("\r\n\r\nHTTP/1.1 200 OK\r\n \t\r\nA: b\r\n\r\nrest\r\n\r\n", 0),
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
        );
        assert_eq!(stored("", 0), "\r\n");
    }

    proptest! {
        #[test]
        fn no_input_leaves_a_transfer_coding_or_a_second_end(
            parts in prop::collection::vec(prop_oneof![
                Just("\r\n"), Just("\n"), Just("\r"), Just(" "), Just("Transfer-Encoding"), Just("Content-Length"), Just(":"),
                Just("chunked"), Just("X-Other: 1"), Just("HTTP/1.1 200 OK")
            ], 0..30)
        ) {
            let out = stored(&parts.concat(), 3);
            let mut again = Vec::new();
            stored_head(out.as_bytes(), 3, &mut again);
            prop_assert_eq!(&out, std::str::from_utf8(&again).unwrap());
            prop_assert!(!lines(out.as_bytes()).any(|line| has_name(line, b"transfer-encoding")));
            prop_assert!(out == "\r\n" || out.ends_with("\n\n") || out.ends_with("\n\r\n"));
            let head = out.strip_suffix("\r\n").or(out.strip_suffix("\n")).unwrap();
            prop_assert!(head.lines().all(|line| !line.trim().is_empty()));
        }
    }
}
