//! Connections that say nothing keep nobody out who may ask.

use std::io::Write;

use crate::client::{Scratch, ask, connect, console};

#[test]
fn slow_connections_keep_nobody_out() {
    let scratch = Scratch::new("crowded-slow");
    let token = "correct horse battery staple";
    let right = format!("Authorization: Bearer {token}");
    for (given, headers) in [(Some(token), vec![&*right]), (None, vec![])] {
        let (_console, address) = console(&scratch.0, given);
        for count in [64, 1000] {
            let slow = |_| {
                let mut stream = connect(address);
                // It may have had to make way already.
                let _ = stream.write_all(b"GET / HTTP/1.1\r\nX-Slow: ");
                stream
            };
            let slow: Vec<_> = (0..count).map(slow).collect();
            for path in ["/healthz", "/api/v1/snapshot", "/"] {
                let response = ask(address, &format!("GET {path}"), &headers, "");
                assert_eq!(response.status, 200, "{path} beside {count}");
            }
            drop(slow);
        }
    }
}
