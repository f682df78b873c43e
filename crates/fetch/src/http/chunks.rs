//! Chunked bodies, decoded in place.

/// Takes the chunks off a body in place: the buffer holds what is decoded, then what is not yet.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// Where decoded bytes end.
    pub(crate) decoded: usize,
    /// Where undecoded bytes begin.
    next: usize,
    /// Bytes left of the chunk at hand.
    left: u64,
    state: ChunkState,
    trailer_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    Size,
    Data,
    DataEnd,
    Trailer,
}

/// What [`Chunks::advance`] needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// The end; whether nothing came after it.
    Done {
        clean: bool,
    },
    Broken,
}

const LINE_BYTES_MAX: usize = 4096;
const TRAILER_BYTES_MAX: usize = 16 * 1024;

impl Chunks {
    /// A body that begins at `start` of the buffer.
    pub(crate) fn new(start: usize) -> Chunks {
        Chunks { decoded: start, next: start, left: 0, state: ChunkState::Size, trailer_bytes: 0 }
    }

    /// Decodes what is in the buffer, and moves the rest down so that the buffer never holds more than the decoded body
    /// and one read.
    pub(crate) fn advance(&mut self, buffer: &mut Vec<u8>) -> Progress {
        let progress = self.decode(buffer);
        let rest = buffer.len() - self.next;
        buffer.copy_within(self.next.., self.decoded);
        buffer.truncate(self.decoded + rest);
        self.next = self.decoded;
        if let Progress::Done { .. } = progress {
            buffer.truncate(self.decoded);
            return Progress::Done { clean: rest == 0 };
        }
        progress
    }

    /// So many decoded bytes were taken out of the buffer, after an [`advance`](Chunks::advance).
    pub(crate) fn spilled(&mut self, bytes: usize) {
        debug_assert_eq!(self.next, self.decoded);
        self.decoded -= bytes;
        self.next -= bytes;
    }

    fn decode(&mut self, buffer: &mut [u8]) -> Progress {
        loop {
            match self.state {
                ChunkState::Data => {
                    let count = self.left.min((buffer.len() - self.next) as u64) as usize;
                    buffer.copy_within(self.next..self.next + count, self.decoded);
                    self.decoded += count;
                    self.next += count;
                    self.left -= count as u64;
                    if self.left > 0 {
                        return Progress::More;
                    }
                    self.state = ChunkState::DataEnd;
                }
                state => {
                    let Some(line) = line(&buffer[self.next..]) else {
                        let too_long = buffer.len() - self.next > LINE_BYTES_MAX;
                        return if too_long { Progress::Broken } else { Progress::More };
                    };
                    let text = &buffer[self.next..self.next + line];
                    let text = text.strip_suffix(b"\r\n").or(text.strip_suffix(b"\n")).unwrap_or(text);
                    match state {
                        ChunkState::Size => match chunk_size(text) {
                            Some(0) => self.state = ChunkState::Trailer,
                            Some(size) => (self.left, self.state) = (size, ChunkState::Data),
                            None => return Progress::Broken,
                        },
                        ChunkState::DataEnd if text.is_empty() => self.state = ChunkState::Size,
                        ChunkState::DataEnd => return Progress::Broken,
                        _ if text.is_empty() => {
                            self.next += line;
                            return Progress::Done { clean: true };
                        }
                        _ => {
                            self.trailer_bytes += line;
                            if self.trailer_bytes > TRAILER_BYTES_MAX {
                                return Progress::Broken;
                            }
                        }
                    }
                    self.next += line;
                }
            }
        }
    }
}

fn line(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', &bytes[..bytes.len().min(LINE_BYTES_MAX)]).map(|at| at + 1)
}

/// The size of a chunk, its extensions ignored; `None` if it is no hexadecimal number below 2^60.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Progress) {
        let mut buffer = b"HEAD".to_vec();
        let mut chunks = Chunks::new(4);
        let mut progress = Progress::More;
        for piece in pieces {
            buffer.extend_from_slice(piece);
            progress = chunks.advance(&mut buffer);
            if progress != Progress::More {
                break;
            }
        }
        (buffer[4..chunks.decoded].to_vec(), progress)
    }

    #[test]
    fn broken_chunks_keep_what_came_before() {
        assert_eq!(decode(&[b"3\r\nabc\r\n-1\r\n"]), (b"abc".to_vec(), Progress::Broken));
        assert_eq!(decode(&[b"3\r\nabcd\r\n"]), (b"abc".to_vec(), Progress::Broken));
        assert_eq!(decode(&[b"ffffffffffffffff\r\n"]), (vec![], Progress::Broken));
        assert_eq!(decode(&[b"0\r\nA: b\r\n\r\nmore"]), (vec![], Progress::Done { clean: false }));
        let endless: Vec<u8> = b"0\r\n".iter().copied().chain(b"A: b\r\n".repeat(4000)).collect();
        assert_eq!(decode(&[&endless]), (vec![], Progress::Broken));
        assert_eq!(decode(&[&[b'1'; 5000]]), (vec![], Progress::Broken));
    }

    proptest! {
        #[test]
        fn any_body_survives_any_chunking_and_any_reads(
            body in proptest::collection::vec(any::<u8>(), 0..400),
            chunk in 1usize..50,
            read in 1usize..50,
        ) {
            let mut wire = Vec::new();
            for piece in body.chunks(chunk) {
                wire.extend_from_slice(format!("{:x};ext=1\r\n", piece.len()).as_bytes());
                wire.extend_from_slice(piece);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
            let reads: Vec<&[u8]> = wire.chunks(read).collect();
            prop_assert_eq!(decode(&reads), (body, Progress::Done { clean: true }));
        }

        #[test]
        fn garbage_never_panics_and_never_grows(
            pieces in proptest::collection::vec(
                prop_oneof![
                    proptest::collection::vec(any::<u8>(), 0..30),
                    proptest::sample::select(vec!["3\r\n", "abc\r\n", "0\r\n", "\r\n", ";x=y", "ffffffffffffff\r\n"])
                        .prop_map(|text| text.as_bytes().to_vec()),
                ],
                0..30,
            ),
        ) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let sent: usize = pieces.iter().map(|piece| piece.len()).sum();
            let (body, _) = decode(&pieces);
            prop_assert!(body.len() <= sent);
        }
    }
}
