//! When it was fetched: instances, pages and bytes by stretches of time.

use serde::Serialize;

use super::ask::Desk;
use super::error::Result;
use super::size::{Size, time_text};

/// Stretches at most; their length is chosen so.
const STRETCHES_MAX: u64 = 100;
/// Lengths that people know, in seconds.
const LENGTHS: [u64; 21] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
    604_800, 2_592_000,
];

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Course {
    /// How long a stretch is.
    pub stretch_seconds: u64,
    /// The stretches in order, from the first with an instance to the last, those without any too.
    pub stretches: Vec<Stretch>,
    /// Pages by the seconds from the first fetch to the last; nothing if they are the same.
    pub pages_per_second: Option<f64>,
    /// Pages by seconds in the stretch with the most.
    pub pages_per_second_most: Option<f64>,
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// When it begins.
    pub time: String,
    /// Instances that were asked for in it.
    pub instances: u64,
    /// Pages among them.
    pub pages: u64,
    /// What their records take in the archive.
    pub archive_bytes: u64,
}

/// The least length that makes few enough stretches.
fn stretch_seconds(span_seconds: u64) -> u64 {
    let fits = |length: &u64| span_seconds / length < STRETCHES_MAX;
    LENGTHS.into_iter().find(fits).unwrap_or_else(|| {
        // Whole years.
        const YEAR: u64 = 31_536_000;
        span_seconds.div_ceil(YEAR * STRETCHES_MAX).max(1) * YEAR
    })
}

/// Puts the stretches between those that are there, with nothing in them.
fn filled(found: Vec<(i64, Stretch)>, length_ms: i64) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    let mut next = found.first().map_or(0, |(time, _)| *time);
    for (time, stretch) in found {
        while next < time {
            all.push(Stretch { time: time_text(next), ..Stretch::default() });
            next += length_ms;
        }
        all.push(stretch);
        next = time + length_ms;
    }
    all
}

pub(crate) fn gather(desk: &mut Desk<'_>, size: &Size) -> Result<Course> {
    desk.begin("the course of time")?;
    let length = stretch_seconds(size.seconds as u64);
    let sql = format!(
        "select date_bin(interval '{length} seconds', fetch_time) as time, count(*) as instances, \
         count(*) filter (where fetch_status = 200) as pages, sum(warc_record_length) as archive_bytes \
         from documents group by 1 order by 1"
    );
    let found = desk.all(&sql, |row| {
        let time = row.number("time")?.unwrap_or_default();
        let stretch = Stretch {
            time: time_text(time),
            instances: row.count("instances")?,
            pages: row.count("pages")?,
            archive_bytes: row.count("archive_bytes")?,
        };
        Ok((time, stretch))
    })?;
    desk.define_query(
        &sql,
        &[
            (
                "course.stretches",
                "Instances by the time at which they were asked for, in stretches of equal length.",
            ),
            (
                "course.pages_per_second",
                "All pages by the seconds from the first fetch to the last, pauses of the crawl included.",
            ),
            ("course.pages_per_second_most", "The pages of the stretch with the most, by its length."),
        ],
    );
    let stretches = filled(found, length as i64 * 1000);
    let most = stretches.iter().map(|stretch| stretch.pages).max();
    Ok(Course {
        stretch_seconds: length,
        pages_per_second: (size.seconds > 0.0).then(|| size.pages as f64 / size.seconds),
        pages_per_second_most: most.map(|most| most as f64 / length as f64),
        stretches,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_few_and_of_lengths_that_people_know() {
        for (span, length) in [(0, 1), (99, 1), (100, 2), (3600, 60), (86_400, 900), (86_400 * 365, 604_800)]
        {
            assert_eq!(stretch_seconds(span), length, "{span}");
        }
        for span in [0, 7, 12_345, 1 << 25, 1 << 33, u64::MAX / 2] {
            assert!(span / stretch_seconds(span) <= STRETCHES_MAX, "{span}");
        }
    }

    #[test]
    fn stretches_without_anything_are_there() {
        let stretch = |time: i64| (time, Stretch { time: time_text(time), pages: 1, ..Stretch::default() });
        let filled = filled(vec![stretch(1000), stretch(4000)], 1000);
        assert_eq!(filled.iter().map(|stretch| stretch.pages).collect::<Vec<_>>(), [1, 0, 0, 1]);
        assert_eq!(filled[2].time, "1970-01-01T00:00:03Z");
    }
}
