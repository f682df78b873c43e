//! WACZ: a ZIP file with archives in it. They are stored there, not packed, so that a record has a place in the ZIP file itself.
//!
//! Only the list of members is read, which lies at the end. Whatever it says is held against the length of the file.

use std::io;
use std::ops::Range;

use crate::bounded::Bounded;

/// What such a file begins with.
pub(crate) const MAGIC: [u8; 4] = *b"PK\x03\x04";

/// The largest list of members that is read.
const LIST_BYTES_MAX: u64 = 64 << 20;
/// So far from the end of the file the end of the list may be: behind it is a comment.
const END_BYTES_MAX: u64 = (1 << 16) + 22;

/// A number of four bytes that says: it is elsewhere, and has eight.
const ELSEWHERE: u64 = 0xffff_ffff;

/// Where the archives lie in the file, in the order in which they lie there; `None` if it is no WACZ, is damaged, or has archives that ZIP has packed.
pub(crate) fn archives(file: &Bounded) -> io::Result<Option<Vec<Range<u64>>>> {
    let length = file.len()?;
    let Some(list) = list(file, length)? else { return Ok(None) };
    let mut found = Vec::new();
    let mut rest = &list[..];
    while let Some(member) = Member::first(rest) {
        rest = rest.get(member.bytes..).unwrap_or_default();
        if !member.is_archive() {
            continue;
        }
        let Some(range) = member.range(file, length)? else { return Ok(None) };
        if !range.is_empty() {
            found.push(range);
        }
    }
    found.sort_by_key(|range| range.start);
    let overlap = found.windows(2).any(|pair| pair[0].end > pair[1].start);
    Ok(Some(found).filter(|found| !found.is_empty() && !overlap))
}

/// The list of members.
fn list(file: &Bounded, length: u64) -> io::Result<Option<Vec<u8>>> {
    let begin = length.saturating_sub(END_BYTES_MAX);
    let Some(end) = bytes(file, begin, length - begin)? else { return Ok(None) };
    let Some(at) = memchr::memmem::rfind(&end, b"PK\x05\x06") else { return Ok(None) };
    let (mut bytes_there, mut offset) = (number(&end, at + 12, 4), number(&end, at + 16, 4));
    // A large file has these numbers once more.
    let far = at.checked_sub(20).filter(|far| end[*far..].starts_with(b"PK\x06\x07"));
    if let Some(far) = far.filter(|_| bytes_there == Some(ELSEWHERE) || offset == Some(ELSEWHERE)) {
        let Some(far) = number(&end, far + 8, 8) else { return Ok(None) };
        let Some(far) = bytes(file, far, 56)?.filter(|far| far.starts_with(b"PK\x06\x06")) else {
            return Ok(None);
        };
        (bytes_there, offset) = (number(&far, 40, 8), number(&far, 48, 8));
    }
    match (bytes_there, offset) {
        (Some(bytes_there), Some(offset)) if bytes_there <= LIST_BYTES_MAX => {
            bytes(file, offset, bytes_there)
        }
        _ => Ok(None),
    }
}

/// So many bytes from there, if the file has them.
fn bytes(file: &Bounded, offset: u64, count: u64) -> io::Result<Option<Vec<u8>>> {
    if offset.checked_add(count).is_none_or(|end| file.len().is_ok_and(|length| end > length)) {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(count).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => return Ok(None),
            count => filled += count,
        }
    }
    Ok(Some(bytes))
}

/// A little-endian number of `count` bytes.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(count)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A member as the list has it.
struct Member<'a> {
    name: &'a [u8],
    /// Whether it is neither packed nor encrypted.
    is_plain: bool,
    length: u64,
    /// Where its own head is.
    head: u64,
    /// How long its entry in the list is.
    bytes: usize,
}

impl<'a> Member<'a> {
    fn first(list: &'a [u8]) -> Option<Member<'a>> {
        if !list.starts_with(b"PK\x01\x02") {
            return None;
        }
        let short = |at: usize| Some(number(list, at, 2)? as usize);
        let (name, extra, comment) = (short(28)?, short(30)?, short(32)?);
        let (mut packed, plain, mut head) =
            (number(list, 20, 4)?, number(list, 24, 4)?, number(list, 42, 4)?);
        let mut fields = list.get(46 + name..46 + name + extra)?;
        while let (Some(id), Some(count)) = (number(fields, 0, 2), number(fields, 2, 2)) {
            let count = count as usize;
            if id == 1 {
                // Those of the three that are elsewhere, in this order.
                let is_far = [plain, packed, head].map(|number| number == ELSEWHERE);
                let mut at = 4;
                for (value, is_wanted) in
                    [(&mut 0, is_far[0]), (&mut packed, is_far[1]), (&mut head, is_far[2])]
                {
                    if is_wanted {
                        *value = number(fields, at, 8)?;
                        at += 8;
                    }
                }
            }
            fields = fields.get(4 + count..).unwrap_or_default();
        }
        Some(Member {
            name: list.get(46..46 + name)?,
            is_plain: short(10)? == 0 && short(8)? & 1 == 0,
            length: packed,
            head,
            bytes: 46 + name + extra + comment,
        })
    }

    fn is_archive(&self) -> bool {
        self.name.starts_with(b"archive/") && !self.name.ends_with(b"/")
    }

    /// Where its bytes are, if they are there, and as they were.
    fn range(&self, file: &Bounded, length: u64) -> io::Result<Option<Range<u64>>> {
        let Some(head) = bytes(file, self.head, 30)?.filter(|head| head.starts_with(&MAGIC)) else {
            return Ok(None);
        };
        let (name, extra) =
            (number(&head, 26, 2).unwrap_or_default(), number(&head, 28, 2).unwrap_or_default());
        let begin = self.head + 30 + name + extra;
        let end = begin.checked_add(self.length).filter(|end| *end <= length);
        Ok(end.filter(|_| self.is_plain).map(|end| begin..end))
    }
}
