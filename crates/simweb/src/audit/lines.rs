//! A file as lines, one at a time, in memory of one block (or of its longest line).

use std::io;

use mattock_env::File;

const BLOCK_BYTES: usize = 1 << 20;

/// A reader of lines that knows where each of them starts.
pub(super) struct Lines<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// The part of `buffer` that is read from the file but not yet handed out.
    start: usize,
    end: usize,
    /// Where `buffer[start]` is in the file.
    offset: u64,
    number: u64,
}

/// One line.
pub(super) struct RawLine<'a> {
    /// Where it starts in the file.
    pub(super) offset: u64,
    /// Counted from 1.
    pub(super) number: u64,
    /// Without the end-of-line byte.
    pub(super) bytes: &'a [u8],
    /// Whether that byte was there; only the last line can lack it.
    pub(super) whole: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(file: &'a File) -> Lines<'a> {
        Lines::at(file, 0, BLOCK_BYTES)
    }

    /// Starts at a place in the file, with a first block of the given size.
    pub(super) fn at(file: &'a File, offset: u64, block: usize) -> Lines<'a> {
        Lines { file, buffer: vec![0; block], start: 0, end: 0, offset, number: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        let mut searched = self.start;
        let (len, whole) = loop {
            let found = self.buffer[searched..self.end].iter().position(|&byte| byte == b'\n');
            if let Some(at) = found {
                break (searched - self.start + at, true);
            }
            searched = self.end - self.start;
            if self.fill()? == 0 {
                if self.start == self.end {
                    return Ok(None);
                }
                break (self.end - self.start, false);
            }
        };
        let (from, offset) = (self.start, self.offset);
        let taken = len + usize::from(whole);
        self.start += taken;
        self.offset += taken as u64;
        self.number += 1;
        Ok(Some(RawLine { offset, number: self.number, bytes: &self.buffer[from..from + len], whole }))
    }

    /// Moves what is left to the front and reads behind it.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        let place = self.offset + self.end as u64;
        let count = self.file.read_at(&mut self.buffer[self.end..], place)?;
        self.end += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use mattock_env::{Files, OpenMode, Random, SimFiles};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(text in "[ab\n]{0,60}", block in 1usize..20) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
            let file = files.open(Path::new("/log"), OpenMode::CreateNew).unwrap();
            file.write_all_at(text.as_bytes(), 0).unwrap();
            let mut lines = Lines::at(&file, 0, block);
            let mut rebuilt = String::new();
            let mut count = 0;
            while let Some(line) = lines.next().unwrap() {
                count += 1;
                prop_assert_eq!((line.offset, line.number), (rebuilt.len() as u64, count));
                let bytes = std::str::from_utf8(line.bytes).unwrap();
                prop_assert!(!bytes.contains('\n'));
                rebuilt.push_str(bytes);
                if line.whole {
                    rebuilt.push('\n');
                }
            }
            prop_assert_eq!(rebuilt, text);
        }
    }
}
