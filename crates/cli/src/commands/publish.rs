//! `mattock publish`: puts a repository into object storage, from where it is asked by its URL.

use std::io;
use std::path::{Path, PathBuf};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use mattock_env::{Env, Random, is_url};
use mattock_index::{IndexError, Manifest, Sending, Wanted};

use crate::args::repository::PublishArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::Repository;
use crate::signals::Patience;

/// Of more archives only the number is told.
const LISTED_MAX: usize = 20;

pub(crate) fn run(args: &PublishArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::of([args.dir.as_path(), args.target.as_path()]);
    let (root, target) = (places::absolute(&args.dir)?, places::absolute(&args.target)?);
    // By another name, through a link for instance, the list that is there tells.
    if [root.clone(), PathBuf::from(format!("file://{}", root.display()))]
        .iter()
        .any(|own| target.starts_with(own))
    {
        let message = "is within what would be published: name another place";
        return Err(Usage(format!("{} {message}", target.display())).into());
    }
    let (repository, mut manifest) = indexed(&env, args)?;
    mattock_index::identify(&env.files, &root, &mut manifest, &mut Random::from_entropy())?;
    tell_of_imported(&env, &root, args.with_imported);
    let cancel = progress::interruptible(Patience::with([&args.dir, &args.target]));
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left  {msg}");
    let bar = ProgressBar::new(1).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut told = |sending: Sending<'_>| {
        match sending {
            Sending::Total(bytes) => bar.set_length(bytes.max(1)),
            Sending::File(path) => {
                bar.says(path.file_name().unwrap_or_default().to_string_lossy());
            }
            Sending::Sent(bytes) | Sending::There(bytes) => bar.inc(bytes),
        }
        if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    };
    let published = mattock_index::publish(
        &env.files,
        &root,
        &manifest,
        repository.archives(),
        &target,
        Wanted { replace: args.replace, with_imported: args.with_imported },
        &mut told,
    );
    bar.finish_and_clear();
    if cancel.is_cancelled() {
        say!("Stopped: what was sent stays there, and the same command goes on with it.");
        return Ok(Ended::Interrupted);
    }
    let published = published.map_err(|error| match error {
        IndexError::NoPublication { .. }
        | IndexError::OfAnother { .. }
        | IndexError::Elsewhere { .. }
        | IndexError::OtherFile { .. }
        | IndexError::NoArchive { .. }
        | IndexError::Outside { .. } => Usage(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    if args.json {
        output::print_json(&serde_json::json!({
            "rows": published.rows, "files_sent": published.files_sent, "bytes_sent": published.bytes_sent,
            "files_there": published.files_there, "bytes_there": published.bytes_there,
        }))?;
    }
    say!(
        "{} rows are in {}: {} file(s) of {} were sent, {} of {} were there already",
        HumanCount(published.rows),
        args.target.display(),
        HumanCount(published.files_sent),
        HumanBytes(published.bytes_sent),
        HumanCount(published.files_there),
        HumanBytes(published.bytes_there)
    );
    Ok(Ended::Done)
}

/// Archives elsewhere on the machine: which are sent, or that they are not. Of those their rows are published, and their documents cannot be read from
/// there.
fn tell_of_imported(env: &Env, root: &Path, are_sent: bool) {
    let mut outside = Manifest::outside(&env.files, root);
    outside.retain(|name| !is_url(Path::new(name)));
    if outside.is_empty() {
        return;
    }
    let what = match are_sent {
        true => "are sent too:",
        false => "are not sent; --with-imported sends them:",
    };
    say!("note: {} imported archive(s) lie outside of this directory and {what}", outside.len());
    outside.iter().take(LISTED_MAX).for_each(|name| say!("  {name}"));
    if outside.len() > LISTED_MAX {
        say!("  and {} more", outside.len() - LISTED_MAX);
    }
}

/// The repository with an index that holds all that is committed, and nothing that came later.
fn indexed(env: &Env, args: &PublishArgs) -> anyhow::Result<(Repository, Manifest)> {
    let bar = ProgressBar::new_spinner();
    loop {
        let repository = Repository::open(env, &args.dir)?;
        let updated = repository.index(1, |rows| {
            bar.inc(rows);
            bar.says(format!("{} rows", HumanCount(bar.position())));
        })?;
        let manifest = Manifest::read(&env.files, &args.dir)?;
        if !repository.is_up_to(&manifest) {
            // A crawl that runs has made a checkpoint, and somebody else an index of it.
            continue;
        }
        bar.finish_and_clear();
        if updated.damaged > 0 {
            say!(
                "warning: {} block(s) of ledgers cannot be read, and their rows are missing: `mattock check` says more",
                updated.damaged
            );
        }
        if manifest.parts.is_empty() {
            let message = "nothing is stored yet: there is nothing to publish";
            return Err(Usage(format!("{}: {message}", args.dir.display())).into());
        }
        return Ok((repository, manifest));
    }
}
