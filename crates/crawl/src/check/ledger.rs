//! No URL twice in the ledgers, found without a map of all URLs; and as many rows of every partition as its accounts say.
//!
//! A crawl that was divided otherwise has ledgers of several divisions, and a URL must have one row in all of them together. Then all are
//! read as one; else each for itself, as a URL belongs to one of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

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
pub(super) struct Ledger {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    pub(super) rows: u64,
    /// Whether some of its rows cannot be read.
    pub(super) damaged: bool,
}

/// All ledgers of a crawl.
pub(super) struct Ledgers<'a> {
    env: &'a Env,
    ledgers: Vec<Ledger>,
    /// Whose rows may be missing: those of one partition, or of any.
    damaged: Vec<Option<usize>>,
    /// Whether the crawl was divided before: what is missing of one partition may be another's now.
    divided: bool,
    /// Whether they are all of the partitions that there are.
    same: bool,
    /// Rows of the URLs of each partition that there is.
    rows: Vec<u64>,
}

impl<'a> Ledgers<'a> {
    /// Of a crawl that has so many partitions, and may have been divided before.
    pub(super) fn new(env: &'a Env, partitions: usize, divided: bool) -> Ledgers<'a> {
        let rows = vec![0; partitions];
        Ledgers { env, ledgers: Vec::new(), damaged: Vec::new(), divided, same: true, rows }
    }

    /// Adds the ledger of a partition, from when there were so many; looks for URLs that belong to others, where they may have a row too.
    pub(super) fn add(&mut self, ledger: Ledger, partition: usize, partitions: usize, found: &mut Findings) {
        let now = self.rows.len();
        self.same &= partitions == now;
        if ledger.damaged {
            self.damaged.push((partitions == now && !self.divided).then_some(partition));
        }
        if partitions == 1 && now == 1 {
            self.rows[0] += ledger.rows;
        } else {
            ledger.visit(self.env, |row| {
                let url = WebUrl::parse(row.url);
                if let Ok(url) = &url {
                    self.rows[exchange::owner(url, now)] += 1;
                }
                if !url.is_ok_and(|url| exchange::owner(&url, partitions) == partition) {
                    let what = format!("a URL that does not belong to partition {partition}");
                    let finding = found.finding(FindingKind::Twice, &ledger.path, None, what);
                    found.add(Finding { url: Some(row.url.to_owned()), ..finding });
                }
            });
        }
        self.ledgers.push(ledger);
    }

    /// Whether there are as many rows as URLs of each partition were fetched or failed.
    pub(super) fn compare(&self, settled: &[u64], found: &mut Findings) {
        for (partition, (rows, settled)) in self.rows.iter().zip(settled).enumerate() {
            let excused = self.damaged.iter().any(|whose| whose.is_none_or(|whose| whose == partition));
            if let Some(newest) = self.ledgers.last().filter(|_| rows != settled && !excused) {
                let path = newest.path.with_file_name(partition.to_string());
                let what = format!("{rows} rows, and {settled} URLs were fetched or failed");
                found.problem(FindingKind::Accounts, &path, None, what);
            }
        }
    }

    /// Looks for URLs that have more than one row.
    pub(super) fn twice(&self, found: &mut Findings) {
        if !self.same || self.ledgers.len() > self.rows.len() {
            return twice(self.env, &self.ledgers, found);
        }
        self.ledgers.iter().for_each(|ledger| twice(self.env, std::slice::from_ref(ledger), found));
    }
}

/// Looks for URLs that have more than one row in some ledgers. Reads them once for every 16 million rows.
fn twice(env: &Env, ledgers: &[Ledger], found: &mut Findings) {
    let passes = ledgers.iter().map(|ledger| ledger.rows).sum::<u64>().div_ceil(HASHES_MAX).max(1);
    let mut suspects = BTreeMap::new();
    for pass in 0..passes {
        let mut hashes = Vec::new();
        for ledger in ledgers {
            ledger.visit(env, |row| {
                let hash = xxh3_64(row.url.as_bytes());
                if hash % passes == pass {
                    hashes.push(hash);
                }
            });
        }
        hashes.sort_unstable();
        let equal = hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        suspects.extend(equal.take(SUSPECTS_MAX).map(|hash| (hash, Vec::<String>::new())));
    }
    if suspects.is_empty() {
        return;
    }
    // Different URLs may have the same number.
    for ledger in ledgers {
        ledger.visit(env, |row| {
            if let Some(urls) = suspects.get_mut(&xxh3_64(row.url.as_bytes())) {
                if urls.iter().any(|url| url == row.url) {
                    let finding = found.finding(FindingKind::Twice, &ledger.path, None, "a URL has two rows");
                    found.add(Finding { url: Some(row.url.to_owned()), ..finding });
                } else {
                    urls.push(row.url.to_owned());
                }
            }
        });
    }
}

impl Ledger {
    /// Visits all rows that can be read.
    fn visit(&self, env: &Env, mut visit: impl FnMut(&Row<'_>)) {
        let opened = LedgerReader::open_damaged(&env.files, &self.path, self.length);
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
    use std::path::Path;

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
                    details: None,
                };
                ledger.append(&row).unwrap();
            }
            let length = ledger.mark(&mut Unsynced::new(&env.files), env.clock.unix()).unwrap();
            let ledger = || Ledger { path: path.to_path_buf(), length, rows: 5002, damaged: false };
            let found = |look: &dyn Fn(&mut Findings)| {
                let mut found = Findings::new(Path::new("/"));
                look(&mut found);
                let mut report = CheckReport::default();
                report.take(found);
                report.problems.into_iter().filter_map(|finding| finding.url).collect::<Vec<_>>()
            };
            let twice = found(&|found| super::twice(&env, &[ledger()], found));
            assert_eq!(twice, [urls[7].clone(), urls[4000].clone()]);
            let others = |partitions: usize| {
                found(&|found| Ledgers::new(&env, partitions, false).add(ledger(), 0, partitions, found))
            };
            assert!(others(1).is_empty());
            let owner = |url: &String| exchange::owner(&WebUrl::parse(url).unwrap(), 2);
            assert!(others(2).len() == 1000 && others(2).iter().all(|url| owner(url) == 1));
            // The same rows in the ledger of another division.
            let mut all = Ledgers::new(&env, 1, true);
            let again = found(&|found| {
                let mut all = Ledgers::new(&env, 1, true);
                all.add(ledger(), 0, 1, found);
                all.add(ledger(), 0, 1, found);
                all.twice(found);
            });
            assert_eq!(again.len(), 1000, "as many as are told");
            let mut none = Findings::new(Path::new("/"));
            all.add(ledger(), 0, 1, &mut none);
            all.compare(&[5002], &mut none);
            let mut report = CheckReport::default();
            report.take(none);
            assert!(report.problems.is_empty());
        });
    }
}
