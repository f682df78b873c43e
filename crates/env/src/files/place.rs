//! Names that came from somewhere, and what is left of them once they were looked at.
//!
//! A [`Name`] is one plain name; a `Place` is a path of such names below a root. Neither can lead up, elsewhere, or to a name that the system
//! would cut off or refuse half-way. Whoever parses a list, a manifest or a ledger makes names of what is in it; the door to the disk
//! (`beneath.rs`) takes places only.

use std::borrow::Borrow;
use std::fmt;
use std::io;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// As long as a file's name can be on the file systems of Linux.
const NAME_BYTES_MAX: usize = 255;

/// The name of a file in its directory: no path, no step up, nothing that a file system could not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// A text that is no [`Name`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of a file in a directory")]
pub struct BadName(String);

impl Name {
    /// The name, if it is one.
    pub fn new(text: impl Into<String>) -> Result<Name, BadName> {
        let text = text.into();
        match is_name(&text) {
            true => Ok(Name(text)),
            false => Err(BadName(shortened(text))),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An error is for people: nobody reads a name of kilobytes.
fn shortened(mut text: String) -> String {
    const SHOWN: usize = 80;
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}

fn is_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && text.len() <= NAME_BYTES_MAX && !text.contains(['/', '\0'])
}

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Name, BadName> {
        Name::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl AsRef<Path> for Name {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// A path below a root that was looked at: plain names only. Empty for the root itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a>(&'a Path);

impl<'a> Place<'a> {
    /// The place, if every step of `below` is a plain name.
    pub(super) fn new(below: &'a Path) -> io::Result<Place<'a>> {
        let is_plain = |part: Component<'_>| match part {
            Component::Normal(name) => {
                let bytes = name.as_encoded_bytes();
                bytes.len() <= NAME_BYTES_MAX && !bytes.contains(&0)
            }
            _ => false,
        };
        match below.components().all(is_plain) {
            true => Ok(Place(below)),
            false => Err(io::ErrorKind::InvalidFilename.into()),
        }
    }

    /// The path below the root.
    pub(super) fn path(self) -> &'a Path {
        self.0
    }

    /// Whether this is the root itself.
    pub(super) fn is_root(self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// The directory that it lies in, and its name there; `None` for the root.
    pub(super) fn split(self) -> Option<(Place<'a>, &'a Path)> {
        let name = self.0.file_name()?;
        Some((Place(self.0.parent().unwrap_or(Path::new(""))), Path::new(name)))
    }

    /// Its steps, from the root down.
    pub(super) fn steps(self) -> impl Iterator<Item = &'a Path> {
        self.0.iter().map(Path::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_name_in_a_directory() {
        for good in ["a", "part-000001.parquet", "..a", "a..", "...", " ", "-", "ä", "*", &"n".repeat(255)] {
            assert_eq!(Name::new(good).unwrap(), good);
            assert_eq!(Place::new(Path::new(good)).unwrap().path(), Path::new(good));
        }
        for bad in ["", ".", "..", "/", "a/b", "../a", "/a", "a/", "a\0", "\0", &"n".repeat(256)] {
            let error = Name::new(bad).unwrap_err().to_string();
            assert!(error.contains("is not the name of a file") && error.len() < 200, "{error}");
        }
    }

    #[test]
    fn a_place_leads_down_only() {
        for good in ["", "a", "a/b/c", "a//b", "a/./b", "index/part-000001.parquet"] {
            Place::new(Path::new(good)).unwrap();
        }
        let (long, nul) = (format!("a/{}", "n".repeat(4096)), "a\0b".to_owned());
        for bad in ["..", "../a", "a/../b", "a/..", "/a", "/", &long, &nul] {
            let error = Place::new(Path::new(bad)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidFilename, "{bad}");
        }
        let place = Place::new(Path::new("a/b/c")).unwrap();
        assert_eq!(place.split(), Some((Place(Path::new("a/b")), Path::new("c"))));
        assert_eq!(place.steps().count(), 3);
        assert_eq!(Place::new(Path::new("")).unwrap().split(), None);
    }
}
