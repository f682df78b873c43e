//! Bytes on disk: numbers in as few of them as they need, a reader that never reads too far, and checksums that know their place.
//!
//! Used by everything that keeps files of its own form (`drum`, `queue`). Nothing here allocates but what it appends to, and nothing
//! panics on bytes from outside: what is not there is `None`.

mod blocks;

pub use blocks::{BLOCK_BYTES, BlockSummer, BlockSums};

/// Appends a number, 7 bits a byte, low bits first.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a number at `at`; the place after it. There must be room.
#[inline]
pub fn write_varint(out: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        out[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    out[at] = value as u8;
    at + 1
}

/// Bytes of a number.
#[inline]
pub fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends bytes with their length before them.
#[inline]
pub fn put_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads from a slice, front to back; `None` past its end.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// From the beginning.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// From the given place on.
    #[inline]
    pub fn from_place(bytes: &'a [u8], at: usize) -> Reader<'a> {
        Reader { bytes, at }
    }

    /// Whether nothing is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Where it stands.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// A number of up to ten bytes.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        let mut value = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }

    /// So many bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    /// Bytes with their length before them.
    #[inline]
    pub fn counted(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.varint()?).ok()?;
        self.take(len)
    }

    /// Four bytes, low ones first.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Eight bytes, low ones first.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

/// A checksum over bytes and where they belong: right bytes in the wrong place are wrong.
pub fn checksum(file: u64, offset: u64, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file.to_le_bytes());
    hasher.update(&offset.to_le_bytes());
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// Something on disk that is not as it was written, found by reading all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: std::path::PathBuf,
    /// Where in it.
    pub offset: u64,
    /// What is wrong, and what it means.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} at byte {}: {}", self.path.display(), self.offset, self.what)
    }
}

/// Why a sealed file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Bytes have changed or are missing, or it is another file.
    Damaged,
    /// It is of a version that is not known: the last character of its magic.
    Version(char),
}

/// Ends a small file, whose number is part of its checksum.
pub fn seal(out: &mut Vec<u8>, number: u64) {
    let sum = checksum(0, number, &[out]);
    out.extend_from_slice(&sum.to_le_bytes());
}

/// What is between the magic and the checksum of a file that was [sealed](seal). The last byte of the magic is the version.
pub fn unseal<'a>(bytes: &'a [u8], magic: &[u8; 8], number: u64) -> Result<&'a [u8], Unreadable> {
    let (content, sum) = bytes.split_last_chunk::<4>().ok_or(Unreadable::Damaged)?;
    if checksum(0, number, &[content]).to_le_bytes() != *sum {
        return Err(Unreadable::Damaged);
    }
    match content.split_first_chunk::<8>() {
        Some((found, rest)) if found == magic => Ok(rest),
        Some((found, _)) if found[..7] == magic[..7] => Err(Unreadable::Version(char::from(found[7]))),
        _ => Err(Unreadable::Damaged),
    }
}

/// Takes a version that is not known for something that was read: the file is whole, and another copy of it would say the same.
pub fn whole<T>(decoded: Result<T, Unreadable>) -> Result<Result<T, char>, Unreadable> {
    match decoded {
        Ok(value) => Ok(Ok(value)),
        Err(Unreadable::Version(version)) => Ok(Err(version)),
        Err(Unreadable::Damaged) => Err(Unreadable::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_len(value));
            let mut room = [0; 10];
            assert_eq!(write_varint(&mut room, 0, value), out.len());
            assert_eq!(room[..out.len()], out);
            assert_eq!(Reader::new(&out).varint(), Some(value));
            assert_eq!(Reader::new(&out[..out.len() - 1]).varint(), None);
        }
        assert_eq!(Reader::new(&[0xff; 12]).varint(), None);
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut out = vec![9];
        put_counted(&mut out, b"abc");
        let mut reader = Reader::from_place(&out, 1);
        assert_eq!((reader.counted(), reader.is_empty(), reader.at()), (Some(&b"abc"[..]), true, 5));
        assert_eq!((reader.take(1), reader.u32(), reader.u64(), reader.varint()), (None, None, None, None));
        assert_eq!(Reader::new(&[5, 1]).counted(), None);
        assert_eq!(Reader::new(&[1, 0, 0, 0]).u32(), Some(1));
        assert_ne!(checksum(1, 0, &[b"ab"]), checksum(1, 1, &[b"ab"]));
        assert_eq!(checksum(1, 0, &[b"ab"]), checksum(1, 0, &[b"a", b"b"]));
    }
}
