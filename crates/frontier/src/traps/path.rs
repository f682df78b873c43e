//! What a path shows by itself: depth, repetition, dates. No state.
//!
//! Servers that resolve relative links badly make paths grow: `/a/a/a/`, or `/en/news/en/news/en/news/`. Honest paths say a word
//! twice now and then (`/debian/debian/`), and numbers more often (`/1/1/1/`, tiles of maps, dates), so numbers may come
//! twice as often as words.

use super::{Limits, Signal, Verdict};
use crate::Refusal;

/// The most that [`Limits::path_segments_max`] can be.
pub(super) const SEGMENTS_LIMIT: usize = 64;

pub(super) fn judge(path: &str, limits: &Limits) -> Verdict {
    if is_plain(path) && limits.path_segments_max >= 2 {
        return Verdict::Passed;
    }
    judge_segments(path, limits)
}

/// Whether there is nothing to look for: no more than two segments, none of which begins like a date. Most paths are.
fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    let dated =
        |slash: Option<usize>| slash.is_none_or(|slash| bytes.get(slash + 1).is_some_and(u8::is_ascii_digit));
    // At most two slashes are at the first and the last place.
    bytes.first() == Some(&b'/')
        && bytes.iter().filter(|byte| **byte == b'/').count() <= 2
        && !dated(Some(0))
        && !dated(path.rfind('/'))
}

fn judge_segments(path: &str, limits: &Limits) -> Verdict {
    let mut segments = [""; SEGMENTS_LIMIT];
    let mut count = 0;
    let segments_max = limits.path_segments_max.min(SEGMENTS_LIMIT);
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count == segments_max {
            return Verdict::Refused(Refusal::PathTooDeep);
        }
        segments[count] = segment;
        count += 1;
    }
    let segments = &segments[..count];
    match repetition(segments, limits) {
        Verdict::Passed if has_far_date(segments, limits) => Verdict::Demoted(Signal::FarDate),
        verdict => verdict,
    }
}

/// Looks at every pair once, by distance: a run of pairs at distance d that agree is a sequence of d segments that comes again.
fn repetition(segments: &[&str], limits: &Limits) -> Verdict {
    let mut verdict = Verdict::Passed;
    if segments.len() < 3 {
        return verdict;
    }
    let mut later = [0u8; SEGMENTS_LIMIT];
    for distance in 1..segments.len() {
        let mut run = 0;
        for (at, (one, other)) in segments.iter().zip(&segments[distance..]).enumerate() {
            if one != other {
                run = 0;
                continue;
            }
            let weight = if is_number(one) { 2 } else { 1 };
            later[at] += 1;
            run += 1;
            let in_a_row = 1 + run / distance;
            if usize::from(later[at]) >= limits.segment_count_max * weight
                || in_a_row > limits.sequence_count_max * weight
            {
                return Verdict::Refused(Refusal::PathRepeats);
            }
            if distance >= 3 && run >= distance {
                verdict = Verdict::Demoted(Signal::PathRepeats);
            }
        }
    }
    verdict
}

fn is_number(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether there is a year and a month, as `2024/05` or as `2024-05`, in a year that no honest page is of.
fn has_far_date(segments: &[&str], limits: &Limits) -> bool {
    let far = |year: Option<u16>| year.is_some_and(|year| !limits.years.contains(&year));
    let apart = segments.windows(2).any(|pair| is_month(pair[1]) && far(year(pair[0])));
    apart || segments.iter().any(|segment| far(dated(segment)))
}

/// The year of `2024-05…`, which is also how queries say it.
pub(super) fn dated(text: &str) -> Option<u16> {
    let bytes = text.as_bytes();
    if bytes.len() < 7 || bytes[4] != b'-' || !bytes[0].is_ascii_digit() {
        return None;
    }
    let month = text.get(5..7).filter(|month| is_month(month));
    month.and_then(|_| year(text.get(..4)?))
}

fn year(text: &str) -> Option<u16> {
    if text.len() == 4 && is_number(text) { text.parse().ok() } else { None }
}

fn is_month(text: &str) -> bool {
    text.len() <= 2 && is_number(text) && text.parse().is_ok_and(|month: u8| (1..=12).contains(&month))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_that_grow_are_refused_and_honest_ones_pass() {
        let limits = Limits::for_year(2026);
        let refused = Verdict::Refused(Refusal::PathRepeats);
        for (path, verdict) in [
            ("/", Verdict::Passed),
            ("//////", Verdict::Passed),
            ("/a/a/", Verdict::Passed),
            ("/debian/debian/pool", Verdict::Passed),
            ("/a/a/a", refused),
            ("/x/a/a/a/b", refused),
            ("/a/b/a/b/", Verdict::Passed),
            ("/a/b/a/b/a/b/", refused),
            ("/a/x/a/y/a/", Verdict::Passed),
            ("/a/x/a/y/a/z/a", refused),
            ("/en/a/b/en/a/b", Verdict::Demoted(Signal::PathRepeats)),
            ("/1/1/1/", Verdict::Passed),
            ("/tiles/0/0/0/0", Verdict::Passed),
            ("/0/0/0/0/0/", refused),
            ("/2011/11/11/11", Verdict::Passed),
            ("/calendar/2026/11/16", Verdict::Passed),
            ("/calendar/2099/1/2", Verdict::Demoted(Signal::FarDate)),
            ("/calendar/2099/13/2", Verdict::Passed),
            ("/day/2099-01-02", Verdict::Demoted(Signal::FarDate)),
            ("/day/2020-01-02", Verdict::Passed),
            ("/day/1650-01", Verdict::Demoted(Signal::FarDate)),
            ("/report-2099-01", Verdict::Passed),
            ("/9999/", Verdict::Passed),
        ] {
            assert_eq!(judge(path, &limits), verdict, "{path}");
        }
        let deep = |count: usize| (0..count).map(|number| format!("/s{number}")).collect::<String>();
        assert_eq!(judge(&deep(20), &limits), Verdict::Passed);
        assert_eq!(judge(&deep(21), &limits), Verdict::Refused(Refusal::PathTooDeep));
    }

    /// The rules, said plainly: how often a segment comes at all, and how often a sequence comes in a row.
    fn naive(segments: &[&str], limits: &Limits) -> bool {
        let often = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
        let too_often = segments.iter().any(|segment| often(segment) > limits.segment_count_max);
        let too_long = (1..=segments.len()).any(|length| {
            let whole = length * (limits.sequence_count_max + 1);
            segments.windows(whole).any(|window| {
                let mut parts = window.chunks(length);
                let first = parts.next();
                parts.all(|part| Some(part) == first)
            })
        });
        too_often || too_long
    }

    proptest! {
        #[test]
        fn what_is_plain_passes(path in "(/[0-9a-c-]{0,8}){1,4}") {
            let limits = Limits::for_year(2026);
            prop_assert_eq!(judge(&path, &limits), judge_segments(&path, &limits));
        }

        #[test]
        fn repetition_is_what_the_rules_say(segments in proptest::collection::vec("[a-d]", 0..14)) {
            let limits = Limits::default();
            let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
            let refused = repetition(&segments, &limits) == Verdict::Refused(Refusal::PathRepeats);
            prop_assert_eq!(refused, naive(&segments, &limits), "{:?}", segments);
        }
    }
}
