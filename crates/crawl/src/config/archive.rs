//! What WARC files are compressed with: two keys that must fit each other.

use mattock_repository::Compression;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::super::RawConfig;
    use super::*;

    #[test]
    fn the_level_is_that_of_the_compression() {
        let checked = |text: &str| RawConfig::parse(text, "ours.toml").map(|raw| raw.check().unwrap());
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
        ] {
            let error = checked(&format!("[archive]\n{text}")).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
