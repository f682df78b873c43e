//! What theory says about disk traffic: the paper's and ours.

/// Bytes of a hash in the paper.
const HASH_BYTES: f64 = 8.0;
/// Bytes of a pointer in the paper.
const POINTER_BYTES: f64 = 4.0;
/// The paper's buffer per open file.
const BUFFER_BYTES: f64 = 262_144.0;

/// The stream and the machine, as the formulas see them.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Checks.
    pub checks: f64,
    /// Probability that a check is of a new key.
    pub new: f64,
    /// Bytes of a URL.
    pub url_bytes: f64,
    /// Memory.
    pub memory_bytes: f64,
    /// Disk for generations: both together.
    pub disk_bytes: f64,
    /// Part of the repeats that a cache catches.
    pub hit_rate: f64,
}

impl Setting {
    /// Theorem 2: how often each byte of URL text is read or written by DRUM as published, starting from nothing.
    pub fn alpha_paper(&self) -> f64 {
        let (r, d, b) = (self.memory_bytes, self.disk_bytes, self.url_bytes);
        let rewritten = self.new * HASH_BYTES * self.checks;
        let lambda = 8.0 * BUFFER_BYTES * d * (HASH_BYTES + POINTER_BYTES) / (HASH_BYTES + b);
        let rewriting = if r * r < lambda {
            8.0 * BUFFER_BYTES * (HASH_BYTES + POINTER_BYTES) * rewritten / (b * r * r)
        } else {
            (HASH_BYTES + b) * rewritten / (b * d)
        };
        rewriting + self.alpha_min()
    }

    /// The least possible for a method that puts hashes and URLs of every check on disk: 2 + p + 2H/b.
    pub fn alpha_min(&self) -> f64 {
        2.0 + self.new + 2.0 * HASH_BYTES / self.url_bytes
    }

    /// Ours: only the part `f` of the checks that no cache answers is written and read, 9 bytes of key and 2 of length beside
    /// the text; the store is read by every merge, and rewritten when it has grown by a quarter.
    pub fn alpha_here(&self) -> f64 {
        let missed = self.new + (1.0 - self.new) * (1.0 - self.hit_rate);
        let per_generation = (self.disk_bytes / 2.0 / (missed * (self.url_bytes + 11.0))).min(self.checks);
        let keys = self.new * self.checks;
        let key_bytes = (2.0 + 64.0 - keys.max(2.0).log2()) / 8.0;
        // On average half of all keys are there; every merge reads them, and 1 + 1/φ new keys are written per new key.
        let merges = self.checks / per_generation;
        let store = (keys / 2.0 * merges + keys * 5.0f64.min(1.0 + merges)) * key_bytes / self.checks;
        (2.0 * missed * (self.url_bytes + 11.0) + self.new * self.url_bytes + store) / self.url_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_table_comes_out() {
        // Table 2: N pages of 59 links, R = 1 GB, D = 4.39 TB, b = 110; the paper starts with U = 100 M known URLs.
        for (pages, expected) in [(800e6, 2.26), (8e9, 2.35), (80e9, 3.3), (800e9, 12.5)] {
            let setting = Setting {
                checks: pages * 59.0,
                new: 1.0 / 9.0,
                url_bytes: 110.0,
                memory_bytes: (1u64 << 30) as f64,
                disk_bytes: 4.39e12,
                hit_rate: 0.0,
            };
            let alpha = setting.alpha_paper();
            assert!((alpha / expected - 1.0).abs() < 0.02, "{alpha} for {expected}");
            assert!(Setting { hit_rate: 0.8, ..setting }.alpha_here() < alpha);
        }
    }
}
