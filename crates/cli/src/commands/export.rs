//! `mattock export`: documents of a repository as files that other tools read.

mod wacz;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_schema::SchemaRef;
use indicatif::HumanCount;
use mattock_env::{Env, File, OpenMode, located};
use mattock_query::sink::Sink;
use mattock_query::{Cancel, Language, Session};
use mattock_repository::RecordFetcher;

use crate::args::repository::{ExportArgs, ExportFormat};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::repository::{Repository, options};
use crate::signals;

/// What lines of an index are made of.
const COLUMNS: &str = "url_surtkey, url, fetch_time, fetch_status, record_type, content_mime_type, content_digest, warc_filename, \
                       warc_record_offset, warc_record_length";

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    if env.files.entry(&args.output)?.is_some() {
        return Err(
            Usage(format!("{} is there already: it is not overwritten", args.output.display())).into()
        );
    }
    let repository = Repository::open(&env, &args.dir)?;
    let session = repository.session(options(
        &env,
        &args.ask,
        &args.dir,
        args.condition.as_deref().unwrap_or_default(),
    )?)?;
    let cancel = Cancel::new();
    let watched = cancel.clone();
    signals::when_interrupted(move || watched.cancel());
    let root = places::absolute(&args.dir)?;
    let export = Export {
        env: &env,
        root: &root,
        session: &session,
        condition: args.condition.as_deref(),
        cancel: &cancel,
    };
    let unfinished = args.output.with_added_extension("unfinished");
    let count = match args.format {
        ExportFormat::Cdxj => export.cdxj(&mut BufWriter::new(output::create(&env, &unfinished)?), None)?,
        ExportFormat::Warc => export
            .warc(&mut BufWriter::with_capacity(1 << 20, output::create(&env, &unfinished)?))?
            .len() as u64,
        ExportFormat::Wacz => wacz::write(&export, &unfinished)?,
    };
    if cancel.is_cancelled() {
        env.files.remove_file(&unfinished)?;
        say!("Stopped: nothing was written.");
        return Ok(Ended::Interrupted);
    }
    env.files.rename(&unfinished, &args.output)?;
    say!("{} instances are in {}", HumanCount(count), args.output.display());
    Ok(Ended::Done)
}

/// What is exported.
struct Export<'a> {
    env: &'a Env,
    root: &'a Path,
    session: &'a Session,
    condition: Option<&'a str>,
    cancel: &'a Cancel,
}

/// Where a record went.
struct Moved {
    file: String,
    offset: u64,
    new_offset: u64,
    new_length: u64,
}

impl Export<'_> {
    /// Hands out the rows that are wanted, in some order.
    fn rows(
        &self,
        order: &str,
        visit: &mut dyn FnMut(&RecordBatch, usize) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let condition = self.condition.map(|condition| format!(" where ({condition})")).unwrap_or_default();
        let query = format!("select {COLUMNS} from documents{condition} order by {order}");
        let mut sink = Visiting(visit);
        self.session.plan(&query, Language::Sql)?.run(&mut sink, &mut |_| {}, self.cancel)?;
        Ok(())
    }

    /// Lines of an index, in order. With `moved` records are where they went.
    fn cdxj(&self, out: &mut dyn Write, moved: Option<(&str, &[Moved])>) -> anyhow::Result<u64> {
        let mut count = 0;
        self.rows("url_surtkey, fetch_time", &mut |batch, row| {
            count += 1;
            match moved {
                None => mattock_index::cdxj_line(batch, row, None, &mut *out),
                Some((name, moved)) => {
                    let (file, offset, _) = place(batch, row);
                    let key = (file.as_str(), offset);
                    match moved.binary_search_by(|one| (one.file.as_str(), one.offset).cmp(&key)) {
                        Ok(at) => {
                            let place = (name, moved[at].new_offset, moved[at].new_length);
                            mattock_index::cdxj_line(batch, row, Some(place), &mut *out)
                        }
                        Err(_) => Ok(()),
                    }
                }
            }
        })?;
        out.flush()?;
        Ok(count)
    }

    /// One file of all records, each a gzip member; where they went, in the order of where they were.
    fn warc(&self, out: &mut dyn Write) -> anyhow::Result<Vec<Moved>> {
        let mut moved = Vec::new();
        let mut records = Records {
            env: self.env,
            root: self.root,
            open: None,
            fetcher: RecordFetcher::new(&self.env.files),
            bytes: Vec::new(),
        };
        let mut at = 0;
        self.rows("warc_filename, warc_record_offset", &mut |batch, row| {
            let (file, offset, length) = place(batch, row);
            let bytes = records.member(&file, offset, length).map_err(io::Error::other)?;
            out.write_all(bytes)?;
            let new_length = bytes.len() as u64;
            moved.push(Moved { file, offset, new_offset: at, new_length });
            at += new_length;
            Ok(())
        })?;
        out.flush()?;
        Ok(moved)
    }
}

fn place(batch: &RecordBatch, row: usize) -> (String, u64, u64) {
    let column = |name: &str| batch.column_by_name(name).expect("it was asked for");
    let number = |name: &str| column(name).as_primitive::<Int32Type>().value(row) as u64;
    let file = output::text(column("warc_filename"), row).unwrap_or_default();
    (file, number("warc_record_offset"), number("warc_record_length"))
}

/// Reads records as gzip members.
struct Records<'a> {
    env: &'a Env,
    root: &'a Path,
    open: Option<(PathBuf, File)>,
    fetcher: RecordFetcher,
    bytes: Vec<u8>,
}

impl Records<'_> {
    /// The record's gzip member: as it is, or made of what it is in.
    fn member(&mut self, file: &str, offset: u64, length: u64) -> anyhow::Result<&[u8]> {
        let path = located(self.root, file);
        if self.open.as_ref().is_none_or(|(open, _)| *open != path) {
            let opened = self.env.files.open(&path, OpenMode::Read);
            self.open =
                Some((path.clone(), opened.with_context(|| format!("cannot open {}", path.display()))?));
        }
        let (_, source) = self.open.as_ref().expect("it was just opened");
        self.bytes.resize(usize::try_from(length)?, 0);
        source
            .read_exact_at(&mut self.bytes, offset)
            .with_context(|| format!("cannot read {}", path.display()))?;
        if !self.bytes.starts_with(b"\x1f\x8b") {
            let record = self.fetcher.fetch(&path, offset, length)?;
            let plain = output::record_bytes(&record);
            let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
            self.bytes.resize(compressor.gzip_compress_bound(plain.len()), 0);
            let length = compressor.gzip_compress(&plain, &mut self.bytes)?;
            self.bytes.truncate(length);
        }
        Ok(&self.bytes)
    }
}

/// Takes an answer row by row.
struct Visiting<'a>(&'a mut dyn FnMut(&RecordBatch, usize) -> io::Result<()>);

impl Sink for Visiting<'_> {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        (0..batch.num_rows()).try_for_each(|row| (self.0)(batch, row))
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
