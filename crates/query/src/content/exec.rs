//! [`ContentExec`]: the operator that adds computed columns to rows of the index. See the module above for its place.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::col;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexRequirement, OrderingRequirements, Partitioning, PhysicalExpr,
    PhysicalSortRequirement,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
};
use mattock_env::Files;

use super::chunks::Chunks;
use super::meter::archive_bytes;
use super::originals::Originals;
use super::reader::Reader;
use super::tally::Tally;
use super::work::{PLACE, Readers, Work};

/// How archives are reached.
#[derive(Clone)]
pub(crate) struct Archives {
    /// The file system.
    pub(crate) files: Files,
    /// The path of the archive that a row names.
    pub(crate) path: Arc<dyn Fn(&str) -> PathBuf + Send + Sync>,
}

/// Where archives are, and the payloads of revisits in them.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) archives: Archives,
    pub(crate) originals: Arc<Originals>,
    /// Those of revisits that no digest leads to them.
    pub(crate) visits: Arc<Originals>,
    /// Rows of the index come so many at a time: what is made of them may be wide, and these are not.
    pub(crate) batch_rows: usize,
}

impl Stores {
    /// What plans over the index are run in.
    fn context(&self, context: &TaskContext) -> Arc<TaskContext> {
        let config = context.session_config().clone().with_batch_size(self.batch_rows);
        Arc::new(TaskContext::new(
            context.task_id(),
            context.session_id(),
            config,
            context.scalar_functions().clone(),
            context.higher_order_functions().clone(),
            context.aggregate_functions().clone(),
            context.window_functions().clone(),
            context.runtime_env(),
        ))
    }
}

type Shared = Arc<tokio::sync::Mutex<Chunks>>;

/// See the module.
pub(crate) struct ContentExec {
    input: Arc<dyn ExecutionPlan>,
    work: Arc<Work>,
    stores: Stores,
    properties: Arc<PlanProperties>,
    order: LexRequirement,
    /// The input, which all partitions share; made by the first one that is executed.
    shared: Mutex<Option<Shared>>,
}

impl ContentExec {
    /// Does `work` on the rows of `input` in `partitions` at once.
    pub(crate) fn try_new(
        input: Arc<dyn ExecutionPlan>,
        work: Arc<Work>,
        stores: Stores,
        partitions: usize,
    ) -> Result<ContentExec> {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(work.output.clone()),
            Partitioning::UnknownPartitioning(partitions.max(1)),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let schema = input.schema();
        let by = |name: &str| -> Result<PhysicalSortRequirement> {
            Ok(PhysicalSortRequirement::new(col(name, &schema)?, Some(Default::default())))
        };
        let order = LexRequirement::new([by(PLACE[0])?, by(PLACE[1])?]);
        let Some(order) = order else { return internal_err!("two columns are an order") };
        Ok(ContentExec {
            input,
            work,
            stores,
            properties: Arc::new(properties),
            order,
            shared: Mutex::new(None),
        })
    }

    /// Adds the names of the columns that are computed, and of those with kept values.
    pub(crate) fn names(&self, computed: &mut Vec<String>, kept: &mut Vec<String>) {
        for column in &self.work.computed {
            computed.push(column.field.name().clone());
            if column.kept.is_some() {
                kept.push(column.field.name().clone());
            }
        }
    }

    fn shared(&self, context: Arc<TaskContext>) -> Result<Shared> {
        let mut shared = self.shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(shared) = &*shared {
            return Ok(shared.clone());
        }
        let input = self.input.execute(0, context)?;
        let partitions = self.properties.partitioning.partition_count();
        let chunks = Chunks::new(input, partitions, self.work.tally.clone());
        Ok(shared.insert(Arc::new(tokio::sync::Mutex::new(chunks))).clone())
    }
}

impl fmt::Debug for ContentExec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ContentExec").field("output", &self.work.output).finish_non_exhaustive()
    }
}

impl DisplayAs for ContentExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.work.computed.iter().map(|column| column.field.name().as_str()).collect();
        let (first, rest) = names.split_at(self.work.first);
        write!(formatter, "ContentExec:")?;
        if let Some((condition, _)) = &self.work.condition {
            write!(formatter, " first=[{}], condition={condition},", first.join(", "))?;
        }
        write!(formatter, " columns=[{}]", rest.join(", "))?;
        let kept = self.work.computed.iter().filter(|column| column.kept.is_some()).count();
        if kept > 0 {
            write!(formatter, ", kept={kept}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for ContentExec {
    fn name(&self) -> &str {
        "ContentExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![Some(OrderingRequirements::new(self.order.clone()))]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        match &self.work.condition {
            Some((condition, _)) => visit(condition),
            None => Ok(TreeNodeRecursion::Continue),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let partitions = self.properties.partitioning.partition_count();
        match children.pop() {
            Some(input) if children.is_empty() => {
                let (work, stores) = (self.work.clone(), self.stores.clone());
                Ok(Arc::new(ContentExec::try_new(input, work, stores, partitions)?))
            }
            _ => internal_err!("ContentExec has one input"),
        }
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let context = self.stores.context(&context);
        let partition = PartitionState {
            shared: self.shared(context.clone())?,
            work: self.work.clone(),
            readers: self.work.readers(Reader::new(&self.stores, context)),
            done: Vec::new(),
        };
        let stream = futures::stream::try_unfold(partition, |mut partition| async move {
            Ok(partition.next().await?.map(|batch| (batch, partition)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.work.output.clone(), stream)))
    }
}

/// One partition at work.
struct PartitionState {
    shared: Shared,
    work: Arc<Work>,
    readers: Readers,
    /// Batches that are ready, the next one last.
    done: Vec<RecordBatch>,
}

impl PartitionState {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.done.pop() {
                return Ok(Some(batch));
            }
            let Some(rows) = self.shared.lock().await.next().await? else { return Ok(None) };
            let before = (self.readers.documents.bytes_read(), self.readers.kept_bytes_read());
            self.done = self.work.run(&mut self.readers, &rows)?;
            if let Some(error) = self.readers.documents.stopped() {
                return Err(error);
            }
            self.done.reverse();
            let tally = &self.work.tally;
            Tally::add(&tally.rows, rows.num_rows() as u64);
            Tally::add(&tally.bytes, archive_bytes(&rows));
            Tally::add(&tally.bytes_read, self.readers.documents.bytes_read() - before.0);
            Tally::add(&tally.kept_bytes_read, self.readers.kept_bytes_read() - before.1);
            tally.changed.notify_one();
            // A stretch takes its time: whoever wants to end the query gets a word in.
            tokio::task::yield_now().await;
        }
    }
}
