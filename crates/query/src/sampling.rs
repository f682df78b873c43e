//! Samples that can be drawn again.
//!
//! A document is in the sample of probability p and seed s if the hash of its instance key (16 hexadecimal digits made of URL and
//! fetch time) under s, as a fraction of 2^64, is below p. So it depends on nothing but the document itself: neither the order of the
//! files nor what was added later changes the answer, and the sample at 1 % lies within the one at 10 % of the same seed.
//! The condition needs the index only: no byte of an unsampled document is read.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, BooleanArray, cast::AsArray as _};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, col, lit,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The function's name in SQL.
pub(crate) const SAMPLED: &str = "sampled";

/// The column that it reads.
pub(crate) const INSTANCE: &str = "instance";

/// Whether the document with this instance key is in the sample.
pub fn is_sampled(instance: &str, probability: f64, seed: u64) -> bool {
    below(instance, threshold(probability), seed)
}

/// Hashes below this are in the sample; `None` if all are.
fn threshold(probability: f64) -> Option<u64> {
    // 2^64 is exact as a float, and so is every product that is below it.
    let scaled = probability * 18_446_744_073_709_551_616.0;
    (scaled < 18_446_744_073_709_551_616.0).then_some(scaled.max(0.0) as u64)
}

fn below(instance: &str, threshold: Option<u64>, seed: u64) -> bool {
    threshold.is_none_or(|threshold| xxh3_64_with_seed(instance.as_bytes(), seed) < threshold)
}

/// The condition that a document is in the sample.
pub(crate) fn sampled(probability: f64, seed: u64) -> Expr {
    udf().call(vec![lit(probability), lit(seed), col(INSTANCE)])
}

/// `sampled(probability, seed, instance)`.
pub(crate) fn udf() -> ScalarUDF {
    ScalarUDF::new_from_impl(Sampled { signature: Signature::any(3, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sampled {
    signature: Signature,
}

impl ScalarUDFImpl for Sampled {
    fn name(&self) -> &str {
        SAMPLED
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [probability, seed, instance] = arguments.args.as_slice() else {
            return plan_err!("sampled takes a probability and a seed");
        };
        let (ColumnarValue::Scalar(probability), ColumnarValue::Scalar(seed)) = (probability, seed) else {
            return exec_err!("the probability and the seed of `sampled` must be constants");
        };
        let (probability, seed) =
            (probability.cast_to(&DataType::Float64)?, seed.cast_to(&DataType::UInt64)?);
        let (ScalarValue::Float64(Some(probability)), ScalarValue::UInt64(Some(seed))) = (probability, seed)
        else {
            return exec_err!("the probability and the seed of `sampled` must be numbers");
        };
        if !(0.0..=1.0).contains(&probability) {
            return exec_err!("the probability of `sampled` must be from 0 to 1");
        }
        let threshold = threshold(probability);
        let rows = instance.to_array(arguments.number_rows)?;
        let keys = datafusion::arrow::compute::cast(&rows, &DataType::Utf8View)?;
        let keys = keys.as_string_view();
        let kept: BooleanArray =
            keys.iter().map(|key| Some(key.is_some_and(|key| below(key, threshold, seed)))).collect();
        debug_assert_eq!(kept.len(), keys.len());
        Ok(ColumnarValue::Array(Arc::new(kept)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> impl Iterator<Item = String> {
        (0..20_000u64).map(|key| format!("{:016x}", key.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    #[test]
    fn samples_have_the_size_they_should_and_lie_within_each_other() {
        for seed in [0, 1, 789, u64::MAX] {
            let share =
                |probability: f64| keys().filter(|key| is_sampled(key, probability, seed)).count() as f64;
            for probability in [0.01, 0.1, 0.5, 0.9] {
                // 20,000 draws: five standard deviations, for fixed seeds.
                let deviation = (20_000.0 * probability * (1.0f64 - probability)).sqrt();
                assert!(
                    (share(probability) - 20_000.0 * probability).abs() < 5.0 * deviation,
                    "{seed} {probability}"
                );
            }
            assert_eq!((share(0.0), share(1.0)), (0.0, 20_000.0));
            assert!(keys().all(|key| !is_sampled(&key, 0.01, seed) || is_sampled(&key, 0.1, seed)));
        }
    }

    #[test]
    fn seeds_draw_other_samples_and_the_draw_never_changes() {
        let sample = |seed| {
            keys()
                .enumerate()
                .filter(|(_, key)| is_sampled(key, 0.0005, seed))
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        };
        assert_ne!(sample(1), sample(2));
        // Whoever changes the hash changes what published seeds mean.
        assert_eq!(sample(789), [6359, 6954, 7155, 7994, 10450, 10745, 14921, 18419]);
    }
}
