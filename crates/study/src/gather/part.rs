//! One part of the index becomes a segment.
//!
//! Rows with documents are read in pieces: stretches of the archives, in their order, so that each is read from front to back. Rows without
//! (redirects, errors) need no archive and go with the first piece. A part of one piece is a segment at once; the pieces of a larger
//! one are merged when all are there.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_schema::SchemaRef;
use mattock_env::Random;
use mattock_features::segment::{SegmentSorter, Segments, read_summary};
use mattock_query::sink::Sink;
use mattock_query::{Cancel, Failures, Language, Options, QueryError, Session, Source};

use super::rows::{COMPUTED, PLAIN, Rows, text};
use super::{Gathered, Gathering, PIECE, Store, Wanted};
use crate::build::BuildFeatures;
use crate::error::{Result, StudyError};

/// As many documents are in a piece: a minute or two of reading.
pub(crate) const PIECE_ROWS: u64 = 65_536;

/// What reads one part.
pub(super) struct Gatherer<'a> {
    pub(super) store: &'a Store,
    pub(super) part: &'a Wanted,
    pub(super) options: &'a BuildFeatures<'a>,
    pub(super) recipe: &'a str,
    pub(super) cancel: &'a Cancel,
}

impl Gatherer<'_> {
    /// Makes the segment; false if it was stopped. `others` are all other parts.
    pub(super) fn run(
        &self,
        others: Vec<PathBuf>,
        gathered: &mut Gathered,
        progress: &mut dyn FnMut(Gathering),
    ) -> Result<bool> {
        let session = self.session(others)?;
        let stretches = if self.part.rows <= self.options.piece_rows {
            vec![String::new()]
        } else {
            self.stretches(&session)?
        };
        let pieces = stretches.len();
        let mut paths = Vec::new();
        for (number, stretch) in (1..).zip(&stretches) {
            let path = match pieces {
                1 => self.part.segment.clone(),
                _ => self.store.dir.join(format!("{}.{number}of{pieces}.{PIECE}", self.part.name)),
            };
            let mut told = |at: Gathering| progress(Gathering { piece: number, pieces, ..at });
            if !self.store.has(&path, self.recipe)?
                && !self.read_piece(&session, stretch, number == 1, &path, gathered, &mut told)?
            {
                return Ok(false);
            }
            paths.push(path);
        }
        if pieces > 1 {
            self.merge(&paths)?;
        }
        Ok(true)
    }

    fn session(&self, others: Vec<PathBuf>) -> Result<Session> {
        let mut options = Options::new(Random::from_seed(0));
        options.threads = self.options.threads.max(1);
        options.memory_bytes = usize::try_from(self.options.memory / 2).unwrap_or(usize::MAX);
        options.temporary = self.options.temporary.clone();
        let parts = vec![self.part.path.clone()];
        let mut source = Source::new(self.options.repository, mattock_index::schema(), parts, Vec::new());
        source.others = others;
        Ok(Session::with_source(&self.store.files, source, options)?)
    }

    /// Conditions that cut the documents of the part into stretches of the archives, none longer than a piece.
    fn stretches(&self, session: &Session) -> Result<Vec<String>> {
        let mut places = Places::default();
        let asked = "select warc_filename, warc_record_offset from documents where fetch_status = 200";
        let query = session.plan(asked, Language::Sql)?;
        query.run(&mut places, &mut |_| {}, self.cancel)?;
        let cuts = places.cuts(usize::try_from(self.options.piece_rows).unwrap_or(usize::MAX));
        let from = |cut: &Cut| {
            let name = cut.0.replace('\'', "''");
            format!(
                " and (warc_filename > '{name}' or warc_filename = '{name}' and warc_record_offset >= {})",
                cut.1
            )
        };
        let below = |cut: &Cut| {
            let name = cut.0.replace('\'', "''");
            format!(
                " and (warc_filename < '{name}' or warc_filename = '{name}' and warc_record_offset < {})",
                cut.1
            )
        };
        let stretch = |number: usize| {
            let first = number.checked_sub(1).and_then(|before| cuts.get(before)).map(from);
            first.unwrap_or_default() + &cuts.get(number).map(below).unwrap_or_default()
        };
        Ok((0..=cuts.len()).map(stretch).collect())
    }

    /// Reads a stretch, and with it rows that have no documents if these are wanted; false if it was stopped.
    fn read_piece(
        &self,
        session: &Session,
        stretch: &str,
        with_plain: bool,
        path: &std::path::Path,
        gathered: &mut Gathered,
        progress: &mut dyn FnMut(Gathering),
    ) -> Result<bool> {
        let memory = self.options.memory / 4;
        let sorter = SegmentSorter::new(&self.store.files, &self.store.scratch(), "gathered", memory);
        let mut rows = Rows::new(sorter);
        let mut queries = Vec::new();
        if with_plain {
            queries.push(format!("select {} from documents where fetch_status <> 200", PLAIN.join(", ")));
        }
        let columns = [&PLAIN[..], &COMPUTED[..]].concat().join(", ");
        queries.push(format!("select {columns} from documents where fetch_status = 200{stretch}"));
        let mut unreadable = 0;
        for query in queries {
            let query = session.plan(&query, Language::Sql)?;
            let mut told = |at: &mattock_query::Progress| {
                progress(Gathering {
                    documents: at.documents,
                    documents_total: at.documents_total,
                    bytes: at.bytes,
                    bytes_total: at.bytes_total,
                    ..Gathering::default()
                });
            };
            let report = match query.run(&mut rows, &mut told, self.cancel) {
                // What the rows were written to has said more than the query can.
                Err(QueryError::Output(error)) => {
                    return Err(rows
                        .failed
                        .take()
                        .map_or(QueryError::Output(error).into(), StudyError::from));
                }
                ran => ran?,
            };
            if report.cancelled {
                return Ok(false);
            }
            gathered.documents += report.documents_read;
            for failed in report.failures {
                unreadable += if failed.column == "record" { failed.count } else { 0 };
                add_failure(&mut gathered.failures, failed);
            }
        }
        rows.into_sorter().finish(path, self.recipe, unreadable)?;
        Ok(true)
    }

    fn merge(&self, pieces: &[PathBuf]) -> Result<()> {
        let files = &self.store.files;
        let mut unreadable = 0;
        for piece in pieces {
            unreadable += read_summary(files, piece)?.unreadable;
        }
        let segments = Segments::open(files, pieces, &self.store.scratch(), self.options.memory / 4)?;
        segments.write(files, &self.part.segment, self.recipe, unreadable)?;
        for piece in pieces {
            files.remove_file(piece).map_err(StudyError::io(piece))?;
        }
        Ok(())
    }
}

fn add_failure(failures: &mut Vec<Failures>, failed: Failures) {
    match failures.iter_mut().find(|known| known.column == failed.column) {
        Some(known) => known.count += failed.count,
        None => failures.push(failed),
    }
}

/// An archive, and a place in it.
type Cut = (String, i32);

/// Takes the places of documents.
#[derive(Default)]
struct Places {
    offsets: BTreeMap<String, Vec<i32>>,
}

impl Places {
    /// Where to cut, so that no more than `rows` lie between two cuts.
    fn cuts(self, rows: usize) -> Vec<Cut> {
        let (mut cuts, mut before) = (Vec::new(), 0);
        for (name, mut offsets) in self.offsets {
            offsets.sort_unstable();
            for offset in offsets {
                if before == rows {
                    cuts.push((name.clone(), offset));
                    before = 0;
                }
                before += 1;
            }
        }
        cuts
    }
}

impl Sink for Places {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let offsets = batch.column(1).as_primitive::<Int32Type>();
        for row in 0..batch.num_rows() {
            let name = text(batch.column(0), row).unwrap_or_default();
            match self.offsets.get_mut(name) {
                Some(known) => known.push(offsets.value(row)),
                None => drop(self.offsets.insert(name.to_owned(), vec![offsets.value(row)])),
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_no_longer_than_a_piece() {
        let offsets = BTreeMap::from([("a".to_owned(), vec![30, 10, 20]), ("b".to_owned(), vec![5, 1])]);
        let cuts = |rows| Places { offsets: offsets.clone() }.cuts(rows);
        assert_eq!(cuts(5), []);
        assert_eq!(cuts(4), [("b".to_owned(), 5)]);
        assert_eq!(cuts(2), [("a".to_owned(), 30), ("b".to_owned(), 5)]);
        assert_eq!(cuts(1).len(), 4);
    }
}
