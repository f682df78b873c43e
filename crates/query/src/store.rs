//! The files of `env` as an object store, which is how DataFusion reads Parquet.
//!
//! Reading only. A location is the file's absolute path; that of a file by URL begins with a directory [`FAR`], which nobody has. Calls
//! block, as all file calls of `env` do: what is read are ranges of column chunks, mostly out of the page cache, on threads that
//! a query owns. Far away, the ranges of one call are asked for together.

use std::fmt;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use bytes::Bytes;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::stream::{BoxStream, StreamExt as _};
use mattock_env::{File, Files, OpenMode, is_url};

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
}

impl EnvStore {
    /// A store of `files`.
    pub(crate) fn new(files: Files) -> EnvStore {
        EnvStore { files }
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

fn read(file: &File, location: &Path, range: Range<u64>) -> Result<Bytes> {
    let mut read = file.read_ranges(std::slice::from_ref(&range)).map_err(|error| failed(location, error))?;
    Ok(read.pop().unwrap_or_default().into())
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
        let bytes = if options.head { Bytes::new() } else { read(&file, location, range.clone())? };
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
        let read = self.open(location)?.read_ranges(ranges).map_err(|error| failed(location, error))?;
        Ok(read.into_iter().map(Bytes::from).collect())
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
mod tests {
    use super::*;

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
