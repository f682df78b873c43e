//! Ranges that lie near each other become one request.

use std::ops::Range;

/// A gap of so much costs less than a request.
const GAP_BYTES_MAX: u64 = 256 << 10;
/// No request is made longer than this by others.
const JOINED_BYTES_MAX: u64 = 16 << 20;

/// What to ask for, in order; each of `ranges` that is not empty lies within one of them.
pub(super) fn joined(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last)
                if range.end <= last.end
                    || range.start <= last.end.saturating_add(GAP_BYTES_MAX)
                        && range.end - last.start <= JOINED_BYTES_MAX =>
            {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The bytes of each range out of what came for all.
pub(super) fn parts(ranges: &[Range<u64>], joined: &[Range<u64>], came: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if ranges == joined {
        return came;
    }
    ranges.iter().map(|range| part(range, joined, &came).to_vec()).collect()
}

fn part<'a>(range: &Range<u64>, joined: &[Range<u64>], came: &'a [Vec<u8>]) -> &'a [u8] {
    let holds = |whole: &Range<u64>| whole.start <= range.start && range.end <= whole.end;
    let found = joined.iter().position(holds).filter(|_| !range.is_empty());
    found
        .and_then(|at| {
            let from = usize::try_from(range.start - joined[at].start).ok()?;
            let length = usize::try_from(range.end - range.start).ok()?;
            came.get(at)?.get(from..from + length)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_ones_are_joined() {
        assert_eq!(joined(&[5..10, 0..5, 20..20]), [Range { start: 0, end: 10 }]);
        let far = GAP_BYTES_MAX + 11;
        assert_eq!(joined(&[far..far + 1, 0..10]), [0..10, far..far + 1]);
        assert_eq!(joined(&[0..JOINED_BYTES_MAX, JOINED_BYTES_MAX..JOINED_BYTES_MAX + 1]).len(), 2);
    }

    proptest! {
        #[test]
        fn every_range_comes_out_as_it_is(ranges in proptest::collection::vec((0u64..5_000_000, 0u64..3_000_000), 0..12)) {
            let content: Vec<u8> = (0..8_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let ranges: Vec<_> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
            let asked = joined(&ranges);
            let came = asked.iter().map(|range| content[range.start as usize..range.end as usize].to_vec()).collect();
            let parts = parts(&ranges, &asked, came);
            prop_assert_eq!(parts.len(), ranges.len());
            for (range, part) in ranges.iter().zip(parts) {
                prop_assert!(part == content[range.start as usize..range.end as usize]);
            }
        }
    }
}
