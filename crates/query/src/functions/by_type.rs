//! `reverse` and `contains`: Athena has each under one name for texts and for lists, the engine under two.
//!
//! `reverse('abc')` turns a text around, `reverse(list)` a list; `contains('abc', 'b')` looks for a part of a text, `contains(list, value)` for an
//! element. The engine's `reverse` and `contains` know texts only, and take a list for the text that it is shown as.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, plan_err};
use datafusion::functions::{string, unicode};
use datafusion::functions_nested::array_has::array_has_udf;
use datafusion::functions_nested::reverse::array_reverse_udf;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// `reverse(text)` and `reverse(list)`.
pub(super) fn reverse() -> ScalarUDF {
    ByType::udf("reverse", 1, unicode::reverse(), array_reverse_udf())
}

/// `contains(text, part)` and `contains(list, element)`.
pub(super) fn contains() -> ScalarUDF {
    ByType::udf("contains", 2, string::contains(), array_has_udf())
}

/// A name for two functions, of which the type of the first argument decides.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ByType {
    name: &'static str,
    arguments: usize,
    signature: Signature,
    of_texts: Arc<ScalarUDF>,
    of_lists: Arc<ScalarUDF>,
}

impl ByType {
    fn udf(
        name: &'static str,
        arguments: usize,
        of_texts: Arc<ScalarUDF>,
        of_lists: Arc<ScalarUDF>,
    ) -> ScalarUDF {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::new_from_impl(ByType { name, arguments, signature, of_texts, of_lists })
    }

    fn meant(&self, first: Option<&DataType>) -> &Arc<ScalarUDF> {
        if first.is_some_and(is_list) { &self.of_lists } else { &self.of_texts }
    }
}

fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

impl ScalarUDFImpl for ByType {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if types.len() != self.arguments {
            return plan_err!(
                "`{}` takes {} argument(s), and here are {}",
                self.name,
                self.arguments,
                types.len()
            );
        }
        match types {
            [DataType::FixedSizeList(element, _), rest @ ..] => {
                let list = DataType::List(element.clone());
                self.coerce_types(&[std::slice::from_ref(&list), rest].concat())
            }
            [DataType::List(element), value] => {
                let Some(common) = comparison_coercion(element.data_type(), value) else {
                    let element = element.data_type();
                    return plan_err!("`{}` looks for {value} in a list of {element}", self.name);
                };
                let element = Field::clone(element).with_data_type(common.clone());
                Ok(vec![DataType::List(Arc::new(element)), common])
            }
            [list, ..] if is_list(list) => Ok(types.to_vec()),
            _ => Ok(vec![DataType::Utf8View; types.len()]),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.meant(types.first()).return_type(types)
    }

    /// Puts the engine's function in this one's place: its own rules then apply, as for an element that is looked for in a list of constants.
    fn simplify(&self, arguments: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let Some(first) = arguments.first() else { return Ok(ExprSimplifyResult::Original(arguments)) };
        let meant = self.meant(Some(&context.get_data_type(first)?)).clone();
        Ok(ExprSimplifyResult::Simplified(Expr::ScalarFunction(ScalarFunction::new_udf(meant, arguments))))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let first = arguments.args.first().map(ColumnarValue::data_type);
        self.meant(first.as_ref()).invoke_with_args(arguments)
    }
}
