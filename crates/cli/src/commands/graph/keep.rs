//! Keeps what was computed of pages as a column of queries, in the generation that it was computed from.

use anyhow::Context;
use mattock_env::Env;
use mattock_features::Grain;
use mattock_study::{Values, keep_column_of};

use super::opened::Opened;
use crate::args::graph::GraphPlace;

/// Bytes for sorting what is kept.
const SORT_BYTES: u64 = 64 << 20;

/// Keeps a column of pages. Hosts, domains and graphs without URLs have none.
pub(super) fn column(
    env: &Env,
    place: &GraphPlace,
    opened: &Opened,
    name: &str,
    values: Values<'_>,
) -> anyhow::Result<()> {
    if opened.grain != Grain::Pages || !opened.features.has_urls() {
        return Ok(());
    }
    let kept = keep_column_of(&env.files, &opened.features, name, values, SORT_BYTES);
    kept.with_context(|| format!("cannot keep the column `{name}` (--no-keep does without)"))?;
    if !place.quiet {
        eprintln!("Kept: mattock query {} 'select name, {name}'", place.dir.display());
    }
    Ok(())
}
