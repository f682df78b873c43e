//! The crawl's own socket.

#![expect(clippy::disallowed_methods, reason = "sockets are no files of the simulated disk")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use mattock_console::{Client, Console, ConsoleError, Desk, SOCKET};
use mattock_env::{Env, Files};
use serde_json::json;

use crate::client::{Scratch, send};

#[test]
fn the_owner_needs_no_token_and_nobody_else_has_the_file() {
    // Longer than the address of a socket can be.
    let scratch = Scratch::new(&format!("socket-{}", "x".repeat(120)));
    let env = Env::real();
    let path = scratch.0.join(SOCKET);
    // One that was killed has left its file.
    Files::real().write_atomic(&path, b"").unwrap();
    let console = Console::start(&env, Desk::stopped(&env, &scratch.0), None, Some(&path)).unwrap();
    assert_eq!(console.address(), None);
    let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let client = Client::new(&scratch.0, &env.clock);
    assert_eq!(client.get("/healthz").unwrap()["status"], "stopped");
    let error = client.post("/api/v1/pause", &json!({})).unwrap_err();
    assert!(matches!(&error, ConsoleError::Refused { error, .. } if error == "conflict"), "{error}");
    let error = client.post("/api/v1/blocks", &json!({})).unwrap_err();
    assert!(error.to_string().contains("`rule` is missing"), "{error}");
    drop(console);
    assert!(Files::real().entry(&path).unwrap().is_none(), "the file goes with the console");
    assert!(matches!(client.get("/healthz"), Err(ConsoleError::NotRunning { .. })));
}

#[test]
fn a_bare_client_will_do() {
    let scratch = Scratch::new("socket-bare");
    let env = Env::real();
    // A relative path: the name of the test's directory may be too long for a socket.
    let path = scratch.0.join("s");
    let short = std::env::temp_dir().join(format!("mattock-console-{}.sock", std::process::id()));
    let console = Console::start(&env, Desk::stopped(&env, &scratch.0), None, Some(&short)).unwrap();
    let stream = UnixStream::connect(&short).unwrap();
    let response = send(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_eq!(response.status, 200);
    assert!(response.body.contains("mattock_console_info{version="), "{}", response.body);
    drop(console);
    assert!(Files::real().entry(&path).unwrap().is_none());
}
