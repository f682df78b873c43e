//! `mattock materialize`: keeps a column that is costly to compute.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use mattock_query::Cancel;

use crate::args::repository::MaterializeArgs;
use crate::exit::Ended;
use crate::places::Places;
use crate::repository::{Repository, options};
use crate::signals;

pub(crate) fn run(args: &MaterializeArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    let repository = Repository::open(&env, &args.dir)?;
    let session = repository.session(options(&env, &args.ask, &args.dir, &args.column)?)?;
    let cancel = Cancel::new();
    let watched = cancel.clone();
    signals::when_interrupted(move || watched.cancel());
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {eta} left  {msg}");
    let bar = ProgressBar::new(1).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let kept = session.materialize(
        &args.column,
        &mut |progress| {
            bar.set_length(progress.bytes_total.unwrap_or(1).max(1));
            bar.set_position(progress.bytes);
            bar.set_message(format!("{} documents", HumanCount(progress.documents)));
        },
        &cancel,
    )?;
    bar.finish_and_clear();
    match &kept.file {
        Some(file) => say!("{} values are kept in {}", HumanCount(kept.report.rows), file.display()),
        None => say!("Nothing new: every document's `{}` is kept already.", args.column),
    }
    say_on!("{}", super::query::failures(&kept.report));
    Ok(if kept.report.cancelled { Ended::Interrupted } else { Ended::Done })
}
