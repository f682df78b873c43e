//! Functions that no query names: those that the words of Athena for lists and structures are read as, by [`crate::sql::athena`].

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, ListArray, StringBuilder, StructArray, UInt32Array, make_comparator,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::{SortOptions, take};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::sink::json;

/// A value as JSON, in a text.
pub(crate) const AS_JSON: &str = "as_json";
/// Structures, or lists of them, with other names of their fields, in their order.
pub(crate) const NAMED: &str = "with_field_names";
/// A list by a field of its elements, `asc` or `desc`.
pub(crate) const SORTED: &str = "array_sorted_by";

/// All of them.
pub(super) fn all() -> [ScalarUDF; 3] {
    [AS_JSON, NAMED, SORTED].map(|name| {
        ScalarUDF::new_from_impl(Nested { name, signature: Signature::variadic_any(Volatility::Immutable) })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nested {
    name: &'static str,
    signature: Signature,
}

impl ScalarUDFImpl for Nested {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        plan_err!("the type that `{}` gives depends on its arguments", self.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let Some(first) = arguments.arg_fields.first() else {
            return plan_err!("`{}` takes a value", self.name);
        };
        let data_type = match self.name {
            AS_JSON => DataType::Utf8,
            NAMED => named(first.data_type(), &texts(&arguments.scalar_arguments[1..]))?,
            _ => match first.data_type() {
                DataType::List(_) => first.data_type().clone(),
                other => return plan_err!("`array_sort` sorts lists, and this is {other}"),
            },
        };
        Ok(Arc::new(Field::new(self.name, data_type, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(first) = arguments.args.first() else { return exec_err!("`{}` takes a value", self.name) };
        let values = first.to_array(arguments.number_rows)?;
        let answer = match self.name {
            AS_JSON => as_json(values.as_ref()),
            NAMED => renamed(&values, arguments.return_field.data_type())?,
            _ => {
                let constants: Vec<Option<&ScalarValue>> = arguments.args[1..]
                    .iter()
                    .map(|value| if let ColumnarValue::Scalar(scalar) = value { Some(scalar) } else { None })
                    .collect();
                match texts(&constants).as_slice() {
                    [field, direction] => sorted(values.as_list::<i32>(), field, direction == "desc")?,
                    _ => return exec_err!("`array_sort` is told by what"),
                }
            }
        };
        Ok(ColumnarValue::Array(answer))
    }
}

/// The texts of constant arguments.
fn texts(arguments: &[Option<&ScalarValue>]) -> Vec<String> {
    let text = |value: &Option<&ScalarValue>| {
        value.and_then(|value| value.try_as_str().flatten()).unwrap_or_default().to_owned()
    };
    arguments.iter().map(text).collect()
}

fn as_json(values: &dyn Array) -> ArrayRef {
    let mut texts = StringBuilder::new();
    for row in 0..values.len() {
        let mut text = String::new();
        json(values, row, &mut text);
        texts.append_option(values.is_valid(row).then_some(text));
    }
    Arc::new(texts.finish())
}

/// The type with these names of fields.
fn named(data_type: &DataType, names: &[String]) -> Result<DataType> {
    match data_type {
        DataType::List(element) => {
            let inner = named(element.data_type(), names)?;
            Ok(DataType::List(Arc::new(Field::clone(element).with_data_type(inner))))
        }
        DataType::Struct(fields) if fields.len() == names.len() => {
            let fields = fields.iter().zip(names).map(|(field, name)| Field::clone(field).with_name(name));
            Ok(DataType::Struct(fields.collect::<Fields>()))
        }
        DataType::Struct(fields) => {
            plan_err!("a row of {} fields is cast to one of {}", fields.len(), names.len())
        }
        other => plan_err!("only rows, and lists of rows, are cast to a `row(…)`, and this is {other}"),
    }
}

/// The values in a type that differs in names only.
fn renamed(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::List(element) => {
            let list = values.as_list::<i32>();
            let inner = renamed(list.values(), element.data_type())?;
            Arc::new(ListArray::try_new(
                element.clone(),
                list.offsets().clone(),
                inner,
                list.nulls().cloned(),
            )?)
        }
        DataType::Struct(fields) => {
            let rows = values.as_struct();
            Arc::new(StructArray::try_new(fields.clone(), rows.columns().to_vec(), rows.nulls().cloned())?)
        }
        _ => values.clone(),
    })
}

/// Each list sorted, what is equal in the order that it had, and nulls last.
fn sorted(lists: &ListArray, field: &str, descending: bool) -> Result<ArrayRef> {
    let elements = lists.values();
    let key = match elements.data_type() {
        DataType::Struct(_) if !field.is_empty() => match elements.as_struct().column_by_name(field) {
            Some(column) => column.clone(),
            None => return exec_err!("`array_sort` compares a field `{field}`, and there is none"),
        },
        _ if field.is_empty() => elements.clone(),
        other => return exec_err!("`array_sort` compares the field `{field}` of {other}"),
    };
    let options = SortOptions { descending, nulls_first: false };
    let compare = make_comparator(&key, &key, options)?;
    let mut order = Vec::with_capacity(elements.len());
    let mut lengths = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let offsets = lists.value_offsets();
        let mut places: Vec<usize> = match lists.is_valid(row) {
            true => (offsets[row] as usize..offsets[row + 1] as usize).collect(),
            false => Vec::new(),
        };
        places.sort_by(|one, other| compare(*one, *other));
        lengths.push(places.len());
        order.extend(places.into_iter().map(|place| place as u32));
    }
    let elements = take(elements, &UInt32Array::from(order), None)?;
    let DataType::List(element) = lists.data_type() else { return exec_err!("`array_sort` sorts lists") };
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(element.clone(), offsets, elements, lists.nulls().cloned())?))
}
