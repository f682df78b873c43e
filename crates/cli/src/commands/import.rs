//! `mattock import`: takes foreign archives into a repository.

mod copy;
mod told;

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use mattock_crawl::SavedCrawl;
use mattock_env::{Env, Reach, Trusted, UnixTime, is_url};
use mattock_index::{Foreign, ImportOptions, Left, Manifest};

use crate::args::repository::ImportArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::name_of;
use crate::signals::Patience;

/// So much of each kind that was left out is in JSON; counts are of all of it.
const TOLD_MAX: usize = 100_000;

/// So much of it is told.
const FEW: usize = 10;

/// A file counts once all of it does, so nothing is half-way.
const STOPPED: &str = "Stopped: the same command goes on, and reads again what was not read to its end.";

pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<Ended> {
    let mut places = Places::of([args.dir.as_path()]);
    let root = places::absolute(&args.dir)?;
    let straight = |path: &PathBuf| anyhow::Ok(straight(&places::absolute(path)?));
    let archives: Vec<PathBuf> = args.archives.iter().map(straight).collect::<anyhow::Result<_>>()?;
    places.read_also(&archives);
    let Places { env, .. } = places;
    let cancel = progress::interruptible(Patience::with(args.archives.iter().chain([&args.dir])));
    let (mut foreign, mut uncopied) = (Vec::new(), Vec::new());
    let (mut total, mut untold) = (0, 0);
    for path in archives {
        let found = env.files.entry(&path).with_context(|| path.display().to_string())?;
        let entry = found.ok_or_else(|| Usage(format!("there is no file {}", path.display())))?;
        if entry.is_dir {
            return Err(Usage(format!("{} is a directory: name the archives in it", path.display())).into());
        }
        if is_own(&env, &root, &path) {
            let message = "is of the archive of the crawl in this directory, whose documents are in its repository without an import; only if its \
                           state and its index are lost, import it, into another directory";
            return Err(Usage(format!("{} {message}", path.display())).into());
        }
        total += entry.len;
        match args.copy {
            true => {
                let copied = match copy::copied(&env, &root, &path, &cancel) {
                    Err(_) if cancel.is_cancelled() => {
                        say!("{STOPPED}");
                        return Ok(Ended::Interrupted);
                    }
                    copied => copied?,
                };
                foreign.extend(copied.files);
                uncopied.extend(copied.untaken);
                untold += copied.untold;
            }
            false => foreign.push(in_place(&root, path)?),
        }
    }
    env.files.create_dir_all(&root).with_context(|| format!("cannot make {}", root.display()))?;
    stand_for(&env, &root, &foreign);
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left  {msg}");
    let bar = ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (mut before, mut file) = (0, String::new());
    let crawl = args.name.clone().unwrap_or_else(|| name_of(&root));
    let told_max = if args.json { TOLD_MAX } else { FEW };
    let options = ImportOptions { crawl, languages: !args.no_languages, digests: args.strict, told_max };
    // Later than the crawl's last checkpoint, whatever the clock says.
    let now = || {
        let checkpoint =
            SavedCrawl::open(&env, &root).map_or_else(|_| UnixTime::default(), |saved| saved.time());
        env.clock.unix().max(UnixTime::from_micros(checkpoint.as_micros() + 1000))
    };
    let mut imported = mattock_index::import(&env.files, &root, &foreign, &options, &now, |one, offset| {
        if one.name != file {
            file.clone_from(&one.name);
            before = 0;
            bar.says(one.path.file_name().unwrap_or_default().to_string_lossy());
        }
        progress::stop_if(&cancel, &bar, STOPPED);
        bar.inc(offset.saturating_sub(before));
        before = offset;
    })?;
    bar.finish_and_clear();
    for one in uncopied {
        imported.leave(one.kind, &one.file, one.offset, one.why);
    }
    *imported.left.entry(Left::Damage).or_default() += untold;
    imported.left.retain(|_, count| *count > 0);
    imported.untaken.sort_by_key(|one| one.kind);
    if args.json {
        output::print_json(&told::json(&imported))?;
    }
    say_on!("{}", told::text(&imported, total, args));
    let is_lossy = args.strict && imported.losses() > 0;
    // To find what is there already is what was asked for, too.
    Ok(if imported.instances + imported.known == 0 || imported.replaced > 0 || is_lossy {
        Ended::Failed
    } else {
        Ended::Done
    })
}

/// Remembers that this user has named these archives, so that they can be read where they lie.
fn stand_for(env: &Env, root: &Path, foreign: &[Foreign]) {
    let elsewhere = foreign.iter().filter(|one| !is_url(root) && Path::new(&one.name) == one.path);
    let reaches_of = |one: &Foreign| {
        let server = is_url(&one.path).then(|| places::named_server(&one.name));
        [Some(places::archive(&one.name)), server].into_iter().flatten()
    };
    let reaches: Vec<Reach> = elsewhere.flat_map(reaches_of).collect();
    if let Err(error) = Trusted::read(&env.user, &env.files, root).confirm(&reaches) {
        say!(
            "warning: that you have imported archives which lie elsewhere cannot be remembered, and to read them takes --trust: {error}"
        );
    }
}

/// The same path without steps back: names of archives are told to others, to whom they would mean something else.
#[expect(clippy::disallowed_methods, reason = "the user has typed the path, links included")]
fn straight(path: &Path) -> PathBuf {
    let has_steps = !is_url(path) && path.components().any(|part| part == Component::ParentDir);
    has_steps.then(|| path.canonicalize().ok()).flatten().unwrap_or_else(|| path.to_path_buf())
}

/// Whether the crawl that has its documents in the repository wrote this file. Imports have put copies beside it in earlier versions.
#[expect(clippy::disallowed_methods, reason = "the user has typed the path, links included")]
fn is_own(env: &Env, root: &Path, path: &Path) -> bool {
    let is_imported = |manifest: Manifest| {
        let name = path.strip_prefix(root).ok().and_then(Path::to_str);
        manifest.imported.iter().any(|imported| Some(imported.as_str()) == name)
    };
    let is_below = |path: &Path, root: &Path| path.starts_with(root.join("warc"));
    // Also by another way.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    !is_url(path)
        && (is_below(path, root) || is_below(&real(path), &real(root)))
        && SavedCrawl::open(env, root).is_ok()
        && !Manifest::read(&env.files, root).is_ok_and(is_imported)
}

/// A file that stays where it is: named relative to the repository if it lies below it.
fn in_place(root: &Path, path: PathBuf) -> anyhow::Result<Foreign> {
    if is_url(root) && !is_url(&path) {
        let message = "is on this machine only, where no reader of the URL finds it: add --copy";
        return Err(Usage(format!("{} {message}", path.display())).into());
    }
    let name = path.strip_prefix(root).unwrap_or(&path).to_str();
    let name =
        name.ok_or_else(|| Usage(format!("{} is not UTF-8: rename it, or use --copy", path.display())))?;
    Ok(Foreign { name: name.to_owned(), path: path.clone() })
}
