//! `regexp_extract(text, pattern[, group])`: the first place that matches, or a group of it; null if nothing does.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, StringViewBuilder, cast::AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use regex::Regex;

use super::pattern::compiled;

/// The function.
pub(crate) fn regexp_extract() -> ScalarUDF {
    let counts = TypeSignature::OneOf(vec![TypeSignature::Any(2), TypeSignature::Any(3)]);
    ScalarUDF::new_from_impl(RegexpExtract { signature: Signature::new(counts, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RegexpExtract {
    signature: Signature,
}

impl ScalarUDFImpl for RegexpExtract {
    fn name(&self) -> &str {
        "regexp_extract"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (regex, group) = constants(&arguments.args)?;
        let texts = cast(&arguments.args[0].to_array(arguments.number_rows)?, &DataType::Utf8View)?;
        let texts = texts.as_string_view();
        let mut found = StringViewBuilder::with_capacity(texts.len());
        for text in texts {
            // Captures cost more than a place alone.
            let place = text.and_then(|text| match group {
                0 => regex.find(text),
                group => regex.captures(text).and_then(|captures| captures.get(group)),
            });
            found.append_option(place.map(|place| place.as_str()));
        }
        Ok(ColumnarValue::Array(Arc::new(found.finish())))
    }
}

/// The pattern, and the number of the group in it.
fn constants(arguments: &[ColumnarValue]) -> Result<(Regex, usize)> {
    let Some(ColumnarValue::Scalar(
        ScalarValue::Utf8(Some(pattern))
        | ScalarValue::Utf8View(Some(pattern))
        | ScalarValue::LargeUtf8(Some(pattern)),
    )) = arguments.get(1)
    else {
        return exec_err!("the second argument of regexp_extract must be a constant regular expression");
    };
    let regex = match compiled(pattern) {
        Ok(regex) => regex,
        Err(error) => return exec_err!("regexp_extract: {error}"),
    };
    let group = match arguments.get(2) {
        None => Some(0),
        Some(ColumnarValue::Scalar(ScalarValue::Int64(Some(group)))) => usize::try_from(*group).ok(),
        Some(_) => None,
    };
    match group {
        Some(group) if group < regex.captures_len() => Ok((regex, group)),
        _ => exec_err!("the third argument of regexp_extract must be the number of a group of {pattern}"),
    }
}
