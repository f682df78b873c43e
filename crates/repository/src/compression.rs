//! How records become smaller: one gzip member or one Zstandard frame each.
//!
//! Filled and emptied by the appender, record by record. The working memory of either library is kept between
//! records. Level 1 of Zstandard takes two thirds of the time of gzip's, or less, and packs pages as well.

use libdeflater::CompressionLvl;
use zstd::zstd_safe::CParameter;

use crate::error::RepositoryError;

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

/// A library at work.
pub(crate) enum Compressor {
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
        match compression {
            Compression::Gzip(level) => {
                let level = CompressionLvl::new(level).expect("the level was checked");
                Ok(Compressor::Gzip(libdeflater::Compressor::new(level)))
            }
            Compression::Zstd(level) => {
                let dictionary = dictionary.unwrap_or_default();
                let made =
                    zstd::bulk::Compressor::with_dictionary(level, dictionary).and_then(|mut compressor| {
                        compressor.set_parameter(CParameter::ContentSizeFlag(true))?;
                        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
                        Ok(compressor)
                    });
                made.map(Compressor::Zstd)
                    .map_err(|_| refused("the zstd library does not take it: use 1, and no dictionary"))
            }
        }
    }

    /// How much room a record of so many bytes may need.
    pub(crate) fn bound(&mut self, bytes: usize) -> usize {
        match self {
            Compressor::Gzip(compressor) => compressor.gzip_compress_bound(bytes),
            Compressor::Zstd(_) => zstd::compress_bound(bytes),
        }
    }

    /// Compresses a record into `out`, which has the room for it, and says how long it became.
    pub(crate) fn compress(&mut self, record: &[u8], out: &mut [u8]) -> usize {
        match self {
            Compressor::Gzip(compressor) => {
                compressor.gzip_compress(record, out).expect("the bound that was reserved is never exceeded")
            }
            Compressor::Zstd(compressor) => compressor
                .compress_to_buffer(record, out)
                .expect("the bound that was reserved is never exceeded, and its tables need little memory"),
        }
    }
}
