//! A repository becomes a generation of features.
//!
//! 1. What is new is [gathered](crate::gather) into segments.
//! 2. All segments are merged; of each URL the newest instance counts, and goes into the databases. Pages are what answered with 200, and redirects,
//!    as pages with one link. What has become an error since is no page any more.
//! 3. The columns `in_degree` and `out_degree` are kept.
//!
//! Interrupted anywhere, the generation before stays in use, and the next build goes on; so does one that reads everything anew. If everything was
//! built already, nothing is done.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use mattock_env::Files;
use mattock_features::segment::{Instance, Segments, State};
use mattock_features::{
    BuildOptions, Builder, Content, Counts, Direction, Features, FeaturesError, Grain, Origin,
};
use mattock_query::{Cancel, Failures, check_values};
use mattock_weburl::WebUrl;

use crate::FEATURES;
use crate::columns::{Values, column_path, keep_column_of};
use crate::error::{Result, StudyError};
use crate::gather::{self, Gathered, Gathering, PIECE_ROWS, Store, Wanted};

/// What to build, and how.
#[derive(Clone, Debug)]
pub struct BuildFeatures<'a> {
    /// The repository, whose index is up to date.
    pub repository: &'a Path,
    /// The directory whose features are built: that of the repository, unless it is far away.
    pub into: &'a Path,
    /// Bytes for reading, sorting and building.
    pub memory: u64,
    /// Threads that read documents.
    pub threads: usize,
    /// Whether everything is gathered anew.
    pub rebuild: bool,
    /// Documents that are read before something is kept.
    pub piece_rows: u64,
    /// Where queries put what does not fit into memory; the system's directory for temporary files if nothing is said.
    pub temporary: Option<PathBuf>,
}

impl<'a> BuildFeatures<'a> {
    /// Features of a repository within its own directory, in 1 GiB, by two threads, of what is new.
    pub fn new(repository: &'a Path) -> BuildFeatures<'a> {
        BuildFeatures {
            repository,
            into: repository,
            memory: 1 << 30,
            threads: 2,
            rebuild: false,
            piece_rows: PIECE_ROWS,
            temporary: None,
        }
    }
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Documents are read.
    Gathering(Gathering),
    /// Databases are built.
    Building(mattock_features::Progress),
    /// A column is kept.
    Column(&'static str),
}

/// What came of a build.
#[derive(Debug, Default)]
pub struct Built {
    /// What is in the generation that is in use now; `None` if it was stopped.
    pub counts: Option<Counts>,
    /// Whether it is a new one.
    pub is_new: bool,
    /// Parts of the index that were read.
    pub parts_read: u64,
    /// And how many there are.
    pub parts: u64,
    /// Documents that were read.
    pub documents: u64,
    /// What analyzers and archives did wrong: such documents are pages without links or content.
    pub failures: Vec<Failures>,
}

/// Builds the features of a repository. `progress` hears what is done.
pub fn build(
    files: &Files,
    options: &BuildFeatures<'_>,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Built> {
    let home = options.into.join(FEATURES);
    // What must not be replaced is told of before anything is read.
    if let Err(error) = Features::open(files, &home)
        && !error.may_be_built_over()
    {
        return Err(error.into());
    }
    let store = Store::open(files, &home)?;
    let rebuild = store.begin(options.rebuild)?;
    let built = build_in(files, options, &home, &store, rebuild, progress, cancel);
    match &built {
        Ok(Built { counts: Some(_), .. }) => store.rebuilt()?,
        // What was gathered anew is damaged already: the next time nothing of it is kept.
        Err(StudyError::Features(FeaturesError::Damaged { .. })) => store.rebuilt()?,
        _ => return built,
    }
    if built.is_ok() {
        store.close()?;
    }
    built
}

fn build_in(
    files: &Files,
    options: &BuildFeatures<'_>,
    home: &Path,
    store: &Store,
    rebuild: bool,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Built> {
    let wanted = store.wanted(options.repository)?;
    if wanted.is_empty() {
        return Err(StudyError::Empty { dir: options.repository.to_path_buf() });
    }
    let origin = gather::origin(&wanted, options);
    let mut built = Built { parts: wanted.len() as u64, ..Built::default() };
    let in_use = Features::open(files, home).ok().filter(|features| !rebuild && features.origin() == &origin);
    if let Some(features) = in_use {
        keep_degrees(files, &features, options.memory, progress)?;
        built.counts = Some(features.counts().clone());
        return Ok(built);
    }
    store.keep_only(&wanted)?;
    let gathered = store.gather(&wanted, options, &mut |at| progress(Progress::Gathering(at)), cancel)?;
    let Gathered { parts, documents, failures, interrupted } = gathered;
    (built.parts_read, built.documents, built.failures) = (parts, documents, failures);
    if interrupted {
        return Ok(built);
    }
    let segments: Vec<PathBuf> = wanted.into_iter().map(|wanted: Wanted| wanted.segment).collect();
    let scratch = store.scratch();
    let from = Generation { home, segments: &segments, scratch: &scratch, origin };
    built.counts = from.build(files, options.memory, progress, cancel)?;
    built.is_new = built.counts.is_some();
    if built.is_new {
        keep_degrees(files, &Features::open(files, home)?, options.memory, progress)?;
    }
    Ok(built)
}

/// A generation that is to be made of segments.
pub(crate) struct Generation<'a> {
    pub(crate) home: &'a Path,
    pub(crate) segments: &'a [PathBuf],
    pub(crate) scratch: &'a Path,
    pub(crate) origin: Origin,
}

impl Generation<'_> {
    /// Builds it; `None` if it was stopped.
    pub(crate) fn build(
        self,
        files: &Files,
        memory: u64,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Option<Counts>> {
        let options = BuildOptions { memory: memory / 4 * 3, origin: self.origin };
        let mut report = |at| progress(Progress::Building(at));
        let mut builder = Builder::begin(files, self.home, &options, &mut report)?;
        let mut segments = Segments::open(files, self.segments, self.scratch, memory / 4)?;
        while let Some((url, instance)) = segments.next()? {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            hand(&mut builder, &url, &instance)?;
        }
        drop(segments);
        Ok(Some(builder.finish()?))
    }
}

/// Hands the newest instance of a URL to the builder.
fn hand(builder: &mut Builder<'_>, url: &str, instance: &Instance<'_>) -> Result<()> {
    if instance.state == State::Gone {
        return Ok(());
    }
    let Ok(url) = WebUrl::parse(url) else {
        builder.refuse();
        return Ok(());
    };
    let mut links = Vec::with_capacity(instance.links.len());
    for link in &instance.links {
        match WebUrl::parse(link) {
            Ok(link) => links.push(link),
            Err(_) => builder.refuse(),
        }
    }
    builder.page(&url, &links)?;
    if !instance.terms.is_empty() || !instance.sketch.is_empty() {
        builder.content(&url, &Content { terms: &instance.terms, sketch: &instance.sketch })?;
    }
    Ok(())
}

/// Keeps the columns that every generation with URLs has, if they are not there and whole.
pub(crate) fn keep_degrees(
    files: &Files,
    features: &Features,
    memory: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    if !features.has_urls() {
        return Ok(());
    }
    for (name, direction) in [("in_degree", Direction::In), ("out_degree", Direction::Out)] {
        // One that cannot be read is made anew.
        if check_values(files, &column_path(features, name)).is_err() {
            progress(Progress::Column(name));
            let degrees = features.degrees(Grain::Pages, direction)?;
            // Asked for in the order of ids.
            let next = RefCell::new(degrees.iter());
            let degree = |_| next.borrow_mut().next().and_then(|degree| i64::try_from(degree).ok());
            keep_column_of(files, features, name, Values::Integers(&degree), memory / 2)?;
        }
    }
    Ok(())
}
