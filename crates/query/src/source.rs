//! [`Source`]: what a session asks, as files: the parts of the index, what is committed but in no part yet, and where archives and values
//! by URL are.
//!
//! Made from a snapshot of the repository; read by the tables. It never changes while a session is open, so that a query during a
//! crawl sees exactly what was committed when it began.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use mattock_index::{LedgerSource, Snapshot};

/// What is known of a file, so that a piece of it can be compared.
#[derive(Clone, Debug)]
pub struct PartSums {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The checksums of its blocks, as text.
    pub sums: String,
}

impl PartSums {
    /// Those of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Vec<PartSums> {
        let sums = snapshot.part_sums();
        sums.map(|(path, bytes, sums)| PartSums { path: path.to_path_buf(), bytes, sums: sums.to_owned() })
            .collect()
    }
}

/// Where the documents are.
#[derive(Clone)]
pub struct Source {
    /// The directory of the repository; kept columns lie below it.
    pub dir: PathBuf,
    /// The columns that the index has.
    pub schema: SchemaRef,
    /// Parquet files with rows of that schema.
    pub parts: Vec<PathBuf>,
    /// The checksums of blocks of those of them that have some: what is read of these is compared.
    pub sums: Vec<PartSums>,
    /// Further rows of that schema, committed but in no part yet.
    pub tail: Vec<RecordBatch>,
    /// Whether parts are among them whose rows do not say when they were inserted, though the schema has a column for it.
    pub undated: bool,
    /// Whether rows say in which languages documents are, if the schema has a column for it; otherwise it is computed.
    pub languages: bool,
    /// What was inserted by then is all there, while something is under way that may be committed with a time since: milliseconds since 1970.
    pub settled_ms: Option<i64>,
    /// Parts whose rows are not asked for: a revisit may repeat what one of them has.
    pub others: Vec<PathBuf>,
    /// The ledgers of the crawl, if it is one: the table `outcomes` is read from them.
    pub ledgers: Vec<LedgerSource>,
    /// The path of the archive file that rows name.
    pub archive: Arc<dyn Fn(&str) -> PathBuf + Send + Sync>,
    /// The directory of values by URL (`in_degree.parquet` and the like); `None` if there are none. Called when a query names one of them.
    pub by_url: Arc<dyn Fn() -> io::Result<Option<PathBuf>> + Send + Sync>,
}

impl Source {
    /// Parts and archive files of one directory.
    pub fn new(dir: &Path, schema: SchemaRef, parts: Vec<PathBuf>, tail: Vec<RecordBatch>) -> Source {
        let archives = dir.to_path_buf();
        Source {
            dir: dir.to_path_buf(),
            schema,
            parts,
            sums: Vec::new(),
            tail,
            undated: false,
            languages: false,
            settled_ms: None,
            others: Vec::new(),
            ledgers: Vec::new(),
            archive: Arc::new(move |name| mattock_env::located(&archives, name)),
            by_url: Arc::new(|| Ok(None)),
        }
    }
}

impl From<Snapshot> for Source {
    fn from(snapshot: Snapshot) -> Source {
        Source {
            dir: snapshot.directory().to_path_buf(),
            schema: mattock_index::schema(),
            parts: snapshot.parts().to_vec(),
            sums: PartSums::of(&snapshot),
            tail: snapshot.tail().to_vec(),
            undated: snapshot.has_undated(),
            languages: snapshot.has_languages(),
            settled_ms: None,
            others: Vec::new(),
            ledgers: Vec::new(),
            archive: Arc::new(move |name| snapshot.archive(name)),
            by_url: Arc::new(|| Ok(None)),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: usize = self.tail.iter().map(RecordBatch::num_rows).sum();
        formatter
            .debug_struct("Source")
            .field("dir", &self.dir)
            .field("parts", &self.parts)
            .field("tail", &rows)
            .finish_non_exhaustive()
    }
}
