//! The stream of updates.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::client::{Scratch, ask, connect, console};

fn open(address: SocketAddr) -> (TcpStream, String) {
    let mut stream = connect(address);
    write!(stream, "GET /api/v1/live HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("it reads");
    let text = read_until(&mut stream, "\r\n\r\n");
    (stream, text)
}

fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with(end) && stream.read(&mut byte).expect("it goes on") == 1 {
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn updates_come_by_themselves() {
    let scratch = Scratch::new("stream-updates");
    let (_console, address) = console(&scratch.0, None);
    let (mut stream, head) = open(address);
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("content-security-policy"), "{head}");
    read_until(&mut stream, "event: update\ndata: ");
    let data = read_until(&mut stream, "\n\n");
    let update: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert!(update["sample"]["unix"].as_f64().unwrap() > 1e9);
    assert_eq!(update["snapshot"]["running"], false);
    let history = ask(address, "GET /api/v1/history", &[], "");
    assert!(history.body.contains("\"pages_per_s\""), "{}", history.body);
}

#[test]
fn there_are_only_so_many_streams() {
    let scratch = Scratch::new("stream-many");
    let (_console, address) = console(&scratch.0, None);
    let open_ones: Vec<_> = (0..16).map(|_| open(address)).collect();
    assert!(open_ones.iter().all(|(_, head)| head.starts_with("HTTP/1.1 200")));
    let (_, head) = open(address);
    assert!(head.starts_with("HTTP/1.1 429"), "{head}");
    assert_eq!(ask(address, "GET /healthz", &[], "").status, 200, "all else goes on");
}
