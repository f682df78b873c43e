//! `mattock materialize`: keeps a column that is costly to compute, or forgets it.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::args::repository::MaterializeArgs;
use crate::exit::{Ended, Usage};
use crate::places::Places;
use crate::progress::{self, Says as _};
use crate::repository::{Repository, options};
use crate::signals::Patience;

pub(crate) fn run(args: &MaterializeArgs) -> anyhow::Result<Ended> {
    if args.ask.engine.as_of.is_some() || args.ask.engine.inserted_by.is_some() {
        let message = "a column is kept for all documents: leave out --as-of and --inserted-by";
        return Err(Usage(message.into()).into());
    }
    let Places { env, .. } = Places::of([args.dir.as_path()]);
    let repository = Repository::open(&env, &args.dir)?;
    let session = repository.session(options(&env, &args.ask, &args.dir, &args.column)?)?;
    if args.drop {
        let gone = session.drop_kept(&args.column)?;
        for directory in &gone {
            say!("{} is gone", directory.display());
        }
        if gone.is_empty() {
            say!("Nothing was kept of `{}`.", args.column);
        }
        return Ok(Ended::Done);
    }
    let cancel = progress::interruptible(Patience::Long);
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left  {msg}");
    let bar = ProgressBar::new(1).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let kept = session.materialize(
        &args.column,
        &mut |progress| {
            bar.set_length(progress.bytes_total.unwrap_or(1).max(1));
            bar.set_position(progress.bytes);
            bar.says(format!("{} documents", HumanCount(progress.documents)));
        },
        &cancel,
    )?;
    bar.finish_and_clear();
    let values = HumanCount(kept.report.rows);
    match kept.files.as_slice() {
        [] if kept.report.cancelled => say!("Stopped: nothing new was kept."),
        [] if !kept.report.failures.is_empty() => say!("Nothing new was kept."),
        [] => say!("Nothing new: every document's `{}` is kept already.", args.column),
        [file] => say!("{values} values are kept in {}", file.display()),
        files => say!("{values} values are kept in {} files in {}", files.len(), kept.directory.display()),
    }
    say_on!("{}", super::query::failures(&kept.report));
    Ok(if kept.report.cancelled { Ended::Interrupted } else { Ended::Done })
}
