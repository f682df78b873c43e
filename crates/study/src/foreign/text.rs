//! Texts to be read line by line: from files, and out of gzip or Zstandard if their first bytes say so.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use mattock_env::File;

/// What is read from a file at once: far away that is one request.
const BUFFER_BYTES: usize = 1 << 20;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A file, read from front to back.
#[derive(Debug)]
pub struct Reading {
    file: File,
    at: u64,
}

impl Reading {
    /// From the beginning.
    pub fn new(file: File) -> Reading {
        Reading { file, at: 0 }
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// A text, whatever it was compressed with.
pub fn uncompressed<'a>(mut input: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut head = Vec::with_capacity(ZSTANDARD.len());
    input.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut head)?;
    let kind = (head.starts_with(&GZIP), head == ZSTANDARD);
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(input));
    Ok(match kind {
        (true, _) => Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(whole))),
        (_, true) => {
            let decoder = zstd::stream::read::Decoder::with_buffer(whole)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        }
        _ => Box::new(whole),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> String {
        let mut text = String::new();
        uncompressed(bytes).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn texts_come_out_of_whatever_they_are_in() {
        let gzip = |text: &str| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let zstandard = |text: &str| zstd::bulk::compress(text.as_bytes(), 1).unwrap();
        for text in ["", "a", "0\t1\n", "a longer line\nand another\n"] {
            assert_eq!(read(text.as_bytes()), text);
            assert_eq!(read(&gzip(text)), text);
            assert_eq!(read(&zstandard(text)), text);
            assert_eq!(read(&[gzip(text), gzip("more")].concat()), format!("{text}more"));
            assert_eq!(read(&[zstandard(text), zstandard("more")].concat()), format!("{text}more"));
        }
    }
}
