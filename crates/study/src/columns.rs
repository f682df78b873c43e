//! Columns: values by URL that follow from a generation of features, kept beside it for queries to join.
//!
//! ```text
//! features/generation-N/columns/NAME.parquet      url_key (Int64), value (Int64 or Float64); sorted by url_key, each once
//! features/keeping/N/                             what is being sorted and written; the next one who works there empties it
//! features/keeping/N.lock                         held by who works in N
//! ```
//!
//! Filled by whoever has computed something of all pages ([`keep_column_of`]); read by `query`, which finds them by [`columns_directory`]. They
//! go with their generation: the next build makes a new one, which begins with `in_degree` and `out_degree` alone.
//!
//! Invariants: a file has its name only when it is whole and on the disk. Nobody works where somebody else does: of two commands that
//! keep the same column at the same time, the one that ends last has kept it. The key of a URL is its fingerprint as a signed number, as in
//! the index. Of two URLs with one fingerprint the lesser value counts.
//!
//! Costs: one pass over the URLs, sorted by key in the memory that is given and on disk beyond that.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use mattock_env::{File, FileWriter, Files, OpenMode};
use mattock_features::{Features, FeaturesError, PairSorter, PairStream, Scratch, SortedPairs};
use mattock_query::{Summed, VALUES_VERSION, seal_end, seal_values};
use mattock_weburl::Fingerprint;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::FEATURES;
use crate::error::{Result, StudyError};

/// The directory of columns within a generation.
pub(crate) const COLUMNS: &str = "columns";
/// Where columns are made, in the directory of the features.
const KEEPING: &str = "keeping";
/// So many can be made at the same time.
const PLACES: u32 = 64;
/// Rows that are written at once.
const BATCH_ROWS: usize = 64 << 10;
/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// What a column has, by the id of a URL; nothing where it is `None`.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// Whole numbers.
    Integers(&'a dyn Fn(u64) -> Option<i64>),
    /// Numbers with a fraction.
    Floats(&'a dyn Fn(u64) -> Option<f64>),
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Values::Integers(_) => "integers",
            Values::Floats(_) => "floats",
        })
    }
}

impl Values<'_> {
    /// The value of an id, as bits.
    fn bits(&self, id: u64) -> Option<u64> {
        match self {
            Values::Integers(value) => value(id).map(i64::cast_unsigned),
            Values::Floats(value) => value(id).map(f64::to_bits),
        }
    }

    fn schema(&self) -> SchemaRef {
        let kind = match self {
            Values::Integers(_) => DataType::Int64,
            Values::Floats(_) => DataType::Float64,
        };
        let fields = vec![Field::new("url_key", DataType::Int64, false), Field::new("value", kind, false)];
        Arc::new(Schema::new(fields))
    }

    fn array(&self, bits: &[u64]) -> ArrayRef {
        match self {
            Values::Integers(_) => {
                Arc::new(Int64Array::from_iter_values(bits.iter().map(|bits| bits.cast_signed())))
            }
            Values::Floats(_) => {
                Arc::new(Float64Array::from_iter_values(bits.iter().map(|bits| f64::from_bits(*bits))))
            }
        }
    }
}

/// Keeps a column of a generation, in so much memory, in the place of the one that has its name; how many values it has. Refused if the
/// generation is not in use any more.
pub fn keep_column_of(
    files: &Files,
    features: &Features,
    name: &str,
    values: Values<'_>,
    memory: u64,
) -> Result<u64> {
    features.still_in_use()?;
    let path = column_path(features, name);
    let directory = features.dir().join(COLUMNS);
    files.create_dir_all(&directory).map_err(StudyError::io(&directory))?;
    let place = Place::take(files, &features.dir().with_file_name(KEEPING))?;
    let sorter = PairSorter::new(&Scratch::new(files, &place.dir), "values", memory);
    let sorted = sort(sorter, features, values)?;
    let unfinished = place.dir.join("values.parquet");
    let rows = write(files, &unfinished, &mut sorted.stream()?, values)?;
    files.rename(&unfinished, &path).map_err(StudyError::io(&path))?;
    for changed in [directory.as_path(), features.dir()] {
        files.sync_dir(changed).map_err(StudyError::io(changed))?;
    }
    drop(sorted);
    place.leave(files)?;
    Ok(rows)
}

/// Where a column is made, by one at a time.
struct Place {
    dir: PathBuf,
    /// Held, not read. It stays when the place is left, so that everybody locks the same file.
    _lock: File,
}

impl Place {
    /// The first one in which nobody works.
    fn take(files: &Files, home: &Path) -> Result<Place> {
        files.create_dir_all(home).map_err(StudyError::io(home))?;
        for number in 1..=PLACES {
            let path = home.join(format!("{number}.lock"));
            let lock = files.open(&path, OpenMode::CreateOrKeep).map_err(StudyError::io(&path))?;
            if lock.try_lock().map_err(StudyError::io(&path))? {
                let dir = home.join(number.to_string());
                // Somebody was interrupted here.
                if files.entry(&dir).map_err(StudyError::io(&dir))?.is_some() {
                    files.remove_dir_all(&dir).map_err(StudyError::io(&dir))?;
                }
                files.create_dir_all(&dir).map_err(StudyError::io(&dir))?;
                return Ok(Place { dir, _lock: lock });
            }
        }
        let crowded = format!("{PLACES} commands keep columns here already; wait for one of them");
        Err(StudyError::io(home)(io::Error::other(crowded)))
    }

    fn leave(self, files: &Files) -> Result<()> {
        files.remove_dir_all(&self.dir).map_err(StudyError::io(&self.dir))
    }
}

/// The file of a column.
pub fn column_path(features: &Features, name: &str) -> PathBuf {
    features.dir().join(COLUMNS).join(format!("{name}.parquet"))
}

/// Where the columns of the generation in use are; `None` if there are no features, or none with URLs.
pub fn columns_directory(files: &Files, repository: &Path) -> Result<Option<PathBuf>> {
    match Features::open(files, &repository.join(FEATURES)) {
        Ok(features) => Ok(features.has_urls().then(|| features.dir().join(COLUMNS))),
        Err(FeaturesError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Pairs of key and value. Keys are shifted so that signed numbers sort as unsigned ones.
fn sort(mut sorter: PairSorter, features: &Features, values: Values<'_>) -> Result<SortedPairs> {
    let urls = features.urls()?;
    for (id, url) in (0..).zip(urls.iter(0..urls.len())) {
        let url = url?;
        if let Some(bits) = values.bits(id) {
            sorter.push((Fingerprint::of(&url).0 ^ 1 << 63, bits))?;
        }
    }
    Ok(sorter.finish()?)
}

/// Writes a file of values, and makes it durable; how many there are.
fn write(files: &Files, path: &Path, pairs: &mut PairStream<'_>, values: Values<'_>) -> Result<u64> {
    let file = files.open(path, OpenMode::CreateOrTruncate).map_err(StudyError::io(path))?;
    let level = ZstdLevel::try_new(3).map_err(StudyError::parquet(path))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_created_by(concat!("mattock ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let sink = Summed::new(FileWriter::new(file));
    let mut writer =
        ArrowWriter::try_new(sink, values.schema(), Some(properties)).map_err(StudyError::parquet(path))?;
    let (mut keys, mut bits) = (Vec::with_capacity(BATCH_ROWS), Vec::with_capacity(BATCH_ROWS));
    let (mut rows, mut last) = (0, None);
    loop {
        let pair = pairs.next()?;
        if pair.is_none() || keys.len() == BATCH_ROWS {
            let columns: Vec<ArrayRef> =
                vec![Arc::new(Int64Array::from(std::mem::take(&mut keys))), values.array(&bits)];
            let batch = RecordBatch::try_new(values.schema(), columns)
                .map_err(|error| StudyError::parquet(path)(error.into()))?;
            writer.write(&batch).map_err(StudyError::parquet(path))?;
            rows += batch.num_rows() as u64;
            bits.clear();
        }
        let Some((key, value)) = pair else { break };
        if last.replace(key) != Some(key) {
            keys.push((key ^ 1 << 63).cast_signed());
            bits.push(value);
        }
    }
    let values_end = seal_values(&mut writer, VALUES_VERSION).map_err(StudyError::io(path))?;
    let file = writer.into_inner().map_err(StudyError::parquet(path))?.into_inner().into_file();
    seal_end(&file, values_end).map_err(StudyError::io(path))?;
    file.sync().map_err(StudyError::io(path))?;
    Ok(rows)
}
