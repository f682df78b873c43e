//! A file as something that is written from front to back: what encoders of Parquet, zip and text want.

use std::io::{self, Seek, SeekFrom, Write};

use super::file::File;

/// Writes a file from a place on, which is its beginning at first. Nothing waits in it: what was written is in the file, and durable after
/// [`File::sync`].
#[derive(Debug)]
pub struct FileWriter {
    file: File,
    at: u64,
}

impl FileWriter {
    /// Writes `file` from its beginning on.
    pub fn new(file: File) -> FileWriter {
        FileWriter { file, at: 0 }
    }

    /// The file.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for FileWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.file.len()?, by),
        };
        let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning");
        self.at = from.checked_add_signed(by).ok_or_else(wrong)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Files, OpenMode, Random, SimFiles};

    #[test]
    fn what_is_written_stands_where_it_was_written() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let path = Path::new("/file");
        let mut writer = FileWriter::new(files.open(path, OpenMode::CreateNew).unwrap());
        writer.write_all(b"one, ").unwrap();
        writer.write_all(b"two, four").unwrap();
        assert_eq!(writer.seek(SeekFrom::End(-4)).unwrap(), 10);
        writer.write_all(b"three").unwrap();
        assert_eq!(writer.stream_position().unwrap(), 15);
        assert_eq!(writer.seek(SeekFrom::Start(0)).unwrap(), 0);
        writer.write_all(b"O").unwrap();
        assert_eq!(writer.seek(SeekFrom::Current(-2)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        writer.write_all(b"N").unwrap();
        assert_eq!(files.read(path).unwrap(), b"ONe, two, three");
        assert_eq!(writer.into_file().len().unwrap(), 15);
    }
}
