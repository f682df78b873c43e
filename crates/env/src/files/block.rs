//! Memory that the disk can be asked to fill or store without a copy: its address is a multiple of a page.

/// What direct reads and writes must be a multiple of: in memory, in the file, and in length.
pub const PAGE_BYTES: usize = 4096;

/// A fixed number of bytes, a multiple of [`PAGE_BYTES`], at an address that is one too. Fresh ones are zero, and cost
/// no memory before they are touched.
pub struct Block {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Block {
    /// At least `len` bytes, rounded up to whole pages.
    pub fn new(len: usize) -> Block {
        let len = len.next_multiple_of(PAGE_BYTES);
        let memory = vec![0; len + PAGE_BYTES];
        let start = memory.as_ptr().align_offset(PAGE_BYTES);
        // `align_offset` may give up (it never does for bytes outside of const evaluation): then it is not aligned.
        let start = if start > PAGE_BYTES { 0 } else { start };
        Block { memory, start, len }
    }
}

impl std::ops::Deref for Block {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl std::ops::DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Block").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_pages_on_whole_pages() {
        for len in [0, 1, 4096, 5000, 1 << 20] {
            let block = Block::new(len);
            assert_eq!(block.as_ptr().align_offset(PAGE_BYTES), 0);
            assert_eq!(block.len() % PAGE_BYTES, 0);
            assert!(block.len() >= len && block.len() < len + PAGE_BYTES);
        }
    }
}
