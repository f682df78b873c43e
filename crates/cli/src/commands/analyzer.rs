//! `mattock analyzer`: columns that are computed, built in and of the user's own.

use std::path::{Path, PathBuf};

use mattock_env::Env;

use crate::args::repository::{AnalyzerArgs, AnalyzerWhat};
use crate::exit::{Ended, Usage};
use crate::output;

pub(crate) fn run(args: &AnalyzerArgs) -> anyhow::Result<Ended> {
    match &args.what {
        AnalyzerWhat::New { name, out } => begin(name, out.as_deref()),
        AnalyzerWhat::List => list(),
    }
}

fn list() -> anyhow::Result<Ended> {
    for analyzer in mattock_analyze::built_ins() {
        output::print(&format!(
            "{:<14} {:<12} version {}\n",
            analyzer.name(),
            format!("{:?}", analyzer.kind()),
            analyzer.version()
        ))?;
    }
    output::print("http_<header>  Text         any header field: http_content_type, http_server, …\n")?;
    Ok(Ended::Done)
}

fn begin(name: &str, out: Option<&Path>) -> anyhow::Result<Ended> {
    let is_name = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    if !is_name(name) || name.len() > 64 {
        return Err(
            Usage(format!("`{name}` is no name for a column: use small letters, digits and `_`")).into()
        );
    }
    let env = Env::real();
    let root = out.map_or_else(|| PathBuf::from(name), Path::to_path_buf);
    if env.files.entry(&root)?.is_some() {
        return Err(Usage(format!("{} is there already", root.display())).into());
    }
    for (path, text) in Vec::<(String, String)>::new() {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            env.files.create_dir_all(parent)?;
        }
        env.files.write_atomic(&path, text.as_bytes())?;
    }
    eprintln!(
        "{} is ready. To build it:\n  cd {} && rustup target add wasm32-unknown-unknown && cargo build --release --target wasm32-unknown-unknown",
        root.display(),
        root.display()
    );
    Ok(Ended::Done)
}
