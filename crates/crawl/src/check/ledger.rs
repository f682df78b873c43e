//! No URL twice in the ledgers, found without a map of all URLs.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_env::Env;
use mattock_repository::{LedgerReader, Row};
use mattock_weburl::WebUrl;
use xxhash_rust::xxh3::xxh3_64;

use super::report::{Finding, FindingKind, Findings};
use crate::exchange;

/// Numbers that are held at once.
const HASHES_MAX: u64 = 16 << 20;
/// URLs that are looked at more closely.
const SUSPECTS_MAX: usize = 1000;

/// A ledger up to the checkpoint.
pub(super) struct Ledger<'a> {
    pub(super) env: &'a Env,
    pub(super) path: &'a Path,
    pub(super) length: u64,
    pub(super) rows: u64,
}

impl Ledger<'_> {
    /// Looks for URLs that have more than one row. Reads the ledger once for every 16 million of them.
    pub(super) fn twice(&self, found: &mut Findings) {
        let passes = self.rows.div_ceil(HASHES_MAX).max(1);
        let mut suspects = BTreeMap::new();
        for pass in 0..passes {
            let mut hashes = Vec::new();
            self.visit(|row| {
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
        self.visit(|row| {
            if let Some(urls) = suspects.get_mut(&xxh3_64(row.url.as_bytes())) {
                if urls.iter().any(|url| url == row.url) {
                    let finding = found.finding(FindingKind::Twice, self.path, None, "a URL has two rows");
                    found.add(Finding { url: Some(row.url.to_owned()), ..finding });
                } else {
                    urls.push(row.url.to_owned());
                }
            }
        });
    }

    /// Looks for URLs that belong to other partitions, where they may have a row too.
    pub(super) fn of_others(&self, partition: usize, partitions: usize, found: &mut Findings) {
        if partitions == 1 {
            return;
        }
        self.visit(|row| {
            let ours = WebUrl::parse(row.url).is_ok_and(|url| exchange::owner(&url, partitions) == partition);
            if !ours {
                let what = format!("a URL that does not belong to partition {partition}");
                let finding = found.finding(FindingKind::Twice, self.path, None, what);
                found.add(Finding { url: Some(row.url.to_owned()), ..finding });
            }
        });
    }

    /// Visits all rows that can be read.
    fn visit(&self, mut visit: impl FnMut(&Row<'_>)) {
        let opened = LedgerReader::open_damaged(&self.env.files, self.path, self.length);
        let Ok((mut reader, _)) = opened else { return };
        // Whatever is damaged was told before.
        while !matches!(reader.next_block(&mut visit), Ok(false)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::CheckReport;
    use super::*;
    use mattock_env::UnixTime;
    use mattock_env::sim::Simulation;
    use mattock_repository::Unsynced;

    #[test]
    fn a_url_with_two_rows_is_found_and_so_is_one_of_another_partition() {
        Simulation::new(1).run(|env| async move {
            let path = Path::new("/ledger");
            let mut ledger = mattock_repository::Ledger::open(&env.files, path, 0).unwrap();
            let urls: Vec<String> = (0..5000).map(|number| format!("http://a-{number}.com/")).collect();
            let time = UnixTime::from_micros(1);
            for url in urls.iter().chain([&urls[7], &urls[4000]]) {
                let row = Row {
                    url,
                    time,
                    outcome: "404",
                    depth: 0,
                    took_ms: 0,
                    digest: None,
                    place: None,
                    truncated: false,
                };
                ledger.append(&row).unwrap();
            }
            let length = ledger.mark(&mut Unsynced::new(&env.files)).unwrap();
            let found = |look: &dyn Fn(&Ledger<'_>, &mut Findings)| {
                let mut found = Findings::new(Path::new("/"));
                look(&Ledger { env: &env, path, length, rows: 5002 }, &mut found);
                let mut report = CheckReport::default();
                report.take(found);
                report.problems.into_iter().filter_map(|finding| finding.url).collect::<Vec<_>>()
            };
            assert_eq!(found(&|ledger, found| ledger.twice(found)), [urls[7].clone(), urls[4000].clone()]);
            assert!(found(&|ledger, found| ledger.of_others(0, 1, found)).is_empty());
            let owner = |url: &String| exchange::owner(&WebUrl::parse(url).unwrap(), 2);
            let others = found(&|ledger, found| ledger.of_others(0, 2, found));
            assert!(others.len() == 1000 && others.iter().all(|url| owner(url) == 1));
        });
    }
}
