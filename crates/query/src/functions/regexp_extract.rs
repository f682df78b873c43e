//! `regexp_extract(text, pattern[, group])`: the first place that matches, or a group of it; null if nothing does. `regexp_extract_all` gives all
//! places as a list, which is empty if nothing matches.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ListBuilder, StringViewBuilder, cast::AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};

use super::around::Around;

/// The function for the first place.
pub(super) fn regexp_extract() -> ScalarUDF {
    udf("regexp_extract", false)
}

/// The function for all places.
pub(super) fn regexp_extract_all() -> ScalarUDF {
    udf("regexp_extract_all", true)
}

fn udf(name: &'static str, all: bool) -> ScalarUDF {
    let counts = TypeSignature::OneOf(vec![TypeSignature::Any(2), TypeSignature::Any(3)]);
    let signature = Signature::new(counts, Volatility::Immutable);
    ScalarUDF::new_from_impl(RegexpExtract { name, all, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RegexpExtract {
    name: &'static str,
    all: bool,
    signature: Signature,
}

impl ScalarUDFImpl for RegexpExtract {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.all { DataType::new_list(DataType::Utf8View, true) } else { DataType::Utf8View })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (pattern, group) = constants(self.name, &arguments.args)?;
        let texts = cast(&arguments.args[0].to_array(arguments.number_rows)?, &DataType::Utf8View)?;
        let texts = texts.as_string_view();
        if self.all {
            let mut found = ListBuilder::with_capacity(StringViewBuilder::new(), texts.len());
            for text in texts {
                found.append_option(text.map(|text| pattern.find_all(text, group)));
            }
            return Ok(ColumnarValue::Array(Arc::new(found.finish())));
        }
        let mut found = StringViewBuilder::with_capacity(texts.len());
        for text in texts {
            found.append_option(text.and_then(|text| pattern.find(text, group)));
        }
        Ok(ColumnarValue::Array(Arc::new(found.finish())))
    }
}

/// The pattern, and the number of the group in it.
fn constants(name: &str, arguments: &[ColumnarValue]) -> Result<(Around, usize)> {
    let Some(ColumnarValue::Scalar(
        ScalarValue::Utf8(Some(pattern))
        | ScalarValue::Utf8View(Some(pattern))
        | ScalarValue::LargeUtf8(Some(pattern)),
    )) = arguments.get(1)
    else {
        return exec_err!("the second argument of {name} must be a constant regular expression");
    };
    let around = match Around::new(pattern) {
        Ok(around) => around,
        Err(error) => return exec_err!("{name}: {error}"),
    };
    let group = match arguments.get(2) {
        None => Some(0),
        Some(ColumnarValue::Scalar(ScalarValue::Int64(Some(group)))) => usize::try_from(*group).ok(),
        Some(_) => None,
    };
    match group {
        Some(group) if group < around.groups() => Ok((around, group)),
        _ => exec_err!("the third argument of {name} must be the number of a group of {pattern}"),
    }
}
