//! `mattock completions`

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::exit::Ended;
use crate::output;

pub(crate) fn run(args: CompletionsArgs) -> anyhow::Result<Ended> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "mattock", &mut script);
    output::print_data(&String::from_utf8_lossy(&script))?;
    Ok(Ended::Done)
}
