//! The table `documents`: one row for each stored instance, with the columns of the index and those that the query names.
//!
//! A scan is planned from the bottom: rows of the index as of the date → history, if asked for → conditions that the index can
//! answer (the sample among them) → the pages with the links and values by URL, if asked for, and conditions on these → places of kept
//! values → documents in the order of the archives → computed columns, kept values among them. All conditions are fulfilled here, so nothing above needs the columns that only a
//! condition reads. Without computed columns the plan ends before any archive.

mod demand;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column as Name, DFSchema, JoinType, Result, ScalarValue};
use datafusion::datasource::{TableType, provider_as_source};
use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, ident, lit,
};
use datafusion::physical_plan::ExecutionPlan;

use crate::by_url;
use crate::columns::{Column, Origin};
use crate::content::computed::{Computed, Kept, Value};
use crate::content::exec::{Archives, ContentExec, Stores};
use crate::content::meter::MeterExec;
use crate::content::originals::Originals;
use crate::content::tally::Tally;
use crate::content::work::Work;
use crate::history;
use crate::insertion::{self, INSERTION_TIME};
use crate::kept::KeptColumn;
use crate::kept::key::Key;
use crate::metadata::MetadataTable;
use crate::query::Dates;
use crate::via;
use demand::{Demand, sorted_names};

/// The table's name.
pub(crate) const DOCUMENTS: &str = "documents";

/// Common Crawl's name of its table, and of the schema that it is in. Here both mean [`DOCUMENTS`], whose columns are those of that table and ours.
pub(crate) const CCINDEX: &str = "ccindex";

/// What a row's record is; a revisit has no payload of its own.
const RECORD_TYPE: &str = "record_type";

/// What a payload is known by.
const DIGEST: &str = "content_digest";

/// See the module. Made for one query.
pub(crate) struct DocumentsTable {
    /// The index.
    pub(crate) metadata: Arc<MetadataTable>,
    /// All rows that revisits may repeat.
    pub(crate) originals: Arc<MetadataTable>,
    /// Columns: those of the index, then those that the query names.
    pub(crate) columns: Vec<Column>,
    /// The archives.
    pub(crate) archives: Archives,
    /// Whether rows of the index may not say when they were inserted.
    pub(crate) undated: bool,
    /// Later rows do not exist.
    pub(crate) dates: Dates,
    /// Columns that were computed before.
    pub(crate) kept: BTreeMap<String, KeptColumn>,
    /// Where the query's work is counted.
    pub(crate) tally: Arc<Tally>,
    /// Only documents that this kept column has no value of, and one for each of its keys.
    pub(crate) only_missing: Option<Missing>,
    /// So many partitions compute at once.
    pub(crate) partitions: usize,
    /// Rows of the index are handed on so many at a time, whatever is made of them.
    pub(crate) batch_rows: usize,
    /// Documents of one partition may take so much memory.
    pub(crate) bytes_max: usize,
}

/// Documents whose values are to be kept.
pub(crate) struct Missing {
    /// One document is enough for all that have the same key.
    pub(crate) key: Key,
    /// What is kept already.
    pub(crate) kept: Option<KeptColumn>,
}

impl std::fmt::Debug for DocumentsTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DocumentsTable").field("columns", &self.columns.len()).finish_non_exhaustive()
    }
}

impl DocumentsTable {
    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.field.name() == name)
    }

    /// These columns of all rows that exist.
    fn rows<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<LogicalPlanBuilder> {
        let schema = self.metadata.schema();
        let names: BTreeSet<&str> = names.collect();
        let mut read = names.clone();
        read.extend(self.dates.as_of_ms.map(|_| "fetch_time"));
        read.extend(self.dates.inserted_by_ms.map(|_| insertion::column(&schema)));
        let mut plan = scan_index(&self.metadata, read.iter().copied(), self.undated)?;
        if let Some(as_of_ms) = self.dates.as_of_ms {
            let date = lit(ScalarValue::TimestampMillisecond(Some(as_of_ms), Some("UTC".into())));
            plan = plan.filter(ident("fetch_time").lt_eq(date))?;
        }
        if let Some(date_ms) = self.dates.inserted_by_ms {
            plan = plan.filter(insertion::by(&schema, date_ms))?;
        }
        if read.len() == names.len() {
            return Ok(plan);
        }
        plan.project(names.into_iter().map(ident).collect::<Vec<Expr>>())
    }

    /// The rows of the index that are looked at.
    fn index_plan(&self, demand: &Demand) -> Result<LogicalPlanBuilder> {
        let mut plan = self.rows(demand.needed.iter().map(String::as_str))?;
        if let Some(missing) = &self.only_missing {
            plan = self.add_key(plan.filter(ident("warc_filename").is_not_null())?, missing.key)?;
            plan = plan.filter(ident(missing.key.name()).is_not_null())?;
            if let Some(kept) = &missing.kept {
                let [key, ..] = KeptColumn::names("");
                let on = (vec![Name::from_name(missing.key.name())], vec![Name::from_name(key)]);
                plan = plan.join(kept.plan("")?, JoinType::LeftAnti, on, None)?;
            }
            // A response comes before the revisits that repeat it: its payload is at hand.
            let known = self.metadata.schema().field_with_name(RECORD_TYPE).is_ok();
            plan = history::first_of(plan, missing.key.name(), known.then_some(RECORD_TYPE))?;
        }
        let (early, late): (Vec<Expr>, Vec<Expr>) = if demand.histories.is_empty() {
            (demand.conditions.clone(), Vec::new())
        } else {
            let of_url =
                |condition: &Expr| sorted_names(condition).iter().all(|name| history::is_of_url(name));
            demand.conditions.iter().cloned().partition(of_url)
        };
        if let Some(condition) = conjunction(early) {
            plan = plan.filter(condition)?;
        }
        if !demand.histories.is_empty() {
            plan = history::add(plan, &demand.histories)?;
        }
        if let Some(condition) = conjunction(late) {
            plan = plan.filter(condition)?;
        }
        if demand.via {
            plan = via::add(plan, self.rows(via::SOURCE.into_iter())?)?;
        }
        for at in &demand.by_url {
            if let Origin::ByUrl(values) = &self.columns[*at].origin {
                plan = by_url::add(plan, self.columns[*at].field.name(), values)?;
            }
        }
        match conjunction(demand.joined_conditions.clone()) {
            Some(condition) => plan.filter(condition),
            None => Ok(plan),
        }
    }

    /// What comes out of a scan without computed columns.
    fn output(&self, demand: &Demand) -> Vec<Expr> {
        let columns = demand.wanted.iter().map(|at| &self.columns[*at]);
        columns
            .map(|column| match &column.origin {
                Origin::Alias(base) => ident(base).alias(column.field.name()),
                _ => ident(column.field.name()),
            })
            .collect()
    }

    /// The plan with the key of each row.
    fn add_key(&self, plan: LogicalPlanBuilder, key: Key) -> Result<LogicalPlanBuilder> {
        let mut columns: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
        columns.push(key.expression(&self.metadata.schema()));
        plan.project(columns)
    }

    /// Joins the places of values that were computed before to the rows, and what the values take; not the values.
    fn join_kept(&self, demand: &Demand, mut plan: LogicalPlanBuilder) -> Result<LogicalPlanBuilder> {
        let mut columns: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
        for at in &demand.computed {
            let name = self.columns[*at].field.name();
            let Some(kept) = self.kept.get(name) else { continue };
            let [key, place, bytes] = KeptColumn::names(name);
            if plan.schema().field_with_unqualified_name(kept.key.name()).is_err() {
                plan = self.add_key(plan, kept.key)?;
            }
            let on = (vec![Name::from_name(kept.key.name())], vec![Name::from_name(key)]);
            plan = plan.join(kept.plan(name)?, JoinType::Left, on, None)?;
            columns.extend([ident(place), ident(bytes)]);
        }
        plan.project(columns)
    }

    /// How the payloads of the revisits among the rows are found.
    async fn plan_originals(&self, state: &dyn Session, demand: &Demand) -> Result<Originals> {
        if !Originals::are_known(&self.originals.schema()) {
            return Ok(Originals::none());
        }
        let mut demand = demand.clone();
        demand.needed.extend([RECORD_TYPE, DIGEST].map(str::to_string));
        let revisits = self
            .index_plan(&demand)?
            .filter(ident(RECORD_TYPE).eq(lit("revisit")))?
            .project([ident(DIGEST)])?
            .build()?;
        let revisits = physical(state, &revisits, self.joins(&demand)).await?;
        Originals::plan(revisits, &self.originals, state).await
    }

    /// Whether the rows of the index are joined with something.
    fn joins(&self, demand: &Demand) -> bool {
        demand.via || !demand.by_url.is_empty() || self.only_missing.is_some()
    }

    /// The computing operator over `input`.
    async fn compute(
        &self,
        state: &dyn Session,
        demand: &Demand,
        input: Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = input.schema();
        let mut computed = Vec::new();
        for at in &demand.computed {
            let column = &self.columns[*at];
            let kept = match self.kept.get(column.field.name()) {
                Some(kept) => {
                    let [_, place, bytes] = KeptColumn::names(column.field.name());
                    Some(Kept {
                        place: schema.index_of(&place)?,
                        bytes: schema.index_of(&bytes)?,
                        values: kept.values.clone(),
                    })
                }
                None => None,
            };
            let value = match &column.origin {
                Origin::Analyzer(analyzer) => Value::Analyzer(analyzer.clone()),
                Origin::FailureOfLast(unreadable) => {
                    Value::FailureOf(computed.len().saturating_sub(1), unreadable)
                }
                _ => Value::Body,
            };
            computed.push(Computed { field: column.field.clone(), value, kept });
        }
        let condition = match conjunction(demand.content_conditions.clone()) {
            Some(condition) => {
                let fields = schema.fields().iter().map(|field| field.as_ref().clone());
                let fields = fields.chain(computed[..demand.first].iter().map(|column| column.field.clone()));
                let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
                let condition =
                    state.create_physical_expr(condition, &DFSchema::try_from(schema.as_ref().clone())?)?;
                Some((condition, schema))
            }
            None => None,
        };
        let mut projection = Vec::new();
        let mut output = Vec::new();
        for at in &demand.wanted {
            let column = &self.columns[*at];
            projection.push(match &column.origin {
                Origin::Alias(base) => schema.index_of(base)?,
                Origin::Index | Origin::History(_) | Origin::Via | Origin::ByUrl(_) => {
                    schema.index_of(column.field.name())?
                }
                Origin::Body | Origin::Analyzer(_) | Origin::FailureOfLast(_) => {
                    let place = demand.computed.iter().position(|computed| computed == at);
                    schema.fields().len() + place.unwrap_or_default()
                }
            });
            output.push(column.field.clone());
        }
        let work = Work {
            computed,
            first: demand.first,
            condition,
            projection,
            output: Arc::new(Schema::new(output)),
            bytes_max: self.bytes_max,
            tally: self.tally.clone(),
        };
        let metered = Arc::new(MeterExec::new(input, self.tally.clone()));
        let originals = Arc::new(self.plan_originals(state, demand).await?);
        let visits = Arc::new(Originals::plan_visits(&self.metadata, &self.originals, state).await?);
        let archives = self.archives.clone();
        let stores = Stores { archives, originals, visits, batch_rows: self.batch_rows };
        Ok(Arc::new(ContentExec::try_new(metered, Arc::new(work), stores, self.partitions)?))
    }
}

#[async_trait::async_trait]
impl TableProvider for DocumentsTable {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(|column| column.field.clone()).collect::<Vec<_>>()))
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Exact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let demand = self.demand(projection, filters)?;
        let of_index = |at: &usize| matches!(self.columns[*at].origin, Origin::Index);
        let is_filled = self.undated && demand.needed.contains(INSERTION_TIME);
        let is_whole = filters.is_empty() && self.dates == Dates::default() && !is_filled;
        if is_whole && demand.wanted.iter().all(of_index) {
            // Columns of the index come first, so places in the table are places in the index.
            return self.metadata.scan(state, Some(&demand.wanted), &[], limit).await;
        }
        let mut plan = self.index_plan(&demand)?;
        if limit.is_some() && demand.content_conditions.is_empty() {
            plan = plan.limit(0, limit)?;
        }
        let joined = self.joins(&demand)
            || demand.computed.iter().any(|at| self.kept.contains_key(self.columns[*at].field.name()));
        if demand.computed.is_empty() {
            return physical(state, &plan.project(self.output(&demand))?.build()?, joined).await;
        }
        let input = physical(state, &self.join_kept(&demand, plan)?.build()?, joined).await?;
        self.compute(state, &demand, input).await
    }
}

/// These columns of all rows of an index; where rows may be `undated`, they have their times of insertion all the same.
pub(crate) fn scan_index<'a>(
    metadata: &Arc<MetadataTable>,
    names: impl Iterator<Item = &'a str>,
    undated: bool,
) -> Result<LogicalPlanBuilder> {
    let schema = metadata.schema();
    let names: BTreeSet<&str> = names.collect();
    let is_filled = undated && names.contains(INSERTION_TIME);
    let mut read = names.clone();
    read.extend(insertion::VISIT.iter().filter(|_| is_filled));
    let projection: Result<Vec<usize>> = read.iter().map(|name| Ok(schema.index_of(name)?)).collect();
    let source = provider_as_source(metadata.clone());
    let plan = LogicalPlanBuilder::scan(DOCUMENTS, source, Some(projection?))?;
    if !is_filled {
        return Ok(plan);
    }
    let filled = |name: &&str| match *name {
        INSERTION_TIME => insertion::or_end_of_visit(),
        name => ident(name),
    };
    plan.project(names.iter().map(filled).collect::<Vec<Expr>>())
}

/// The plan to be run. If it joins, its sides may be larger than memory, and a join that sorts can spill.
async fn physical(state: &dyn Session, plan: &LogicalPlan, joined: bool) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(state) = state.as_any().downcast_ref::<SessionState>().filter(|_| joined) else {
        return state.create_physical_plan(plan).await;
    };
    let mut state = state.clone();
    let options = state.config_mut().options_mut();
    options.optimizer.prefer_hash_join = false;
    // With a single partition the planner would hash all the same.
    options.execution.target_partitions = options.execution.target_partitions.max(2);
    state.create_physical_plan(plan).await
}
