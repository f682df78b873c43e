//! Bits, the lowest first, into bytes.

/// What a small record may become at the most before it is given up: no code is longer than 15 bits.
const ROOM: usize = 4096;

pub(super) struct Bits {
    bytes: [u8; ROOM],
    len: usize,
    waiting: u64,
    count: u32,
}

impl Bits {
    pub(super) fn new() -> Bits {
        Bits { bytes: [0; ROOM], len: 0, waiting: 0, count: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.len, self.waiting, self.count) = (0, 0, 0);
    }

    /// Up to 56 bits, the others zero.
    pub(super) fn add(&mut self, value: u64, count: u32) {
        self.waiting |= value << self.count;
        self.count += count;
        self.bytes[self.len..self.len + 8].copy_from_slice(&self.waiting.to_le_bytes());
        self.len += (self.count / 8) as usize;
        self.waiting >>= self.count & !7;
        self.count &= 7;
    }

    /// Whole bytes, on a boundary of them.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.count, 0);
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Fills up the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.add(0, (8 - self.count) & 7);
    }

    /// A one ends a stream that is read from its end, so that the last byte says where it begins.
    pub(super) fn close(&mut self) {
        self.add(1, 1);
        self.align();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}
