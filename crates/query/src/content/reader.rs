//! Reads one document by its place in an archive.

use std::path::PathBuf;
use std::sync::Arc;

use mattock_env::Files;
use mattock_repository::http::{BodyDecoder, parse_response};
use mattock_repository::{RecordFetcher, RecordType};

/// Bodies that are packed are unpacked up to this size.
const BODY_BYTES_MAX: usize = 64 << 20;

/// A document as the archive has it. Borrowed from the reader until the next one.
pub(super) struct Stored<'a> {
    /// The HTTP status; 0 if there is no HTTP head.
    pub(super) status: u16,
    /// Status line and header fields.
    pub(super) head: &'a [u8],
    /// The body; encodings are undone.
    pub(super) body: &'a [u8],
}

/// See the module. Each partition has its own, with open files and buffers that are used again.
pub(super) struct Reader {
    archive: Arc<dyn Fn(&str) -> PathBuf + Send + Sync>,
    fetcher: RecordFetcher,
    decoder: BodyDecoder,
    /// The archive read last, and its path.
    last: Option<(String, PathBuf)>,
}

impl Reader {
    /// A reader of the archives that `archive` finds.
    pub(super) fn new(files: &Files, archive: Arc<dyn Fn(&str) -> PathBuf + Send + Sync>) -> Reader {
        Reader {
            archive,
            fetcher: RecordFetcher::new(files),
            decoder: BodyDecoder::new(BODY_BYTES_MAX),
            last: None,
        }
    }

    /// Bytes of archives that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.fetcher.bytes_read()
    }

    /// The document in the archive `name` at `offset`; what is wrong if it cannot be read.
    pub(super) fn read(&mut self, name: &str, offset: u64, length: u64) -> Result<Stored<'_>, String> {
        if self.last.as_ref().is_none_or(|(last, _)| last != name) {
            self.last = Some((name.to_string(), (self.archive)(name)));
        }
        let Some((_, path)) = &self.last else { return Err("no archive is open".to_string()) };
        let record = self.fetcher.fetch(path, offset, length).map_err(|error| error.to_string())?;
        if record.kind() == Some(RecordType::Revisit) {
            // The payload of a revisit is in the record that it refers to (WARC-Refers-To-Target-URI and -Date, or the same digest):
            // this is the place where it is to be looked up.
            return Err("a revisit: the payload is in an earlier record".to_string());
        }
        let block = record.block;
        Ok(match parse_response(block) {
            Some(response) => {
                let body = self.decoder.decode(&response);
                Stored { status: response.status, head: response.head, body: body.bytes }
            }
            None => Stored { status: 0, head: &[], body: block },
        })
    }
}
