//! CDXJ: one line for every record, as replay tools (pywb) want it: key, time, and a JSON object.
//!
//! `com,example)/a 20260102030405 {"url": …, "mime": …, "status": …, "digest": …, "length": …, "offset": …, "filename": …}`

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use jiff::Timestamp;

/// Where a record went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CdxjPlace<'a> {
    /// The file's name.
    pub file: &'a str,
    /// Where in it.
    pub offset: u64,
    /// How long it is there.
    pub length: u64,
    /// Whether it is a revisit there.
    pub is_revisit: bool,
}

/// Writes the line of a row of the index, or of any batch that has its columns. With `moved` the record is in another file.
pub fn cdxj_line(
    batch: &RecordBatch,
    row: usize,
    moved: Option<CdxjPlace<'_>>,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let missing = |name: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("no column {name}"));
    let column = |name: &str| batch.column_by_name(name).ok_or_else(|| missing(name));
    let text = |name: &str| -> io::Result<Option<&str>> {
        let column = column(name)?;
        if column.is_null(row) {
            return Ok(None);
        }
        // Engines hand texts out in either form.
        let views = || column.as_string_view_opt().map(|texts| texts.value(row));
        let value = column.as_string_opt::<i32>().map(|texts| texts.value(row)).or_else(views);
        value.map(Some).ok_or_else(|| missing(name))
    };
    let int = |name: &str| -> io::Result<u64> {
        Ok(column(name)?.as_primitive_opt::<Int32Type>().ok_or_else(|| missing(name))?.value(row) as u64)
    };
    let time = column("fetch_time")?.as_primitive_opt::<TimestampMillisecondType>();
    let time = Timestamp::from_millisecond(time.ok_or_else(|| missing("fetch_time"))?.value(row));
    let time = time.unwrap_or_default().strftime("%Y%m%d%H%M%S").to_string();
    let status = column("fetch_status")?.as_primitive_opt::<Int16Type>();
    let status = status.ok_or_else(|| missing("fetch_status"))?.value(row).to_string();
    let is_revisit = match moved {
        Some(moved) => moved.is_revisit,
        None => text("record_type")? == Some("revisit"),
    };
    let mime = match is_revisit {
        true => "warc/revisit",
        false => text("content_mime_type")?.unwrap_or("unk"),
    };
    let file = text("warc_filename")?.unwrap_or_default();
    let here =
        (file.rsplit('/').next().unwrap_or(file), int("warc_record_offset")?, int("warc_record_length")?);
    let (file, offset, length) = moved.map_or(here, |moved| (moved.file, moved.offset, moved.length));
    let object = serde_json::json!({
        "url": text("url")?,
        "mime": mime,
        "status": status,
        "digest": text("content_digest")?.unwrap_or("-"),
        "length": length.to_string(),
        "offset": offset.to_string(),
        "filename": file,
    });
    writeln!(out, "{} {time} {object}", text("url_surtkey")?.unwrap_or_default())
}
