//! The name server of the simulated Web: UDP, one question per datagram, answers from [`Web::name_answer`]; and TCP at
//! the same port for what does not fit.
//!
//! The crawler's resolver fills it, the world empties it; nothing is kept between two datagrams. A query is answered
//! in place: the question is echoed byte for byte (resolvers compare even its case) and one A record, whose name
//! points back at the question, is appended. That is little enough to be written out here.
//!
//! | question | answer |
//! |---|---|
//! | A (or ANY) of a name with an address | that address |
//! | another type of such a name (AAAA…) | no error, no records |
//! | a name that does not exist | NXDOMAIN |
//! | a name whose server is out of order | SERVFAIL |
//! | not one question | FORMERR |
//! | not a query, not class IN | NOTIMP, REFUSED |
//! | a name that has records of its own | those records: aliases, many addresses, odd lifetimes |
//! | a name whose server is silent | silence |
//! | a response, fewer than 12 bytes | silence |

mod records;
pub(crate) mod tcp;

use std::net::Ipv4Addr;
use std::time::Duration;

use mattock_env::{Clock, Datagrams};

use crate::answer::NameAnswer;
use crate::web::Web;
use crate::world::Resolution;

const HEADER_BYTES: usize = 12;
/// What a datagram without EDNS may hold; longer ones cannot be queries of ours.
const DATAGRAM_BYTES_MAX: usize = 512;
const NAME_BYTES_MAX: usize = 255;
const ERROR_PAUSE: Duration = Duration::from_millis(10);

const TYPE_A: u16 = 1;
const TYPE_CNAME: u16 = 5;
const TYPE_AAAA: u16 = 28;
const TYPE_ANY: u16 = 255;
const CLASS_IN: u16 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Code {
    NoError = 0,
    FormatError = 1,
    ServerFailure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
}

/// What a query came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replied {
    /// It gets no answer.
    Silence,
    /// The answer lies in the scratch space.
    Answer,
    /// So does it, but so many forged ones with this address go first.
    Forged(u16, Ipv4Addr),
}

/// Buffers that are used again for every query.
#[derive(Default)]
struct Scratch {
    name: String,
    answer: Vec<u8>,
}

/// Answers datagrams for ever.
pub(crate) async fn serve(socket: Datagrams, web: &impl Web, clock: &Clock, ttl_s: u32) {
    let mut buffer = [0; 2048];
    let mut scratch = Scratch::default();
    loop {
        let (count, from) = match socket.receive_from(&mut buffer).await {
            Ok(received) => received,
            Err(error) => {
                tracing::debug!(%error, "the DNS socket cannot receive");
                clock.sleep(ERROR_PAUSE).await;
                continue;
            }
        };
        let replied = reply(&buffer[..count], web, ttl_s, DATAGRAM_BYTES_MAX, &mut scratch);
        if let Replied::Forged(count, address) = replied {
            for number in 1..=count {
                let forged = forge(&scratch.answer, number, address);
                let _ = socket.send_to(&forged, from).await;
            }
        }
        if replied != Replied::Silence
            && let Err(error) = socket.send_to(&scratch.answer, from).await
        {
            tracing::debug!(%error, "a DNS answer cannot be sent");
        }
    }
}

/// The answer with another id, and another address in its last record.
fn forge(answer: &[u8], number: u16, address: Ipv4Addr) -> Vec<u8> {
    let mut forged = answer.to_vec();
    let id = u16::from_be_bytes([answer[0], answer[1]]).wrapping_add(number);
    forged[..2].copy_from_slice(&id.to_be_bytes());
    if let Some(last) = forged.last_chunk_mut::<4>() {
        *last = address.octets();
    }
    forged
}

/// Fills the scratch space's answer for `query`.
fn reply(query: &[u8], web: &impl Web, ttl_s: u32, bytes_max: usize, scratch: &mut Scratch) -> Replied {
    let Scratch { name, answer } = scratch;
    answer.clear();
    // A response is never answered, or two servers could talk to each other for ever.
    if query.len() < HEADER_BYTES || query[2] & 0x80 != 0 {
        return Replied::Silence;
    }
    let question = read_question(query, name);
    let mut said = None;
    let code = match &question {
        _ if query[2] & 0x78 != 0 => Code::NotImplemented,
        None => Code::FormatError,
        Some(question) if question.class != CLASS_IN => Code::Refused,
        Some(_) => {
            let known = said.insert(web.name_answer(name));
            match known {
                NameAnswer::Silence => return Replied::Silence,
                NameAnswer::Plain(Resolution::NoSuchName) => Code::NoSuchName,
                NameAnswer::Plain(Resolution::Failure) => Code::ServerFailure,
                NameAnswer::Plain(Resolution::Address(_)) | NameAnswer::Records { .. } => Code::NoError,
            }
        }
    };
    answer.extend_from_slice(&query[..2]);
    // Response, authoritative; opcode and "recursion desired" as they came; recursion available, as a stub expects.
    answer.extend_from_slice(&[0x84 | query[2] & 0x79, 0x80 | code as u8]);
    answer.extend_from_slice(&[0, u8::from(question.is_some()), 0, 0, 0, 0, 0, 0]);
    let Some(question) = question else { return Replied::Answer };
    answer.extend_from_slice(&query[HEADER_BYTES..question.end]);
    let mut replied = Replied::Answer;
    let (count, cut) = match said {
        Some(NameAnswer::Plain(Resolution::Address(address)))
            if matches!(question.kind, TYPE_A | TYPE_ANY) =>
        {
            // The name is a pointer to offset 12.
            answer.extend_from_slice(&[0xc0, HEADER_BYTES as u8, 0, TYPE_A as u8, 0, CLASS_IN as u8]);
            answer.extend_from_slice(&ttl_s.to_be_bytes());
            answer.extend_from_slice(&[0, 4]);
            answer.extend_from_slice(&address.octets());
            (1, false)
        }
        Some(NameAnswer::Records { records, forged }) => {
            if let Some((count, address)) = forged {
                replied = Replied::Forged(count, address);
            }
            records::push(answer, &records, question.kind, bytes_max)
        }
        _ => (0, false),
    };
    answer[6..8].copy_from_slice(&u16::to_be_bytes(count));
    if cut {
        answer[2] |= 0x02;
    }
    replied
}

struct Question {
    /// Where it ends in the datagram.
    end: usize,
    kind: u16,
    class: u16,
}

/// Reads the only question; its name, in lower case with dots and none at the end, goes to `name`.
fn read_question(query: &[u8], name: &mut String) -> Option<Question> {
    name.clear();
    if query[4..6] != [0, 1] || query.len() > DATAGRAM_BYTES_MAX {
        return None;
    }
    let mut at = HEADER_BYTES;
    loop {
        let len = usize::from(*query.get(at)?);
        at += 1;
        if len == 0 {
            break;
        }
        // Longer "labels" are compression pointers, which have nothing to point at in a question.
        let label = query.get(at..at + len).filter(|_| len <= 63)?;
        if !name.is_empty() {
            name.push('.');
        }
        // Bytes outside host names would let two names look alike: such a name cannot exist here anyway.
        let plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'.';
        let safe =
            label.iter().map(|byte| if plain(byte) { byte.to_ascii_lowercase() as char } else { '\u{fffd}' });
        name.extend(safe);
        at += len;
        if at - HEADER_BYTES >= NAME_BYTES_MAX {
            return None;
        }
    }
    let fixed = query.get(at..at + 4)?;
    let number = |high: usize| u16::from_be_bytes([fixed[high], fixed[high + 1]]);
    Some(Question { end: at + 4, kind: number(0), class: number(2) })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
    use hickory_proto::rr::{Name, RData, RecordType};
    use proptest::prelude::*;

    use super::*;
    use crate::web::fake::FakeWeb;

    fn ask(query: &[u8]) -> Option<Vec<u8>> {
        let mut scratch = Scratch::default();
        let replied = reply(query, &FakeWeb, 300, DATAGRAM_BYTES_MAX, &mut scratch);
        (replied == Replied::Answer).then_some(scratch.answer)
    }

    fn query(name: &str, kind: RecordType) -> Message {
        let mut message = Message::new(77, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        message
    }

    fn answer(name: &str, kind: RecordType) -> Message {
        let query = query(name, kind);
        let answer = Message::from_vec(&ask(&query.to_vec().unwrap()).unwrap()).unwrap();
        assert_eq!(answer.metadata.id, 77);
        assert_eq!(answer.metadata.message_type, MessageType::Response);
        assert!(answer.metadata.recursion_desired && answer.metadata.authoritative);
        assert_eq!(answer.queries, query.queries);
        answer
    }

    #[test]
    fn a_known_name_has_one_address() {
        for name in ["www.one-sim.com.", "WWW.One-Sim.com."] {
            let answer = answer(name, RecordType::A);
            assert_eq!(answer.metadata.response_code, ResponseCode::NoError);
            assert_eq!(answer.answers.len(), 1);
            assert_eq!(answer.answers[0].ttl, 300);
            assert_eq!(answer.answers[0].name, Name::from_ascii(name).unwrap());
            let RData::A(address) = &answer.answers[0].data else { panic!("{answer:?}") };
            assert_eq!(address.0, Ipv4Addr::new(127, 64, 0, 1));
        }
    }

    #[test]
    fn other_types_are_empty_and_other_names_are_errors() {
        let empty = answer("www.one-sim.com.", RecordType::AAAA);
        assert_eq!((empty.metadata.response_code, empty.answers.len()), (ResponseCode::NoError, 0));
        let missing = answer("www.example.com.", RecordType::A);
        assert_eq!((missing.metadata.response_code, missing.answers.len()), (ResponseCode::NXDomain, 0));
        let failing = answer("www.failing-sim.com.", RecordType::A);
        assert_eq!((failing.metadata.response_code, failing.answers.len()), (ResponseCode::ServFail, 0));
    }

    #[test]
    fn a_dot_inside_a_label_does_not_make_another_name() {
        let mut bytes = query("www.one-sim.com.", RecordType::A).to_vec().unwrap();
        // One label of eleven bytes with a dot in it, instead of two.
        (bytes[12], bytes[16]) = (11, b'.');
        assert_eq!(ask(&bytes).unwrap()[3] & 0x0f, Code::NoSuchName as u8);
    }

    #[test]
    fn odd_datagrams_get_their_code_or_silence() {
        let good = query("www.one-sim.com.", RecordType::A).to_vec().unwrap();
        let code = |change: fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            ask(&bytes).map(|answer| answer[3] & 0x0f)
        };
        assert_eq!(code(|_| ()), Some(Code::NoError as u8));
        assert_eq!(code(|bytes| bytes[2] |= 0x80), None);
        assert_eq!(code(|bytes| bytes.truncate(11)), None);
        assert_eq!(code(|bytes| bytes.truncate(20)), Some(Code::FormatError as u8));
        assert_eq!(code(|bytes| bytes[5] = 2), Some(Code::FormatError as u8));
        assert_eq!(code(|bytes| bytes[12] = 0xc0), Some(Code::FormatError as u8));
        assert_eq!(code(|bytes| bytes[2] |= 0x10), Some(Code::NotImplemented as u8));
        assert_eq!(code(|bytes| *bytes.last_mut().unwrap() = 3), Some(Code::Refused as u8));
    }

    proptest! {
        #[test]
        fn whatever_is_answered_is_a_message(mut bytes in prop::collection::vec(any::<u8>(), 0..600), one: bool) {
            if one && bytes.len() > 6 {
                (bytes[2], bytes[4], bytes[5]) = (0, 0, 1);
            }
            if let Some(answer) = ask(&bytes) {
                prop_assert!(answer.len() <= DATAGRAM_BYTES_MAX + 16);
                prop_assert_eq!(&answer[..2], &bytes[..2]);
            }
        }
    }
}
