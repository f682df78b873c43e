//! `mattock features build`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{HumanBytes, HumanCount};
use mattock_env::{Env, OpenMode, is_url};
use mattock_features::{Counts, Features, FeaturesError, Input, ListKind};
use mattock_query::Cancel;
use mattock_study::{
    BuildFeatures, Built, FEATURES, Foreign, Progress, Reading, Texts, build, build_from, parts_of,
    uncompressed,
};

use super::bar::Bar;
use crate::args::features::{BuildArgs, ListFormat};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::repository::{Repository, cores};
use crate::signals::{self, Patience};

/// Less would not hold the buffers.
const MEMORY_MIN: u64 = 16 << 20;

pub(super) fn run(args: &BuildArgs) -> anyhow::Result<Ended> {
    let mut places = Places::of([args.dir.as_path(), args.into.as_deref().unwrap_or(&args.dir)]);
    places.read_also(args.from.iter().chain(&args.vertices));
    let Places { env, .. } = places;
    check(args)?;
    let (dir, into) =
        (places::absolute(&args.dir)?, places::absolute(args.into.as_deref().unwrap_or(&args.dir))?);
    if args.list.is_some() {
        keep_own(&env, &into)?;
    }
    let bar = Bar::new(args.quiet);
    if args.list.is_none() {
        bring_index_up(&env, &dir, &bar)?;
    }
    let cancel = Cancel::new();
    let building = watched(&cancel);
    // Of lists nothing is kept until their databases are built.
    building.store(args.list.is_some_and(|format| format != ListFormat::Wat), Ordering::SeqCst);
    let mut progress = |at: Progress| {
        building.store(!matches!(at, Progress::Gathering(_)), Ordering::SeqCst);
        bar.show(at);
    };
    let built = match args.list {
        Some(format) => {
            let foreign = foreign(args, format);
            build_from(&env.files, &into, foreign, args.memory, &mut progress, &cancel)
        }
        None => {
            let options = BuildFeatures {
                into: &into,
                memory: args.memory,
                threads: args.threads.unwrap_or_else(|| cores(&args.dir)),
                rebuild: args.rebuild,
                ..BuildFeatures::new(&dir)
            };
            build(&env.files, &options, &mut progress, &cancel)
        }
    };
    bar.clear();
    report(&env, args, &into, &built?)
}

/// What the argument parser cannot see.
fn check(args: &BuildArgs) -> anyhow::Result<()> {
    let usage = |message: String| Err(Usage(message).into());
    if args.memory < MEMORY_MIN {
        return usage(format!("--memory {} is too little: give it at least 16MiB", HumanBytes(args.memory)));
    }
    if is_url(&args.dir) && args.into.is_none() {
        let message =
            "is a URL, and features are built on this machine: say in which directory with --into DIR";
        return usage(format!("{} {message}", args.dir.display()));
    }
    match (args.list, args.vertices.is_empty()) {
        (Some(ListFormat::Cc), true) => {
            return usage("--list cc needs the names of its numbers: add --vertices FILE…".into());
        }
        (Some(format), false) if format != ListFormat::Cc => {
            return usage("--vertices belongs to --list cc only".into());
        }
        _ => {}
    }
    let (stdin, named): (Vec<_>, Vec<_>) =
        args.from.iter().chain(&args.vertices).partition(|path| is_stdin(path));
    if stdin.len() > 1 || !stdin.is_empty() && args.list == Some(ListFormat::Wat) {
        return usage("stdin can be read once, and holds no WAT files: name files instead of `-`".into());
    }
    for path in named {
        if places::named().entry(path)?.is_none_or(|entry| entry.is_dir) {
            return usage(format!("there is no file {}", path.display()));
        }
    }
    Ok(())
}

/// Lists do not take the place of what was built of a directory's own documents.
fn keep_own(env: &Env, into: &Path) -> anyhow::Result<()> {
    match Features::open(&env.files, &into.join(FEATURES)) {
        Ok(features) if features.origin().how.starts_with("documents: ") => {
            let into = into.display();
            Err(Usage(format!(
                "{into} has features of its own documents, which would be replaced: name another directory, or remove {into}/features"
            ))
            .into())
        }
        _ => Ok(()),
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Puts everything that is committed into parts of the index.
fn bring_index_up(env: &Env, dir: &Path, bar: &Bar) -> anyhow::Result<()> {
    let repository = Repository::open(env, dir)?;
    // What was published has no ledgers that could go on.
    if is_url(dir) {
        return Ok(());
    }
    let mut rows = 0;
    let updated = repository.index(1, |more| {
        rows += more;
        bar.say(&format!("index: {} new rows", HumanCount(rows)));
    })?;
    if updated.damaged > 0 {
        say!(
            "warning: {} block(s) of ledgers cannot be read, and their rows are missing: `mattock check` says more",
            updated.damaged
        );
    }
    Ok(())
}

const STOPPED: &str = "Stopped: what was built before stays in use, and the same command goes on.";

/// Stops at the first Ctrl-C: while documents are read in good order, and at once while databases are built, for what was not
/// finished there is read by nobody. Whoever builds sets the flag.
fn watched(cancel: &Cancel) -> Arc<AtomicBool> {
    let building = Arc::new(AtomicBool::new(false));
    let (cancel, at_once) = (cancel.clone(), building.clone());
    signals::when_interrupted(Patience::Long, move || {
        cancel.cancel();
        if at_once.load(Ordering::SeqCst) {
            say!("{STOPPED}");
            std::process::exit(130);
        }
    });
    building
}

/// What is to be read instead of a repository.
fn foreign<'a>(args: &'a BuildArgs, format: ListFormat) -> Foreign<'a> {
    let texts = |paths: &'a [PathBuf]| Texts {
        parts: parts_of(&places::named(), paths),
        inputs: Box::new(paths.iter().map(|path| opened(path))),
    };
    match format {
        ListFormat::Urls => Foreign::List(ListKind::Urls, texts(&args.from)),
        ListFormat::Ids => Foreign::List(ListKind::Ids, texts(&args.from)),
        ListFormat::Adjacency => Foreign::List(ListKind::Adjacency, texts(&args.from)),
        ListFormat::Cc => Foreign::Graph { vertices: texts(&args.vertices), edges: texts(&args.from) },
        ListFormat::Wat => Foreign::Wat(args.from.clone()),
    }
}

fn opened<'a>(path: &Path) -> Result<Input<'a>, FeaturesError> {
    let name = if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() };
    let text = match is_stdin(path) {
        true => uncompressed(std::io::stdin()),
        false => places::named().open(path, OpenMode::Read).and_then(|file| uncompressed(Reading::new(file))),
    };
    let text = text.map_err(|source| FeaturesError::Io { path: path.to_path_buf(), source })?;
    Ok(Input { name, text })
}

/// Says what came of it.
fn report(env: &Env, args: &BuildArgs, into: &Path, built: &Built) -> anyhow::Result<Ended> {
    if !args.quiet {
        for failed in &built.failures {
            say!(
                "warning: `{}` failed for {} document(s), which {}, like {}",
                failed.column,
                HumanCount(failed.count),
                match args.list {
                    Some(_) => "are left out",
                    None => "count as pages without links or terms",
                },
                failed.example
            );
        }
    }
    let Some(counts) = &built.counts else {
        say!("{STOPPED}");
        return Ok(Ended::Interrupted);
    };
    let features = Features::open(&env.files, &into.join(FEATURES))?;
    if args.json {
        let mut told = serde_json::to_value(counts)?;
        if let Some(fields) = told.as_object_mut() {
            fields.insert("generation".into(), features.generation().into());
            fields.insert("new".into(), built.is_new.into());
            fields.insert("parts".into(), built.parts.into());
            fields.insert("parts_read".into(), built.parts_read.into());
            fields.insert("documents_read".into(), built.documents.into());
        }
        output::print_json(&told)?;
    }
    if !args.quiet {
        say_on!("{}", told(args, built, counts, &features));
    }
    Ok(Ended::Done)
}

fn told(args: &BuildArgs, built: &Built, counts: &Counts, features: &Features) -> String {
    let place = args.into.as_ref().unwrap_or(&args.dir).join(FEATURES);
    let (place, generation) = (place.display(), features.generation());
    if !built.is_new {
        return format!(
            "Nothing new: {place} (generation {generation}) is of all {} part(s) of the index; --rebuild reads them again.\n",
            built.parts
        );
    }
    let mut out = match features.has_urls() {
        true => format!(
            "{} URLs ({} of them crawled) of {} hosts in {} domains, {} links\n",
            HumanCount(counts.urls),
            HumanCount(counts.crawled),
            HumanCount(counts.hosts),
            HumanCount(counts.domains),
            HumanCount(counts.links)
        ),
        false => {
            format!("{} nodes without URLs, {} links\n", HumanCount(counts.urls), HumanCount(counts.links))
        }
    };
    if built.parts > 0 {
        out += &format!(
            "read: {} of {} part(s), {} documents\n",
            built.parts_read,
            built.parts,
            HumanCount(built.documents)
        );
    }
    if counts.refused > 0 {
        out +=
            &format!("left out: {} reference(s) that name no page of the Web\n", HumanCount(counts.refused));
    }
    out + &format!("in {place}, generation {generation}\n")
}
