//! Whether the feature databases are of the documents that the report is about.
//!
//! Everything else in a report is asked of the index as it is now, or as of a date. Features are of the index that they were built from,
//! and stay so: their manifest names its parts. Where they are of something else the report says so, because links and
//! near-duplicates then do not belong to the other figures.

use std::path::Path;

use mattock_env::Files;
use mattock_features::{Features, OriginPart};
use mattock_index::{Manifest, Part};

use super::error::Result;

/// How the origin of features begins that were built of a repository's documents.
const DOCUMENTS: &str = "documents: ";

/// What features are of, if it is not what the report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// What was there before.
    Older,
    /// What is there now, and the report is as of a date.
    Newer,
    /// Something that is no repository: what it is.
    Foreign(String),
}

impl Other {
    /// As a sentence without its end.
    pub(crate) fn sentence(&self, generation: u64) -> String {
        let which = format!("generation {generation} of the feature databases");
        match self {
            Other::Older => {
                format!("links and near-duplicates are of {which}, which is older than the documents")
            }
            Other::Newer => {
                format!("links and near-duplicates are of {which} as it was built: no date reaches into it")
            }
            Other::Foreign(how) => {
                format!(
                    "links and near-duplicates are of {which}, which was built from {how} and not of the documents"
                )
            }
        }
    }
}

/// Holds features against a repository, of which the report has so many instances. `None` if they are of just these, or if it is not
/// known what they are of.
pub(crate) fn compare(
    files: &Files,
    repository: &Path,
    features: &Features,
    instances: u64,
    has_date: bool,
) -> Result<Option<Other>> {
    let origin = features.origin();
    if origin.how.is_empty() {
        return Ok(None);
    }
    if !origin.how.starts_with(DOCUMENTS) {
        return Ok(Some(Other::Foreign(origin.how.clone())));
    }
    let index = Manifest::read(files, repository)?;
    // A date that leaves nothing out makes no difference.
    if has_date && instances != index.rows() {
        return Ok(Some(Other::Newer));
    }
    // What is in no part yet was not there when features were built, for a build begins with making parts of everything.
    let same = instances == index.rows()
        && index.parts.len() == origin.parts.len()
        && index.parts.iter().all(|part| origin.parts.iter().any(|known| is_of(known, part)));
    Ok((!same).then_some(Other::Older))
}

/// Whether this is the name of a part, with a checksum behind it. No name is used twice.
fn is_of(known: &OriginPart, part: &Part) -> bool {
    let rest = known.name.strip_prefix(part.file.trim_end_matches(".parquet"));
    known.bytes == part.bytes && rest.is_some_and(|rest| rest.starts_with('-') && !rest[1..].contains('-'))
}
