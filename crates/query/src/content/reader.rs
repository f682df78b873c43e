//! Reads one document by its place in an archive.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use mattock_env::{UnixTime, is_url};
use mattock_repository::http::{Body, BodyDecoder, Flaw, parse_response};
use mattock_repository::{Digest, RecordFetcher, RecordType, RepositoryError};

use super::exec::Stores;
use super::originals::{payload_key, visit_key};

/// Bodies that are packed are unpacked up to this size.
const BODY_BYTES_MAX: usize = 64 << 20;

const DIGEST: &str = "WARC-Payload-Digest";

/// The status of an answer that brings nothing, since nothing has changed.
const NOT_MODIFIED: u16 = 304;

/// A document as the archive has it. Borrowed from the reader until the next one.
pub(super) struct Stored<'a> {
    /// The HTTP status; 0 if there is no HTTP head.
    pub(super) status: u16,
    /// Status line and header fields.
    pub(super) head: &'a [u8],
    /// The body; encodings are undone.
    pub(super) body: &'a [u8],
    /// Why that is not all of it, if it is not.
    pub(super) flaw: Option<Flaw>,
}

/// What is wrong with a body that was decoded in part.
pub(super) fn told(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::UnknownCoding => "its body has a coding that is not known, and was looked at as it is",
        Flaw::Damaged => "its body is damaged, or was cut off, within its coding",
        Flaw::TooLarge => "its body is larger than 64 MiB",
    }
}

/// See the module. Each partition has its own, with open files and buffers that are used again.
pub(super) struct Reader {
    stores: Stores,
    context: Arc<TaskContext>,
    fetcher: RecordFetcher,
    /// Another one for payloads of revisits, so that the first keeps its place.
    originals: RecordFetcher,
    decoder: BodyDecoder,
    /// The archive read last, and its path.
    last: Option<(String, PathBuf)>,
    /// The head of a revisit, whose body is another record's.
    head: Vec<u8>,
    /// Why the query cannot go on. That concerns no single document: nothing is read from then on.
    stopped: Option<DataFusionError>,
}

impl Reader {
    /// A reader of `stores`.
    pub(super) fn new(stores: &Stores, context: Arc<TaskContext>) -> Reader {
        Reader {
            fetcher: RecordFetcher::new(&stores.archives.files),
            originals: RecordFetcher::new(&stores.archives.files),
            stores: stores.clone(),
            context,
            decoder: BodyDecoder::new(BODY_BYTES_MAX),
            last: None,
            head: Vec::new(),
            stopped: None,
        }
    }

    /// Bytes of archives that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.fetcher.bytes_read() + self.originals.bytes_read()
    }

    /// Why the query cannot go on, if it cannot: a network that is down, or an index that cannot be read, says nothing about documents.
    pub(super) fn stopped(&mut self) -> Option<DataFusionError> {
        self.stopped.take()
    }

    /// The document of `url` at `time` in the archive `name` at `offset`; what is wrong if it cannot be read.
    pub(super) fn read(
        &mut self,
        name: &str,
        offset: u64,
        length: u64,
        url: &str,
        time: UnixTime,
    ) -> Result<Stored<'_>, String> {
        if let Some(why) = &self.stopped {
            return Err(why.to_string());
        }
        if self.last.as_ref().is_none_or(|(last, _)| last != name) {
            self.last = Some((name.to_string(), (self.stores.archives.path)(name)));
        }
        let Some((_, path)) = &self.last else { return Err("no archive is open".to_string()) };
        let record = self.fetcher.document(path, offset, length, url, Some(time));
        let record = record.map_err(|error| judged(path, &error, &mut self.stopped))?;
        if record.kind() == Some(RecordType::Revisit) {
            let head = parse_response(record.block);
            let (status, head) = head.map_or((0, &[][..]), |head| (head.status, head.head));
            self.head.clear();
            self.head.extend_from_slice(head);
            let digest = record.fields.get(DIGEST).filter(|said| !said.is_empty()).map(payload_key);
            let visit = record.refers_to();
            if digest.is_none() && visit.is_none() {
                return Err("a revisit that does not say of what".to_string());
            }
            let originals = &self.stores.originals;
            let mut found = Ok(None);
            if let Some(digest) = &digest {
                found = originals.find(digest, &self.context);
            }
            let by_visit = visit.filter(|_| matches!(found, Ok(None)));
            if let Some((url, time)) = by_visit {
                found = self.stores.visits.find(&visit_key(url, time.as_seconds()), &self.context);
            }
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    let why = error.to_string();
                    self.stopped = Some(error);
                    return Err(why);
                }
            };
            let (name, offset, length) =
                found.ok_or("a revisit of a record that is not in this repository")?;
            let path = (self.stores.archives.path)(&name);
            let record = match by_visit {
                Some((url, time)) => self.originals.document(&path, offset, length, url, Some(time)),
                None => self.originals.fetch(&path, offset, length),
            };
            let record = record.map_err(|error| judged(&path, &error, &mut self.stopped))?;
            let response = parse_response(record.block).ok_or("a revisit of a record without an answer")?;
            // What no head says, the index has worked out.
            let own = || match record.fields.get(DIGEST).filter(|said| !said.is_empty()) {
                Some(said) => payload_key(said),
                None => Digest::of(&[response.body]),
            };
            if by_visit.is_none() && Some(own()) != digest {
                return Err("a revisit of a record that is another one by now".to_string());
            }
            let Body { bytes: body, flaw } = self.decoder.decode(&response);
            // That nothing has changed says nothing else: the document is as it was.
            return Ok(match status {
                0 | NOT_MODIFIED => Stored { status: response.status, head: response.head, body, flaw },
                _ => Stored { status, head: &self.head, body, flaw },
            });
        }
        let block = record.block;
        Ok(match parse_response(block) {
            Some(response) => {
                let Body { bytes: body, flaw } = self.decoder.decode(&response);
                Stored { status: response.status, head: response.head, body, flaw }
            }
            None => Stored { status: 0, head: &[], body: block, flaw: None },
        })
    }
}

/// What is wrong with a document; or, if it is nothing about it, with the store.
fn judged(path: &Path, error: &RepositoryError, stopped: &mut Option<DataFusionError>) -> String {
    let text = error.to_string();
    if is_url(path) && matches!(error, RepositoryError::Io { .. }) && !error.is_loss() {
        *stopped = Some(DataFusionError::External(text.clone().into()));
    }
    text
}
