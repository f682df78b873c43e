//! `mattock import`: takes foreign archives into a repository.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};
use mattock_env::{Env, OpenMode, is_url};
use mattock_index::{Foreign, Imported};
use mattock_query::Cancel;

use crate::args::repository::ImportArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress;
use crate::repository::name_of;

/// A file counts once all of it does, so nothing is half-way.
const STOPPED: &str = "Stopped: the same command goes on, and reads again what was not read to its end.";

pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } = Places::new();
    let root = places::absolute(&args.dir)?;
    let cancel = progress::interruptible();
    let mut foreign = Vec::new();
    let mut total = 0;
    for path in &args.archives {
        let path = places::absolute(path)?;
        let found = env.files.entry(&path)?.filter(|entry| !entry.is_dir);
        let entry = found.ok_or_else(|| Usage(format!("there is no file {}", path.display())))?;
        total += entry.len;
        foreign.push(match args.copy {
            true => match copied(&env, &root, &path, &cancel) {
                Err(_) if cancel.is_cancelled() => {
                    say!("{STOPPED}");
                    return Ok(Ended::Interrupted);
                }
                copied => copied?,
            },
            false => in_place(&root, path)?,
        });
    }
    env.files.create_dir_all(&root)?;
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left  {msg}");
    let bar = ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (mut before, mut file) = (0, String::new());
    let name = args.name.clone().unwrap_or_else(|| name_of(&root));
    let imported =
        mattock_index::import(&env.files, &root, &foreign, &name, &|| env.clock.unix(), |one, offset| {
            if one.name != file {
                file.clone_from(&one.name);
                before = 0;
                bar.set_message(one.path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
            progress::stop_if(&cancel, &bar, STOPPED);
            bar.inc(offset.saturating_sub(before));
            before = offset;
        })?;
    bar.finish_and_clear();
    if args.json {
        output::print_json(&serde_json::json!({
            "files": imported.files, "known": imported.known, "records": imported.records, "instances": imported.instances,
            "revisits": imported.revisits, "others": imported.others, "untaken": imported.untaken_count,
        }))?;
    }
    say_on!("{}", told(&imported, total, args));
    Ok(Ended::Done)
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

/// A copy below the repository. What is there already under that name, with that length, is that copy.
fn copied(env: &Env, root: &Path, path: &Path, cancel: &Cancel) -> anyhow::Result<Foreign> {
    let directory = root.join("warc");
    env.files.create_dir_all(&directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = directory.join(&name);
    let foreign = Foreign { path: target.clone(), name: format!("warc/{name}") };
    let source = env.files.open(path, OpenMode::Read)?;
    let length = source.len()?;
    if let Some(entry) = env.files.entry(&target)? {
        if entry.len == length {
            return Ok(foreign);
        }
        return Err(Usage(format!("{} is there already, and is another file", target.display())).into());
    }
    let mut sent = |_| if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
    let put = env.files.put(&source, length, &target, &mut sent);
    put.with_context(|| format!("cannot write {}", target.display()))?;
    Ok(foreign)
}

fn told(imported: &Imported, bytes: u64, args: &ImportArgs) -> String {
    let mut out = format!(
        "{} instances ({} revisits) of {} file(s), {}, are in {}\n",
        HumanCount(imported.instances),
        HumanCount(imported.revisits),
        imported.files,
        HumanBytes(bytes),
        args.dir.display()
    );
    if imported.known > 0 {
        out += &format!("{} file(s) were there already\n", imported.known);
    }
    for untaken in imported.untaken.iter().take(10) {
        out += &format!("warning: {} at {}: {}\n", untaken.file, untaken.offset, untaken.why);
    }
    if imported.untaken_count > 10 {
        out += &format!("warning: and {} more\n", imported.untaken_count - 10);
    }
    if imported.instances > 0 {
        out += &format!("Ask them: mattock query {} 'select name, insertionDate'\n", args.dir.display());
    }
    out
}
