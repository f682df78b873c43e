//! Aggregates that give a map, as Athena has them: `histogram(value)` counts how often each value is there, `map_agg(key, value)` puts the
//! values of a group under their keys.
//!
//! Nulls are no keys. Of several values of one key the first that was read stays. The keys of the map are sorted, so that an answer is the same
//! every time; of a group without keys it is null. A map takes memory for each distinct key of its group, which the query's memory must have.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, MapArray, StructArray, new_empty_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::cast::as_list_array;
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

/// Both of them.
pub(super) fn all() -> [AggregateUDF; 2] {
    [("histogram", 1), ("map_agg", 2)].map(|(name, arguments)| {
        let signature = Signature::any(arguments, Volatility::Immutable);
        AggregateUDF::new_from_impl(ToMap { name, counts: arguments == 1, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ToMap {
    name: &'static str,
    counts: bool,
    signature: Signature,
}

/// The field of a map's entries.
fn entries(key: &DataType, value: &DataType) -> FieldRef {
    let fields = vec![Field::new("key", key.clone(), false), Field::new("value", value.clone(), true)];
    Arc::new(Field::new("entries", DataType::Struct(Fields::from(fields)), false))
}

/// The types of a map's keys and values.
fn types(map: &DataType) -> Result<(DataType, DataType)> {
    if let DataType::Map(entries, _) = map
        && let DataType::Struct(fields) = entries.data_type()
        && let [key, value] = fields.iter().as_slice()
    {
        return Ok((key.data_type().clone(), value.data_type().clone()));
    }
    exec_err!("this is no map: {map}")
}

impl AggregateUDFImpl for ToMap {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let entries = match arguments {
            [key] if self.counts => entries(key, &DataType::Int64),
            [key, value] if !self.counts => entries(key, value),
            _ => return plan_err!("`{}` takes other arguments", self.name),
        };
        Ok(DataType::Map(entries, false))
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if arguments.is_distinct {
            return exec_err!("`{}` takes no `distinct`: each key is there once", self.name);
        }
        let (key, value) = types(arguments.return_field.data_type())?;
        Ok(Box::new(Collected { key, value, counts: self.counts, found: HashMap::new(), bytes: 0 }))
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let (key, value) = types(arguments.return_field.data_type())?;
        let list = |name: &str, item: DataType| {
            let name = format!("{}[{name}]", arguments.name);
            Arc::new(Field::new(name, DataType::new_list(item, true), true))
        };
        Ok(vec![list("keys", key), list("values", value)])
    }
}

/// The entries of one group.
#[derive(Debug)]
struct Collected {
    key: DataType,
    value: DataType,
    counts: bool,
    found: HashMap<ScalarValue, ScalarValue>,
    /// What keys and values take beside the table.
    bytes: usize,
}

impl Collected {
    fn add(&mut self, key: ScalarValue, value: ScalarValue) {
        match self.found.entry(key) {
            Entry::Occupied(mut entry) => {
                if let (true, ScalarValue::Int64(Some(count)), ScalarValue::Int64(Some(more))) =
                    (self.counts, entry.get_mut(), &value)
                {
                    *count += more;
                }
            }
            Entry::Vacant(entry) => {
                let own = |value: &ScalarValue| value.size() - size_of::<ScalarValue>();
                self.bytes += own(entry.key()) + own(&value);
                entry.insert(value);
            }
        }
    }

    /// Keys and values, sorted by key.
    fn sorted(&self) -> (Vec<ScalarValue>, Vec<ScalarValue>) {
        let mut entries: Vec<_> = self.found.iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        entries.into_iter().map(|(key, value)| (key.clone(), value.clone())).unzip()
    }
}

fn array(values: Vec<ScalarValue>, data_type: &DataType) -> Result<ArrayRef> {
    if values.is_empty() { Ok(new_empty_array(data_type)) } else { ScalarValue::iter_to_array(values) }
}

impl Accumulator for Collected {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let Some(keys) = columns.first() else { return Ok(()) };
        for row in 0..keys.len() {
            if keys.is_valid(row) {
                let value = match columns.get(1) {
                    Some(values) if !self.counts => ScalarValue::try_from_array(values, row)?,
                    _ => ScalarValue::Int64(Some(1)),
                };
                self.add(ScalarValue::try_from_array(keys, row)?.compacted(), value.compacted());
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [keys, values] = states else { return exec_err!("a map is merged of keys and values") };
        let (keys, values) = (as_list_array(keys)?, as_list_array(values)?);
        for (keys, values) in keys.iter().zip(values.iter()) {
            let (Some(keys), Some(values)) = (keys, values) else { continue };
            for at in 0..keys.len() {
                let value = ScalarValue::try_from_array(&values, at)?;
                self.add(ScalarValue::try_from_array(&keys, at)?.compacted(), value.compacted());
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (keys, values) = self.sorted();
        Ok(vec![
            ScalarValue::List(ScalarValue::new_list(&keys, &self.key, true)),
            ScalarValue::List(ScalarValue::new_list(&values, &self.value, true)),
        ])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let entries = entries(&self.key, &self.value);
        if self.found.is_empty() {
            return ScalarValue::try_from(&DataType::Map(entries, false));
        }
        let (keys, values) = self.sorted();
        let offsets = OffsetBuffer::from_lengths([keys.len()]);
        let DataType::Struct(fields) = entries.data_type().clone() else {
            return exec_err!("entries are pairs");
        };
        let columns = vec![array(keys, &self.key)?, array(values, &self.value)?];
        let map =
            MapArray::try_new(entries, offsets, StructArray::try_new(fields, columns, None)?, None, false)?;
        Ok(ScalarValue::Map(Arc::new(map)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes + self.found.capacity() * size_of::<(ScalarValue, ScalarValue)>()
    }
}
