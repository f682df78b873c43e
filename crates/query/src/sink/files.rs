//! A directory with a file for each row, and `index.jsonl` with the other columns and the file's name.
//!
//! The content of a file is the column `body`, or else `content`, or else `text`, or else the first column of bytes; an answer that has none of
//! these is refused. Its name is the column `instance`, or the row's number, with the ending that the type of the document has:
//! [`Session::plan_files`](crate::Session::plan_files) adds these columns. A name that is taken, since two captures of a URL within one second
//! have one `instance`, gets a number behind it, and so does what lies in the directory already. Where there is no content there is no file, and `file` is null.
//!
//! `index.jsonl` has its name once all is there that it names. A query that fails takes the files along that it wrote. A directory with an answer in it is
//! refused, so that nothing of that one is lost.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use mattock_env::{File, Files, Name, OpenMode};

use super::Sink;
use super::cell::{object, text};
use crate::kept::values::Rest;

/// See the module.
pub struct FilesSink {
    files: Files,
    directory: PathBuf,
    index: Option<File>,
    index_bytes: u64,
    rows: u64,
    content: Option<usize>,
    is_main_text: bool,
    name: Option<usize>,
    kinds: Vec<usize>,
}

/// Columns that are the content of a file, the first of them that there is.
pub(crate) const CONTENTS: [&str; 3] = ["body", "content", MAIN_TEXT];
/// It has no markup, whatever the document is.
const MAIN_TEXT: &str = "text";
const INDEX: &str = "index.jsonl";

/// Columns that say what a document is, the surer one first.
const KINDS: [&str; 3] = ["content_mime_detected", "content_mime_type", "type"];

impl FilesSink {
    /// Writes below `directory`, which is made.
    pub fn new(files: &Files, directory: &Path) -> FilesSink {
        FilesSink {
            files: files.within(directory),
            directory: directory.to_path_buf(),
            index: None,
            index_bytes: 0,
            rows: 0,
            content: None,
            is_main_text: false,
            name: None,
            kinds: Vec::new(),
        }
    }

    /// A name that no file has, neither in the directory nor among those `named` since it was looked at.
    fn file_name(&self, batch: &RecordBatch, row: usize, named: &BTreeSet<String>) -> io::Result<String> {
        let (stem, ending) = self.wanted_name(batch, row);
        let mut name = format!("{stem}.{ending}");
        for number in 2.. {
            if !named.contains(&name) && self.files.entry(&self.directory.join(&name))?.is_none() {
                break;
            }
            name = format!("{stem}-{number}.{ending}");
        }
        Ok(name)
    }

    fn wanted_name(&self, batch: &RecordBatch, row: usize) -> (String, &'static str) {
        let mut name = String::new();
        if let Some(at) = self.name.filter(|at| batch.column(*at).is_valid(row)) {
            text(batch.column(at).as_ref(), row, &mut name);
            name.retain(|letter| letter.is_ascii_alphanumeric());
        }
        if name.is_empty() {
            name = format!("{:09}", self.rows);
        }
        let mut kind = String::new();
        if let Some(at) = self.kinds.iter().find(|at| batch.column(**at).is_valid(row)) {
            text(batch.column(*at).as_ref(), row, &mut kind);
        }
        let is_text = self.content.is_some_and(|at| !is_bytes(batch.column(at).data_type()));
        let ending = match ending(&kind) {
            Some(ending) if !self.is_main_text => ending,
            _ if is_text => "txt",
            _ => "bin",
        };
        (name, ending)
    }

    /// Removes what an answer that was not finished has left: the files that its list names, and the list.
    fn remove_remains(&self) -> io::Result<()> {
        let path = self.unfinished();
        if self.files.entry(&path)?.is_none() {
            return Ok(());
        }
        let remove = |name: &str| {
            // Anybody may have written the list: only what this sink could have made goes.
            let Some(name) = Name::new(name).ok().filter(|name| is_own(name)) else { return Ok(()) };
            let path = self.directory.join(name);
            match self.files.entry(&path)?.is_some_and(|entry| !entry.is_dir) {
                true => self.files.remove_file(&path),
                false => Ok(()),
            }
        };
        let index = self.files.open(&path, OpenMode::Read)?;
        for line in BufReader::new(Rest { file: Arc::new(index), at: 0 }).split(b'\n') {
            let line = line?;
            let name =
                line.strip_prefix(b"{\"file\":\"").and_then(|rest| rest.split(|byte| *byte == b'"').next());
            if let Some(name) = name {
                remove(&String::from_utf8_lossy(name))?;
            }
        }
        self.files.remove_file(&path)
    }

    fn unfinished(&self) -> PathBuf {
        self.directory.join(format!("{INDEX}.unfinished"))
    }

    /// Puts a document into its file.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.directory.join(name);
        let written = self.files.open(&path, OpenMode::CreateOrTruncate);
        let written = written.and_then(|file| file.write_all_at(bytes, 0));
        written.map_err(|error| named_error(&path, &error))
    }
}

/// Whether a file may have a name that this sink has given: letters and digits, perhaps a number behind them, and an ending that it knows.
fn is_own(name: &str) -> bool {
    let Some((stem, end)) = name.split_once('.') else { return false };
    let mut parts = stem.splitn(2, '-');
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts.all(is_plain) && (["txt", "bin"].contains(&end) || ENDINGS.iter().any(|(_, known)| *known == end))
}

/// The same error with the file that it is about.
fn named_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::BinaryView | DataType::LargeBinary)
}

/// The ending of files of a type.
fn ending(kind: &str) -> Option<&'static str> {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ENDINGS.iter().find(|(known, _)| *known == kind).map(|(_, ending)| *ending)
}

/// The endings of files, by type.
const ENDINGS: [(&str, &str); 26] = [
    ("text/html", "html"),
    ("application/xhtml+xml", "xhtml"),
    ("text/plain", "txt"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/javascript", "js"),
    ("application/javascript", "js"),
    ("application/x-javascript", "js"),
    ("application/json", "json"),
    ("application/ld+json", "json"),
    ("application/xml", "xml"),
    ("text/xml", "xml"),
    ("application/rss+xml", "rss"),
    ("application/atom+xml", "atom"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/x-gzip", "gz"),
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/mpeg", "mp3"),
    ("video/mp4", "mp4"),
    ("font/woff2", "woff2"),
];

impl Sink for FilesSink {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        let place = |name: &str| schema.fields().iter().position(|field| field.name() == name);
        self.name = place("instance");
        self.kinds = KINDS.iter().filter_map(|name| place(name)).collect();
        let bytes = || schema.fields().iter().position(|field| is_bytes(field.data_type()));
        self.content = CONTENTS.iter().find_map(|name| place(name)).or_else(bytes);
        let Some(content) = self.content else {
            let message = "no column is the content of a file: ask for `body` (the document's bytes), `content` or `text`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        self.is_main_text = schema.field(content).name() == MAIN_TEXT;
        self.files.create_dir_all(&self.directory).map_err(|error| named_error(&self.directory, &error))?;
        if self.files.entry(&self.directory.join(INDEX))?.is_some() {
            let message = format!(
                "{} has an answer already, which is not overwritten: name another directory",
                self.directory.display()
            );
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        // Of somebody who was killed.
        self.remove_remains()?;
        let path = self.unfinished();
        let index = self.files.open(&path, OpenMode::CreateOrTruncate);
        self.index = Some(index.map_err(|error| named_error(&path, &error))?);
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let content = self.content.map(|at| batch.column(at));
        let without: Vec<usize> = self.content.into_iter().collect();
        let (mut lines, mut named, mut names) = (String::new(), BTreeSet::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let mut file = "null".to_owned();
            if content.is_some_and(|column| column.is_valid(row)) {
                let name = self.file_name(batch, row, &named)?;
                file = format!("\"{name}\"");
                named.insert(name.clone());
                names.push((row, name));
            }
            let start = lines.len();
            object(batch, row, &without, &mut lines);
            // The name goes in front of the other members.
            let rest = lines.split_off(start + 1);
            let comma = if rest == "}" { "" } else { "," };
            lines.push_str(&format!("\"file\":{file}{comma}{rest}\n"));
            self.rows += 1;
        }
        // Listed before they are there, so that whoever clears up after a killed process knows them all.
        if let Some(index) = &self.index {
            let written = index.write_all_at(lines.as_bytes(), self.index_bytes);
            written.map_err(|error| named_error(&self.unfinished(), &error))?;
            self.index_bytes += lines.len() as u64;
        }
        let mut plain = String::new();
        for (column, (row, name)) in content.into_iter().cycle().zip(names) {
            let bytes = match column.data_type() {
                DataType::BinaryView => column.as_binary_view().value(row),
                DataType::Binary => column.as_binary::<i32>().value(row),
                DataType::LargeBinary => column.as_binary::<i64>().value(row),
                _ => {
                    plain.clear();
                    text(column.as_ref(), row, &mut plain);
                    plain.as_bytes()
                }
            };
            self.put(&name, bytes)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.index = None;
        self.files.rename(&self.unfinished(), &self.directory.join(INDEX))
    }

    fn fail(&mut self) -> io::Result<()> {
        self.index = None;
        self.remove_remains()
    }
}
