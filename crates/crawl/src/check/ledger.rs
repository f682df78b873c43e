//! No URL twice in a ledger, found without a map of all URLs.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_env::Env;
use mattock_repository::{LedgerReader, Row};
use xxhash_rust::xxh3::xxh3_64;

use super::report::{FindingKind, Findings};

/// Numbers that are held at once.
const HASHES_MAX: u64 = 16 << 20;
/// URLs that are looked at more closely.
const SUSPECTS_MAX: usize = 1000;

/// Looks for URLs that have more than one of the ledger's `count` rows. Reads it once for every 16 million of them.
pub(super) fn twice(env: &Env, path: &Path, length: u64, count: u64, found: &mut Findings) {
    let passes = count.div_ceil(HASHES_MAX).max(1);
    let mut suspects = BTreeMap::new();
    for pass in 0..passes {
        let mut hashes = Vec::new();
        rows(env, path, length, |row| {
            let hash = xxh3_64(row.url.as_bytes());
            if hash % passes == pass {
                hashes.push(hash);
            }
        });
        hashes.sort_unstable();
        let equal = hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        suspects.extend(equal.take(SUSPECTS_MAX).map(|hash| (hash, Vec::<String>::new())));
    }
    if suspects.is_empty() {
        return;
    }
    // Different URLs may have the same number.
    rows(env, path, length, |row| {
        if let Some(urls) = suspects.get_mut(&xxh3_64(row.url.as_bytes())) {
            if urls.iter().any(|url| url == row.url) {
                let finding = found.finding(FindingKind::Twice, path, None, "a URL has two rows");
                found.add(super::Finding { url: Some(row.url.to_owned()), ..finding });
            } else {
                urls.push(row.url.to_owned());
            }
        }
    });
}

/// Visits all rows that can be read.
fn rows(env: &Env, path: &Path, length: u64, mut visit: impl FnMut(&Row<'_>)) {
    let Ok((mut reader, _)) = LedgerReader::open_damaged(&env.files, path, length) else { return };
    // Whatever is damaged was told before.
    while !matches!(reader.next_block(&mut visit), Ok(false)) {}
}
