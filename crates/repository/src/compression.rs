//! How records become smaller: one gzip member or one Zstandard frame each.
//!
//! Filled and emptied by the appender, record by record. The working memory of either library is kept between
//! records. Level 1 of Zstandard takes two thirds of the time of gzip's, or less, and packs pages as well. What is [small](crate::small) is packed
//! without the libraries, where speed is wanted (levels up to 5) and no dictionary makes it smaller still.

use libdeflater::CompressionLvl;
use zstd::zstd_safe::CParameter;

use crate::error::RepositoryError;
use crate::small::{Form, Small};

/// How gzip members begin that are put together here: method deflate; no flags, no time; from no system in particular.
pub(crate) const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Zstandard's fastest level finds repetitions with a table of two to this power places, in records of up to so many bytes. It stays in the
/// nearest cache; below 16 KiB the library would take one of four times the size and be 2 to 3 % slower, for files that are .2 %
/// smaller at the most.
const TABLE_LOG: u32 = 13;
const TABLE_BYTES_MAX: usize = 128 << 10;
/// Who asks for more than this wants small files.
const FAST_LEVEL_MAX: i32 = 5;

/// What records are compressed with, and how hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `.warc.gz`, which every tool reads: libdeflate's level, 1 (fast) to 12 (small).
    Gzip(i32),
    /// `.warc.zst`, which is faster to write and to read: 1 (fast) to 19 (small).
    Zstd(i32),
}

impl Default for Compression {
    fn default() -> Compression {
        Compression::Gzip(1)
    }
}

/// What files of either kind end in.
pub(crate) const SUFFIXES: [&str; 2] = [".warc.gz", ".warc.zst"];

impl Compression {
    /// What file names end in.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::Gzip(_) => SUFFIXES[0],
            Compression::Zstd(_) => SUFFIXES[1],
        }
    }

    /// Checks the level: the error says which there are.
    pub fn check(self) -> Result<(), &'static str> {
        match self {
            Compression::Gzip(level) if !(1..=12).contains(&level) => {
                Err("use 1 (fast) to 12 (small) with gzip")
            }
            Compression::Zstd(level) if !(1..=19).contains(&level) => {
                Err("use 1 (fast) to 19 (small) with zstd")
            }
            _ => Ok(()),
        }
    }

    fn level(self) -> i32 {
        let (Compression::Gzip(level) | Compression::Zstd(level)) = self;
        level
    }
}

/// A library at work, and what small records are packed with in its place.
pub(crate) struct Compressor {
    library: Library,
    /// At Zstandard's fastest level.
    fastest: bool,
    small: Option<Small>,
}

enum Library {
    Gzip(libdeflater::Compressor),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl Compressor {
    /// `dictionary` is for Zstandard only.
    pub(crate) fn new(
        compression: Compression,
        dictionary: Option<&[u8]>,
    ) -> Result<Compressor, RepositoryError> {
        let refused = |rule| RepositoryError::Option {
            name: "the compression level",
            value: compression.level().to_string(),
            rule,
        };
        compression.check().map_err(refused)?;
        let (library, form) = match compression {
            Compression::Gzip(level) => {
                let level = CompressionLvl::new(level).expect("the level was checked");
                (Library::Gzip(libdeflater::Compressor::new(level)), Form::Gzip)
            }
            Compression::Zstd(level) => {
                let dictionary = dictionary.unwrap_or_default();
                let made =
                    zstd::bulk::Compressor::with_dictionary(level, dictionary).and_then(|mut compressor| {
                        compressor.set_parameter(CParameter::ContentSizeFlag(true))?;
                        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
                        Ok(compressor)
                    });
                let made =
                    made.map_err(|_| refused("the zstd library does not take it: use 1, and no dictionary"))?;
                (Library::Zstd(made), Form::Zstandard)
            }
        };
        let fast = compression.level() <= FAST_LEVEL_MAX && dictionary.is_none();
        let fastest = compression.level() == 1 && dictionary.is_none();
        Ok(Compressor { library, fastest, small: fast.then(|| Small::new(form)) })
    }

    /// For comparison.
    #[cfg(test)]
    pub(crate) fn without_small(self) -> Compressor {
        Compressor { small: None, ..self }
    }

    /// How much room a record of so many bytes may need.
    pub(crate) fn bound(&mut self, bytes: usize) -> usize {
        match &mut self.library {
            Library::Gzip(compressor) => compressor.gzip_compress_bound(bytes),
            Library::Zstd(_) => zstd::compress_bound(bytes),
        }
    }

    /// Compresses a record into `out`, which has the room for it, and says how long it became.
    pub(crate) fn compress(&mut self, record: &[u8], out: &mut [u8]) -> usize {
        if let Some(packed) = self.small.as_mut().and_then(|small| small.pack(record)) {
            out[..packed.len()].copy_from_slice(packed);
            return packed.len();
        }
        match &mut self.library {
            Library::Gzip(compressor) => {
                compressor.gzip_compress(record, out).expect("the bound that was reserved is never exceeded")
            }
            Library::Zstd(compressor) => {
                if self.fastest {
                    let log = if record.len() <= TABLE_BYTES_MAX { TABLE_LOG } else { 0 };
                    let set = compressor.set_parameter(CParameter::HashLog(log));
                    set.expect("0 is the library's own choice, the other is one of its sizes");
                }
                compressor.compress_to_buffer(record, out).expect(
                    "the bound that was reserved is never exceeded, and its tables need little memory",
                )
            }
        }
    }
}
