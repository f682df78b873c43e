//! `length(text)`, also `char_length` and `character_length`: the engine's own, but for columns of the index. There the same text often
//! stands in many rows one after the other (names of hosts do, since rows are in the order of URLs), all views of one place in memory:
//! its letters are counted once.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, Int32Array, StringViewArray, cast::AsArray as _};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};

/// The function.
pub(crate) fn length() -> ScalarUDF {
    ScalarUDF::new_from_impl(Length { engines: datafusion::functions::unicode::character_length() })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Length {
    engines: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for Length {
    fn name(&self) -> &str {
        self.engines.name()
    }

    fn aliases(&self) -> &[String] {
        self.engines.aliases()
    }

    fn signature(&self) -> &Signature {
        self.engines.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.engines.return_type(arguments)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if let [ColumnarValue::Array(texts)] = arguments.args.as_slice()
            && let Some(texts) = texts.as_string_view_opt()
        {
            return Ok(ColumnarValue::Array(Arc::new(lengths(texts))));
        }
        self.engines.invoke_with_args(arguments)
    }
}

fn lengths(texts: &StringViewArray) -> Int32Array {
    // The empty text is the view of zeros.
    let mut last = (0, 0);
    let letters = texts.views().iter().enumerate().map(|(row, view)| {
        // What the view of a null is, nobody knows.
        if texts.is_null(row) {
            return 0;
        }
        if *view != last.0 {
            last = (*view, texts.value(row).chars().count() as i32);
        }
        last.1
    });
    Int32Array::new(letters.collect(), texts.nulls().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_and_not_bytes() {
        let texts = [
            Some("a text that is too long to stand in its view"),
            Some("a text that is too long to stand in its view"),
            None,
            Some(""),
            Some("äöü"),
            Some("äöü"),
            Some("a text of the same length in bytes, nearly: ß"),
        ];
        let array = StringViewArray::from_iter(texts);
        let expected: Int32Array =
            texts.iter().map(|text| text.map(|text| text.chars().count() as i32)).collect();
        assert_eq!(lengths(&array), expected);
        assert_eq!(lengths(&array.slice(2, 3)), expected.slice(2, 3));
        assert_eq!(lengths(&array.slice(0, 0)).len(), 0);
    }

    #[test]
    fn rows_that_share_a_view_share_its_length() {
        let values = StringViewArray::from_iter_values(["one that is not short at all", "and another, é"]);
        let views = [0, 0, 1, 1, 1, 0].map(|value| values.views()[value]);
        let of_rows = |nulls: Option<Vec<bool>>| {
            let buffers = values.data_buffers().to_vec();
            StringViewArray::new(views.to_vec().into(), buffers, nulls.map(Into::into))
        };
        assert_eq!(lengths(&of_rows(None)).values(), &[28, 28, 14, 14, 14, 28]);
        let some = lengths(&of_rows(Some(vec![true, false, false, true, true, true])));
        assert_eq!(some, Int32Array::from(vec![Some(28), None, None, Some(14), Some(14), Some(28)]));
    }
}
