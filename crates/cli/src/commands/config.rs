//! `mattock config`

use crate::args::ConfigArgs;
use crate::exit::Ended;
use crate::output;

pub(crate) fn run(args: ConfigArgs) -> anyhow::Result<Ended> {
    debug_assert!(args.example, "the only thing that can be asked for");
    output::print_data(mattock_crawl::config::EXAMPLE)?;
    Ok(Ended::Done)
}
