//! Reads the URL database, in both directions. See the [module](super) for the form of the file.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mattock_codec::Reader;
use mattock_env::{File, Files, OpenMode};
use mattock_weburl::WebUrl;

use super::{BLOCK_URLS, FOOTER_BYTES, MAGIC};
use crate::error::{FeaturesError, Result};
use crate::key;

/// The URLs of a generation. Can be asked by many threads at once.
#[derive(Debug)]
pub struct Urls {
    path: PathBuf,
    file: File,
    bytes: u64,
    count: u64,
    blocks: Vec<BlockPlace>,
    separators: Vec<u8>,
    /// Blocks that were read last, with what is needed to read more: one for each thread that asked at the same time.
    desks: Mutex<Vec<Desk>>,
}

#[derive(Clone, Copy, Debug)]
struct BlockPlace {
    at: u64,
    packed_len: u32,
    len: u32,
    checksum: u32,
    separator_end: usize,
}

struct Desk {
    decompressor: zstd::bulk::Decompressor<'static>,
    packed: Vec<u8>,
    block: Vec<u8>,
    number: usize,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "block {}", self.number)
    }
}

impl Urls {
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Urls> {
        let file = files.open(path, OpenMode::Read).map_err(FeaturesError::reading(path, 0))?;
        let bytes = file.len().map_err(FeaturesError::io(path))?;
        let damaged = |offset, what| FeaturesError::damaged(path, offset, what);
        let footer_at =
            bytes.checked_sub(FOOTER_BYTES).ok_or_else(|| damaged(bytes, "the file ends too soon"))?;
        let mut footer = [0; FOOTER_BYTES as usize];
        file.read_exact_at(&mut footer, footer_at).map_err(FeaturesError::reading(path, footer_at))?;
        if footer[20..] != MAGIC {
            return Err(match footer[20..27] == MAGIC[..7] {
                true => FeaturesError::Version { path: path.into(), version: char::from(footer[27]).into() },
                false => damaged(footer_at, "the end is not that of a URL database"),
            });
        }
        let mut fields = Reader::new(&footer);
        let (index_at, count, checksum) = (fields.u64(), fields.u64(), fields.u32());
        let (index_at, count) = index_at.zip(count).expect("the footer has room for its fields");
        let len = footer_at
            .checked_sub(index_at)
            .ok_or_else(|| damaged(footer_at, "the index is behind the end"))?;
        let mut index =
            vec![0; usize::try_from(len).map_err(|_| damaged(footer_at, "the index is too long"))?];
        file.read_exact_at(&mut index, index_at).map_err(FeaturesError::reading(path, index_at))?;
        if Some(crc32fast::hash(&index)) != checksum {
            return Err(damaged(index_at, "the checksum of the index is wrong"));
        }
        let (blocks, separators) = read_index(&index, count.div_ceil(BLOCK_URLS))
            .ok_or_else(|| damaged(index_at, "the index is too short"))?;
        Ok(Urls { path: path.into(), file, bytes, count, blocks, separators, desks: Mutex::default() })
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The URL of an id; `None` if there is no such id.
    pub fn url(&self, id: u64) -> Result<Option<String>> {
        if id >= self.count {
            return Ok(None);
        }
        let (number, rank) = ((id / BLOCK_URLS) as usize, id % BLOCK_URLS);
        self.with_block(number, |block| {
            let mut keys = Keys::new(block, self.keys_in(number))?;
            (0..=rank).try_for_each(|_| keys.advance())?;
            key::url_of(&keys.key)
        })
        .map(Some)
    }

    /// The id of a URL; `None` if it is not there.
    pub fn id(&self, url: &WebUrl) -> Result<Option<u64>> {
        self.place(url).map(|(id, is_there)| is_there.then_some(id))
    }

    /// How many URLs come before this one in the order of ids, whether it is there or not: its neighbours have the ids around.
    pub fn rank(&self, url: &WebUrl) -> Result<u64> {
        self.place(url).map(|(rank, _)| rank)
    }

    /// Where a URL is, or would be; and whether it is.
    fn place(&self, url: &WebUrl) -> Result<(u64, bool)> {
        let mut wanted = Vec::with_capacity(url.as_str().len() + 8);
        key::push_key(&mut wanted, url);
        let number = self.partition_point(|separator| separator <= wanted.as_slice());
        let Some(number) = number.checked_sub(1) else { return Ok((0, false)) };
        let first = number as u64 * BLOCK_URLS;
        self.with_block(number, |block| {
            let mut keys = Keys::new(block, self.keys_in(number))?;
            for rank in 0..self.keys_in(number) {
                keys.advance()?;
                match keys.key.cmp(&wanted) {
                    Ordering::Less => {}
                    order => return Some((first + rank, order == Ordering::Equal)),
                }
            }
            Some((first + self.keys_in(number), false))
        })
    }

    /// The URLs of a range of ids, in order.
    pub fn iter(&self, ids: Range<u64>) -> UrlIter<'_> {
        UrlIter { urls: self, next: ids.start, end: ids.end.min(self.count), ready: Vec::new().into_iter() }
    }

    /// Reads all of it, and whether it is as it was written.
    pub fn verify(&self) -> Result<()> {
        for number in 0..self.blocks.len() {
            self.with_block(number, |block| {
                let mut keys = Keys::new(block, self.keys_in(number))?;
                (0..self.keys_in(number)).try_for_each(|_| keys.advance())
            })?;
        }
        Ok(())
    }

    fn keys_in(&self, number: usize) -> u64 {
        (self.count - number as u64 * BLOCK_URLS).min(BLOCK_URLS)
    }

    fn partition_point(&self, before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = low.midpoint(high);
            let start = if middle == 0 { 0 } else { self.blocks[middle - 1].separator_end };
            match before(&self.separators[start..self.blocks[middle].separator_end]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Gives a block that was read to `use_block`, which says `None` if it makes no sense.
    fn with_block<T>(&self, number: usize, use_block: impl FnOnce(&[u8]) -> Option<T>) -> Result<T> {
        let mut desk = match self.desks.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(desk) => desk,
            None => Desk {
                decompressor: zstd::bulk::Decompressor::new().map_err(FeaturesError::io(&self.path))?,
                packed: Vec::new(),
                block: Vec::new(),
                number: usize::MAX,
            },
        };
        let place = self.blocks[number];
        if desk.number != number {
            self.read_block(&mut desk, number)?;
        }
        let used = use_block(&desk.block)
            .ok_or_else(|| FeaturesError::damaged(&self.path, place.at, "a block of URLs makes no sense"));
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
        used
    }

    fn read_block(&self, desk: &mut Desk, number: usize) -> Result<()> {
        let place = self.blocks[number];
        desk.number = usize::MAX;
        desk.packed.resize(place.packed_len as usize, 0);
        self.file
            .read_exact_at(&mut desk.packed, place.at)
            .map_err(FeaturesError::reading(&self.path, place.at))?;
        if crc32fast::hash(&desk.packed) != place.checksum {
            return Err(FeaturesError::damaged(&self.path, place.at, "the checksum of a block is wrong"));
        }
        desk.block.clear();
        desk.block.reserve(place.len as usize);
        let unpacked = desk.decompressor.decompress_to_buffer(&desk.packed, &mut desk.block);
        unpacked.map_err(FeaturesError::io(&self.path))?;
        desk.number = number;
        Ok(())
    }
}

fn read_index(index: &[u8], count: u64) -> Option<(Vec<BlockPlace>, Vec<u8>)> {
    let (mut blocks, mut separators) = (Vec::new(), Vec::new());
    let (mut reader, mut at, mut start) = (Reader::new(index), MAGIC.len() as u64, 0);
    for _ in 0..count {
        let [packed_len, len] = [reader.varint()?, reader.varint()?].map(|len| u32::try_from(len).ok());
        let (packed_len, len, checksum) = (packed_len?, len?, reader.u32()?);
        let shared = usize::try_from(reader.varint()?).ok()?;
        let rest = reader.counted()?;
        let end = separators.len();
        if shared > end - start {
            return None;
        }
        separators.extend_from_within(start..start + shared);
        separators.extend_from_slice(rest);
        start = end;
        blocks.push(BlockPlace { at, packed_len, len, checksum, separator_end: separators.len() });
        at += u64::from(packed_len);
    }
    reader.is_empty().then_some((blocks, separators))
}

/// The keys of a block, one after the other.
struct Keys<'a> {
    shared: Reader<'a>,
    lengths: Reader<'a>,
    rests: Reader<'a>,
    key: Vec<u8>,
}

impl<'a> Keys<'a> {
    fn new(block: &'a [u8], count: u64) -> Option<Keys<'a>> {
        // Where the parts begin is found by walking over the ones before.
        let shared = Reader::new(block);
        let mut lengths = shared.clone();
        (0..count).try_for_each(|_| lengths.varint().map(drop))?;
        let mut rests = lengths.clone();
        (0..count).try_for_each(|_| rests.varint().map(drop))?;
        Some(Keys { shared, lengths, rests, key: Vec::with_capacity(128) })
    }

    fn advance(&mut self) -> Option<()> {
        let shared = usize::try_from(self.shared.varint()?).ok()?;
        let rest = self.rests.take(usize::try_from(self.lengths.varint()?).ok()?)?;
        if shared > self.key.len() {
            return None;
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(rest);
        Some(())
    }
}

/// URLs in the order of their ids.
#[derive(Debug)]
pub struct UrlIter<'a> {
    urls: &'a Urls,
    next: u64,
    end: u64,
    ready: std::vec::IntoIter<String>,
}

impl Iterator for UrlIter<'_> {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        if let Some(url) = self.ready.next() {
            return Some(Ok(url));
        }
        if self.next >= self.end {
            return None;
        }
        let (number, skip) = ((self.next / BLOCK_URLS) as usize, self.next % BLOCK_URLS);
        let take = (self.urls.keys_in(number) - skip).min(self.end - self.next);
        let ready = self.urls.with_block(number, |block| {
            let mut keys = Keys::new(block, self.urls.keys_in(number))?;
            (0..skip).try_for_each(|_| keys.advance())?;
            (0..take)
                .map(|_| keys.advance().and_then(|()| key::url_of(&keys.key)))
                .collect::<Option<Vec<_>>>()
        });
        self.next += take;
        match ready {
            Ok(ready) => {
                self.ready = ready.into_iter();
                self.ready.next().map(Ok)
            }
            Err(error) => {
                self.next = self.end;
                Some(Err(error))
            }
        }
    }
}
