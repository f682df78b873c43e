//! `mattock index`: brings the index of a repository up to date.

use indicatif::{HumanBytes, HumanCount, ProgressBar};
use mattock_env::is_url;
use mattock_index::Manifest;

use crate::args::repository::IndexArgs;
use crate::exit::{Ended, Usage};
use crate::places::Places;
use crate::progress;
use crate::repository::Repository;

pub(crate) fn run(args: &IndexArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    let repository = Repository::open(&env, &args.dir)?;
    if args.rebuild && is_url(&args.dir) {
        let message = "what was published has no ledgers: rebuild the index of the crawl's directory, and publish it again";
        return Err(Usage(message.into()).into());
    }
    if args.rebuild && mattock_index::forget(&env.files, &args.dir)? {
        say!("warning: the list of parts could not be read; what was imported has to be imported again");
    }
    let bar = ProgressBar::new_spinner();
    let cancel = progress::interruptible();
    let updated = repository.index(1, |rows| {
        progress::stop_if(
            &cancel,
            &bar,
            "Stopped: parts that were whole stay, and the same command goes on.",
        );
        bar.inc(rows);
        bar.set_message(format!("{} rows", HumanCount(bar.position())));
    })?;
    bar.finish_and_clear();
    let manifest = Manifest::read(&env.files, &args.dir)?;
    let bytes = manifest.parts.iter().map(|part| part.bytes).sum();
    if updated.rebuilt {
        say!("The crawl went back to an earlier checkpoint: its rows were indexed anew.");
    }
    if updated.damaged > 0 {
        say!("warning: {} block(s) of ledgers cannot be read; `mattock check` says more", updated.damaged);
    }
    say!(
        "{} new rows; {} in all, in {} part(s) of {} in {}",
        HumanCount(updated.rows),
        HumanCount(manifest.rows()),
        manifest.parts.len(),
        HumanBytes(bytes),
        Manifest::directory(&args.dir).display()
    );
    Ok(Ended::Done)
}
