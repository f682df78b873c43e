//! Files that are whole or not there: until then they have another name, `….unfinished`.
//!
//! What fails takes its unfinished file along. What is killed leaves it, and the same command writes over it the next time. Where no file can take
//! the place, because the name is that of a pipe, a device or a link, it is written to directly.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use mattock_env::{FileWriter, Files, OpenMode, is_url};
use mattock_query::sink::Sink;

use crate::exit::Usage;
use crate::places;

/// See the module. Gone with its file, unless that is [kept](Unfinished::keep).
pub(crate) struct Unfinished {
    files: Files,
    path: PathBuf,
    /// `None` once it has its name, or had it from the start.
    unfinished: Option<PathBuf>,
}

impl Unfinished {
    /// A new file that will be at `path`, where it replaces what is there.
    pub(crate) fn create(path: &Path) -> anyhow::Result<(Unfinished, NamedWriter)> {
        if is_url(path) {
            return Err(
                Usage(format!("{} is a URL: answers are written to this machine", path.display())).into()
            );
        }
        let wrong = |error: io::Error| Usage(format!("cannot write {}: {error}", path.display()));
        let is_dir = places::named().entry(path).map_err(wrong)?.is_some_and(|entry| entry.is_dir);
        if is_dir {
            return Err(wrong(io::ErrorKind::IsADirectory.into()).into());
        }
        let (files, place) = (places::beside(path), places::in_directory(path));
        let is_special = files.is_special(&place).map_err(wrong)?;
        let unfinished = (!is_special).then(|| place.with_added_extension("unfinished"));
        let file = match &unfinished {
            Some(unfinished) => files.open(unfinished, OpenMode::CreateOrTruncate),
            // The user has named the link or the pipe itself.
            None => places::named().open(path, OpenMode::CreateOrTruncate),
        };
        let writer = NamedWriter { out: FileWriter::new(file.map_err(wrong)?), path: path.to_path_buf() };
        Ok((Unfinished { files, path: place, unfinished }, writer))
    }

    /// Gives it its name.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        let Some(unfinished) = &self.unfinished else { return Ok(()) };
        let kept = || -> io::Result<()> {
            // Whole also after a power cut.
            self.files.open(unfinished, OpenMode::Write)?.sync()?;
            self.files.rename(unfinished, &self.path)?;
            match self.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => self.files.sync_dir(parent),
                None => self.files.sync_dir(Path::new(".")),
            }
        };
        kept().map_err(|error| named(&self.path, &error))?;
        self.unfinished = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // There is another error to tell of.
            let _ = self.files.remove_file(unfinished);
        }
    }
}

/// The same error with the file that it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

/// Writes a file, whose name its errors say.
pub(crate) struct NamedWriter {
    out: FileWriter,
    path: PathBuf,
}

impl Write for NamedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| named(&self.path, &error))
    }
}

impl Seek for NamedWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// Rows on their way to a file: it has its name once they are all there, or as many as were wanted.
pub(crate) struct UnfinishedSink {
    sink: Box<dyn Sink>,
    file: Option<Unfinished>,
}

impl UnfinishedSink {
    /// `sink` writes to `file`.
    pub(crate) fn new(sink: Box<dyn Sink>, file: Unfinished) -> UnfinishedSink {
        UnfinishedSink { sink, file: Some(file) }
    }
}

impl Sink for UnfinishedSink {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        self.sink.begin(schema)
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.sink.write(batch)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sink.finish()?;
        self.file.take().map_or(Ok(()), Unfinished::keep)
    }

    fn fail(&mut self) -> io::Result<()> {
        self.file = None;
        Ok(())
    }
}
