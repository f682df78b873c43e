//! What became of pages that were fetched more than once.

use serde::Serialize;

use super::ask::Desk;
use super::error::Result;
use super::size::Size;
use super::spread::Spread;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Change {
    /// URLs with more than one instance.
    pub urls_again: u64,
    /// Instances of a URL that had one before.
    pub instances_again: u64,
    /// Those of them whose payload is another than that of the instance before.
    pub changed: u64,
    /// Seconds from each instance to the next one of the same URL.
    pub seconds_between: Option<Spread>,
}

/// The URLs that were fetched again are sorted by time only if there are any.
pub(crate) fn gather(desk: &mut Desk<'_>, size: &Size) -> Result<Change> {
    let changed = "select count(changed) as again, count(*) filter (where changed) as changes from documents";
    let between = "select to_unixtime(fetch_time) - to_unixtime(before) as seconds, count(*) as number from \
                   (select fetch_time, lag(fetch_time) over (partition by url_key order by fetch_time) as before from documents) \
                   where before is not null group by 1 order by 1";
    desk.define_query(
        changed,
        &[
            ("change.instances_again", "Instances of a URL that had an earlier instance."),
            ("change.changed", "Those whose payload has another digest than the instance before."),
        ],
    );
    desk.define_query(
        between,
        &[("change.seconds_between", "Seconds from each instance to the next one of the same URL.")],
    );
    let several = size.instances_per_url.iter().filter(|of| of.instances > 1);
    let mut change = Change { urls_again: several.map(|of| of.urls).sum(), ..Change::default() };
    if change.urls_again == 0 {
        return Ok(change);
    }
    desk.begin("change over time")?;
    (change.instances_again, change.changed) =
        desk.one(changed, |row| Ok((row.count("again")?, row.count("changes")?)))?;
    change.seconds_between =
        Spread::of(desk.all(between, |row| Ok((row.count("seconds")?, row.count("number")?)))?);
    Ok(change)
}
