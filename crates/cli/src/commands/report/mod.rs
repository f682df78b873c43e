//! `mattock report`: one page about a data set, or its figures as JSON.

mod account;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use mattock_env::{Env, is_url};
use mattock_features::Features;
use mattock_query::Cancel;
use mattock_study::FEATURES;
use mattock_study::report::{self, DataSet, Missing, Progress, ReportError, ReportOptions, Subject};

use crate::args::report::ReportArgs;
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places::{self, Places};
use crate::progress::{self, Says as _};
use crate::repository::{Repository, engine_options, name_of};
use crate::shell::quoted;
use crate::signals::Patience;

/// What the page is called, in the directory that it is about.
const PAGE: &str = "report.html";

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Ended> {
    let Places { env, .. } =
        Places::of([&args.dir].into_iter().chain(&args.features.dir).map(PathBuf::as_path));
    // What cannot be written is told before an hour is spent on it.
    let page = page(args)?;
    let cancel = progress::interruptible(Patience::with([&args.dir]));
    let data = match gather(&env, args, &cancel) {
        Err(error) if matches!(error.downcast_ref(), Some(ReportError::Stopped)) => {
            say!("Stopped: nothing was written.");
            return Ok(Ended::Interrupted);
        }
        other => other?,
    };
    if let Some(path) = &page {
        write(path, data.to_html().as_bytes())?;
    }
    match &args.json {
        Some(path) if path.as_os_str() == "-" => output::print_json(&data)?,
        Some(path) => write(path, format!("{}\n", serde_json::to_string_pretty(&data)?).as_bytes())?,
        None => output::print_data(&format!("{}\n", page.as_deref().unwrap_or(Path::new("")).display()))?,
    }
    if let (Some(path), false) = (&page, args.quiet) {
        say!("The report is {} (open it in a browser).", path.display());
        data.missing.iter().for_each(|missing| say!("{}", told(missing)));
    }
    Ok(Ended::Done)
}

/// What is said of figures that are not there, or are not of these documents.
fn told(missing: &Missing) -> String {
    let Missing { figures, why, command } = missing;
    let command = command.as_ref().map_or(String::new(), |command| format!(". This makes it: {command}"));
    match *figures {
        "features" => format!("Note: {why}{command}"),
        _ => format!("Not in it: {figures} ({why}){command}"),
    }
}

/// Where the page goes; `None` if only JSON is wanted.
fn page(args: &ReportArgs) -> anyhow::Result<Option<PathBuf>> {
    let written = [args.output.as_deref(), args.json.as_deref()];
    if let Some(url) = written.into_iter().flatten().find(|path| is_url(path)) {
        return Err(Usage(format!("{} is a URL: reports are written to this machine", url.display())).into());
    }
    match (&args.output, &args.json) {
        (Some(path), _) => Ok(Some(path.clone())),
        (None, Some(_)) => Ok(None),
        (None, None) if is_url(&args.dir) => Err(Usage("say where to with --output".into()).into()),
        (None, None) => Ok(Some(args.dir.join(PAGE))),
    }
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = places::write(path, bytes);
    written.with_context(|| format!("cannot write {}; name another file with --output", path.display()))
}

fn gather(env: &Env, args: &ReportArgs, cancel: &Cancel) -> anyhow::Result<DataSet> {
    if args.sample == 0 {
        return Err(Usage(
            "--sample 0 draws nothing: languages, lengths and ages need some documents".into(),
        )
        .into());
    }
    if let Some(home) = &args.features.dir {
        Features::open(&env.files, &home.join(FEATURES)).map_err(|error| Usage(error.to_string()))?;
    }
    let root = places::absolute(&args.dir)?;
    let repository = Repository::open(env, &args.dir)?;
    let asked = engine_options(&args.engine, &args.dir)?;
    let options = ReportOptions {
        sample: args.sample,
        seed: args.seed,
        memory_bytes: asked.memory_bytes,
        threads: asked.threads,
    };
    let session = repository.session(asked)?;
    let shown = quoted(&args.dir.display().to_string());
    let dates = [("--as-of", &args.engine.as_of), ("--inserted-by", &args.engine.inserted_by)];
    let given = dates.iter().filter_map(|(flag, date)| Some(format!("{flag} {}", quoted(date.as_deref()?))));
    let dates = given.collect::<Vec<_>>().join(" ");
    let features =
        args.features.dir.as_ref().map(|home| (home.as_path(), quoted(&home.display().to_string())));
    let subject = Subject {
        root: &root,
        name: &name_of(&root),
        shown: &shown,
        features: features.as_ref().map(|(home, shown)| (*home, shown.as_str())),
        dates: Some(dates.as_str()).filter(|dates| !dates.is_empty()),
        version: env!("CARGO_PKG_VERSION"),
    };
    let bar = bar(args.quiet);
    let mut progress = |now: &Progress<'_>| show(&bar, now);
    let crawl = account::of(env, &root)?;
    let data = report::gather(&env.files, &session, &subject, crawl, &options, &mut progress, cancel);
    bar.finish_and_clear();
    Ok(data?)
}

fn bar(quiet: bool) -> ProgressBar {
    if quiet || !output::is_watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let bar =
        ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, now: &Progress<'_>) {
    bar.says(match now.documents {
        Some((done, all)) => format!("{}: {} of {} documents", now.what, HumanCount(done), HumanCount(all)),
        None => now.what.to_owned(),
    });
}
