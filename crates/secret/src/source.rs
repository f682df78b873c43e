//! Where a secret comes from: an environment variable, a file of its owner's alone, or the configuration itself.
//!
//! In a configuration it is a string, `{ env = "NAME" }` or `{ file = "PATH" }`. The last two are references: a configuration that is written
//! down again holds them and not what they lead to.

use std::fmt;
use std::path::{Path, PathBuf};

use mattock_env::Files;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Secret;

/// Says where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the configuration itself.
    Here(Secret),
    /// In this environment variable.
    Env(String),
    /// In this file, which nobody but its owner can read.
    File(PathBuf),
}

/// Why a secret cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The environment lacks it.
    #[error(
        "the environment variable {0} is not set, or is no text; set it to the secret that it stands for"
    )]
    Unset(String),
    /// The file cannot be read.
    #[error("cannot read {}: {error}; put the secret there, or name another file", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Others can read the file.
    #[error("{0} can be read by others than its owner; `chmod 600 {0}`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing in it, or no text.
    #[error("{} is empty, or holds no text; put the secret into it, on one line", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Source {
    /// Fetches the secret. Of a file the end of the last line is left out.
    pub fn read(&self, files: &Files) -> Result<Secret, SourceError> {
        match self {
            Source::Here(secret) => Ok(secret.clone()),
            Source::Env(name) => {
                let text = std::env::var(name).ok().filter(|text| !text.is_empty());
                text.map(Secret::new).ok_or_else(|| SourceError::Unset(name.clone()))
            }
            Source::File(path) => from_file(files, path),
        }
    }

    /// Names a file from where its name is relative to this directory.
    pub fn absolute(&mut self, directory: &Path) {
        if let Source::File(named) = self {
            let path = directory.join(&*named);
            *named = std::path::absolute(&path).unwrap_or(path);
        }
    }
}

fn from_file(files: &Files, path: &Path) -> Result<Secret, SourceError> {
    let unread = |error| SourceError::Unread { path: path.to_path_buf(), error };
    let bytes = files.read_private(path).map_err(unread)?;
    let bytes = bytes.ok_or_else(|| SourceError::Open { path: path.to_path_buf() })?;
    let text = String::from_utf8(bytes).map_err(|_| SourceError::Empty { path: path.to_path_buf() })?;
    let secret = Secret::new(text.strip_suffix('\n').map_or(&*text, |line| line.trim_end_matches('\r')));
    // What was read is a secret as well.
    drop(Secret::new(text));
    if secret.expose().is_empty() {
        return Err(SourceError::Empty { path: path.to_path_buf() });
    }
    Ok(secret)
}

impl From<&str> for Source {
    fn from(text: &str) -> Source {
        Source::Here(Secret::new(text))
    }
}

impl Serialize for Source {
    /// Writes a secret of the configuration itself as it is: the file that this goes to must be private.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, value) = match self {
            Source::Here(secret) => return serializer.serialize_str(secret.expose()),
            Source::Env(name) => ("env", name.clone()),
            Source::File(path) => ("file", path.display().to_string()),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(key, &value)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Source, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Source;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string, { env = \"NAME\" } or { file = \"PATH\" }")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Source, E> {
                Ok(Source::from(text))
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Source, M::Error> {
                let named: Option<(String, String)> = map.next_entry()?;
                let more: Option<(String, String)> = map.next_entry()?;
                match (named, more) {
                    (Some((key, name)), None) if key == "env" => Ok(Source::Env(name)),
                    (Some((key, path)), None) if key == "file" => Ok(Source::File(path.into())),
                    _ => Err(de::Error::custom("write it like { env = \"NAME\" } or { file = \"PATH\" }")),
                }
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Random, SimFiles};
    use std::collections::BTreeMap;

    type Read = Result<BTreeMap<String, Source>, toml::de::Error>;

    #[test]
    fn references_are_written_as_references() {
        let text = "a = \"plain\"\n\n[b]\nenv = \"NAME\"\n\n[c]\nfile = \"/run/secret\"\n";
        let read: BTreeMap<String, Source> = toml::from_str(text).unwrap();
        assert_eq!(read["a"], Source::from("plain"));
        assert_eq!(read["b"], Source::Env("NAME".to_owned()));
        assert_eq!(read["c"], Source::File("/run/secret".into()));
        assert_eq!(toml::to_string(&read).unwrap(), text);
        assert!(!format!("{read:?}").contains("plain"), "{read:?}");
        for wrong in
            ["a = 1", "a = {}", "a = { evn = 'A' }", "a = { env = 'A', file = 'B' }", "a = { env = 1 }"]
        {
            let error = (toml::from_str(wrong) as Read).unwrap_err().to_string();
            assert!(error.contains("{ file = \"PATH\" }") || error.contains("expected a string"), "{error}");
        }
    }

    #[test]
    fn a_secret_is_read_from_where_it_is() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        assert_eq!(Source::from("x").read(&files).unwrap(), Secret::new("x"));
        let path = Path::new("/run/secret");
        files.create_dir_all(Path::new("/run")).unwrap();
        let of_file = |bytes: &[u8]| {
            files.write_private(path, bytes).unwrap();
            Source::File(path.into()).read(&files)
        };
        for bytes in [&b"pass word "[..], b"pass word \n", b"pass word \r\n"] {
            assert!(of_file(bytes).unwrap().is("pass word "));
        }
        for bytes in [&b""[..], b"\n", b"\xff"] {
            assert!(matches!(of_file(bytes), Err(SourceError::Empty { .. })));
        }
        let missing = Source::File("/run/none".into()).read(&files).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read /run/none"), "{missing}");
        let unset = Source::Env("MATTOCK_TEST_IS_NOT_SET".to_owned()).read(&files).unwrap_err().to_string();
        assert!(unset.contains("MATTOCK_TEST_IS_NOT_SET is not set"), "{unset}");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let files = Files::real();
        let random = Random::from_entropy().next_u64();
        let path = std::env::temp_dir().join(format!("mattock-secret-{random:016x}"));
        files.write_atomic(&path, b"pass").unwrap();
        let is_open = !files.is_private(&path).unwrap();
        let error = Source::File(path.clone()).read(&files);
        files.write_private(&path, b"pass").unwrap();
        let read = Source::File(path.clone()).read(&files);
        files.remove_file(&path).unwrap();
        assert!(read.unwrap().is("pass"));
        // With a umask of 077 every file is private.
        if is_open {
            let error = error.unwrap_err().to_string();
            assert!(error.ends_with(&format!("`chmod 600 {}`", path.display())), "{error}");
        }
    }
}
