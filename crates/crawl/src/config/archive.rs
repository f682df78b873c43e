//! How WARC files are written: keys that must fit each other.

use mattock_repository::Compression;
use serde::{Deserialize, Serialize};

use super::checked::size;
use super::{ConfigError, RawArchive};

/// What WARC files are compressed with, in a file's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RawCompression {
    /// `.warc.gz`
    Gzip,
    /// `.warc.zst`
    Zstd,
}

/// Level 1 of either, if nothing is said: what is above it costs more than it saves.
const LEVEL: i32 = 1;

/// Payloads that are remembered, if nothing is said.
const REVISITS: usize = 50_000;
/// More than this takes too much memory, and `check` remembers no more.
pub(crate) const REVISITS_MAX: usize = 1_000_000;

pub(super) fn compression(archive: &RawArchive) -> Result<Compression, ConfigError> {
    let level = archive.level.unwrap_or(LEVEL);
    let compression = match archive.compression {
        None | Some(RawCompression::Gzip) => Compression::Gzip(level),
        Some(RawCompression::Zstd) => Compression::Zstd(level),
    };
    let refused = |rule| ConfigError::Value {
        place: None,
        key: "archive.level",
        message: format!("{level} is no level; {rule}"),
    };
    compression.check().map_err(refused)?;
    Ok(compression)
}

/// Beyond 2 GiB the index has no numbers for places, and the last page of a file may be a long one.
const FILE_BYTES_MAX: u64 = 2_000_000_000;

pub(super) fn file_bytes(archive: &RawArchive, default: u64) -> Result<u64, ConfigError> {
    let bytes = size("archive.file_size", &archive.file_size, default)?;
    if bytes > FILE_BYTES_MAX {
        return Err(ConfigError::Value {
            place: None,
            key: "archive.file_size",
            message: "the index can name places up to 2 GiB; use up to 2GB".to_owned(),
        });
    }
    Ok(bytes)
}

pub(super) fn dictionary(archive: &RawArchive) -> Result<bool, ConfigError> {
    let wanted = archive.dictionary.unwrap_or(false);
    if wanted && archive.compression != Some(RawCompression::Zstd) {
        return Err(ConfigError::Value {
            place: None,
            key: "archive.dictionary",
            message: "gzip has no dictionaries; set `archive.compression` to \"zstd\"".to_owned(),
        });
    }
    Ok(wanted)
}

pub(super) fn revisits(archive: &RawArchive) -> Result<usize, ConfigError> {
    let count = archive.revisits.unwrap_or(REVISITS);
    if count > REVISITS_MAX {
        return Err(ConfigError::Value {
            place: None,
            key: "archive.revisits",
            message: format!("{count} payloads are too many to be remembered; use up to {REVISITS_MAX}"),
        });
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::super::RawConfig;
    use super::*;

    #[test]
    fn the_level_is_that_of_the_compression() {
        let checked = |text: &str| RawConfig::parse(text, "ours.toml").and_then(|raw| raw.check());
        let chosen = |text: &str| checked(text).unwrap().writer_options().compression;
        assert_eq!(chosen(""), Compression::Gzip(1));
        assert_eq!(chosen("[archive]\nlevel = 12"), Compression::Gzip(12));
        assert_eq!(chosen("[archive]\ncompression = 'gzip'\nlevel = 6"), Compression::Gzip(6));
        assert_eq!(chosen("[archive]\ncompression = 'zstd'"), Compression::Zstd(1));
        assert_eq!(chosen("[archive]\ncompression = 'zstd'\nlevel = 19"), Compression::Zstd(19));
        for (text, says) in [
            ("level = 0", "archive.level: 0 is no level; use 1 (fast) to 12 (small) with gzip"),
            ("level = 13", "12 (small) with gzip"),
            ("compression = 'zstd'\nlevel = 20", "19 (small) with zstd"),
            ("compression = 'zstd'\nlevel = -1", "1 (fast) to 19"),
            ("compression = 'bzip2'", "`gzip` or `zstd`"),
            ("dictionary = true", "set `archive.compression` to \"zstd\""),
            ("revisits = 1000001", "use up to 1000000"),
            (
                "file_size = '2.1GB'",
                "archive.file_size: the index can name places up to 2 GiB; use up to 2GB",
            ),
        ] {
            let error = checked(&format!("[archive]\n{text}")).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
