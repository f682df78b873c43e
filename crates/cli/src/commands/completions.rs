//! `mattock completions`

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::exit::Ended;

pub(crate) fn run(args: CompletionsArgs) -> anyhow::Result<Ended> {
    clap_complete::generate(args.shell, &mut Args::command(), "mattock", &mut std::io::stdout());
    Ok(Ended::Done)
}
