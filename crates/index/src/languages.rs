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

    /// Those of a response, if it is a success; crawls look into nothing else.
    pub(crate) fn of_response(
        &mut self,
        url: &str,
        response: &Response<'_>,
        digest: Option<Digest>,
    ) -> String {
        if !(200..300).contains(&response.status) {
            return String::new();
        }
        let body = self.decoder.decode(response);
        let document = Document::new(url, 0, response.status, response.head, body.bytes, false);
        let found = index_languages(&document);
        if let Some(digest) = digest
            && self.known.len() < REMEMBERED
        {
            self.known.insert(digest, found.as_str().into());
        }
        found
    }

    /// Those of the payload that a revisit repeats, if it came by.
    pub(crate) fn of_original(&self, digest: Option<Digest>) -> Option<String> {
        Some(self.known.get(&digest?)?.to_string())
    }
}
