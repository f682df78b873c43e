//! Kendall's τ between two rankings: how many pairs stand in the same order in both.
//!
//! `τ_b = (C − D) / √((P − T₁)(P − T₂))`, with `C` pairs in the same order, `D` in the opposite one, `P` all pairs, and `T` pairs that are
//! tied in one of them. 1 is the same order, −1 the opposite one, 0 none. Knight's algorithm: sort by one, and count the exchanges
//! that sorting by the other takes; `n log n`.

/// Compares two scores of the same things; `None` if one of them ties everything, or something is not a number.
pub fn kendall_tau(one: &[f64], two: &[f64]) -> Option<f64> {
    assert_eq!(one.len(), two.len(), "both score the same things");
    if one.iter().chain(two).any(|value| value.is_nan()) {
        return None;
    }
    // Adding 0 makes one zero of both.
    let mut pairs: Vec<(f64, f64)> = one.iter().zip(two).map(|(one, two)| (one + 0.0, two + 0.0)).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let all = pairs_of(pairs.len());
    let tied_one = ties(&pairs, |a, b| a.0 == b.0);
    let tied_both = ties(&pairs, |a, b| a == b);
    let mut values: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let discordant = count_exchanges(&mut values);
    let tied_two = ties(&values, |a, b| a == b);
    let concordant_less_discordant = all - tied_one - tied_two + tied_both - 2.0 * discordant;
    let scale = ((all - tied_one) * (all - tied_two)).sqrt();
    (scale > 0.0).then(|| concordant_less_discordant / scale)
}

fn pairs_of(count: usize) -> f64 {
    count as f64 * (count as f64 - 1.0) / 2.0
}

fn ties<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> f64 {
    sorted.chunk_by(equal).map(|group| pairs_of(group.len())).sum()
}

/// Sorts by merging; how many pairs stood in the wrong order.
fn count_exchanges(values: &mut [f64]) -> f64 {
    let mut merged = values.to_vec();
    let mut exchanges = 0.0;
    let mut width = 1;
    while width < values.len() {
        for (part, merged) in values.chunks(width * 2).zip(merged.chunks_mut(width * 2)) {
            let (left, right) = part.split_at(width.min(part.len()));
            let (mut at_left, mut at_right) = (0, 0);
            for place in merged {
                let take_left =
                    at_right >= right.len() || at_left < left.len() && left[at_left] <= right[at_right];
                if take_left {
                    *place = left[at_left];
                    at_left += 1;
                } else {
                    *place = right[at_right];
                    at_right += 1;
                    exchanges += (left.len() - at_left) as f64;
                }
            }
        }
        values.copy_from_slice(&merged);
        width *= 2;
    }
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(one: &[f64], two: &[f64]) -> Option<f64> {
        let (mut sum, mut untied_one, mut untied_two) = (0.0, 0.0, 0.0);
        for a in 0..one.len() {
            for b in 0..a {
                let sign = |values: &[f64]| (values[a] - values[b]).partial_cmp(&0.0).unwrap() as i8 as f64;
                sum += sign(one) * sign(two);
                untied_one += sign(one).abs();
                untied_two += sign(two).abs();
            }
        }
        let scale: f64 = (untied_one * untied_two).sqrt();
        (scale > 0.0).then(|| sum / scale)
    }

    proptest! {
        #[test]
        fn it_equals_counting_all_pairs(values in proptest::collection::vec((-3_i8..4, -3_i8..4), 0..60)) {
            let one: Vec<f64> = values.iter().map(|pair| f64::from(pair.0)).collect();
            let two: Vec<f64> = values.iter().map(|pair| f64::from(pair.1)).collect();
            match (kendall_tau(&one, &two), naive(&one, &two)) {
                (Some(found), Some(expected)) => prop_assert!((found - expected).abs() < 1e-12),
                (found, expected) => prop_assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn ends_and_odd_values() {
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[4.0, 5.0, 9.0]), Some(1.0));
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[9.0, 5.0, 4.0]), Some(-1.0));
        assert_eq!(kendall_tau(&[0.0, -0.0], &[1.0, 2.0]), None);
        assert_eq!(kendall_tau(&[f64::NAN, 1.0], &[1.0, 2.0]), None);
    }
}
