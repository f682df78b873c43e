//! `mattock index`: brings the index of a repository up to date.

use std::path::Path;

use indicatif::{HumanBytes, HumanCount, ProgressBar};
use mattock_env::{Env, is_url};
use mattock_index::{Foreign, ImportOptions, Manifest, Recovered, Updated};
use mattock_query::Cancel;

use crate::args::repository::IndexArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::{Repository, name_of};
use crate::signals::Patience;

/// New parts count once all of them are there.
const STOPPED: &str = "Stopped: the parts are as they were, and the same command begins again.";

pub(crate) fn run(args: &IndexArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::of([args.dir.as_path()]);
    let is_published = || Manifest::read(&env.files, &args.dir).is_ok_and(|list| !list.origin.is_empty());
    if args.rebuild && (is_url(&args.dir) || is_published()) {
        let message = "what was published has no ledgers: rebuild the index of the crawl's directory, and publish it again";
        return Err(Usage(message.into()).into());
    }
    let recovered = if args.rebuild { recover(&env, &args.dir)? } else { None };
    let repository = Repository::open(&env, &args.dir)?;
    let bar = ProgressBar::new_spinner();
    let cancel = progress::interruptible(Patience::Long);
    let is_all_there = !args.rebuild || import_again(&env, &args.dir, &cancel, &bar)?;
    let stopped = match args.rebuild {
        true => STOPPED,
        false => "Stopped: parts that were whole stay, and the same command goes on.",
    };
    let progress = |rows| {
        progress::stop_if(&cancel, &bar, stopped);
        bar.inc(rows);
        bar.says(format!("{} rows", HumanCount(bar.position())));
    };
    let updated = match args.rebuild {
        // What the list was made of is all there is.
        true if recovered.is_some() && !repository.has_ledgers() => Updated::default(),
        true => repository.rebuild(progress)?,
        false => repository.index(1, progress)?,
    };
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
    let is_known = recovered.is_none_or(|recovered| recovered.unreadable.is_empty());
    Ok(if is_known && is_all_there { Ended::Done } else { Ended::Failed })
}

/// Makes a list of parts again, if it is damaged or lost.
fn recover(env: &Env, dir: &Path) -> anyhow::Result<Option<Recovered>> {
    let Some(recovered) = mattock_index::recover(&env.files, dir)? else { return Ok(None) };
    say!(
        "The list of parts was damaged or lost: {} part(s) with {} rows say themselves what is in them.",
        recovered.parts,
        HumanCount(recovered.rows)
    );
    for path in &recovered.unreadable {
        say!(
            "warning: {} is damaged, and nobody knows what was in it: archives that were imported from elsewhere, and that no row names now, \
             have to be imported again (`mattock import`)",
            path.display()
        );
    }
    Ok(Some(recovered))
}

/// Reads archives again whose rows are lost: whether all of them are there again.
fn import_again(env: &Env, dir: &Path, cancel: &Cancel, bar: &ProgressBar) -> anyhow::Result<bool> {
    let options = ImportOptions::named(&name_of(&places::absolute(dir)?));
    let now = || env.clock.unix();
    let found = |lost: &[Foreign]| {
        say!("A part of what was imported is lost: {} archive(s) are imported again, as of now.", lost.len());
    };
    let progress = |_: &Foreign, _| progress::stop_if(cancel, bar, STOPPED);
    let imported = mattock_index::import_lost(&env.files, dir, &options, &now, found, progress)?;
    let rekeyed = mattock_index::rekey(&env.files, dir)?;
    if rekeyed > 0 {
        say!("{rekeyed} part(s) of what was imported have the keys of replay tools now.");
    }
    let Some(imported) = imported else { return Ok(true) };
    say!("{} instances of {} file(s) are there again", HumanCount(imported.instances), imported.files);
    for untaken in imported.untaken.iter().take(10) {
        let warning = format!("{} at {}: {}", untaken.file, untaken.offset, untaken.why);
        say!("warning: {}", output::line(&warning));
    }
    for path in imported.lost.iter().take(10) {
        say!("warning: {} cannot be read, and its rows are lost until it can", path.display());
    }
    if imported.lost.is_empty() {
        return Ok(true);
    }
    say!(
        "warning: {} archive(s) are missing; their names are kept: put them back, and the same command imports them again",
        imported.lost.len()
    );
    Ok(false)
}
