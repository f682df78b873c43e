//! Puts objects: small ones with one request, large ones in parts, a few at a time, so that a part that fails is sent again and not the whole.

use std::collections::VecDeque;
use std::sync::Arc;

use mattock_env::File;
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt as _};

use crate::counts::Counters;
use crate::engine::{Engine, Pending};
use crate::error::ObjectsError;

/// The least that a part has; smaller objects are sent as a whole.
pub(crate) const PART_BYTES: u64 = 8 << 20;
/// S3 takes 10,000 at most.
const PARTS_MAX: u64 = 9_000;
/// So many are under way at once.
const IN_FLIGHT: usize = 4;

pub(crate) struct Put<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) counters: &'a Counters,
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    pub(crate) url: &'a str,
}

impl Put<'_> {
    pub(crate) fn put(
        self,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> std::io::Result<()>,
    ) -> Result<(), ObjectsError> {
        if length > PART_BYTES {
            return self.put_parts(content, length, sent);
        }
        let bytes = piece(content, 0, length)?;
        let (store, path) = (self.store.clone(), self.path.clone());
        self.counters.request();
        let put = self.engine.run(async move { store.put(&path, bytes.into()).await })?;
        put.map_err(|error| ObjectsError::store(self.url, &error))?;
        self.counters.written(length);
        Ok(sent(length)?)
    }

    fn put_parts(
        self,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> std::io::Result<()>,
    ) -> Result<(), ObjectsError> {
        let (store, path) = (self.store.clone(), self.path.clone());
        self.counters.request();
        let begun = self.engine.run(async move { store.put_multipart(&path).await })?;
        let mut upload = begun.map_err(|error| ObjectsError::store(self.url, &error))?;
        match self.send(&mut upload, content, length, sent) {
            Ok(()) => {
                self.counters.request();
                let completed = self.engine.run(async move { upload.complete().await })?;
                completed.map(drop).map_err(|error| ObjectsError::store(self.url, &error))
            }
            Err(error) => {
                // What was sent so far would be paid for; that it cannot be taken back is no news worth more than the first error.
                self.counters.request();
                let _ = self.engine.run(async move { upload.abort().await })?;
                Err(error)
            }
        }
    }

    fn send(
        &self,
        upload: &mut Box<dyn MultipartUpload>,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> std::io::Result<()>,
    ) -> Result<(), ObjectsError> {
        let part_bytes = PART_BYTES.max(length.div_ceil(PARTS_MAX));
        let mut in_flight: VecDeque<(Pending<Result<(), Error>>, u64)> = VecDeque::new();
        let mut at = 0;
        while at < length || !in_flight.is_empty() {
            if at < length && in_flight.len() < IN_FLIGHT {
                let bytes = piece(content, at, part_bytes.min(length - at))?;
                let count = bytes.len() as u64;
                self.counters.request();
                in_flight.push_back((self.engine.start(upload.put_part(bytes.into()))?, count));
                at += count;
                continue;
            }
            if let Some((part, count)) = in_flight.pop_front() {
                part.wait()?.map_err(|error| ObjectsError::store(self.url, &error))?;
                self.counters.written(count);
                sent(count)?;
            }
        }
        Ok(())
    }
}

fn piece(content: &File, at: u64, length: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| std::io::ErrorKind::FileTooLarge)?];
    content.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}
