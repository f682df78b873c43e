//! WACZ: a ZIP file with the archive, its index and a list of pages, which replay tools open by itself.
//!
//! Nothing in it is compressed again, so that readers can seek: `archive/data.warc.gz`, `indexes/index.cdx`, `pages/pages.jsonl`,
//! and `datapackage.json` with the SHA-256 of each.

use std::io::{self, Seek, Write};

use indicatif::HumanCount;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{BY_KEY, COLUMNS, Export, Exported, warc};
use crate::commands::query::failures;
use crate::output;
use crate::progress::Says as _;

const ARCHIVE: &str = "data.warc.gz";

/// Writes the collection.
pub(super) fn write(export: &Export<'_>, out: impl Write + Seek) -> anyhow::Result<Exported> {
    let mut zip = ZipWriter::new(out);
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    let mut resources = Vec::new();
    zip.start_file(format!("archive/{ARCHIVE}"), stored)?;
    let mut counted = Counted::new(&mut zip);
    let (moved, left_out) = warc::write(export, ARCHIVE, &mut counted)?;
    resources.push(counted.told("archive", ARCHIVE));
    zip.start_file("indexes/index.cdx", stored)?;
    let mut counted = Counted::new(&mut zip);
    let count = export.cdxj(&mut counted, Some((ARCHIVE, &moved)))?;
    resources.push(counted.told("indexes", "index.cdx"));
    zip.start_file("pages/pages.jsonl", stored)?;
    let mut counted = Counted::new(&mut zip);
    let told = pages(export, &mut counted)?;
    resources.push(counted.told("pages", "pages.jsonl"));
    zip.start_file("datapackage.json", stored)?;
    let package = serde_json::json!({
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "software": concat!("mattock ", env!("CARGO_PKG_VERSION")),
        "created": export.env.clock.unix().to_seconds_string(),
        "resources": resources,
    });
    let package = serde_json::to_vec_pretty(&package)?;
    zip.write_all(&package)?;
    zip.start_file("datapackage-digest.json", stored)?;
    let digest = serde_json::json!({"path": "datapackage.json", "hash": hash(&Sha256::digest(&package))});
    zip.write_all(&serde_json::to_vec_pretty(&digest)?)?;
    zip.finish()?.flush()?;
    Ok(Exported { count, left_out, told })
}

/// Pages that came whole: what a reader can begin with. What went wrong with titles is told.
fn pages(export: &Export<'_>, out: &mut dyn Write) -> anyhow::Result<String> {
    writeln!(
        out,
        "{}",
        serde_json::json!({"format": "json-pages-1.0", "id": "pages", "title": "All pages"})
    )?;
    let columns = format!("{COLUMNS}, instance, title");
    let mut count = 0;
    // Captures of a URL within one second have one name, and follow each other.
    let (mut last, mut alike) = (None, 0);
    let report = export.rows(&columns, &BY_KEY, &mut |batch, row| {
        let text = |name: &str| output::text(batch.column_by_name(name).expect("it was asked for"), row);
        let is_page = text("content_mime_type").is_some_and(|kind| kind.contains("html"));
        if is_page && output::status(batch, row) == Some(200) {
            let time = output::time(batch, row).map(crate::times::text);
            // Validators want a title; a page that has none is known by its URL.
            let title = text("title").filter(|title| !title.is_empty()).or_else(|| text("url"));
            let instance = text("instance");
            alike = if instance == last { alike + 1 } else { 1 };
            let id = instance.as_ref().map(|id| if alike > 1 { format!("{id}-{alike}") } else { id.clone() });
            last = instance;
            let page = serde_json::json!({
                "id": id, "url": text("url"), "ts": time, "title": title,
            });
            writeln!(out, "{page}")?;
            count += 1;
            export.bar.says(format!("{} pages", HumanCount(count)));
        }
        Ok(())
    })?;
    Ok(failures(&report))
}

fn hash(digest: &[u8]) -> String {
    format!("sha256:{}", data_encoding::HEXLOWER.encode(digest))
}

/// Counts and digests what passes.
struct Counted<W> {
    out: W,
    bytes: u64,
    digest: Sha256,
}

impl<W: Write + Seek> Counted<&mut ZipWriter<W>> {
    fn new(out: &mut ZipWriter<W>) -> Counted<&mut ZipWriter<W>> {
        Counted { out, bytes: 0, digest: Sha256::new() }
    }

    fn told(self, directory: &str, name: &str) -> serde_json::Value {
        serde_json::json!({
            "name": name, "path": format!("{directory}/{name}"), "bytes": self.bytes,
            "hash": hash(&self.digest.finalize()),
        })
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        self.digest.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
