//! The bytes of one simulated file: what a reader sees, and how to get back to what the disk holds.
//!
//! [`SimFile`](super::SimFile) fills it; [`Content::crash`] takes from it what the power cut takes. There is one buffer, the
//! visible one, and a log of every change since the last sync with what it replaced: the durable content is not stored
//! but found by undoing the log.
//!
//! Costs: reading is a copy, an append stores its bytes once and 80 bytes in the log, an overwrite keeps the bytes it
//! replaced until the next sync, a sync drops the log. Only a crash pays, in proportion to what was pending.

use crate::Random;

/// What a disk writes in one piece: nothing smaller is ever torn.
const SECTOR_BYTES: usize = 512;

/// A file's bytes. The invariant: undoing all of `log`, newest first, gives what was durable at its start.
#[derive(Default)]
pub(super) struct Content {
    visible: Vec<u8>,
    log: Vec<Change>,
}

struct Change {
    state: State,
    /// Length of the file before this change.
    len_before: usize,
    what: What,
}

/// What a crash does with a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It may survive; the next sync makes it durable.
    Pending,
    /// It survives, and is still in the log only because something lost lies before it.
    Durable,
    /// A failed sync dropped it: it can be read until the crash, and no later sync saves it.
    Lost,
}

enum What {
    Write {
        offset: usize,
        len: usize,
        /// The bytes from `offset` on that it replaced.
        replaced: Vec<u8>,
    },
    SetLen {
        len: usize,
        /// The bytes from `len` on that it cut off.
        cut: Vec<u8>,
    },
}

/// What came of one change when the power went.
enum Fate {
    Whole,
    Gone,
    /// A write whose new file length arrived, but not its data.
    LengthOnly,
    /// A write of which only some sectors arrived.
    Torn {
        sectors: Vec<bool>,
        length: bool,
    },
}

/// How likely changes survive one crash. The extremes are drawn on purpose: with many changes in the log independent
/// coins would practically never lose all of them or none.
struct Mercy {
    survive: f64,
    tear: f64,
}

impl Mercy {
    fn draw(random: &mut Random) -> Mercy {
        match random.below(4) {
            0 => Mercy { survive: 0.0, tear: 0.0 },
            1 => Mercy { survive: 1.0, tear: 0.0 },
            2 => Mercy { survive: 1.0, tear: random.unit() },
            _ => Mercy { survive: random.unit(), tear: 0.5 },
        }
    }
}

impl Content {
    pub(super) fn len(&self) -> usize {
        self.visible.len()
    }

    pub(super) fn visible(&self) -> &[u8] {
        &self.visible
    }

    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.visible.len());
        let count = buffer.len().min(self.visible.len() - start);
        buffer[..count].copy_from_slice(&self.visible[start..start + count]);
        count
    }

    pub(super) fn write(&mut self, data: &[u8], offset: usize) {
        let len_before = self.visible.len();
        let replaced_end = (offset + data.len()).min(len_before);
        let replaced = self.visible[offset.min(replaced_end)..replaced_end].to_vec();
        self.put(data, offset);
        let what = What::Write { offset, len: data.len(), replaced };
        self.log.push(Change { state: State::Pending, len_before, what });
    }

    pub(super) fn set_len(&mut self, len: usize) {
        let len_before = self.visible.len();
        if len == len_before {
            return;
        }
        let cut = self.visible[len.min(len_before)..].to_vec();
        self.visible.resize(len, 0);
        self.log.push(Change { state: State::Pending, len_before, what: What::SetLen { len, cut } });
    }

    /// Changes the byte where it lies, as a failing medium does: no write, nothing pending.
    pub(super) fn corrupt(&mut self, offset: usize, flipped: u8) {
        self.visible[offset] ^= flipped;
    }

    pub(super) fn sync(&mut self) {
        let first_lost = self.log.iter().position(|change| change.state == State::Lost);
        self.log.drain(..first_lost.unwrap_or(self.log.len()));
        for change in &mut self.log {
            if change.state == State::Pending {
                change.state = State::Durable;
            }
        }
    }

    /// The disk refused: some changes reached it, some are tried again by the next sync, and the rest the kernel has
    /// marked clean, so that no later sync will write them.
    pub(super) fn fail_sync(&mut self, random: &mut Random) {
        for change in self.log.iter_mut().filter(|change| change.state == State::Pending) {
            change.state = match random.below(4) {
                0 => State::Durable,
                1 => State::Pending,
                _ => State::Lost,
            };
        }
    }

    /// Leaves what is on the disk after a power cut; all of that is durable.
    pub(super) fn crash(&mut self, random: &mut Random) {
        if self.log.is_empty() {
            return;
        }
        let mercy = Mercy::draw(random);
        let log = std::mem::take(&mut self.log);
        let fates: Vec<Fate> = log.iter().map(|change| change.fate(&mercy, random)).collect();
        let mut survivors = Vec::new();
        for (change, fate) in log.into_iter().zip(fates).rev() {
            let data = match (&change.what, &fate) {
                (What::Write { offset, len, .. }, Fate::Whole | Fate::Torn { .. }) => {
                    self.visible[*offset..offset + len].to_vec()
                }
                _ => Vec::new(),
            };
            undo(&mut self.visible, &change);
            survivors.push((data, change, fate));
        }
        for (data, change, fate) in survivors.into_iter().rev() {
            self.redo(&data, &change.what, fate);
        }
    }

    fn redo(&mut self, data: &[u8], what: &What, fate: Fate) {
        match (what, fate) {
            (_, Fate::Gone) => {}
            (What::SetLen { len, .. }, _) => self.visible.resize(*len, 0),
            (What::Write { offset, .. }, Fate::Whole) => self.put(data, *offset),
            (What::Write { offset, len, .. }, Fate::LengthOnly) => self.extend_to(offset + len),
            (What::Write { offset, len, .. }, Fate::Torn { sectors, length }) => {
                for ((start, end), _) in self::sectors(*offset, *len).zip(sectors).filter(|(_, kept)| *kept) {
                    self.put(&data[start - offset..end - offset], start);
                }
                if length {
                    self.extend_to(offset + len);
                }
            }
        }
    }

    fn put(&mut self, data: &[u8], offset: usize) {
        self.extend_to(offset);
        let inside = data.len().min(self.visible.len() - offset);
        self.visible[offset..offset + inside].copy_from_slice(&data[..inside]);
        self.visible.extend_from_slice(&data[inside..]);
    }

    fn extend_to(&mut self, len: usize) {
        if self.visible.len() < len {
            self.visible.resize(len, 0);
        }
    }
}

fn undo(visible: &mut Vec<u8>, change: &Change) {
    let (start, bytes) = match &change.what {
        What::Write { offset, replaced, .. } => (*offset, replaced),
        What::SetLen { len, cut } => (*len, cut),
    };
    visible.resize(change.len_before, 0);
    if !bytes.is_empty() {
        visible[start..start + bytes.len()].copy_from_slice(bytes);
    }
}

/// The pieces of a write that lie in different sectors, as (start, end) in the file.
fn sectors(offset: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = offset + len;
    let mut start = offset;
    std::iter::from_fn(move || {
        if start >= end {
            return None;
        }
        let piece = (start, end.min((start / SECTOR_BYTES + 1) * SECTOR_BYTES));
        start = piece.1;
        Some(piece)
    })
}

impl Change {
    fn fate(&self, mercy: &Mercy, random: &mut Random) -> Fate {
        match self.state {
            State::Durable => return Fate::Whole,
            State::Lost => return Fate::Gone,
            State::Pending => {}
        }
        let survives = random.chance(mercy.survive);
        let What::Write { offset, len, .. } = self.what else {
            return if survives { Fate::Whole } else { Fate::Gone };
        };
        let extends = offset + len > self.len_before;
        if !survives {
            // Only where some of the disk's state arrives at all may a length come without its data.
            let length = extends && mercy.survive > 0.0 && random.chance(0.25);
            return if length { Fate::LengthOnly } else { Fate::Gone };
        }
        let count = sectors(offset, len).count();
        if count < 2 || !random.chance(mercy.tear) {
            return Fate::Whole;
        }
        let sectors = if random.chance(0.5) {
            let kept = random.below(count as u64) as usize;
            (0..count).map(|sector| sector < kept).collect()
        } else {
            (0..count).map(|_| random.chance(0.5)).collect()
        };
        Fate::Torn { sectors, length: extends && random.chance(0.5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crashed(seed: u64, build: impl FnOnce(&mut Content)) -> Vec<u8> {
        let mut content = Content::default();
        build(&mut content);
        content.crash(&mut Random::from_seed(seed));
        assert!(content.log.is_empty());
        content.visible
    }

    /// Every outcome of many crashes, without repetition.
    fn outcomes(build: impl Fn(&mut Content)) -> std::collections::BTreeSet<Vec<u8>> {
        (0..500).map(|seed| crashed(seed, &build)).collect()
    }

    #[test]
    fn what_was_synced_stays() {
        let all = outcomes(|content| {
            content.write(&[1; 3000], 0);
            content.set_len(2000);
            content.write(&[2; 10], 5);
            content.sync();
        });
        let mut expected = vec![1; 2000];
        expected[5..15].fill(2);
        assert_eq!(all.into_iter().collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn pending_writes_survive_independently_of_each_other() {
        let all = outcomes(|content| {
            content.write(b"....", 0);
            content.sync();
            content.write(b"a", 0);
            content.write(b"b", 1);
            content.write(b"c", 2);
        });
        assert_eq!(all.len(), 8, "each of three writes came or did not: {all:?}");
    }

    #[test]
    fn an_overwritten_write_can_be_the_one_that_survives() {
        let all = outcomes(|content| {
            content.write(b"old", 0);
            content.sync();
            content.write(b"one", 0);
            content.write(b"two", 0);
        });
        assert_eq!(all.into_iter().collect::<Vec<_>>(), [b"old", b"one", b"two"]);
    }

    #[test]
    fn a_write_is_torn_at_sectors_of_the_file_and_nowhere_else() {
        let all = outcomes(|content| {
            content.write(&[1; 2048], 0);
            content.sync();
            content.write(&[2; 1400], 200);
        });
        let mut gaps = 0;
        for bytes in &all {
            let pieces = [0..200, 200..512, 512..1024, 1024..1536, 1536..1600, 1600..2048];
            let values = pieces.map(|piece| {
                let first = bytes[piece.start];
                assert!(bytes[piece].iter().all(|byte| *byte == first), "torn inside a sector");
                first
            });
            assert_eq!((values[0], values[5]), (1, 1));
            gaps += usize::from(values[1] == 1 && values[2] == 2);
        }
        assert_eq!(all.len(), 16, "every subset of four sectors occurs");
        assert!(gaps > 0, "not only prefixes");
    }

    #[test]
    fn length_changes_survive_or_not() {
        let cut = outcomes(|content| {
            content.write(b"abcdef", 0);
            content.sync();
            content.set_len(2);
            content.set_len(4);
        });
        let expected: [&[u8]; 4] = [b"ab", b"ab\0\0", b"abcd", b"abcdef"];
        assert_eq!(cut.into_iter().collect::<Vec<_>>(), expected);
        let extended = outcomes(|content| content.write(b"abc", 0));
        let expected: [&[u8]; 3] = [b"", b"\0\0\0", b"abc"];
        assert_eq!(extended.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn after_a_failed_sync_a_successful_one_does_not_save_what_was_dropped() {
        let mut lost = 0;
        for seed in 0..100 {
            let bytes = crashed(seed, |content| {
                content.write(b"base", 0);
                content.sync();
                content.write(b"A", 0);
                content.write(b"B", 1);
                content.fail_sync(&mut Random::from_seed(seed + 1000));
                assert_eq!(content.visible(), b"ABse", "it can still be read");
                content.write(b"C", 2);
                content.sync();
                content.sync();
                content.write(b"D", 1);
                content.sync();
            });
            assert_eq!(bytes[1..], *b"DCe", "what was written after the failure and synced is safe");
            lost += usize::from(bytes[0] == b'b');
        }
        assert!((20..80).contains(&lost), "{lost}");
    }
}
