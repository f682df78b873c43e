//! Where the payloads of revisits are.
//!
//! A revisit record has no payload: it says which digest an earlier response with the same one had. The first revisit that a query
//! reads makes one pass over the whole index, for the earliest response with each digest that some revisit has that may be asked
//! for; a repository without revisits pays nothing. What it finds is shared by the partitions of the query.
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

use super::work::typed;
use crate::metadata::MetadataTable;

/// What an entry takes, with what the map keeps free.
const ENTRY_BYTES: usize = size_of::<(Digest, Place)>() * 8 / 7 + 24;

const NEEDS: [&str; 6] = [
    "content_digest",
    "record_type",
    "warc_filename",
    "warc_record_offset",
    "warc_record_length",
    "fetch_time",
];

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
        let Some(places) = places else { return Ok(Originals { plan: None, found }) };
        let of = |table: &Arc<MetadataTable>, kind: &str, alias: &str| -> Result<LogicalPlanBuilder> {
            let source = provider_as_source(table.clone());
            LogicalPlanBuilder::scan(alias, source, Some(places.clone()))?
                .filter(ident("record_type").eq(lit(kind)).and(ident("content_digest").is_not_null()))
        };
        let met_again = of(asked, "revisit", "revisits")?
            .project([ident("content_digest").alias("met_again")])?
            .distinct()?
            .build()?;
        let plan = of(all, "response", "responses")?
            .join(met_again, JoinType::LeftSemi, (vec!["content_digest"], vec!["met_again"]), None)?
            .build()?;
        Ok(Originals { plan: Some(state.create_physical_plan(&plan).await?), found })
    }

    /// File, offset and length of the earliest response with a digest; what is wrong if it cannot be known.
    pub(super) fn find(
        &self,
        digest: &Digest,
        context: &Arc<TaskContext>,
    ) -> std::result::Result<Option<(String, u64, u64)>, String> {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = found.get_or_insert_with(|| {
            let memory = MemoryConsumer::new("originals of revisits").register(context.memory_pool());
            let mut names = Vec::new();
            let places = match &self.plan {
                // The caller is a task of the query's own runtime, and what it waits for runs on it, too.
                Some(plan) => tokio::task::block_in_place(|| {
                    let reading = read(plan.clone(), context.clone(), &mut names, &memory);
                    tokio::runtime::Handle::current().block_on(reading)
                }),
                None => Ok(HashMap::new()),
            };
            Found { places: places.map_err(|error| error.to_string()), names, _memory: memory }
        });
        let places = found.places.as_ref().map_err(Clone::clone)?;
        Ok(places.get(digest).map(|place| {
            (found.names[place.file as usize].clone(), u64::from(place.offset), u64::from(place.length))
        }))
    }
}

async fn read(
    plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    names: &mut Vec<String>,
    memory: &MemoryReservation,
) -> Result<HashMap<Digest, Place>> {
    let mut places = HashMap::new();
    let mut numbers = HashMap::new();
    let mut rows = execute_stream(plan, context)?;
    while let Some(rows) = rows.next().await {
        take(&rows?, names, &mut numbers, &mut places)?;
        memory.try_resize(places.len() * ENTRY_BYTES)?;
    }
    Ok(places)
}

fn take(
    rows: &RecordBatch,
    names: &mut Vec<String>,
    numbers: &mut HashMap<String, u32>,
    places: &mut HashMap<Digest, Place>,
) -> Result<()> {
    let digests: &StringViewArray = typed(rows, NEEDS[0])?;
    let files: &StringViewArray = typed(rows, NEEDS[2])?;
    let offsets: &Int32Array = typed(rows, NEEDS[3])?;
    let lengths: &Int32Array = typed(rows, NEEDS[4])?;
    let times: &TimestampMillisecondArray = typed(rows, NEEDS[5])?;
    for row in 0..rows.num_rows() {
        let Some(digest) = Digest::from_text(digests.value(row)) else { continue };
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
        let known = places.entry(digest).or_insert(place);
        // Whatever the order in which rows come, the same one is taken.
        let order = |place: &Place| (place.time_ms, &names[place.file as usize], place.offset);
        if order(&place) < order(known) {
            *known = place;
        }
    }
    Ok(())
}
