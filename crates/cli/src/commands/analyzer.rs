//! `mattock analyzer`: columns that are computed.

use std::path::PathBuf;

use mattock_analyze::Analyzer;
use mattock_wasm::{Language, template};

use crate::analyzers::Analyzers;
use crate::args::analyzer::{AnalyzerArgs, AnalyzerLanguage, AnalyzerWhat, ListArgs, NewArgs};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places;

pub(crate) fn run(args: &AnalyzerArgs) -> anyhow::Result<Ended> {
    match &args.what {
        AnalyzerWhat::List(args) => list(args),
        AnalyzerWhat::New(args) => new(args),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<Ended> {
    let env = places::bound(args.dir.as_deref());
    for analyzer in mattock_analyze::built_ins() {
        show(analyzer.as_ref())?;
    }
    output::print_data("http_<header>  Text         any header field: http_content_type, http_server, …\n")?;
    let analyzers = Analyzers::find(&env, &args.loaded, args.dir.as_deref())?;
    for path in analyzers.named() {
        show(analyzers.load_file(path)?.as_ref())?;
    }
    let mut ended = Ended::Done;
    for path in analyzers.known() {
        match analyzers.load_file(path) {
            Ok(analyzer) => show(analyzer.as_ref())?,
            Err(error) => {
                say!("error: {error:#}");
                ended = Ended::Failed;
            }
        }
    }
    Ok(ended)
}

fn show(analyzer: &dyn Analyzer) -> anyhow::Result<()> {
    let kind = format!("{:?}", analyzer.kind());
    output::print_data(&format!("{:<14} {kind:<12} version {}\n", analyzer.name(), analyzer.version()))?;
    Ok(())
}

fn new(args: &NewArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    let language = match args.language {
        AnalyzerLanguage::Rust => Language::Rust,
        AnalyzerLanguage::C => Language::C,
    };
    let files = template(&args.name, language).map_err(|error| Usage(error.to_string()))?;
    if mattock_query::is_taken(&mattock_index::schema(), &args.name) {
        return Err(Usage(format!("there is a column `{}` already: take another name", args.name)).into());
    }
    let dir = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    for file in &files {
        let path = dir.join(&file.name);
        if env.files.entry(&path)?.is_some() {
            let message = format!("{} is there already: it is not overwritten", path.display());
            return Err(Usage(message).into());
        }
    }
    env.files.create_dir_all(&dir)?;
    for file in &files {
        env.files.write_atomic(&dir.join(&file.name), file.text.as_bytes())?;
        output::print_data(&format!("{}\n", dir.join(&file.name).display()))?;
    }
    say!("The beginning of the last file says how it is built and asked with.");
    Ok(Ended::Done)
}
