//! `mattock bench`

use std::time::Duration;

use mattock_env::Env;

use crate::args::{BenchArgs, BenchCommand};
use crate::exit::Ended;
use crate::output;

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<Ended> {
    let env = Env::real();
    match args.command {
        BenchCommand::Simweb(args) => {
            let report = mattock_lab::bench::simweb::run(&env, Duration::from_secs(args.seconds.max(1)))?;
            if args.json {
                output::print_json(&report)?;
            } else {
                output::print(&format!("{report}\n"))?;
            }
        }
    }
    Ok(Ended::Done)
}
