//! Checksums of a file block by block, so that a piece of it can be compared without the rest: Parquet has a checksum for nothing.
//!
//! Whoever writes a file passes all of it to a [`BlockSummer`] and keeps the [`BlockSums`] elsewhere, as text. Whoever reads a piece reads whole
//! blocks ([`BlockSums::around`]) and compares these ([`BlockSums::check`]). They tell damage, and not forgery: who can change the file can mostly
//! change what is kept of it. A block is small, so that little more is read than what is wanted.

use std::ops::Range;

/// The bytes of a block; the last one of a file has what is left.
pub const BLOCK_BYTES: u64 = 16 << 10;

/// How a text of sums begins: the way in which they are made.
const PREFIX: &str = "crc32/16384:";

/// Takes the bytes of a file, front to back.
#[derive(Clone, Debug, Default)]
pub struct BlockSummer {
    sums: Vec<u32>,
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl BlockSummer {
    /// Takes what comes next.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = BLOCK_BYTES - self.bytes % BLOCK_BYTES;
            let (first, rest) = bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
            self.hasher.update(first);
            self.bytes += first.len() as u64;
            if self.bytes.is_multiple_of(BLOCK_BYTES) {
                self.sums.push(std::mem::take(&mut self.hasher).finalize());
            }
            bytes = rest;
        }
    }

    /// The sums of all that was taken.
    pub fn finish(mut self) -> BlockSums {
        if !self.bytes.is_multiple_of(BLOCK_BYTES) {
            self.sums.push(self.hasher.finalize());
        }
        BlockSums { sums: self.sums, bytes: self.bytes }
    }
}

/// The checksums of a file's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSums {
    sums: Vec<u32>,
    bytes: u64,
}

impl BlockSums {
    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The whole blocks that a range of the file lies in; `None` if it is not within the file.
    pub fn around(&self, range: &Range<u64>) -> Option<Range<u64>> {
        if range.start > range.end || range.end > self.bytes {
            return None;
        }
        let start = range.start / BLOCK_BYTES * BLOCK_BYTES;
        Some(start..range.end.next_multiple_of(BLOCK_BYTES).min(self.bytes))
    }

    /// Compares whole blocks that were read from `start` on; where the first one begins that is not as it was written.
    pub fn check(&self, start: u64, bytes: &[u8]) -> Result<(), u64> {
        let places = (start..).step_by(BLOCK_BYTES as usize);
        for (at, block) in places.zip(bytes.chunks(BLOCK_BYTES as usize)) {
            let sum = usize::try_from(at / BLOCK_BYTES).ok().and_then(|block| self.sums.get(block));
            let is_whole = at.is_multiple_of(BLOCK_BYTES)
                && block.len() as u64 == BLOCK_BYTES.min(self.bytes.saturating_sub(at));
            if !is_whole || sum != Some(&crc32fast::hash(block)) {
                return Err(at);
            }
        }
        Ok(())
    }

    /// The sums as text: eight hexadecimal digits each.
    pub fn to_text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(PREFIX.len() + self.sums.len() * 8);
        text.push_str(PREFIX);
        for sum in &self.sums {
            write!(text, "{sum:08x}").expect("a text takes everything");
        }
        text
    }

    /// The sums in a text, of a file of so many bytes; `None` if the text is of no such file, or not one that is known here.
    pub fn parse(text: &str, bytes: u64) -> Option<BlockSums> {
        let digits = text.strip_prefix(PREFIX)?.as_bytes();
        if bytes.div_ceil(BLOCK_BYTES).checked_mul(8)? != digits.len() as u64 {
            return None;
        }
        let sum = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let sums = digits.chunks(8).map(sum).collect::<Option<Vec<u32>>>()?;
        Some(BlockSums { sums, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: u64) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn a_changed_byte_is_in_one_block() {
        for length in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, BLOCK_BYTES * 3 + 7] {
            let mut bytes = file(length);
            let mut summer = BlockSummer::default();
            bytes.chunks(1000).for_each(|piece| summer.update(piece));
            let sums = summer.finish();
            assert_eq!((sums.bytes(), sums.check(0, &bytes)), (length, Ok(())));
            assert_eq!(BlockSums::parse(&sums.to_text(), length), Some(sums.clone()));
            assert_eq!(BlockSums::parse(&sums.to_text(), length + BLOCK_BYTES), None);
            for at in (0..length).step_by(4099) {
                bytes[at as usize] ^= 0x10;
                let around = sums.around(&(at..at + 1)).unwrap();
                let block = &bytes[around.start as usize..around.end as usize];
                assert_eq!(sums.check(around.start, block), Err(around.start));
                assert_eq!(sums.check(0, &bytes), Err(around.start));
                bytes[at as usize] ^= 0x10;
            }
            assert!(
                length % BLOCK_BYTES < 2 || sums.check(0, &bytes[..bytes.len() - 1]).is_err(),
                "it is cut off"
            );
        }
    }

    #[test]
    fn blocks_are_around_what_is_wanted() {
        let mut summer = BlockSummer::default();
        summer.update(&file(BLOCK_BYTES * 2 + 10));
        let sums = summer.finish();
        assert_eq!(sums.around(&(5..6)), Some(0..BLOCK_BYTES));
        assert_eq!(sums.around(&(BLOCK_BYTES..BLOCK_BYTES * 2 + 1)), Some(BLOCK_BYTES..BLOCK_BYTES * 2 + 10));
        assert_eq!(sums.around(&(0..0)), Some(0..0));
        for beyond in [0..BLOCK_BYTES * 2 + 11, 5..u64::MAX, u64::MAX..u64::MAX] {
            assert_eq!(sums.around(&beyond), None);
        }
        assert_eq!(sums.check(7, &[0; 10]), Err(7), "no block begins there");
        assert_eq!(sums.check(BLOCK_BYTES * 3, &[0]), Err(BLOCK_BYTES * 3), "nor is there one");
    }

    #[test]
    fn texts_of_others_are_none() {
        for text in ["", "crc32/16384:", "crc32/16384:0000000g", "crc32/8192:00000000", "crc32/16384:é000000"]
        {
            assert_eq!(BlockSums::parse(text, 5), None, "{text}");
        }
        assert_eq!(BlockSums::parse("crc32/16384:", u64::MAX), None);
        assert!(BlockSums::parse("crc32/16384:", 0).is_some());
    }
}
