//! Bodies that wait in files are the same as those that wait in memory.

use std::path::PathBuf;

use mattock_fetch::{ClientOptions, Limits};
use proptest::prelude::*;

use crate::server::{Act, Seen, fetch_with, options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// A server that sends `body` in pieces, framed like this, and perhaps goes away after some of it.
fn script(body: &[u8], framing: Framing, chunk: usize, piece: usize, cut: Option<usize>) -> Vec<Act> {
    let mut wire = b"HTTP/1.1 200 OK\r\nServer: x\r\n".to_vec();
    match framing {
        Framing::Length => wire.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes()),
        Framing::Chunked => wire.extend(b"Transfer-Encoding: chunked\r\n\r\n"),
        Framing::UntilClose => wire.extend(b"\r\n"),
    }
    match framing {
        Framing::Chunked => {
            for part in body.chunks(chunk) {
                wire.extend(format!("{:x}\r\n", part.len()).into_bytes());
                wire.extend(part);
                wire.extend(b"\r\n");
            }
            wire.extend(b"0\r\n\r\n");
        }
        _ => wire.extend(body),
    }
    let whole = cut.is_none_or(|cut| cut >= wire.len());
    wire.truncate(cut.unwrap_or(usize::MAX));
    let mut acts = vec![Act::Request];
    acts.extend(wire.chunks(piece).map(|piece| Act::Send(piece.to_vec())));
    acts.push(if whole && framing != Framing::UntilClose { Act::Hang } else { Act::Close });
    acts
}

fn seen(acts: &[Act], spill: bool, body_bytes_max: usize) -> Seen {
    let limits = Limits { body_bytes_max, ..Limits::default() };
    let spill = spill.then(|| PathBuf::from("/state/spill"));
    fetch_with(acts, ClientOptions { limits, spill, ..options() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_spilled_exchange_is_the_same_in_every_framing(
        len in prop_oneof![0usize..1000, 100_000usize..900_000],
        salt in any::<u8>(),
        framing in proptest::sample::select(vec![Framing::Length, Framing::Chunked, Framing::UntilClose]),
        chunk in prop_oneof![500usize..5000, 50_000usize..500_000],
        piece in prop_oneof![2000usize..9000, 50_000usize..500_000],
        cut in proptest::option::of(100usize..900_000),
        limit in prop_oneof![Just(10 << 20), 1000usize..900_000],
    ) {
        let body: Vec<u8> = (0..len).map(|at| (at / 251) as u8 ^ (at as u8).wrapping_mul(salt | 1)).collect();
        let acts = script(&body, framing, chunk, piece, cut);
        let (plain, mut spilled) = (seen(&acts, false, limit), seen(&acts, true, limit));
        prop_assert_eq!(spilled.exchange.bytes_received(), plain.exchange.bytes_received());
        spilled.exchange.restore().unwrap();
        prop_assert_eq!(spilled.outcome(), plain.outcome());
        prop_assert_eq!(spilled.truncated(), plain.truncated());
        prop_assert_eq!(spilled.connection.is_some(), plain.connection.is_some());
        prop_assert_eq!(spilled.exchange.head_bytes(), plain.exchange.head_bytes());
        prop_assert!(spilled.exchange.body() == plain.exchange.body());
        if cut.is_none() {
            prop_assert!(spilled.exchange.body() == &body[..len.min(limit)]);
        }
        prop_assert_eq!(spilled.exchange.bytes_received(), plain.exchange.bytes_received());
    }
}
