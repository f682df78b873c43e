//! `mattock query`: asks a repository, and writes the answer.

use std::io::{self, Read};
use std::path::PathBuf;

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar};
use mattock_env::is_url;
use mattock_query::sink::{FilesSink, Sink};
use mattock_query::{Dates, Failures, GivenTable, Language, Options, Progress, Query, QueryError, Report};

use crate::args::repository::{Format, QueryArgs};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::{Repository, options};
use crate::rows;
use crate::signals::Patience;

pub(crate) fn run(args: &QueryArgs) -> anyhow::Result<Ended> {
    if let Some(table) = args.tables.first().filter(|_| !args.sql) {
        return Err(Usage(format!("the table `{}` is for SQL: say --sql", table.name)).into());
    }
    let mut places = Places::of([&args.dir].into_iter().chain(&args.features.dir).map(PathBuf::as_path));
    let tables = tables(&args.tables)?;
    places.read_also(tables.iter().map(|table| &table.path));
    let env = &places.env;
    let text = match args.query.as_str() {
        "-" => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            text
        }
        text => text.to_owned(),
    };
    let repository = Repository::open(env, &args.dir)?.with_features(args.features.dir.as_deref())?;
    let session = repository.session(Options { tables, ..options(env, &args.ask, &args.dir, &text)? })?;
    let language = if args.sql { Language::Sql } else { Language::Wib };
    let queries = match args.format {
        Some(Format::Files) => session.plan_files(&text, language)?,
        _ => session.plan_all(&text, language)?,
    };
    if args.explain {
        for query in &queries {
            output::print(&query.explain()?.to_string())?;
        }
        return Ok(Ended::Done);
    }
    let one = queries.len() == 1;
    let asked = places.counts();
    let mut ended = Ended::Done;
    for query in queries {
        if !one && args.output.is_some() {
            return Err(Usage("several queries do not go into one file: write them one by one".into()).into());
        }
        let report = ask(args, query)?;
        if report.rows == 0 && args.sql && !args.quiet && text.contains("'CC-MAIN-") {
            say!(
                "note: the crawl of a row is what `mattock import --name` has said, or else the name of the directory: `select distinct crawl from documents` has those that are here"
            );
        }
        if report.cancelled {
            ended = Ended::Interrupted;
            break;
        }
    }
    if !args.quiet && is_url(&args.dir) {
        let (before, after) = (asked, places.counts());
        say!(
            "{} requests to open it and {} to ask it, {} of {} in all",
            HumanCount(before.requests),
            HumanCount(after.requests - before.requests),
            HumanBytes(after.bytes_read),
            args.dir.display()
        );
    }
    Ok(ended)
}

/// The tables of files, each with a name of its own, wherever somebody stands.
fn tables(given: &[GivenTable]) -> anyhow::Result<Vec<GivenTable>> {
    let mut tables: Vec<GivenTable> = Vec::new();
    for table in given {
        if tables.iter().any(|other| other.name == table.name) {
            return Err(Usage(format!(
                "two tables are called `{}`: give one of them another name",
                table.name
            ))
            .into());
        }
        if is_url(&table.path) {
            let message =
                format!("{}: a table is a file of this machine; fetch it first", table.path.display());
            return Err(Usage(message).into());
        }
        tables.push(GivenTable { path: places::absolute(&table.path)?, ..table.clone() });
    }
    Ok(tables)
}

fn ask(args: &QueryArgs, query: Query) -> anyhow::Result<Report> {
    let cancel = progress::interruptible(Patience::with([&args.dir]));
    let mut sink: Box<dyn Sink> = match args.format {
        Some(Format::Files) => {
            let directory =
                args.output.as_deref().ok_or_else(|| Usage("say which directory with --output".into()))?;
            if is_url(directory) {
                return Err(Usage("say which directory of this machine with --output".into()).into());
            }
            Box::new(FilesSink::new(&places::named(), directory))
        }
        format => rows::sink(format.and_then(Format::of_rows), args.safe, args.output.as_deref())?,
    };
    if !args.quiet && !query.seeds().is_empty() {
        say!("{}", sampled(query.seeds(), query.dates()));
    }
    let bar = progress::bar(args.quiet, 1, "{bar:30} {msg}");
    let result = query.run(sink.as_mut(), &mut |progress| shown(&bar, progress), &cancel);
    bar.finish_and_clear();
    let report = match result {
        Err(QueryError::Output(error)) => return Err(error.into()),
        other => other?,
    };
    if !args.quiet {
        say_on!("{}", told(&report));
    }
    Ok(report)
}

/// What draws the same sample again.
pub(crate) fn sampled(seeds: &[u64], dates: Dates) -> String {
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let mut out = format!("sample: seed {}", seeds.join(", "));
    let text = |date: Option<i64>| date.map(crate::times::text);
    if let Some(date) = text(dates.inserted_by_ms) {
        let as_of = text(dates.as_of_ms).map_or(String::new(), |date| format!(" --as-of {date}"));
        out += &format!(", inserted by {date}; the same again: that seed with{as_of} --inserted-by {date}");
    }
    out
}

pub(crate) fn shown(bar: &ProgressBar, progress: &Progress) {
    if let Some(total) = progress.bytes_total {
        bar.set_length(total.max(1));
        bar.set_position(progress.bytes);
        bar.says(format!(
            "{} rows, {} of {} documents, {} of {}, {} left",
            HumanCount(progress.rows),
            HumanCount(progress.documents),
            HumanCount(progress.documents_total.unwrap_or_default()),
            HumanBytes(progress.bytes),
            HumanBytes(total),
            HumanDuration(bar.eta())
        ));
    } else {
        bar.says(format!("{} rows, {} documents", HumanCount(progress.rows), HumanCount(progress.documents)));
    }
}

/// The last words on a query.
pub(crate) fn told(report: &Report) -> String {
    let mut out = String::new();
    if report.cancelled {
        out += "Stopped: the answer is not complete.\n";
    }
    if report.documents_read > 0 {
        out += &format!(
            "{} rows; {} documents read, {} of the archive\n",
            HumanCount(report.rows),
            HumanCount(report.documents_read),
            HumanBytes(report.archive_bytes_read)
        );
    } else {
        out += &format!("{} rows; no archive was opened\n", HumanCount(report.rows));
    }
    out + &failures(report)
}

/// What analyzers and archives did wrong, with an example each.
pub(crate) fn failures(report: &Report) -> String {
    let line = |failed: &Failures| {
        format!(
            "warning: `{}` failed for {} document(s), whose values are null, like {}\n",
            failed.column,
            HumanCount(failed.count),
            output::line(&failed.example)
        )
    };
    let partial = report.partial.iter().map(|partial| {
        format!(
            "warning: of {} document(s) only a part could be decoded, like {}\n",
            HumanCount(partial.count),
            output::line(&partial.example)
        )
    });
    let lost = (report.blocks_lost > 0).then(|| {
        format!(
            "warning: {} block(s) of ledgers cannot be read, and their rows of `outcomes` are missing: `mattock check` says more\n",
            HumanCount(report.blocks_lost)
        )
    });
    report.failures.iter().map(line).chain(partial).chain(lost).collect()
}
