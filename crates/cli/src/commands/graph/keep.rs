//! Keeps what was computed of pages as a column of queries, in the generation that it was computed from.

use anyhow::Context;
use mattock_env::Env;
use mattock_features::Grain;
use mattock_study::{Values, keep_column_of};

use super::opened::Opened;
use crate::args::graph::GraphPlace;
use crate::repository;

/// Bytes for sorting what is kept.
const SORT_BYTES: u64 = 64 << 20;

/// Whether nodes can have columns: hosts, domains and graphs without URLs have none.
pub(super) fn has_columns(opened: &Opened) -> bool {
    opened.grain == Grain::Pages && opened.features.has_urls()
}

/// Keeps a column of pages, if nodes are pages.
pub(super) fn column(
    env: &Env,
    place: &GraphPlace,
    opened: &Opened,
    name: &str,
    values: Values<'_>,
) -> anyhow::Result<()> {
    if !has_columns(opened) {
        return Ok(());
    }
    let kept = keep_column_of(&env.files, &opened.features, name, values, SORT_BYTES);
    kept.with_context(|| format!("cannot keep the column `{name}` (--no-keep does without)"))?;
    if !place.quiet {
        say!("{}", repository::kept(env, &place.dir, name));
    }
    Ok(())
}
