//! [`Session`]: an open repository that answers queries.
//!
//! It owns the threads that compute, the memory that they may use, and a snapshot that does not change. Plans are made here, for
//! both languages on the same table; a [`Query`] is run or explained. Calls block: no caller needs to know that there is
//! a runtime inside.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use datafusion::arrow::array::Array as _;
use datafusion::catalog::{
    CatalogProvider as _, CatalogProviderList as _, MemoryCatalogProvider, MemoryCatalogProviderList,
    MemorySchemaProvider, TableProvider,
};
use datafusion::common::cast::as_timestamp_millisecond_array;
use datafusion::datasource::provider_as_source;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{FunctionRegistry as _, SessionState, SessionStateBuilder};
use datafusion::functions_aggregate::expr_fn::max;
use datafusion::logical_expr::{LogicalPlanBuilder, ident};
use datafusion::prelude::{DataFrame, SessionConfig};
use mattock_env::{Files, Panic, Panics, Random};
use mattock_index::Snapshot;

use crate::by_url::ByUrl;
use crate::columns::{BODY, Column, Columns, Origin};
use crate::compact::CompactSorts;
use crate::complaint::{Complaint, Span};
use crate::content::exec::Archives;
use crate::content::tally::Tally;
use crate::described::INFORMATION;
use crate::distinct::CountsBesideDistinct;
use crate::documents::{CCINDEX, DOCUMENTS, DocumentsTable, Missing, scan_index};
use crate::error::QueryError;
use crate::functions;
use crate::given::{self, Opened};
use crate::insertion;
use crate::kept::KeptColumn;
use crate::metadata::MetadataTable;
use crate::options::{Language, Options};
use crate::pool::SessionPool;
use crate::query::{Dates, Query};
use crate::runs::CountsInRuns;
use crate::sampling::{self, sampled};
use crate::sink::CONTENTS;
use crate::source::Source;
use crate::store::{EnvStore, STORE_URL};
use crate::sums::Sums;
use crate::wib::ast;
use crate::wib::plan::Planner;

/// Documents of one partition take at most so much memory, however much there is: more is not faster.
const PARTITION_BYTES_MAX: usize = 4 << 20;

/// For conditions of thousands of terms, which are evaluated by calls as deep. What is not used takes no memory.
const STACK_BYTES: usize = 64 << 20;

/// So long threads have for stopping.
const STOPPING: Duration = Duration::from_millis(200);

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    pub(crate) inner: Arc<Inner>,
}

/// What all queries of a session share.
pub(crate) struct Inner {
    pub(crate) runtime: Threads,
    pub(crate) files: Files,
    pub(crate) source: Source,
    /// What is read of the files that it knows is compared.
    pub(crate) sums: Sums,
    /// Tables beside it that the user has named.
    pub(crate) given: Vec<Opened>,
    /// Panics of the engine and of what it reads files with.
    panics: Panics,
    pub(crate) columns: Columns,
    pub(crate) metadata: Arc<MetadataTable>,
    originals: Arc<MetadataTable>,
    /// What every query begins with: functions, rules and settings. To put them together takes longer than many a query.
    state: SessionState,
    options: Options,
    random: Mutex<Random>,
    /// The seed of selections that name none: the same condition means the same documents each time.
    pub(crate) selection_seed: OnceLock<u64>,
}

/// The threads that compute. Whoever is done with them does not wait long for one that was told to stop and computes on.
pub(crate) struct Threads(Option<tokio::runtime::Runtime>);

impl std::ops::Deref for Threads {
    type Target = tokio::runtime::Runtime;

    fn deref(&self) -> &tokio::runtime::Runtime {
        self.0.as_ref().expect("they are there until they are dropped")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_timeout(STOPPING);
        }
    }
}

impl Session {
    /// A session on what a repository holds.
    pub fn open(files: &Files, snapshot: Snapshot, options: Options) -> Result<Session, QueryError> {
        Session::with_source(files, snapshot.into(), options)
    }

    /// A session on what `source` names.
    pub fn with_source(files: &Files, source: Source, options: Options) -> Result<Session, QueryError> {
        let io = QueryError::io(&source.dir);
        let metadata = Arc::new(MetadataTable::new(files, &source, options.batch_rows()).map_err(io)?);
        let originals = match source.others.is_empty() {
            true => metadata.clone(),
            false => Arc::new(metadata.and(files, &source.others).map_err(QueryError::io(&source.dir))?),
        };
        let by_url = ByUrl::new(files, source.by_url.clone());
        let columns = Columns::new(metadata.schema(), &options.analyzers)
            .with_by_url(by_url)
            .with_languages(source.languages);
        let (panics, sums) = (Panics::default(), Sums::default());
        sums.add(source.sums.iter().cloned()).map_err(QueryError::io(&source.dir))?;
        let watched = panics.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .thread_name("mattock-query")
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(move || watched.watch_thread())
            .build()
            .map_err(QueryError::io(Path::new("threads")))?;
        let runtime = Threads(Some(runtime));
        let state = first_state(environment(files, &sums, &options)?, &options)?;
        let random = Mutex::new(options.random.clone());
        let given = panics.contain(|| given::open(files, &options)).map_err(QueryError::Unreadable)??;
        let files = files.clone();
        let selection_seed = OnceLock::new();
        let inner = Inner {
            runtime,
            files,
            source,
            sums,
            given,
            panics,
            columns,
            metadata,
            originals,
            state,
            options,
            random,
            selection_seed,
        };
        Ok(Session { inner: Arc::new(inner) })
    }

    /// The plan of one query.
    pub fn plan(&self, text: &str, language: Language) -> Result<Query, QueryError> {
        let mut queries = self.plan_all(text, language)?;
        match (queries.pop(), queries.is_empty()) {
            (Some(query), true) => Ok(query),
            _ => Err(Complaint::at(text, Span::new(0, 0), "this is more than one query")
                .hint("ask them one by one")
                .into()),
        }
    }

    /// The plans of all queries in a text; of SQL there is one.
    pub fn plan_all(&self, text: &str, language: Language) -> Result<Vec<Query>, QueryError> {
        match language {
            Language::Sql => Ok(vec![self.plan_sql(text)?]),
            Language::Wib => {
                crate::wib::parse(text)?.iter().map(|query| self.plan_wib(text, query)).collect()
            }
        }
    }

    /// The plans of all queries in a text whose answers go to [`FilesSink`](crate::sink::FilesSink). In the Web-in-a-Box language `content`
    /// means the document's bytes then, which are added if neither they nor the main text are asked for, and so are the columns that give
    /// files their names; SQL says what it wants itself.
    pub fn plan_files(&self, text: &str, language: Language) -> Result<Vec<Query>, QueryError> {
        if language == Language::Sql {
            return self.plan_all(text, language);
        }
        let mut queries = crate::wib::parse(text)?;
        for query in &mut queries {
            for column in query.columns.iter_mut().filter(|column| column.value == "content") {
                column.value = BODY.to_string();
            }
            if !query.columns.iter().any(|column| CONTENTS.contains(&column.value.as_str())) {
                query.columns.push(ast::Placed::new(BODY.to_string(), Span::default()));
            }
            for name in ["instance", "content_mime_detected", "content_mime_type"] {
                let is_there = self.inner.columns.index().field_with_name(name).is_ok();
                if is_there && !query.columns.iter().any(|column| column.value == name) {
                    query.columns.push(ast::Placed::new(name.to_string(), Span::default()));
                }
            }
        }
        queries.iter().map(|query| self.plan_wib(text, query)).collect()
    }

    fn plan_wib(&self, text: &str, query: &ast::Query) -> Result<Query, QueryError> {
        let planner = Planner { text, columns: &self.inner.columns };
        let named = planner.named(query)?;
        let wide = named.iter().any(Column::is_wide);
        let condition = query.condition.as_ref().map(|condition| planner.condition(condition)).transpose()?;
        let seed = query.sampling.as_ref().map(|sampling| match &sampling.seed {
            Some(seed) => seed.value,
            None => self.draw(),
        });
        let dates = self.dates(seed.is_some())?;
        let tally = Arc::new(Tally::default());
        let table = self.table(named, dates, None, &tally)?;
        let plan = (|| {
            let mut plan = LogicalPlanBuilder::scan(DOCUMENTS, provider_as_source(Arc::new(table)), None)?;
            if let Some((sampling, seed)) = query.sampling.as_ref().zip(seed) {
                plan = plan.filter(sampled(sampling.probability.value, seed))?;
            }
            if let Some(condition) = condition {
                plan = plan.filter(condition)?;
            }
            let mut columns = Vec::new();
            for (at, column) in query.columns.iter().enumerate() {
                // The same column twice is asked for twice, under two names.
                let before = query.columns[..at].iter().filter(|other| other.value == column.value).count();
                let name = ident(&column.value);
                columns.push(if before == 0 {
                    name
                } else {
                    name.alias(format!("{}_{}", column.value, before + 1))
                });
            }
            plan.project(columns)?.build()
        })()?;
        let state = self.state_for(wide);
        Ok(Query {
            session: self.clone(),
            plan: state.optimize(&plan)?,
            state,
            tally,
            seeds: seed.into_iter().collect(),
            dates,
        })
    }

    /// What a query is planned and run with: our functions and settings, and no table yet.
    pub(crate) fn state(&self) -> SessionState {
        let mut state = self.inner.state.clone();
        state.register_catalog_list(catalogs(&state));
        state.mark_start_execution();
        state
    }

    /// The same, for rows that have whole documents in them if they are `wide`: so few are handed on at a time that a sort can hold many such batches.
    pub(crate) fn state_for(&self, wide: bool) -> SessionState {
        let mut state = self.state();
        if wide {
            self.narrow(&mut state);
        }
        state
    }

    pub(crate) fn narrow(&self, state: &mut SessionState) {
        let config = state.config_mut();
        *config = config.clone().with_batch_size(self.inner.options.wide_batch_rows());
    }

    /// The table with the columns of the index and `named`.
    pub(crate) fn table(
        &self,
        named: Vec<Column>,
        dates: Dates,
        only_missing: Option<Missing>,
        tally: &Arc<Tally>,
    ) -> Result<DocumentsTable, QueryError> {
        let inner = &self.inner;
        let mut named = named;
        named.retain(|column| !matches!(column.origin, Origin::Index));
        // A column of the index that is computed all the same keeps its place.
        let index = inner.columns.index().fields().iter();
        let mut columns: Vec<Column> = index
            .map(|field| match named.iter().position(|column| column.field.name() == field.name()) {
                Some(at) => named.remove(at),
                None => Column { field: field.as_ref().clone(), origin: Origin::Index },
            })
            .collect();
        columns.extend(named);
        let mut kept = BTreeMap::new();
        if only_missing.is_none() {
            for column in &columns {
                if let Origin::Analyzer(analyzer) = &column.origin
                    && let Some(found) =
                        KeptColumn::open(&inner.files, &inner.source.dir, analyzer.as_ref(), &inner.sums)
                            .map_err(QueryError::io(&inner.source.dir))?
                {
                    kept.insert(column.field.name().clone(), found);
                }
            }
        }
        let threads = inner.options.threads.max(1);
        Ok(DocumentsTable {
            metadata: inner.metadata.clone(),
            originals: inner.originals.clone(),
            columns,
            archives: Archives { files: inner.files.clone(), path: inner.source.archive.clone() },
            undated: inner.source.undated,
            dates,
            kept,
            tally: tally.clone(),
            only_missing,
            partitions: threads,
            batch_rows: inner.options.batch_rows(),
            bytes_max: (inner.options.memory_bytes / 8 / threads).min(PARTITION_BYTES_MAX),
        })
    }

    /// Waits for what is computed; files that its readers panic on are an error.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> Result<F::Output, QueryError> {
        self.inner.panics.contain(|| self.inner.runtime.block_on(future)).map_err(QueryError::Unreadable)
    }

    /// A panic of what reads files, on threads of the engine.
    pub(crate) fn panicked(&self) -> Option<Panic> {
        self.inner.panics.take()
    }

    /// Why something failed: readers of files may have panicked on threads of the engine.
    pub(crate) fn failed(&self, error: impl Into<QueryError>) -> QueryError {
        let error = error.into();
        match &error {
            // Some operators of the engine make an error of it themselves.
            QueryError::Engine(engine) if engine.to_string().contains("panicked") => {
                self.panicked().map_or(error, QueryError::Unreadable)
            }
            _ => error,
        }
    }

    pub(crate) fn draw(&self) -> u64 {
        let mut random = self.inner.random.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Seeds are said, written down and typed again: ten digits are enough.
        random.below(10_000_000_000)
    }

    /// The dates that a query holds for: those asked for, and for a sample that of the newest insertion that nothing can come before any
    /// more, so that it can be drawn again when there is more.
    pub(crate) fn dates(&self, is_sample: bool) -> Result<Dates, QueryError> {
        let Options { as_of_ms, inserted_by_ms, .. } = self.inner.options;
        let inserted_by_ms = match inserted_by_ms {
            given if is_sample => {
                let settled_ms = self.inner.source.settled_ms.unwrap_or(i64::MAX);
                // A day that is not over yet, or is still to come, would let in what comes later.
                let newest_ms = self.newest()?.map(|newest_ms| newest_ms.min(settled_ms));
                given.into_iter().chain(newest_ms).min()
            }
            given => given,
        };
        Ok(Dates { as_of_ms, inserted_by_ms })
    }

    /// When the newest document was inserted: milliseconds since 1970.
    pub fn newest(&self) -> Result<Option<i64>, QueryError> {
        let (metadata, undated) = (&self.inner.metadata, self.inner.source.undated);
        let time = insertion::column(&metadata.schema());
        let state = self.state();
        let answer = self.block_on(async {
            let plan = scan_index(metadata, std::iter::once(time), undated)?
                .aggregate(Vec::<datafusion::logical_expr::Expr>::new(), vec![max(ident(time))])?
                .build()?;
            DataFrame::new(state, plan).collect().await
        })?;
        let answer = answer.map_err(|error| self.failed(error))?;
        let Some(batch) = answer.iter().find(|batch| batch.num_rows() > 0) else { return Ok(None) };
        let times = as_timestamp_millisecond_array(batch.column(0))?;
        Ok(times.is_valid(0).then(|| times.value(0)))
    }
}

/// What every query of a session begins with.
fn first_state(environment: Arc<RuntimeEnv>, options: &Options) -> Result<SessionState, QueryError> {
    let threads = options.threads.max(1);
    let mut config = SessionConfig::new().with_target_partitions(threads);
    config = config.with_batch_size(options.batch_rows());
    config.options_mut().sql_parser.collect_spans = true;
    // What a sort sets aside for merging its runs must fit into a small memory, too.
    let aside = &mut config.options_mut().execution.sort_spill_reservation_bytes;
    *aside = (*aside).min(options.memory_bytes / 16 / threads);
    // What is sorted in one piece comes out in batches, each of which is charged for the strings of all: a piece is about a batch.
    let piece = &mut config.options_mut().execution.sort_in_place_threshold_bytes;
    *piece = (*piece).min(options.memory_bytes / 512 / threads);
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(environment)
        .with_default_features()
        .with_optimizer_rule(Arc::new(CountsBesideDistinct))
        .with_physical_optimizer_rule(Arc::new(CountsInRuns))
        .with_physical_optimizer_rule(Arc::new(CompactSorts))
        .build();
    state.register_udf(Arc::new(sampling::udf()))?;
    for function in functions::all() {
        state.register_udf(function)?;
    }
    for function in functions::aggregates() {
        state.register_udaf(function)?;
    }
    Ok(state)
}

/// Catalogs with nothing in them: the table of a query is its own.
fn catalogs(state: &SessionState) -> Arc<MemoryCatalogProviderList> {
    let names = &state.config_options().catalog;
    let (list, catalog) = (MemoryCatalogProviderList::new(), MemoryCatalogProvider::new());
    for name in [&names.default_schema, CCINDEX, INFORMATION] {
        let schema = Arc::new(MemorySchemaProvider::new());
        catalog.register_schema(name, schema).expect("a catalog in memory takes every schema");
    }
    list.register_catalog(names.default_catalog.clone(), Arc::new(catalog));
    Arc::new(list)
}

fn environment(files: &Files, sums: &Sums, options: &Options) -> Result<Arc<RuntimeEnv>, QueryError> {
    // A quarter is for what is under way between operators and for documents, and for sorts that could not go on without.
    let pool = SessionPool::new(options.memory_bytes / 4 * 3, options.threads, options.memory_bytes / 8);
    let mut builder = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool));
    if let Some(directory) = &options.temporary {
        builder = builder.with_temp_file_path(directory);
    }
    let environment = builder.build_arc()?;
    let url = datafusion::datasource::object_store::ObjectStoreUrl::parse(STORE_URL)?;
    environment.register_object_store(url.as_ref(), Arc::new(EnvStore::new(files.clone(), sums.clone())));
    Ok(environment)
}
