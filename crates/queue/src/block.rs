//! Blocks: records that stand together, in RAM and on disk.
//!
//! In RAM a block is its records one behind the other, each with its length before it. The open block of a queue is
//! filled by pushes; once sealed it never changes. On disk it gets a header and is filled up to whole pages:
//!
//! ```text
//! sequence u64, queue u32, records u32, record bytes u32, checksum u32 │ (varint length, bytes)… │ zeros
//! ```
//!
//! The checksum covers the file's number, the place in it, the header and the records.

use mattock_env::PAGE_BYTES;

use mattock_codec::{Reader, checksum, put_counted, varint_len};

pub(crate) const HEADER_BYTES: usize = 24;

/// The records of a block.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
}

/// What identifies a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) queue: u32,
    pub(crate) sequence: u64,
}

impl Records {
    /// Bytes that a record takes.
    #[inline]
    pub(crate) fn room_for(record: &[u8]) -> usize {
        varint_len(record.len() as u64) + record.len()
    }

    #[inline]
    pub(crate) fn append(&mut self, record: &[u8]) {
        put_counted(&mut self.bytes, record);
        self.count += 1;
    }

    /// The record at `offset` and where the next one begins.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> Option<(&[u8], usize)> {
        let mut reader = Reader::from_place(&self.bytes, offset);
        let record = reader.counted()?;
        Some((record, reader.at()))
    }

    /// Length on disk.
    pub(crate) fn stored_bytes(&self) -> usize {
        (HEADER_BYTES + self.bytes.len()).next_multiple_of(PAGE_BYTES)
    }

    /// Writes the form for the disk into `out`, which has room; its length.
    pub(crate) fn encode(&self, identity: Identity, file: u64, offset: u64, out: &mut [u8]) -> usize {
        let stored = self.stored_bytes();
        let (header, rest) = out[..stored].split_at_mut(HEADER_BYTES);
        header[..8].copy_from_slice(&identity.sequence.to_le_bytes());
        header[8..12].copy_from_slice(&identity.queue.to_le_bytes());
        header[12..16].copy_from_slice(&self.count.to_le_bytes());
        header[16..20].copy_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        let (records, padding) = rest.split_at_mut(self.bytes.len());
        records.copy_from_slice(&self.bytes);
        padding.fill(0);
        let sum = checksum(file, offset, &[&header[..20], records]);
        header[20..].copy_from_slice(&sum.to_le_bytes());
        stored
    }

    /// Reads a block that begins `stored`; what is wrong with it otherwise.
    pub(crate) fn decode(
        identity: Identity,
        file: u64,
        offset: u64,
        stored: &[u8],
    ) -> Result<Records, &'static str> {
        let (found, records) = Records::decode_any(file, offset, stored)?;
        if identity == found { Ok(records) } else { Err("another block stands where this one should") }
    }

    /// Reads whichever block begins `stored`.
    pub(crate) fn decode_any(
        file: u64,
        offset: u64,
        stored: &[u8],
    ) -> Result<(Identity, Records), &'static str> {
        const SHORT: &str = "a block is cut off";
        let mut reader = Reader::new(stored);
        let sequence = reader.u64().ok_or(SHORT)?;
        let queue = reader.u32().ok_or(SHORT)?;
        let count = reader.u32().ok_or(SHORT)?;
        let len = reader.u32().ok_or(SHORT)?;
        let sum = reader.u32().ok_or(SHORT)?;
        let records = reader.take(len as usize).ok_or("a block fails its checksum")?;
        if checksum(file, offset, &[&stored[..20], records]) != sum {
            return Err("a block fails its checksum");
        }
        Ok((Identity { queue, sequence }, Records { bytes: records.to_vec(), count }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_comes_back_or_is_damaged(
            list in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..40),
            at in any::<prop::sample::Index>(),
            flip in 1u8..=255,
        ) {
            let mut records = Records::default();
            for record in &list {
                let before = records.bytes.len();
                records.append(record);
                prop_assert_eq!(records.bytes.len() - before, Records::room_for(record));
            }
            let identity = Identity { queue: 3, sequence: 1 << 40 };
            let mut stored = vec![7; records.stored_bytes()];
            prop_assert_eq!(records.encode(identity, 5, 4096, &mut stored), stored.len());
            let read = Records::decode(identity, 5, 4096, &stored).unwrap();
            let mut offset = 0;
            for record in &list {
                let (found, next) = read.at(offset).unwrap();
                prop_assert_eq!(found, &record[..]);
                offset = next;
            }
            prop_assert_eq!((read.count as usize, offset), (list.len(), read.bytes.len()));
            prop_assert!(Records::decode(identity, 6, 4096, &stored).is_err());
            prop_assert!(Records::decode(identity, 5, 8192, &stored).is_err());
            let other = Identity { queue: 4, ..identity };
            prop_assert!(Records::decode(other, 5, 4096, &stored).is_err());
            let used = HEADER_BYTES + records.bytes.len();
            prop_assert!(Records::decode(identity, 5, 4096, &stored[..used - 1]).is_err());
            stored[at.index(used)] ^= flip;
            prop_assert!(Records::decode(identity, 5, 4096, &stored).is_err());
        }
    }
}
