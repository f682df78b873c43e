//! The languages of foreign documents, as they come by in an import.

use std::collections::HashMap;

use mattock_analyze::{Document, index_languages};
use mattock_repository::Digest;
use mattock_repository::http::{BodyDecoder, Response};

/// As much of a coded body is decoded: the text at its beginning is all that counts.
const DECODED_BYTES_MAX: usize = 1 << 20;

/// Payloads whose languages are remembered for the revisits that repeat them; some 80 bytes each.
const REMEMBERED: usize = 200_000;

/// Finds them out.
pub(crate) struct Languages {
    decoder: BodyDecoder,
    known: HashMap<Digest, Box<str>>,
}

impl Languages {
    pub(crate) fn new() -> Languages {
        Languages { decoder: BodyDecoder::new(DECODED_BYTES_MAX), known: HashMap::new() }
    }

    /// Those of a response, if it is a success. `payload` is how its digest is spelled.
    pub(crate) fn of_response(&mut self, url: &str, response: &Response<'_>, payload: &str) -> String {
        let found = match response.status {
            200..300 => {
                let body = self.decoder.decode(response);
                let document = Document::new(url, 0, response.status, response.head, body.bytes, false);
                index_languages(&document)
            }
            _ => String::new(),
        };
        if !payload.is_empty() && self.known.len() < REMEMBERED {
            self.known.insert(Digest::of(&[payload.as_bytes()]), found.as_str().into());
        }
        found
    }

    /// Those of the payload that a revisit repeats, if it came by; none if the answer was no success.
    pub(crate) fn of_original(&self, status: Option<u16>, payload: &str) -> Option<String> {
        const NOT_MODIFIED: u16 = 304;
        match status {
            Some(200..300 | NOT_MODIFIED) | None => {
                Some(self.known.get(&Digest::of(&[payload.as_bytes()]))?.to_string())
            }
            Some(_) => Some(String::new()),
        }
    }
}
