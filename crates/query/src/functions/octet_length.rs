//! `octet_length(value)`: the bytes of a text, or of what is none, like the column `body`; the engine's own knows texts only.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, Int64Array, cast::AsArray as _};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function.
pub(crate) fn octet_length() -> ScalarUDF {
    ScalarUDF::new_from_impl(OctetLength { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OctetLength {
    signature: Signature,
}

impl ScalarUDFImpl for OctetLength {
    fn name(&self) -> &str {
        "octet_length"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = arguments.args.first() else {
            return exec_err!("octet_length takes a text or bytes");
        };
        let values = value.to_array(arguments.number_rows)?;
        let lengths: Int64Array = match values.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                let values = cast(&values, &DataType::BinaryView)?;
                values.as_binary_view().iter().map(|bytes| bytes.map(|bytes| bytes.len() as i64)).collect()
            }
            _ => {
                let values = cast(&values, &DataType::Utf8View)?;
                values.as_string_view().iter().map(|text| text.map(|text| text.len() as i64)).collect()
            }
        };
        Ok(ColumnarValue::Array(Arc::new(lengths)))
    }
}
