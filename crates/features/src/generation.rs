//! Generations: a build writes into a directory of its own, and counts from the moment in which the manifest names it.
//!
//! ```text
//! DIR/MANIFEST              which generation is in use, what is in it, and the length and checksum of each of its files
//! DIR/LOCK                  held while something is built
//! DIR/generation-N/         the files of generation N
//! DIR/generation-N/columns/ what others computed from them, by URL; the manifest does not know of these
//! ```
//!
//! Filled by [`Builder`](crate::Builder), read by [`Features`](crate::Features). Invariants: the manifest is replaced in one step, after
//! every file that it names is durable; so whatever ends a build, the generation before stays in use, and what was half
//! written is removed by the next build. What a newer program has built is not built over. A generation is never changed. Readers of the one before go on with what they have
//! opened; who opens more of it is told that it was replaced.

use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode};
use serde::{Deserialize, Serialize};

use crate::error::{FeaturesError, Result};
use crate::links::LinkFiles;
use crate::output::Written;

const MANIFEST: &str = "MANIFEST";
pub(crate) const FORMAT: u32 = 2;

/// What a generation consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) generation: u64,
    pub(crate) counts: Counts,
    /// What it was built from.
    #[serde(default)]
    pub(crate) origin: Origin,
    /// None in a graph without URLs.
    pub(crate) names: Option<NameFiles>,
    /// None if no page came with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contents: Option<ContentFiles>,
    pub(crate) out_links: LinkFiles,
    pub(crate) in_links: LinkFiles,
}

/// The files of a generation that has URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameFiles {
    pub(crate) urls: Written,
    pub(crate) hosts: Written,
    pub(crate) crawled: Written,
    pub(crate) host_out: LinkFiles,
    pub(crate) host_in: LinkFiles,
    pub(crate) domain_out: LinkFiles,
    pub(crate) domain_in: LinkFiles,
}

/// The content databases of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentFiles {
    pub(crate) vocabulary: Written,
    pub(crate) terms: Written,
    pub(crate) shingles: Written,
}

/// How much there is in a generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// URLs, or nodes: crawled ones and those that are only linked to.
    pub urls: u64,
    /// Pages that were crawled.
    pub crawled: u64,
    /// Links, each once.
    pub links: u64,
    /// Links that were handed in, repeated ones too.
    pub links_given: u64,
    /// Hosts.
    pub hosts: u64,
    /// Domains.
    pub domains: u64,
    /// References that are no URLs of the Web, and were left out.
    pub refused: u64,
    /// URLs whose fingerprint another URL has, too: links to them count for the other one.
    pub collisions: u64,
    /// Pages of which the content databases know something.
    #[serde(default)]
    pub texts: u64,
    /// Terms of the vocabulary.
    #[serde(default)]
    pub terms: u64,
}

/// What a generation was built from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// How it was read; nothing if nobody said so.
    pub how: String,
    /// What was read.
    pub parts: Vec<OriginPart>,
}

/// One of the things that a generation was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginPart {
    /// Its name.
    pub name: String,
    /// Its bytes; 0 if they are not known.
    pub bytes: u64,
}

/// The number that a format has in a file of any version.
#[derive(Deserialize)]
struct AnyFormat {
    format: u32,
}

impl Manifest {
    pub(crate) fn new(
        generation: u64,
        counts: Counts,
        origin: Origin,
        out_links: LinkFiles,
        in_links: LinkFiles,
    ) -> Manifest {
        let (format, names, contents) = (FORMAT, None, None);
        Manifest { format, generation, counts, origin, names, contents, out_links, in_links }
    }

    /// The manifest of a directory; `None` if nothing was ever built there.
    pub(crate) fn read(files: &Files, dir: &Path) -> Result<Option<Manifest>> {
        let path = dir.join(MANIFEST);
        let bytes = match files.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FeaturesError::io(&path)(error)),
        };
        let damaged = |what: String| FeaturesError::damaged(&path, 0, what);
        let text = std::str::from_utf8(&bytes).map_err(|error| damaged(error.to_string()))?;
        let (json, sum) =
            text.trim_end().rsplit_once('\n').ok_or_else(|| damaged("it ends too soon".into()))?;
        if sum != format!("{:08x}", crc32fast::hash(json.as_bytes())) {
            return Err(damaged("its checksum is wrong".into()));
        }
        let found: AnyFormat = serde_json::from_str(json).map_err(|error| damaged(error.to_string()))?;
        if found.format != FORMAT {
            return Err(FeaturesError::Version { path, version: found.format.to_string() });
        }
        serde_json::from_str(json).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Puts this generation in use.
    pub(crate) fn write(&self, files: &Files, dir: &Path) -> Result<()> {
        let path = dir.join(MANIFEST);
        let json = serde_json::to_string_pretty(self).expect("a manifest has nothing that JSON has not");
        let text = format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes()));
        files.write_atomic(&path, text.as_bytes()).map_err(FeaturesError::io(&path))
    }
}

/// Where the files of a generation are.
pub(crate) fn directory(dir: &Path, generation: u64) -> PathBuf {
    dir.join(format!("generation-{generation}"))
}

/// A generation that is being built.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) files: Files,
    pub(crate) root: PathBuf,
    pub(crate) generation: u64,
    pub(crate) dir: PathBuf,
    pub(crate) scratch: PathBuf,
    /// Held, not read.
    _lock: File,
}

impl Site {
    /// Begins the next generation, and removes what is left of builds that did not end.
    pub(crate) fn begin(files: &Files, root: &Path) -> Result<Site> {
        files.create_dir_all(root).map_err(FeaturesError::io(root))?;
        // The manifest is no safer than the directory that it is in.
        if let Some(parent) = root.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            files.sync_dir(parent).map_err(FeaturesError::io(parent))?;
        }
        let lock_path = root.join("LOCK");
        let lock = files.open(&lock_path, OpenMode::CreateOrKeep).map_err(FeaturesError::io(&lock_path))?;
        if !lock.try_lock().map_err(FeaturesError::io(&lock_path))? {
            let source =
                std::io::Error::other("another process is building features here; wait for it, or stop it");
            return Err(FeaturesError::Io { path: root.into(), source });
        }
        let generation = 1 + match Manifest::read(files, root) {
            Ok(manifest) => {
                let current = manifest.map_or(0, |manifest| manifest.generation);
                remove_others(files, root, current)?;
                current
            }
            // A manifest that cannot be read is no reason not to build anew; but what it names stays until that is done.
            Err(error) if error.may_be_built_over() => newest(files, root)?,
            Err(error) => return Err(error),
        };
        let dir = directory(root, generation);
        let scratch = dir.join("scratch");
        files.create_dir_all(&scratch).map_err(FeaturesError::io(&scratch))?;
        Ok(Site { files: files.clone(), root: root.into(), generation, dir, scratch, _lock: lock })
    }

    /// Puts the generation in use, and removes the one before.
    pub(crate) fn switch_to(self, manifest: &Manifest) -> Result<()> {
        self.files.remove_dir_all(&self.scratch).map_err(FeaturesError::io(&self.scratch))?;
        self.files.sync_dir(&self.dir).map_err(FeaturesError::io(&self.dir))?;
        self.files.sync_dir(&self.root).map_err(FeaturesError::io(&self.root))?;
        manifest.write(&self.files, &self.root)?;
        remove_others(&self.files, &self.root, self.generation)
    }
}

/// The greatest number that a generation has, in use or not.
fn newest(files: &Files, root: &Path) -> Result<u64> {
    let entries = files.list(root).map_err(FeaturesError::io(root))?;
    let numbers = entries.iter().filter_map(|entry| entry.name.strip_prefix("generation-")?.parse().ok());
    Ok(numbers.max().unwrap_or(0))
}

fn remove_others(files: &Files, root: &Path, current: u64) -> Result<()> {
    let kept = format!("generation-{current}");
    for entry in files.list(root).map_err(FeaturesError::io(root))? {
        if entry.is_dir && entry.name.starts_with("generation-") && entry.name != kept {
            let path = root.join(entry.name);
            files.remove_dir_all(&path).map_err(FeaturesError::io(&path))?;
        }
    }
    Ok(())
}
