//! A directory with a file for each row, and `index.jsonl` with the other columns and the file's name.
//!
//! The content of a file is the column `body`, or else `content`, or else the first column of bytes or text that names nothing.
//! Its name is the column `instance`, or the row's number, with the ending that the type of the document has:
//! [`Session::plan_files`](crate::Session::plan_files) adds these columns.

use std::io;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use mattock_env::{File, Files, OpenMode};

use super::Sink;
use super::cell::{object, text};

/// See the module.
pub struct FilesSink {
    files: Files,
    directory: PathBuf,
    index: Option<File>,
    index_bytes: u64,
    rows: u64,
    content: Option<usize>,
    name: Option<usize>,
    kinds: Vec<usize>,
}

/// Columns that say what a document is, the surer one first.
const KINDS: [&str; 3] = ["content_mime_detected", "content_mime_type", "type"];

impl FilesSink {
    /// Writes below `directory`, which is made.
    pub fn new(files: &Files, directory: &Path) -> FilesSink {
        FilesSink {
            files: files.clone(),
            directory: directory.to_path_buf(),
            index: None,
            index_bytes: 0,
            rows: 0,
            content: None,
            name: None,
            kinds: Vec::new(),
        }
    }

    fn file_name(&self, batch: &RecordBatch, row: usize) -> String {
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
        name.push('.');
        name.push_str(ending(&kind).unwrap_or(if is_text { "txt" } else { "bin" }));
        name
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::BinaryView | DataType::LargeBinary)
}

/// The ending of files of a type.
fn ending(kind: &str) -> Option<&'static str> {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match kind.as_str() {
        "text/html" => "html",
        "application/xhtml+xml" => "xhtml",
        "text/plain" => "txt",
        "text/css" => "css",
        "text/csv" => "csv",
        "text/javascript" | "application/javascript" | "application/x-javascript" => "js",
        "application/json" | "application/ld+json" => "json",
        "application/xml" | "text/xml" => "xml",
        "application/rss+xml" => "rss",
        "application/atom+xml" => "atom",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" | "application/x-gzip" => "gz",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "video/mp4" => "mp4",
        "font/woff2" => "woff2",
        _ => return None,
    })
}

impl Sink for FilesSink {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        self.files.create_dir_all(&self.directory)?;
        self.index = Some(self.files.open(&self.directory.join("index.jsonl"), OpenMode::CreateOrTruncate)?);
        let place = |name: &str| schema.fields().iter().position(|field| field.name() == name);
        self.name = place("instance");
        self.kinds = KINDS.iter().filter_map(|name| place(name)).collect();
        self.content = place("body").or_else(|| place("content")).or_else(|| {
            let is_taken = |at: usize| Some(at) == self.name || self.kinds.contains(&at);
            let holds = |data_type: &DataType| is_bytes(data_type) || data_type.is_string();
            let mut fields = schema.fields().iter().enumerate();
            fields.find(|(at, field)| !is_taken(*at) && holds(field.data_type())).map(|(at, _)| at)
        });
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let mut lines = String::new();
        for row in 0..batch.num_rows() {
            let name = self.file_name(batch, row);
            if let Some(column) =
                self.content.map(|at| batch.column(at)).filter(|column| column.is_valid(row))
            {
                let mut plain = String::new();
                let bytes = match column.data_type() {
                    DataType::BinaryView => column.as_binary_view().value(row),
                    DataType::Binary => column.as_binary::<i32>().value(row),
                    DataType::LargeBinary => column.as_binary::<i64>().value(row),
                    _ => {
                        text(column.as_ref(), row, &mut plain);
                        plain.as_bytes()
                    }
                };
                self.files
                    .open(&self.directory.join(&name), OpenMode::CreateOrTruncate)?
                    .write_all_at(bytes, 0)?;
            }
            let without: Vec<usize> = self.content.into_iter().collect();
            let start = lines.len();
            object(batch, row, &without, &mut lines);
            // The name goes in front of the other members.
            let rest = lines.split_off(start + 1);
            let comma = if rest == "}" { "" } else { "," };
            lines.push_str(&format!("\"file\":\"{name}\"{comma}{rest}\n"));
            self.rows += 1;
        }
        if let Some(index) = &self.index {
            index.write_all_at(lines.as_bytes(), self.index_bytes)?;
            self.index_bytes += lines.len() as u64;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.index = None;
        Ok(())
    }
}
