//! Zstandard dictionaries: what the pages of a crawl have in common, said once at the front of a file.
//!
//! A dictionary is a skippable frame before all others, as the IIPC's draft for `.warc.zst` has it; the frames behind it carry its
//! number. It is given, or trained: then the first file is a short one without a dictionary, out of whose records the
//! dictionary for all others is made. A writer that is opened again takes the dictionary of the newest file that has one.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Files, OpenMode};

use crate::compression::Compression;
use crate::error::RepositoryError;
use crate::writer::WriterOptions;
use crate::zstandard::{DICTIONARY, DICTIONARY_BYTES_MAX, DICTIONARY_FRAME};

/// Which dictionary Zstandard files have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dictionary {
    /// None: every reader of Zstandard reads them.
    #[default]
    None,
    /// This one, as [`train_dictionary`] or `zstd --train` makes them.
    Given(Arc<[u8]>),
    /// One that is made of the first pages, and used for all further files.
    Trained,
}

/// What a trained dictionary is long, at most: what the `zstd` command makes.
const TRAINED_BYTES: usize = 110 << 10;
/// So much of records is trained with: forty times the dictionary are enough, and take half a second.
const SAMPLE_BYTES_MAX: usize = 4 << 20;
/// Of one record.
const SAMPLE_PART_BYTES: usize = 32 << 10;
/// Fewer samples than this teach nothing.
const SAMPLES_MIN: usize = 64;

/// Makes a dictionary out of samples: whole records, or pages. At least a hundred times its size is best.
pub fn train_dictionary(samples: &[&[u8]], bytes_max: usize) -> Result<Vec<u8>, RepositoryError> {
    let sizes: Vec<usize> = samples.iter().map(|sample| sample.len()).collect();
    train(&samples.concat(), &sizes, bytes_max).ok_or_else(|| RepositoryError::Option {
        name: "the samples for a dictionary",
        value: format!("{} of {} bytes", sizes.len(), sizes.iter().sum::<usize>()),
        rule: "use more of them, and such as are alike",
    })
}

fn train(samples: &[u8], sizes: &[usize], bytes_max: usize) -> Option<Vec<u8>> {
    zstd::dict::from_continuous(samples, sizes, bytes_max).ok()
}

/// The dictionary of a writer, and what it may become one from.
pub(crate) struct Dictionaries {
    current: Option<Arc<[u8]>>,
    /// Whether records are collected.
    training: bool,
    samples: Vec<u8>,
    sizes: Vec<usize>,
}

impl Dictionaries {
    /// `newest` is the newest file of the same writer.
    pub(crate) fn new(
        options: &WriterOptions,
        files: &Files,
        newest: Option<&Path>,
    ) -> Result<Dictionaries, RepositoryError> {
        let choice = &options.dictionary;
        if *choice != Dictionary::None && !matches!(options.compression, Compression::Zstd(_)) {
            return Err(RepositoryError::Option {
                name: "the compression",
                value: "gzip with a dictionary".into(),
                rule: "use zstd, or no dictionary",
            });
        }
        let current = match choice {
            Dictionary::None => None,
            Dictionary::Given(dictionary) => Some(check(dictionary)?.clone()),
            Dictionary::Trained => newest.and_then(|path| of_file(files, path)),
        };
        let training = *choice == Dictionary::Trained && current.is_none();
        Ok(Dictionaries { current, training, samples: Vec::new(), sizes: Vec::new() })
    }

    /// The dictionary that files have now.
    pub(crate) fn current(&self) -> Option<&[u8]> {
        self.current.as_deref()
    }

    /// The first bytes of a file.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let Some(dictionary) = &self.current else { return Vec::new() };
        let bytes = dictionary.len() as u32;
        [&DICTIONARY_FRAME.to_le_bytes()[..], &bytes.to_le_bytes(), dictionary].concat()
    }

    /// Takes a record to train with, if that is still wanted.
    pub(crate) fn sample(&mut self, record: &[u8]) {
        if self.training && self.samples.len() < SAMPLE_BYTES_MAX {
            let part = &record[..record.len().min(SAMPLE_PART_BYTES)];
            self.samples.extend_from_slice(part);
            self.sizes.push(part.len());
        }
    }

    /// Whether there is enough to train with: then the file should end, for the next one to have a dictionary.
    pub(crate) fn is_ready(&self) -> bool {
        self.training && self.samples.len() >= SAMPLE_BYTES_MAX && self.sizes.len() >= SAMPLES_MIN
    }

    /// Makes the dictionary, if there is enough to make it of. Whether there is a new one.
    pub(crate) fn learn(&mut self) -> bool {
        if !self.is_ready() {
            return false;
        }
        // Samples that have nothing in common make none; then it is done without for good.
        self.current = train(&self.samples, &self.sizes, TRAINED_BYTES).map(Arc::from);
        self.training = false;
        (self.samples, self.sizes) = (Vec::new(), Vec::new());
        self.current.is_some()
    }
}

fn check(dictionary: &Arc<[u8]>) -> Result<&Arc<[u8]>, RepositoryError> {
    if dictionary.starts_with(&DICTIONARY) && dictionary.len() <= DICTIONARY_BYTES_MAX {
        return Ok(dictionary);
    }
    Err(RepositoryError::Option {
        name: "the dictionary",
        value: format!(
            "{} bytes that begin with {:x?}",
            dictionary.len(),
            &dictionary[..dictionary.len().min(4)]
        ),
        rule: "use one that `zstd --train` has made, of at most 8 MiB",
    })
}

/// The dictionary at the front of a file, if one is there and was stored as it is.
fn of_file(files: &Files, path: &Path) -> Option<Arc<[u8]>> {
    let file = files.open(path, OpenMode::Read).ok()?;
    let mut head = [0; 8];
    file.read_exact_at(&mut head, 0).ok()?;
    let [magic, bytes] = [&head[..4], &head[4..]].map(|part| part.try_into().map_or(0, u32::from_le_bytes));
    if magic != DICTIONARY_FRAME || bytes as usize > DICTIONARY_BYTES_MAX {
        return None;
    }
    let mut dictionary = vec![0; bytes as usize];
    file.read_exact_at(&mut dictionary, 8).ok()?;
    dictionary.starts_with(&DICTIONARY).then(|| Arc::from(dictionary))
}
