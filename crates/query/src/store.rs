//! The files of `env` as an object store, which is how DataFusion reads Parquet.
//!
//! Reading only. A location is the file's absolute path; that of a file by URL begins with a directory [`FAR`], which nobody has. Calls
//! block, as all file calls of `env` do: what is read are ranges of column chunks, mostly out of the page cache, on threads that
//! a query owns. Far away, the ranges of one call are asked for together.
//!
//! Of a file whose checksums are known ([`Sums`]) whole blocks are read and compared, so that a damaged byte is an error and never an answer.
//! That costs some percent of what it costs to decompress them. Far away they are not: a store of objects compares for itself.
//!
//! A small part is read whole, since its description lies in the blocks that its rows lie in. The last few that a thread has read stay for the
//! reading that follows at once, on the same thread: memory that one thread takes and another gives back would have both wait for each other.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::stream::{BoxStream, StreamExt as _};
use mattock_env::{File, Files, OpenMode, is_url};

use crate::metadata::END_BYTES;
use crate::sums::{Compared, Sums, damaged};

/// The scheme and host under which the store is known.
pub(crate) const STORE_URL: &str = "mattock://files/";

/// The first part of a location that is a URL; scheme, bucket and key follow.
const FAR: &str = ":";

/// The location of a file, as DataFusion takes it.
pub(crate) fn name_of(path: &std::path::Path) -> std::io::Result<String> {
    let text = |path: &std::path::Path| path.to_str().map(str::to_string);
    let name = match is_url(path) {
        // No part of a location is empty: `file:///a` has no bucket.
        true => {
            text(path).map(|url| format!("/{FAR}/{}", url.replacen("://", "/", 1).replacen("//", "/", 1)))
        }
        false => text(&std::path::absolute(path)?),
    };
    name.ok_or_else(|| std::io::ErrorKind::InvalidFilename.into())
}

/// See the module.
#[derive(Debug)]
pub(crate) struct EnvStore {
    files: Files,
    sums: Sums,
    /// Tells the parts of this store from those of others.
    number: u64,
}

/// Parts of up to so many bytes stay for the next reading,
const SMALL_BYTES: usize = END_BYTES;
/// and this many of them.
const RECENT_MAX: usize = 4;

/// A small part, with the number of its store.
type Recent = (u64, Path, Bytes);

thread_local! {
    /// What this thread has read, the newest last: parts never change.
    static RECENT: RefCell<VecDeque<Recent>> = const { RefCell::new(VecDeque::new()) };
}

/// Each store has the next number.
static NUMBER_NEXT: AtomicU64 = AtomicU64::new(0);

impl EnvStore {
    /// A store of `files`; what is read of those that `sums` has is compared.
    pub(crate) fn new(files: Files, sums: Sums) -> EnvStore {
        EnvStore { files, sums, number: NUMBER_NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Pieces of a part that was read whole a moment ago.
    fn recent(&self, location: &Path, ranges: &[Range<u64>]) -> Option<Vec<Bytes>> {
        let is_it = |recent: &&Recent| recent.0 == self.number && recent.1 == *location;
        let bytes = RECENT.with_borrow(|recent| Some(recent.iter().rev().find(is_it)?.2.clone()))?;
        let within = |range: &Range<u64>| range.start <= range.end && range.end <= bytes.len() as u64;
        let piece = |range: &Range<u64>| bytes.slice(range.start as usize..range.end as usize);
        ranges.iter().all(within).then(|| ranges.iter().map(piece).collect())
    }

    /// Keeps a part that was read whole, if it is small.
    fn keep(&self, location: &Path, ranges: &[Range<u64>], read: &[Bytes]) {
        let ([Range { start: 0, .. }], [bytes]) = (ranges, read) else { return };
        let is_whole = |known: &Compared| known.bytes() == bytes.len() as u64;
        if bytes.len() <= SMALL_BYTES
            && self.sums.of(&path_of(location)).is_some_and(|known| is_whole(&known))
        {
            RECENT.with_borrow_mut(|recent| {
                if recent.len() == RECENT_MAX {
                    recent.pop_front();
                }
                recent.push_back((self.number, location.clone(), bytes.clone()));
            });
        }
    }

    fn open(&self, location: &Path) -> Result<File> {
        self.files.open(&path_of(location), OpenMode::Read).map_err(|error| failed(location, error))
    }
}

/// The file that a location means: object stores write some characters of names as `%` and two digits.
pub(crate) fn path_of(location: &Path) -> PathBuf {
    let mut path = vec![b'/'];
    let mut rest = location.as_ref().as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                path.push(byte);
                rest = &behind[2..];
            }
            None => {
                path.push(*first);
                rest = behind;
            }
        }
    }
    let path = PathBuf::from(std::ffi::OsString::from_vec(path));
    let far = path
        .strip_prefix("/")
        .ok()
        .and_then(|path| path.strip_prefix(FAR).ok())
        .and_then(|path| path.to_str());
    match far.and_then(|far| far.split_once('/')) {
        Some(("file", path)) => PathBuf::from(format!("file:///{path}")),
        Some((scheme, rest)) => PathBuf::from(format!("{scheme}://{rest}")),
        None => path,
    }
}

fn failed(location: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::NotFound { path: path_of(location).display().to_string(), source: error.into() }
        }
        _ => Error::Generic {
            store: "files",
            source: format!("{}: {error}", path_of(location).display()).into(),
        },
    }
}

fn refused<T>(operation: &str) -> Result<T> {
    Err(Error::NotImplemented { operation: operation.to_string(), implementer: "EnvStore".to_string() })
}

/// The bytes of these ranges.
fn read(file: &File, sums: &Sums, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let path = path_of(location);
    let read = || match sums.of(&path) {
        Some(known) => known.read(file, ranges),
        None if is_url(&path) => Ok(file.read_ranges(ranges)?.into_iter().map(Bytes::from).collect()),
        None => {
            let length = file.len()?;
            // Before there is memory for them.
            if ranges.iter().any(|range| range.start > range.end || range.end > length) {
                return Err(damaged("it names bytes behind its end"));
            }
            Ok(file.read_ranges(ranges)?.into_iter().map(Bytes::from).collect())
        }
    };
    read().map_err(|error| failed(location, error))
}

impl fmt::Display for EnvStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("files")
    }
}

#[async_trait::async_trait]
impl ObjectStore for EnvStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let file = self.open(location)?;
        let size = file.len().map_err(|error| failed(location, error))?;
        let range = match options.range {
            Some(range) => range
                .as_range(size)
                .map_err(|error| Error::Generic { store: "files", source: Box::new(error) })?,
            None => 0..size,
        };
        let bytes = match options.head {
            true => Bytes::new(),
            false => {
                let range = std::slice::from_ref(&range);
                read(&file, &self.sums, location, range)?.pop().unwrap_or_default()
            }
        };
        let meta = ObjectMeta {
            location: location.clone(),
            // Parts are never changed once they have their names.
            last_modified: Default::default(),
            size,
            e_tag: None,
            version: None,
        };
        let payload = GetResultPayload::Stream(futures::stream::once(async move { Ok(bytes) }).boxed());
        Ok(GetResult { payload, meta, range, attributes: Attributes::default() })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if let Some(pieces) = self.recent(location, ranges) {
            return Ok(pieces);
        }
        let pieces = read(&self.open(location)?, &self.sums, location, ranges)?;
        self.keep(location, ranges, &pieces);
        Ok(pieces)
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        refused("put")
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        refused("put")
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        futures::stream::once(async { refused("delete") }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        futures::stream::once(async { refused("list") }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        refused("list")
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        refused("copy")
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one range is asked for as several are")]
mod tests {
    use super::*;
    use crate::source::PartSums;

    #[tokio::test]
    async fn what_is_behind_the_end_takes_no_memory() {
        let files = Files::simulated(mattock_env::SimFiles::new(mattock_env::Random::from_seed(1)));
        files.create_dir_all(std::path::Path::new("/d")).unwrap();
        files.write_atomic(std::path::Path::new("/d/x"), &[1; 100]).unwrap();
        let store = EnvStore::new(files, Sums::default());
        for range in [0..101, 50..u64::MAX, 1 << 62..(1 << 62) + 1] {
            let error = store.get_ranges(&Path::from("/d/x"), &[range]).await.unwrap_err().to_string();
            assert!(error.contains("names bytes behind its end"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_small_part_is_read_once() {
        let files = Files::simulated(mattock_env::SimFiles::new(mattock_env::Random::from_seed(1)));
        files.create_dir_all(std::path::Path::new("/d")).unwrap();
        let sums = Sums::default();
        let write = |name: &str, length: usize| {
            let (path, bytes) = (PathBuf::from(format!("/d/{name}")), vec![7; length]);
            files.write_atomic(&path, &bytes).unwrap();
            let mut summer = mattock_codec::BlockSummer::default();
            summer.update(&bytes);
            sums.add([PartSums { path, bytes: length as u64, sums: summer.finish().to_text() }]).unwrap();
            Path::from(format!("/d/{name}"))
        };
        let (small, large) = (write("small", SMALL_BYTES), write("large", SMALL_BYTES + 1));
        files.write_atomic(std::path::Path::new("/d/changes"), &[7; 100]).unwrap();
        let changes = Path::from("/d/changes");
        let store = EnvStore::new(files.clone(), sums.clone());
        for (part, length, stays) in
            [(&small, SMALL_BYTES, true), (&large, SMALL_BYTES + 1, false), (&changes, 100, false)]
        {
            let whole = 0..length as u64;
            assert_eq!(store.get_ranges(part, std::slice::from_ref(&whole)).await.unwrap()[0].len(), length);
            files.remove_file(&path_of(part)).unwrap();
            let again = store.get_ranges(part, &[3..5, 90..100]).await;
            assert_eq!(again.is_ok(), stays, "{part}");
            assert!(again.is_err() || again.unwrap()[1] == [7u8; 10][..]);
            let behind = store.get_ranges(part, &[0..1, 5..length as u64 + 1]).await;
            assert!(behind.is_err(), "{part}");
        }
        let others: Vec<Path> = (0..RECENT_MAX).map(|number| write(&number.to_string(), 10)).collect();
        for other in &others {
            store.get_ranges(other, std::slice::from_ref(&(0..10))).await.unwrap();
        }
        assert!(store.get_ranges(&small, &[3..5]).await.is_err(), "newer ones have its place");
    }

    #[test]
    fn names_come_back_as_they_were() {
        for name in ["/a/b.parquet", "/with blank/100%/%41/ü#?*~.parquet"] {
            assert_eq!(path_of(&Path::from(name)), PathBuf::from(name));
            assert_eq!(name_of(std::path::Path::new(name)).unwrap(), name);
        }
        for url in
            ["s3://bucket/a/b.parquet", "file:///with blank/100%/%41/ü#?*~.parquet", "http://[::1]:80/x"]
        {
            let name = name_of(std::path::Path::new(url)).unwrap();
            assert_eq!(path_of(&Path::from(name)).to_str(), Some(url));
        }
    }
}
