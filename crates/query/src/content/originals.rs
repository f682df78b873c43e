//! Where the payloads of revisits are.
//!
//! A revisit record has no payload: it says which digest an earlier response with the same one had. The first revisit that a query
//! reads makes one pass over the whole index, for the earliest response with each digest that some revisit has that may be asked
//! for; a repository without revisits pays nothing. What it finds is shared by the partitions of the query.
//!
//! Revisits of other crawlers may have no digest, since the server said that nothing had changed, or one that no response has. The first of
//! them makes another pass, for the responses to the URLs of such revisits: the visit that they refer to is found by URL and second.
//!
//! Memory: about 60 bytes for each payload that was met again, taken from the session's budget; a query that has no room for
//! them says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::{Int32Array, RecordBatch, StringViewArray, TimestampMillisecondArray};
use datafusion::catalog::Session;
use datafusion::common::{JoinType, Result};
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

/// What an entry takes, with what the map keeps free.
const ENTRY_BYTES: usize = size_of::<(Digest, Place)>() * 8 / 7 + 24;

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
    /// Finds the responses; none if the index does not tell revisits from responses.
    plan: Option<Arc<dyn ExecutionPlan>>,
    by: By,
    found: Mutex<Option<Found>>,
}

struct Found {
    places: std::result::Result<HashMap<Digest, Place>, String>,
    names: Vec<String>,
    /// Held as long as the places are.
    _memory: MemoryReservation,
}

impl Originals {
    /// Plans the pass over `all` for the revisits in `asked`, and does not begin it.
    pub(crate) async fn plan(
        asked: &Arc<MetadataTable>,
        all: &Arc<MetadataTable>,
        state: &dyn Session,
    ) -> Result<Originals> {
        use datafusion::catalog::TableProvider as _;
        let schema = all.schema();
        let places: Option<Vec<usize>> = NEEDS.iter().map(|name| schema.index_of(name).ok()).collect();
        let found = Mutex::new(None);
        let Some(places) = places else { return Ok(Originals { plan: None, by: By::Payload, found }) };
        let of = |table: &Arc<MetadataTable>, kind: &str, alias: &str| {
            of(table, &places, kind, alias)?.filter(ident("content_digest").is_not_null())
        };
        let met_again = of(asked, "revisit", "revisits")?
            .project([ident("content_digest").alias("met_again")])?
            .distinct()?
            .build()?;
        let plan = of(all, "response", "responses")?
            .join(met_again, JoinType::LeftSemi, (vec!["content_digest"], vec!["met_again"]), None)?
            .build()?;
        Ok(Originals { plan: Some(state.create_physical_plan(&plan).await?), by: By::Payload, found })
    }

    /// The same for the revisits that no digest leads to a response.
    pub(crate) async fn plan_visits(
        asked: &Arc<MetadataTable>,
        all: &Arc<MetadataTable>,
        state: &dyn Session,
    ) -> Result<Originals> {
        use datafusion::catalog::TableProvider as _;
        let schema = all.schema();
        let places: Option<Vec<usize>> = NEEDS.iter().map(|name| schema.index_of(name).ok()).collect();
        let found = Mutex::new(None);
        let Some(places) = places else { return Ok(Originals { plan: None, by: By::Visit, found }) };
        let known = of(all, &places, "response", "known")?
            .project([ident("content_digest").alias("known")])?
            .build()?;
        let visited = of(asked, &places, "revisit", "revisits")?
            .join(known, JoinType::LeftAnti, (vec!["content_digest"], vec!["known"]), None)?
            .project([ident("url").alias("visited")])?
            .distinct()?
            .build()?;
        let plan = of(all, &places, "response", "responses")?
            .join(visited, JoinType::LeftSemi, (vec!["url"], vec!["visited"]), None)?
            .build()?;
        Ok(Originals { plan: Some(state.create_physical_plan(&plan).await?), by: By::Visit, found })
    }

    /// File, offset and length of the earliest response with a key; what is wrong if it cannot be known.
    pub(super) fn find(
        &self,
        key: &Digest,
        context: &Arc<TaskContext>,
    ) -> std::result::Result<Option<(String, u64, u64)>, String> {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = found.get_or_insert_with(|| {
            let memory = MemoryConsumer::new("originals of revisits").register(context.memory_pool());
            let mut names = Vec::new();
            let places = match &self.plan {
                // The caller is a task of the query's own runtime, and what it waits for runs on it, too.
                Some(plan) => tokio::task::block_in_place(|| {
                    let reading = read(plan.clone(), self.by, context.clone(), &mut names, &memory);
                    tokio::runtime::Handle::current().block_on(reading)
                }),
                None => Ok(HashMap::new()),
            };
            Found { places: places.map_err(|error| error.to_string()), names, _memory: memory }
        });
        let places = found.places.as_ref().map_err(Clone::clone)?;
        Ok(places.get(key).map(|place| {
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
    plan: Arc<dyn ExecutionPlan>,
    by: By,
    context: Arc<TaskContext>,
    names: &mut Vec<String>,
    memory: &MemoryReservation,
) -> Result<HashMap<Digest, Place>> {
    let mut places = HashMap::new();
    let mut numbers = HashMap::new();
    let mut rows = execute_stream(plan, context)?;
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
    places: &mut HashMap<Digest, Place>,
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
        let known = places.entry(key).or_insert(place);
        // Whatever the order in which rows come, the same one is taken.
        let order = |place: &Place| (place.time_ms, &names[place.file as usize], place.offset);
        if order(&place) < order(known) {
            *known = place;
        }
    }
    Ok(())
}
