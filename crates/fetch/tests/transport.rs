//! T01–T19, T23 over HTTP/1.1, and the ordinary life of connections.

use std::time::Duration;

use mattock_env::NetFaults;
use mattock_env::sim::Simulation;
use mattock_fetch::{Client, Limits, Timings};

use crate::server::{Act, PAGE, SERVER, Seen, fetch, fetch_with, listen, options, send, url};

const OK: &str = "HTTP/1.1 200 OK\r\n";

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// It failed by this name within this time.
#[track_caller]
fn fails(script: &[Act], name: &str, within: Duration) -> Seen {
    let seen = fetch(script);
    assert_eq!(seen.outcome(), name);
    assert!(seen.took <= within, "{:?}", seen.took);
    assert!(seen.connection.is_none());
    assert_eq!(seen.exchange.body(), b"");
    seen
}

/// It was answered, and cut for this reason.
#[track_caller]
fn is_cut(script: &[Act], reason: &str) -> Seen {
    let seen = fetch(script);
    assert_eq!((seen.outcome().as_str(), seen.truncated().as_deref()), ("200", Some(reason)));
    assert!(seen.connection.is_none());
    seen
}

#[test]
fn t01_silence_ends_at_the_first_byte_limit() {
    let seen = fails(&[Act::Hang], "first-byte-timeout", seconds(21));
    assert!(seen.took >= seconds(20));
}

#[test]
fn t02_refused_and_dropped_connections_have_names() {
    let faults = [("refused", 1.0, 0.0, 1), ("connect-timeout", 0.0, 1.0, 11)];
    for (name, refuse, hang, within) in faults {
        let faults = NetFaults { refuse, hang, ..NetFaults::NONE };
        Simulation::new(1).network(faults).run(|env| async move {
            let _log = listen(&env, SERVER, vec![vec![Act::Hang]]).await;
            let client = Client::new(&env, options());
            let (exchange, connection) = client.fetch(&url(PAGE), None).await;
            assert_eq!(exchange.outcome.to_string(), name);
            assert!(exchange.finished.since(exchange.begun) <= seconds(within));
            assert!(exchange.outcome.consequence().retries > 0 && connection.is_none());
        });
    }
}

#[test]
fn t03_reset_before_the_head() {
    for end in [Act::Reset, Act::Close] {
        let seen = fails(&[Act::Request, end], "disconnected", seconds(1));
        assert_eq!(seen.exchange.outcome.consequence().retries, 2);
        assert_eq!(seen.log.borrow().connections, 1, "a new connection is not retried at once");
    }
}

#[test]
fn t04_reset_in_the_body_keeps_what_came() {
    let script =
        [Act::Request, send(OK), send("Content-Length: 10\r\n\r\nabcd"), Act::Wait(seconds(1)), Act::Reset];
    assert_eq!(is_cut(&script, "disconnect").exchange.body(), b"abcd");
}

#[test]
fn t05_a_dripping_body_is_cut_by_speed_or_wall_limit() {
    let script = [Act::Request, send(OK), send("\r\n"), Act::Drip(vec![b'x'; 100], seconds(10))];
    let seen = is_cut(&script, "time");
    assert!(seen.took <= seconds(60), "{:?}", seen.took);
    let patient = Limits { speed_min: 0, ..Limits::default() };
    let seen = fetch_with(&script, mattock_fetch::ClientOptions { limits: patient, ..options() });
    assert_eq!(seen.truncated().as_deref(), Some("time"));
    assert_eq!(seen.took, seconds(120));
    assert_eq!(seen.exchange.body().len(), 11, "a byte every ten seconds, less the round trip");
}

#[test]
fn a_pause_in_the_body_is_cut_at_the_idle_limit() {
    let seen = is_cut(&[Act::Request, send(OK), send("\r\nabc"), Act::Hang], "time");
    assert_eq!(seen.exchange.body(), b"abc");
    assert!((seconds(20)..seconds(21)).contains(&seen.took), "{:?}", seen.took);
}

#[test]
fn t06_a_dripping_head_ends_at_its_deadline() {
    let script = [Act::Request, Act::Drip(b"HTTP/1.1 200 OK\r\nX: y".to_vec(), seconds(5))];
    let seen = fails(&script, "head-timeout", seconds(36));
    assert!(seen.took >= seconds(30));
}

#[test]
fn t07_an_endless_body_is_cut_undrained() {
    let limits = Limits { body_bytes_max: 100_000, ..Limits::default() };
    let script = [Act::Request, send(OK), send("\r\n"), Act::Forever(vec![b'x'; 1000])];
    let seen = fetch_with(&script, mattock_fetch::ClientOptions { limits, ..options() });
    assert_eq!((seen.outcome().as_str(), seen.truncated().as_deref()), ("200", Some("length")));
    assert_eq!(seen.exchange.body().len(), 100_000);
    assert!(seen.log.borrow().bytes_sent < 300_000, "the rest is not read");
}

#[test]
fn t07_a_body_of_exactly_the_limit_is_whole() {
    for (length, truncated) in [(1000, None), (1001, Some("length"))] {
        let limits = Limits { body_bytes_max: 1000, ..Limits::default() };
        let body = "x".repeat(length);
        let framings = [
            format!("Content-Length: {length}\r\n\r\n{body}"),
            format!("Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"),
            format!("\r\n{body}"),
        ];
        for framing in framings {
            let options = mattock_fetch::ClientOptions { limits: limits.clone(), ..options() };
            let seen = fetch_with(&[Act::Request, send(OK), send(&framing), Act::Close], options);
            assert_eq!(seen.truncated().as_deref(), truncated, "{framing:.40}");
            assert_eq!(seen.exchange.body().len(), 1000);
        }
    }
}

#[test]
fn t08_t09_t10_large_heads_are_refused() {
    let endless = [Act::Request, send(OK), Act::Forever(b"Filler: x\r\n".repeat(100))];
    let seen = fails(&endless, "head-too-large", seconds(1));
    assert!(seen.log.borrow().bytes_sent < 512 * 1024);
    let long = format!("X: {}\r\n\r\n", "y".repeat(300 * 1024));
    fails(&[Act::Request, send(OK), send(&long), Act::Hang], "head-too-large", seconds(1));
    let mut in_pieces = vec![Act::Request, send(OK)];
    for piece in long.as_bytes().chunks(10_000) {
        in_pieces.extend([Act::Send(piece.to_vec()), Act::Wait(Duration::from_millis(10))]);
    }
    fails(&in_pieces, "head-too-large", seconds(1));
    let many = format!("{}\r\n", "A: b\r\n".repeat(513));
    fails(&[Act::Request, send(OK), send(&many)], "head-too-large", seconds(1));
}

#[test]
fn t11_endless_interim_responses_are_refused_and_a_few_are_not() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    fails(&[Act::Request, Act::Forever(interim.into())], "protocol", seconds(1));
    let few = [Act::Request, send(&interim.repeat(8)), send(OK), send("Content-Length: 2\r\n\r\nhi")];
    assert_eq!(fetch(&few).exchange.body(), b"hi");
    fails(&[Act::Request, send("HTTP/1.1 101 Switching Protocols\r\n\r\n")], "protocol", seconds(1));
}

#[test]
fn t12_other_tongues_are_protocol_errors_at_once() {
    for text in ["<html>hello</html>", "HTTP/1.1 abc\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n", "HTTP/2 20\r\n\r\n"] {
        fails(&[Act::Request, send(text), Act::Hang], "protocol", seconds(1));
    }
}

#[test]
fn t13_a_length_that_is_too_big() {
    let script = [Act::Request, send(OK), send("Content-Length: 999999999999\r\n\r\nabc"), Act::Close];
    assert_eq!(is_cut(&script, "disconnect").exchange.body(), b"abc");
}

#[test]
fn t14_a_length_that_is_too_small_ends_the_body_and_the_connection() {
    let seen = fetch(&[Act::Request, send(OK), send("Content-Length: 3\r\n\r\nabcdef"), Act::Hang]);
    assert_eq!((seen.exchange.body(), seen.truncated()), (&b"abc"[..], None));
    assert!(seen.connection.is_none());
}

#[test]
fn t15_contradictory_lengths_are_refused() {
    for fields in [
        "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ] {
        fails(&[Act::Request, send(OK), send(fields)], "protocol", seconds(1));
    }
}

#[test]
fn t16_t17_broken_chunks_keep_the_prefix() {
    for rest in ["zz\r\n", "-1\r\n", "10000000000000000\r\n", "3\r\nabcd\r\n", "5\r\nab"] {
        let text = format!("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n{rest}");
        let seen = is_cut(&[Act::Request, send(OK), send(&text), Act::Close], "disconnect");
        assert!(seen.exchange.body().starts_with(b"abc"), "{rest}");
    }
    let text = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    is_cut(&[Act::Request, send(OK), send(text), Act::Close], "disconnect");
    let trailers = [Act::Request, send(OK), send(text), send("0\r\n"), Act::Forever(b"T: x\r\n".repeat(100))];
    let seen = is_cut(&trailers, "disconnect");
    assert_eq!(seen.exchange.body(), b"abc");
    assert!(seen.log.borrow().bytes_sent < 200_000);
}

#[test]
fn t18_an_unsolicited_response_ends_the_connection() {
    let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert!(fetch(&[Act::Request, send(page), send(page), Act::Hang]).connection.is_none());
    // The same, but later: the next request must not be answered by it.
    let late = vec![
        Act::Request,
        send(page),
        Act::Wait(seconds(1)),
        send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
        Act::Hang,
    ];
    let honest = vec![Act::Request, send(page), Act::Hang];
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![late, honest]).await;
        let client = Client::new(&env, options());
        let (_, connection) = client.fetch(&url(PAGE), None).await;
        assert!(connection.is_some());
        env.clock.sleep(seconds(2)).await;
        let (exchange, _) = client.fetch(&url(PAGE), connection).await;
        assert_eq!((exchange.body(), exchange.reused), (&b"hi"[..], false));
        assert_eq!(log.borrow().connections, 2);
    });
}

#[test]
fn t19_bodies_where_none_may_be() {
    let seen =
        fetch(&[Act::Request, send("HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc"), Act::Hang]);
    assert_eq!((seen.outcome().as_str(), seen.exchange.body()), ("204", &b""[..]));
    assert!(seen.connection.is_none());
    let seen = fetch(&[Act::Request, send("HTTP/1.1 204 No Content\r\n\r\n"), Act::Hang]);
    assert!(seen.connection.is_some());
}

#[test]
fn t23_tls_where_plain_text_was_expected() {
    fails(
        &[Act::Request, Act::Send(b"\x15\x03\x01\x00\x02\x02\x46".to_vec()), Act::Close],
        "protocol",
        seconds(1),
    );
}

#[test]
fn connections_are_reused_and_closed_ones_are_replaced_once() {
    let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let twice = vec![Act::Request, send(page), Act::Request, send(page), Act::Close];
    let once = vec![Act::Request, send(page), Act::Hang];
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![twice, once]).await;
        let client = Client::new(&env, options());
        let (first, connection) = client.fetch(&url(PAGE), None).await;
        assert!(!first.reused && first.timings.connected.is_some());
        client.recycle(first);
        let (second, connection) = client.fetch(&url(PAGE), connection).await;
        assert!(second.reused && second.body() == b"hi");
        assert_eq!(second.timings.connected, None);
        assert_eq!(log.borrow().connections, 1);
        let (third, connection) = client.fetch(&url(PAGE), connection).await;
        assert_eq!((third.reused, third.body()), (false, &b"hi"[..]));
        assert!(connection.is_some());
        assert_eq!(log.borrow().connections, 2);
    });
}

#[test]
fn a_request_is_never_sent_twice() {
    let page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    // It takes the second request and dies without a word: asking again at once would break the host's delay.
    let dies = vec![Act::Request, send(page), Act::Request, Act::Reset];
    Simulation::new(1).run(|env| async move {
        let log = listen(&env, SERVER, vec![dies]).await;
        let client = Client::new(&env, options());
        let (_, connection) = client.fetch(&url(PAGE), None).await;
        let (second, connection) = client.fetch(&url(PAGE), connection).await;
        assert_eq!(second.outcome.to_string(), "disconnected");
        assert!(second.reused && connection.is_none());
        assert_eq!((log.borrow().connections, log.borrow().requests.len()), (1, 2));
    });
}

#[test]
fn bodies_end_by_length_by_chunks_and_by_closing() {
    for (framing, kept) in [
        ("Content-Length: 5\r\n\r\nhello", true),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: x\r\n\r\n", true),
        ("Connection: close\r\nContent-Length: 5\r\n\r\nhello", false),
        ("\r\nhello", false),
    ] {
        let mut script = vec![Act::Request, send(OK), Act::Drip(framing.into(), Duration::from_millis(3))];
        script.push(if kept { Act::Hang } else { Act::Close });
        let seen = fetch(&script);
        assert_eq!((seen.exchange.body(), seen.truncated()), (&b"hello"[..], None), "{framing}");
        assert_eq!(seen.connection.is_some(), kept, "{framing}");
        let timings: Timings = seen.exchange.timings;
        assert!(seen.exchange.begun < timings.connected.unwrap());
        assert!(timings.connected.unwrap() <= timings.first_byte.unwrap());
        assert!(timings.first_byte.unwrap() < seen.exchange.finished);
    }
}

#[test]
fn less_of_a_body_than_the_limits_allow_can_be_asked_for() {
    for (most, len, truncated) in [(10, 10, true), (100, 100, false), (1_000, 100, false)] {
        Simulation::new(1).run(|env| async move {
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "x".repeat(100));
            listen(&env, SERVER, vec![vec![Act::Request, send(&response), Act::Hang]]).await;
            let client = Client::new(&env, options());
            let (exchange, connection) = client.fetch_beginning(&url(PAGE), None, None, most).await;
            assert_eq!((exchange.body().len(), exchange.truncated.is_some()), (len, truncated), "{most}");
            assert_eq!(connection.is_some(), !truncated, "what is not read is not waited for");
        });
    }
}
