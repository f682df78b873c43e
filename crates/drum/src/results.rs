//! Handing out: results in order of arrival, and a look at what is stored.

use crate::batch::Outcome;
use crate::drum::Drum;
use crate::error::{DrumError, Result};
use crate::log::{HEADER_BYTES, KNOWN_DUPLICATE, KNOWN_UNIQUE, UNRESOLVED};
use crate::merge;
use crate::plan::Deliver;
use crate::value::Value;
use mattock_codec::Reader;

impl<V: Value> Drum<V> {
    /// Hands out up to `limit` results in order of arrival; how many there were. Fewer than `limit` means that the next
    /// one is not known yet.
    pub fn deliver(&mut self, limit: usize, sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.hand_out(limit, true, sink)
    }

    /// The same, but never waits for the disk: fewer than `limit` may also mean that the next ones are being read. For a
    /// producer that has more to submit in the meantime.
    pub fn deliver_ready(&mut self, limit: usize, sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.hand_out(limit, false, sink)
    }

    fn hand_out(&mut self, limit: usize, wait: bool, mut sink: impl FnMut(Outcome<'_, V>)) -> Result<usize> {
        self.poll();
        let all = self.options.deliver == Deliver::All;
        let mut delivered = 0;
        while delivered < limit {
            let (block, mut offset, mut record) = self.cursor;
            let generation = self.generations.front().unwrap_or(&self.open);
            let end = generation.deliverable();
            if record >= end {
                if generation.resolved.is_some() && self.retire_front() {
                    continue;
                }
                break;
            }
            let bytes = match generation.log.in_ram(block) {
                Some(bytes) => bytes,
                None => {
                    if generation.resolved.is_none() {
                        self.writer.settle()?;
                    }
                    match self.ahead.block(generation.number, block, &generation.log, wait)? {
                        Some(bytes) => bytes,
                        None => break,
                    }
                }
            };
            let path = generation.log.file().path();
            let corrupt =
                || DrumError::corrupt(path, u64::from(block), "a record of the log that cannot be read");
            let mut reader = Reader::new(bytes.get(offset as usize..).ok_or_else(corrupt)?);
            let start = offset;
            while !reader.is_empty() && record < end && delivered < limit {
                let head = reader.varint().ok_or_else(corrupt)?;
                let known = match head & 3 {
                    KNOWN_DUPLICATE => Some(reader.counted().ok_or_else(corrupt)?),
                    _ => None,
                };
                let aux = reader.take((head >> 2) as usize).ok_or_else(corrupt)?;
                let unique = match head & 3 {
                    UNRESOLVED => generation.resolved.as_ref().is_some_and(|resolved| {
                        resolved
                            .bitmap
                            .get(record as usize / 64)
                            .is_some_and(|word| word >> (record % 64) & 1 == 1)
                    }),
                    kind => kind == KNOWN_UNIQUE,
                };
                if unique {
                    sink(Outcome { unique, value: None, aux });
                    delivered += 1;
                } else if all {
                    let answers = generation.resolved.as_ref().and_then(|resolved| resolved.answers.as_ref());
                    let value = match (known, answers) {
                        (Some(value), _) => Some(value),
                        (None, Some(answers)) => {
                            self.answer_part.value(generation.number, answers, record)?
                        }
                        (None, None) => Some(&[][..]),
                    };
                    let value = value.and_then(V::decode).ok_or_else(corrupt)?;
                    sink(Outcome { unique, value: Some(value), aux });
                    delivered += 1;
                }
                record += 1;
                offset = start + reader.at() as u32;
                self.cursor = (block, offset, record);
            }
            if reader.is_empty() && block + 1 < generation.log.blocks() {
                self.cursor = (block + 1, HEADER_BYTES as u32, record);
                let generation = self.generations.front_mut().unwrap_or(&mut self.open);
                generation.log.release(block + 1);
            }
        }
        self.stats.delivered += delivered as u64;
        Ok(delivered)
    }

    /// Whether checks were submitted whose results are not delivered: they wait for a merge, or for somebody to take them.
    pub fn is_unsettled(&self) -> bool {
        !self.generations.is_empty() || self.cursor.2 < self.open.log.records()
    }

    /// Forgets the first sealed generation, which is delivered; `false` if the open one is the first.
    fn retire_front(&mut self) -> bool {
        let Some(generation) = self.generations.pop_front() else { return false };
        self.cursor = (0, HEADER_BYTES as u32, 0);
        if generation.log.file().exists() {
            self.retire(generation.log.file().name().to_owned());
        }
        if let Some(answers) = generation.resolved.as_ref().and_then(|resolved| resolved.answers.as_ref())
            && answers.buckets.file().exists()
        {
            self.retire(answers.buckets.file().name().to_owned());
        }
        true
    }

    /// Visits every key of the sorted store in order, with its value; operations that are not merged yet do not count.
    pub fn scan(&self, mut visit: impl FnMut(u64, V)) -> Result<()> {
        let now_s = self.clock.unix().as_seconds();
        for bucket in 0..self.plan.buckets {
            let mut readers = Vec::with_capacity(self.runs.len());
            for run in &self.runs {
                readers.push(run.read(bucket, self.plan.read_bytes)?);
            }
            while let Some(key) = readers.iter().filter_map(|reader| reader.key()).min() {
                let mut newest = None;
                for (run, reader) in self.runs.iter().zip(&mut readers) {
                    if reader.key() == Some(key) {
                        let value = V::decode(reader.value());
                        newest = Some(value.ok_or_else(|| {
                            DrumError::corrupt(run.file().path(), 0, "a value that cannot be decoded")
                        })?);
                        reader.advance()?;
                    }
                }
                if let Some(value) = newest.filter(|value| !value.expired(now_s)) {
                    visit(key, value);
                }
            }
        }
        Ok(())
    }

    /// What is stored for a key: `None` if nothing. Operations that are neither merged nor in RAM do not count. Reads one bucket of every run, so it is for a look, not for a stream.
    pub fn look_up(&self, key: u64) -> Result<Option<V>> {
        let now_s = self.clock.unix().as_seconds();
        if let Some(table) = &self.table {
            return Ok(table.get(key, now_s).cloned());
        }
        if let Some(cache) = &self.cache {
            let cached = cache.holds(cache.place(key));
            if cached || cache.is_complete() {
                return Ok(if cached { V::decode(&[]) } else { None });
            }
        }
        let bucket = merge::bucket_of(key, merge::bucket_bits(self.plan.buckets));
        for run in self.runs.iter().rev() {
            let mut reader = run.read(bucket, self.plan.read_bytes)?;
            if reader.seek(key)? {
                let value = V::decode(reader.value()).ok_or_else(|| {
                    DrumError::corrupt(run.file().path(), 0, "a value that cannot be decoded")
                })?;
                return Ok(Some(value).filter(|value| !value.expired(now_s)));
            }
        }
        Ok(None)
    }
}
