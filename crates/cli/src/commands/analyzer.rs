//! `mattock analyzer`: columns that are computed.

use crate::args::repository::{AnalyzerArgs, AnalyzerWhat};
use crate::exit::Ended;
use crate::output;

pub(crate) fn run(args: &AnalyzerArgs) -> anyhow::Result<Ended> {
    match args.what {
        AnalyzerWhat::List => list(),
    }
}

fn list() -> anyhow::Result<Ended> {
    for analyzer in mattock_analyze::built_ins() {
        let kind = format!("{:?}", analyzer.kind());
        output::print(&format!("{:<14} {kind:<12} version {}\n", analyzer.name(), analyzer.version()))?;
    }
    output::print("http_<header>  Text         any header field: http_content_type, http_server, …\n")?;
    Ok(Ended::Done)
}
