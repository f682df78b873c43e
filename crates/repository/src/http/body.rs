//! A stored body with its transfer and content codings undone.
//!
//! Filled with responses by whoever reads the archive; what comes out is borrowed from the decoder until the next one. Memory is
//! bounded by the limit that it was made with, whatever a body claims to become. Without codings nothing is copied.
//!
//! Archives do not always mean what their heads say: many programs store the body decoded and leave the field. So a
//! body that does not begin like the coding it is said to have is taken as it is.

use memchr::memchr;

use super::Response;
use super::codings::{Coding, Codings};

/// Codings beyond these are not undone: no server applies so many, but a hostile one may say so.
const CODINGS_MAX: usize = 4;

/// What is wrong with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It has a coding that nobody here knows: it is as it was stored.
    UnknownCoding,
    /// It is damaged or cut off: this is what comes before that.
    Damaged,
    /// It is larger than the limit: this is its beginning.
    TooLarge,
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What is wrong with it; `None` for a body that is whole.
    pub flaw: Option<Flaw>,
}

/// Undoes codings. Its working memory is kept from body to body.
pub struct BodyDecoder {
    bytes_max: usize,
    codings: Codings,
    /// What comes out of one coding and goes into the next.
    buffers: [Vec<u8>; 2],
}

impl BodyDecoder {
    /// A decoder that gives at most so many bytes of a body that has codings.
    pub fn new(bytes_max: usize) -> BodyDecoder {
        BodyDecoder { bytes_max, codings: Codings::new(), buffers: [Vec::new(), Vec::new()] }
    }

    /// The body of a response without its codings.
    pub fn decode<'a>(&'a mut self, response: &Response<'a>) -> Body<'a> {
        let mut list = CodingList::default();
        // The order in which they were applied: content codings first, then those of the transfer.
        for (name, wanted) in [("content-encoding", true), ("transfer-encoding", false)] {
            for (key, value) in response.fields() {
                if key.len() == name.len() && key.eq_ignore_ascii_case(name.as_bytes()) {
                    list.add(value, wanted);
                }
            }
        }
        let mut flaw = list.flaw;
        let [front, back] = &mut self.buffers;
        let (mut out, mut spare) = (front, back);
        let mut decoded = false;
        for coding in list.codings[..list.len].iter().rev().flatten() {
            let input = if decoded { &spare[..] } else { response.body };
            if !coding.begins(input) {
                continue;
            }
            out.clear();
            let damage = self.codings.undo(*coding, input, out, self.bytes_max);
            if damage == Some(Flaw::Damaged) && out.is_empty() && !coding.is_certain(input) {
                // Not one byte: more likely the head is wrong than the body.
                continue;
            }
            flaw = flaw.or(damage);
            std::mem::swap(&mut out, &mut spare);
            decoded = true;
        }
        Body { bytes: if decoded { spare } else { response.body }, flaw }
    }
}

#[derive(Default)]
struct CodingList {
    codings: [Option<Coding>; CODINGS_MAX],
    len: usize,
    flaw: Option<Flaw>,
}

impl CodingList {
    fn add(&mut self, value: &[u8], of_content: bool) {
        for word in value.split(|byte| *byte == b',') {
            let word = word.trim_ascii();
            let word = &word[..memchr(b';', word).unwrap_or(word.len())].trim_ascii();
            if word.is_empty() || word.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            // Chunks are no coding of content, but some servers say so, and mean nothing by it.
            match Coding::parse(word).filter(|coding| !(of_content && *coding == Coding::Chunked)) {
                Some(_) if self.len == CODINGS_MAX => self.flaw = Some(Flaw::UnknownCoding),
                Some(coding) => {
                    self.codings[self.len] = Some(coding);
                    self.len += 1;
                }
                None => self.flaw = Some(Flaw::UnknownCoding),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::http::parse_response;

    const PAGE: &[u8] = b"<html><p>a page, a page, a page</p></html>";

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn chunked(data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for chunk in data.chunks(7) {
            write!(out, "{:x};a=b\r\n", chunk.len()).unwrap();
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
        out
    }

    fn decoded(decoder: &mut BodyDecoder, fields: &str, body: &[u8]) -> (Vec<u8>, Option<Flaw>) {
        let block = [b"HTTP/1.1 200 OK\r\n", fields.as_bytes(), b"\r\n\r\n", body].concat();
        let body = decoder.decode(&parse_response(&block).unwrap());
        (body.bytes.to_vec(), body.flaw)
    }

    #[test]
    fn every_coding_is_undone_and_every_order() {
        let mut decoder = BodyDecoder::new(1 << 20);
        // PAGE in one brotli stream: a meta-block of bytes that are not compressed.
        let brotli = [&[0x0b | 0x80, 0x14, 0x80][..], PAGE, &[3]].concat();
        let zstd = zstd::bulk::compress(PAGE, 1).unwrap();
        let streamed = zstd::encode_all(PAGE, 1).unwrap();
        for (fields, body) in [
            ("Content-Length: 3", PAGE.to_vec()),
            ("Content-Encoding: gzip", gzip(PAGE)),
            ("content-encoding: X-GZIP", [gzip(&PAGE[..10]), gzip(&PAGE[10..])].concat()),
            ("Content-Encoding: gzip", [&gzip(PAGE)[..], b"\0\0 garbage"].concat()),
            ("Content-Encoding: deflate", zlib(PAGE)),
            ("Content-Encoding: deflate", deflate(PAGE)),
            ("Content-Encoding: br", brotli),
            ("Content-Encoding: zstd", zstd.clone()),
            ("Content-Encoding: zstd", [zstd, streamed[..0].to_vec()].concat()),
            ("Content-Encoding: zstd", streamed),
            ("Transfer-Encoding: chunked", chunked(PAGE)),
            ("Transfer-Encoding: gzip, chunked", chunked(&gzip(PAGE))),
            ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked", chunked(&gzip(PAGE))),
            ("Transfer-Encoding: chunked\r\nContent-Encoding: deflate, gzip", chunked(&gzip(&zlib(PAGE)))),
            // What the head says and the body is not.
            ("Transfer-Encoding: chunked", PAGE.to_vec()),
            ("Content-Encoding: gzip", PAGE.to_vec()),
            ("Content-Encoding: br", PAGE.to_vec()),
            ("Content-Encoding: identity", PAGE.to_vec()),
        ] {
            assert_eq!(decoded(&mut decoder, fields, &body), (PAGE.to_vec(), None), "{fields}");
        }
        let unknown = decoded(&mut decoder, "Content-Encoding: utf-8", PAGE);
        assert_eq!(unknown, (PAGE.to_vec(), Some(Flaw::UnknownCoding)));
        assert_eq!(decoded(&mut decoder, "Content-Encoding: gzip", b""), (Vec::new(), None));
    }

    #[test]
    fn what_is_cut_off_is_kept_as_far_as_it_goes() {
        let mut decoder = BodyDecoder::new(1 << 20);
        let long: Vec<u8> =
            (0..100_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let zstd = zstd::encode_all(&long[..], 1).unwrap();
        for (fields, body) in [
            ("Content-Encoding: gzip", gzip(&long)),
            ("Content-Encoding: deflate", zlib(&long)),
            ("Content-Encoding: zstd", zstd),
            ("Transfer-Encoding: chunked", chunked(&long)),
        ] {
            let (bytes, flaw) = decoded(&mut decoder, fields, &body[..body.len() / 2]);
            assert_eq!(flaw, Some(Flaw::Damaged), "{fields}");
            assert!(bytes.len() > long.len() / 4 && long.starts_with(&bytes), "{fields}: {}", bytes.len());
        }
        let cut = decoded(&mut decoder, "Content-Encoding: gzip", &gzip(PAGE)[..10]);
        assert_eq!((cut.0.len(), cut.1), (0, Some(Flaw::Damaged)));
    }

    #[test]
    fn a_bomb_gives_no_more_than_the_limit() {
        let mut decoder = BodyDecoder::new(1000);
        let bomb = vec![b'a'; 1 << 20];
        // One that says how large it becomes, and one that lies.
        let mut lying = gzip(&bomb);
        let at = lying.len() - 4;
        lying[at..].copy_from_slice(&u32::MAX.to_le_bytes());
        for (fields, body) in [
            ("Content-Encoding: gzip", gzip(&bomb)),
            ("Content-Encoding: gzip", lying),
            ("Content-Encoding: deflate", zlib(&bomb)),
            ("Content-Encoding: zstd", zstd::bulk::compress(&bomb, 1).unwrap()),
            ("Transfer-Encoding: chunked", chunked(&bomb)),
        ] {
            let (bytes, flaw) = decoded(&mut decoder, fields, &body);
            assert_eq!((bytes.len(), flaw), (1000, Some(Flaw::TooLarge)), "{fields}");
            assert!(decoder.buffers.iter().all(|buffer| buffer.capacity() < 10_000), "{fields}");
        }
    }

    const PARTS: [&[u8]; 8] = [
        b"\x1f\x8b\x08\0\0\0\0\0\0\0",
        b"\x28\xb5\x2f\xfd",
        b"5\r\n",
        b"0\r\n\r\n",
        b"\x78\x9c",
        b"abc",
        b"\xff",
        b"\0",
    ];

    proptest::proptest! {
        #[test]
        fn any_body_is_decoded_without_a_panic(
            fields in "(Content-Encoding|Transfer-Encoding): (gzip|br|zstd|deflate|chunked)(, (gzip|br|chunked))?",
            body in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..12)
        ) {
            let mut decoder = BodyDecoder::new(100);
            let (bytes, _) = decoded(&mut decoder, &fields, &body.concat());
            proptest::prop_assert!(bytes.len() <= 120);
        }
    }
}
