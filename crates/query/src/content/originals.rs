//! Where the payloads of revisits are.
//!
//! A revisit record has no payload: it says which digest an earlier response with the same one had. The first revisit that a query
//! reads makes two passes over the index: one for the digests of the revisits among the rows that the query asks for, one for the earliest
//! response with each of them; a repository without revisits pays nothing. What they find is shared by the partitions of the query.
//!
//! Revisits of other crawlers may have no digest, since the server said that nothing had changed, or one that no response has. The first of
//! them makes another pass, for the responses to the URLs of such revisits: the visit that they refer to is found by URL and second.
//!
//! Memory: about 80 bytes for each payload that is asked for as a revisit, taken from the session's budget, whatever the index holds
//! besides. A query that has no room for them, or cannot read the index, fails: that is none of the documents' fault.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, TryLockError};

use datafusion::arrow::array::{Int32Array, RecordBatch, StringViewArray, TimestampMillisecondArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::Session;
use datafusion::common::{DataFusionError, JoinType, Result};
use datafusion::datasource::provider_as_source;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::{LogicalPlanBuilder, ident, lit};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt as _;
use mattock_repository::Digest;
use mattock_repository::record::spelled_digest;

use super::work::typed;
use crate::metadata::MetadataTable;

/// What an entry takes, with what the map keeps free: it may have doubled just now.
const ENTRY_BYTES: usize = size_of::<(Digest, Option<Place>)>() * 16 / 7;

const NEEDS: [&str; 7] = [
    "content_digest",
    "record_type",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "fetch_time",
    "url",
];

/// What a response is found by.
#[derive(Clone, Copy, Debug)]
enum By {
    Payload,
    Visit,
}

/// What stands for a payload: its SHA-1, or that of what the index says in its place.
pub(super) fn payload_key(said: &str) -> Digest {
    Digest::from_field(said).or_else(|| Digest::from_text(said)).unwrap_or_else(|| {
        let other = spelled_digest(said);
        Digest::of(&[other.as_deref().unwrap_or(said).as_bytes()])
    })
}

/// What stands for the visit to a URL at a time, in seconds: not every writer knows more of it.
pub(super) fn visit_key(url: &str, seconds: i64) -> Digest {
    Digest::of(&[url.as_bytes(), &[0], &seconds.to_le_bytes()])
}

/// Where a record is; the number of its file's name.
#[derive(Clone, Copy)]
struct Place {
    file: u32,
    offset: u32,
    length: u32,
    time_ms: i64,
}

/// See the module. One for each operator that reads archives.
pub(crate) struct Originals {
    /// None if the index does not tell revisits from responses.
    plans: Option<Plans>,
    by: By,
    found: Mutex<Option<Found>>,
}

struct Plans {
    /// Finds the revisits that are asked for; without it all that is found is kept.
    revisits: Option<Arc<dyn ExecutionPlan>>,
    /// Finds the responses.
    responses: Arc<dyn ExecutionPlan>,
}

type Places = HashMap<Digest, Option<Place>>;

struct Found {
    /// Of those that are asked for.
    places: std::result::Result<Places, Arc<DataFusionError>>,
    names: Vec<String>,
    /// Held as long as the places are.
    _memory: MemoryReservation,
}

impl Originals {
    /// Plans the passes, and does not begin them: over the rows of `revisits`, which has the column `content_digest`, and over all responses.
    pub(crate) async fn plan(
        revisits: Arc<dyn ExecutionPlan>,
        all: &Arc<MetadataTable>,
        state: &dyn Session,
    ) -> Result<Originals> {
        use datafusion::catalog::TableProvider as _;
        let schema = all.schema();
        let places: Result<Vec<usize>> = NEEDS.iter().map(|name| Ok(schema.index_of(name)?)).collect();
        let responses = of(all, &places?, "response", "responses")?
            .filter(ident("content_digest").is_not_null())?
            .build()?;
        let responses = state.create_physical_plan(&responses).await?;
        let plans = Plans { revisits: Some(revisits), responses };
        Ok(Originals { plans: Some(plans), by: By::Payload, found: Mutex::new(None) })
    }

    /// The same for the revisits that no digest leads to a response.
    pub(crate) async fn plan_visits(
        asked: &Arc<MetadataTable>,
        all: &Arc<MetadataTable>,
        state: &dyn Session,
    ) -> Result<Originals> {
        use datafusion::catalog::TableProvider as _;
        let schema = all.schema();
        if !Originals::are_known(&schema) {
            return Ok(Originals::none());
        }
        let places: Result<Vec<usize>> = NEEDS.iter().map(|name| Ok(schema.index_of(name)?)).collect();
        let places = places?;
        let known = of(all, &places, "response", "known")?
            .project([ident("content_digest").alias("known")])?
            .build()?;
        let responses = of(all, &places, "response", "responses")?.build()?;
        // Tables are made of the revisits, which are few, and not of the responses.
        let plan = of(asked, &places, "revisit", "revisits")?
            .join(known, JoinType::LeftAnti, (vec!["content_digest"], vec!["known"]), None)?
            .project([ident("url").alias("visited")])?
            .distinct()?
            .join(responses, JoinType::RightSemi, (vec!["visited"], vec!["url"]), None)?
            .build()?;
        let plans = Plans { revisits: None, responses: state.create_physical_plan(&plan).await? };
        Ok(Originals { plans: Some(plans), by: By::Visit, found: Mutex::new(None) })
    }

    /// For an index that knows no revisits.
    pub(crate) fn none() -> Originals {
        Originals { plans: None, by: By::Payload, found: Mutex::new(None) }
    }

    /// Whether an index tells where the payloads of revisits are.
    pub(crate) fn are_known(index: &Schema) -> bool {
        NEEDS.iter().all(|name| index.field_with_name(name).is_ok())
    }

    /// File, offset and length of the response with a key: the earliest within the repository, or else elsewhere. Fails if it cannot be known.
    pub(super) fn find(
        &self,
        key: &Digest,
        context: &Arc<TaskContext>,
    ) -> Result<Option<(String, u64, u64)>> {
        // The one that reads needs threads for it, so nobody keeps one from it by waiting.
        let mut found = match self.found.try_lock() {
            Ok(found) => found,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => tokio::task::block_in_place(|| {
                self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
            }),
        };
        let found = found.get_or_insert_with(|| {
            let memory = MemoryConsumer::new("originals of revisits").register(context.memory_pool());
            let mut names = Vec::new();
            let places = match &self.plans {
                // The caller is a task of the query's own runtime, and what it waits for runs on it, too.
                Some(plans) => tokio::task::block_in_place(|| {
                    let reading = read(plans, self.by, context, &mut names, &memory);
                    tokio::runtime::Handle::current().block_on(reading)
                }),
                None => Ok(HashMap::new()),
            };
            Found { places: places.map_err(Arc::new), names, _memory: memory }
        });
        let places = found.places.as_ref().map_err(|error| DataFusionError::Shared(error.clone()))?;
        Ok(places.get(key).copied().flatten().map(|place| {
            (found.names[place.file as usize].clone(), u64::from(place.offset), u64::from(place.length))
        }))
    }
}

/// The rows of one type.
fn of(table: &Arc<MetadataTable>, places: &[usize], kind: &str, alias: &str) -> Result<LogicalPlanBuilder> {
    let source = provider_as_source(table.clone());
    LogicalPlanBuilder::scan(alias, source, Some(places.to_vec()))?.filter(ident("record_type").eq(lit(kind)))
}

async fn read(
    plans: &Plans,
    by: By,
    context: &Arc<TaskContext>,
    names: &mut Vec<String>,
    memory: &MemoryReservation,
) -> Result<Places> {
    let mut places = HashMap::new();
    if let Some(revisits) = &plans.revisits {
        let mut rows = execute_stream(revisits.clone(), context.clone())?;
        while let Some(rows) = rows.next().await {
            let rows = rows?;
            let digests: &StringViewArray = typed(&rows, NEEDS[0])?;
            places.extend(digests.iter().flatten().map(|digest| (payload_key(digest), None)));
            memory.try_resize(places.len() * ENTRY_BYTES)?;
        }
    }
    let mut numbers = HashMap::new();
    let mut rows = execute_stream(plans.responses.clone(), context.clone())?;
    while let Some(rows) = rows.next().await {
        take(&rows?, by, names, &mut numbers, &mut places)?;
        memory.try_resize(places.len() * ENTRY_BYTES)?;
    }
    Ok(places)
}

fn take(
    rows: &RecordBatch,
    by: By,
    names: &mut Vec<String>,
    numbers: &mut HashMap<String, u32>,
    places: &mut Places,
) -> Result<()> {
    let digests: &StringViewArray = typed(rows, NEEDS[0])?;
    let files: &StringViewArray = typed(rows, NEEDS[2])?;
    let offsets: &Int32Array = typed(rows, NEEDS[3])?;
    let lengths: &Int32Array = typed(rows, NEEDS[4])?;
    let times: &TimestampMillisecondArray = typed(rows, NEEDS[5])?;
    let urls: &StringViewArray = typed(rows, NEEDS[6])?;
    for row in 0..rows.num_rows() {
        let key = match by {
            By::Payload => payload_key(digests.value(row)),
            By::Visit => visit_key(urls.value(row), times.value(row).div_euclid(1000)),
        };
        let known = match (by, places.entry(key)) {
            (By::Payload, Entry::Vacant(_)) => continue,
            (_, entry) => entry.or_insert(None),
        };
        let file = *numbers.entry(files.value(row).to_string()).or_insert_with(|| {
            names.push(files.value(row).to_string());
            names.len() as u32 - 1
        });
        let place = Place {
            file,
            offset: offsets.value(row) as u32,
            length: lengths.value(row) as u32,
            time_ms: times.value(row),
        };
        // Whatever the order in which rows come, the same one is taken: one of the repository's own files, if there is one, since those of others may go.
        let order = |place: &Place| {
            let name = &names[place.file as usize];
            (!is_own(name), place.time_ms, name, place.offset)
        };
        if known.is_none_or(|known| order(&place) < order(&known)) {
            *known = Some(place);
        }
    }
    Ok(())
}

/// Whether a file lies within the repository.
fn is_own(name: &str) -> bool {
    !name.starts_with('/') && !mattock_env::is_url(std::path::Path::new(name))
}
