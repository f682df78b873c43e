//! `any_match(list, pattern)`: whether an element of a list matches a regular expression. Written `match` in the Web-in-a-Box language.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, BooleanArray, cast::AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::pattern::compiled;

/// The function.
pub(crate) fn any_match() -> ScalarUDF {
    ScalarUDF::new_from_impl(AnyMatch { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AnyMatch {
    signature: Signature,
}

impl ScalarUDFImpl for AnyMatch {
    fn name(&self) -> &str {
        "any_match"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let pattern = match arguments.args.get(1) {
            Some(ColumnarValue::Scalar(
                ScalarValue::Utf8(Some(text))
                | ScalarValue::Utf8View(Some(text))
                | ScalarValue::LargeUtf8(Some(text)),
            )) => text,
            _ => return exec_err!("the second argument of any_match must be a constant regular expression"),
        };
        let regex = match compiled(pattern) {
            Ok(regex) => regex,
            Err(error) => return exec_err!("any_match: {error}"),
        };
        let Some(lists) = arguments.args.first() else {
            return exec_err!("any_match takes a list and a regular expression");
        };
        let lists = lists.to_array(arguments.number_rows)?;
        let DataType::List(element) = lists.data_type() else {
            return exec_err!("the first argument of any_match must be a list");
        };
        let values = match element.data_type() {
            DataType::Utf8 => lists.as_list::<i32>().values().clone(),
            _ => cast(lists.as_list::<i32>().values(), &DataType::Utf8)?,
        };
        let values = values.as_string::<i32>();
        let lists = lists.as_list::<i32>();
        let answer: BooleanArray = (0..lists.len())
            .map(|row| {
                let offsets = lists.value_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                lists.is_valid(row).then(|| {
                    range.into_iter().any(|at| values.is_valid(at) && regex.is_match(values.value(at)))
                })
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(answer)))
    }
}
