//! `mattock export`: documents of a repository as files that other tools read.
//!
//! ```text
//! index ─► rows that are wanted ─┬─► columns, by the sinks of queries
//!                                ├─► lines of CDXJ
//!                                └─► records, each verified ─► WARC ─► WACZ with index and pages
//! ```

mod originals;
mod record;
mod wacz;
mod warc;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use indicatif::{HumanCount, ProgressBar};
use mattock_env::Env;
use mattock_index::CdxjPlace;
use mattock_query::sink::Sink;
use mattock_query::{Cancel, Language, Report, Session};

use crate::args::repository::{ExportArgs, ExportFormat};
use crate::args::rows::RowFormat;
use crate::commands::query::{failures, sampled, shown};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::{Repository, options};
use crate::rows;
use crate::signals::Patience;
use crate::unfinished::Unfinished;
use crate::visiting::{Visiting, output_error, place};

use warc::LeftOut;

/// What lines of an index are made of.
const COLUMNS: &str = "url_surtkey, url, fetch_time, fetch_status, record_type, content_mime_type, content_digest, warc_filename, \
                       warc_record_offset, warc_record_length";
/// The order of replay tools.
const BY_KEY: [&str; 2] = ["url_surtkey", "fetch_time"];

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::of([args.dir.as_path()]);
    if places::named().entry(&args.output)?.is_some() {
        return Err(
            Usage(format!("{} is there already: it is not overwritten", args.output.display())).into()
        );
    }
    let format = args.format.of_rows();
    let named_otherwise = |ending: &str| args.output.extension().is_some_and(|own| own == ending);
    if args.format == ExportFormat::Warc && ["zst", "warc"].into_iter().any(named_otherwise) {
        let message = "--format warc writes gzip: give the file a name that ends in .warc.gz";
        return Err(Usage(message.into()).into());
    }
    if args.columns.is_some() && format.is_none() {
        return Err(Usage("--columns are for --format parquet, jsonl and csv".into()).into());
    }
    let repository = Repository::open(&env, &args.dir)?;
    let text = [args.condition.as_deref(), args.columns.as_deref()].map(Option::unwrap_or_default).join(" ");
    let session = repository.session(options(&env, &args.ask, &args.dir, &text)?)?;
    let cancel = progress::interruptible(Patience::with([&args.dir]));
    let root = places::absolute(&args.dir)?;
    let bar = progress::bar(false, 1, "{bar:30} {msg}");
    let export = Export {
        env: &env,
        root: &root,
        session: &session,
        condition: args.condition.as_deref(),
        cancel: &cancel,
        bar: &bar,
    };
    // What it means is told before it is done, and is the same in all passes.
    let query = session.plan_selection("url", args.condition.as_deref(), &[])?;
    if !query.seeds().is_empty() {
        say!("{}", sampled(query.seeds(), query.dates()));
    }
    let exported = match format {
        Some(format) => export.columns(args, format),
        None => export.archive(args.format, &args.output),
    };
    bar.finish_and_clear();
    if cancel.is_cancelled() {
        say!("Stopped: nothing was written.");
        return Ok(Ended::Interrupted);
    }
    let Exported { count, left_out, told } = exported?;
    say_on!("{told}{left_out}");
    say!("{} instances are in {}", HumanCount(count), args.output.display());
    Ok(if left_out.is_nothing() { Ended::Done } else { Ended::Failed })
}

/// What was exported.
#[derive(Default)]
struct Exported {
    count: u64,
    left_out: LeftOut,
    /// What else there is to say.
    told: String,
}

/// What is exported.
struct Export<'a> {
    env: &'a Env,
    root: &'a Path,
    session: &'a Session,
    condition: Option<&'a str>,
    cancel: &'a Cancel,
    bar: &'a ProgressBar,
}

/// Where a record went.
struct Moved {
    /// Shared with the others of the file: there may be very many.
    file: Arc<str>,
    offset: u64,
    new_offset: u64,
    new_length: u64,
    /// It is one still.
    is_revisit: bool,
}

impl Export<'_> {
    /// An archive, or the index of one.
    fn archive(&self, format: ExportFormat, path: &Path) -> anyhow::Result<Exported> {
        let (file, out) = Unfinished::create(path)?;
        let mut out = BufWriter::with_capacity(1 << 20, out);
        let exported = match format {
            ExportFormat::Wacz => wacz::write(self, out)?,
            ExportFormat::Warc => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let (moved, left_out) = warc::write(self, &name, &mut out)?;
                Exported { count: moved.len() as u64, left_out, told: String::new() }
            }
            _ => Exported { count: self.cdxj(&mut out, None)?, ..Exported::default() },
        };
        if !self.cancel.is_cancelled() {
            file.keep()?;
        }
        Ok(exported)
    }

    /// Columns, as rows of a file; those of the index if none are named.
    fn columns(&self, args: &ExportArgs, format: RowFormat) -> anyhow::Result<Exported> {
        let schema = mattock_index::schema();
        let all = || schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
        let columns = args.columns.clone().unwrap_or_else(all);
        let query = self.session.plan_selection(&columns, self.condition, &[])?;
        let sink = rows::sink(Some(format), args.safe, Some(&args.output))?;
        let mut sink = Rows { sink, cancel: self.cancel };
        let report = query.run(&mut sink, &mut |progress| shown(self.bar, progress), self.cancel);
        let report = output_error(report)?;
        Ok(Exported { count: report.rows, told: failures(&report), ..Exported::default() })
    }

    /// Hands out columns of the rows that are wanted, in some order.
    fn rows(
        &self,
        columns: &str,
        order: &[&str],
        visit: &mut dyn FnMut(&RecordBatch, usize) -> io::Result<()>,
    ) -> anyhow::Result<Report> {
        let query = self.session.plan_selection(columns, self.condition, order)?;
        output_error(query.run(&mut Visiting(visit), &mut |_| {}, self.cancel))
    }

    /// Lines of an index, in order. With `moved` records are where they went.
    fn cdxj(&self, out: &mut dyn Write, moved: Option<(&str, &[Moved])>) -> anyhow::Result<u64> {
        let (mut count, mut lines) = (0, SortedLines { out, alike: Vec::new() });
        let namesakes = if moved.is_none() { self.namesakes()? } else { BTreeSet::new() };
        self.rows(COLUMNS, &BY_KEY, &mut |batch, row| {
            let (name, offset, length) = place(batch, row);
            let new_place = match moved {
                None => namesakes.contains(&name).then(|| CdxjPlace {
                    file: &name,
                    offset,
                    length,
                    is_revisit: output::text(&batch["record_type"], row).as_deref() == Some("revisit"),
                }),
                Some((file, moved)) => {
                    let key = (name.as_str(), offset);
                    match moved.binary_search_by(|one| (&*one.file, one.offset).cmp(&key)) {
                        Ok(at) => Some(CdxjPlace {
                            file,
                            offset: moved[at].new_offset,
                            length: moved[at].new_length,
                            is_revisit: moved[at].is_revisit,
                        }),
                        // It was left out.
                        Err(_) => return Ok(()),
                    }
                }
            };
            count += 1;
            self.bar.says(format!("{} lines of the index", HumanCount(count)));
            let mut line = Vec::new();
            mattock_index::cdxj_line(batch, row, new_place, &mut line)?;
            lines.add(line)
        })?;
        lines.finish()?;
        Ok(count)
    }
}

/// Lines that come in the order of their first two words: those in which these are the same are sorted by the rest, as `sort` and whoever
/// merges such files do.
struct SortedLines<'a> {
    out: &'a mut dyn Write,
    /// Lines with the same first words.
    alike: Vec<Vec<u8>>,
}

impl SortedLines<'_> {
    fn add(&mut self, line: Vec<u8>) -> io::Result<()> {
        let words =
            |line: &[u8]| line.split(|byte| *byte == b' ').take(2).map(<[u8]>::len).sum::<usize>() + 1;
        let is_alike = |other: &Vec<u8>| line[..words(&line)] == other[..words(other)];
        if !self.alike.first().is_none_or(is_alike) {
            self.write_alike()?;
        }
        self.alike.push(line);
        Ok(())
    }

    fn write_alike(&mut self) -> io::Result<()> {
        self.alike.sort_unstable();
        self.alike.drain(..).try_for_each(|line| self.out.write_all(&line))
    }

    fn finish(mut self) -> io::Result<()> {
        self.write_alike()?;
        self.out.flush()
    }
}

impl Export<'_> {
    /// Files whose names another file has in another directory: an index names these with their directories.
    fn namesakes(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut visit = |batch: &RecordBatch, row: usize| {
            let file = output::text(&batch["warc_filename"], row).unwrap_or_default();
            let name = file.rsplit('/').next().unwrap_or_default().to_owned();
            files.entry(name).or_default().insert(file);
            Ok(())
        };
        let query = self.session.plan("select distinct warc_filename from documents", Language::Sql)?;
        output_error(query.run(&mut Visiting(&mut visit), &mut |_| {}, self.cancel))?;
        Ok(files.into_values().filter(|files| files.len() > 1).flatten().collect())
    }
}

/// An export is whole or not there, also if somebody stops it.
struct Rows<'a> {
    sink: Box<dyn Sink>,
    cancel: &'a Cancel,
}

impl Sink for Rows<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        self.sink.begin(schema)
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.sink.write(batch)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.cancel.is_cancelled() { self.sink.fail() } else { self.sink.finish() }
    }

    fn fail(&mut self) -> io::Result<()> {
        self.sink.fail()
    }
}

/// Where an archive is that rows name.
fn located(root: &Path, file: &str) -> PathBuf {
    mattock_env::located(root, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_key_and_time_are_sorted_by_the_rest() {
        let mut out = Vec::new();
        let mut lines = SortedLines { out: &mut out, alike: Vec::new() };
        let given = ["a)/ 1 {b", "a)/ 1 {c", "a)/ 1 {a", "a)/ 2 {b", "a)/ 2 {a", "a)/b 1 {z", "a)/b 10 {a"];
        for line in given {
            lines.add(format!("{line}\n").into_bytes()).unwrap();
        }
        lines.finish().unwrap();
        let mut sorted: Vec<String> = given.iter().map(|line| format!("{line}\n")).collect();
        sorted.sort_unstable();
        assert_eq!(String::from_utf8(out).unwrap(), sorted.concat());
    }
}
