//! `mattock bench`

use std::time::Duration;

use mattock_env::Env;

use crate::args::{BenchArgs, BenchCommand};
use crate::exit::Ended;

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<Ended> {
    let env = Env::real();
    match args.command {
        BenchCommand::Simweb(args) => {
            let report = mattock_lab::bench::simweb::run(&env, Duration::from_secs(args.seconds.max(1)))?;
            if args.json {
                println!("{}", serde_json::to_string(&report)?);
            } else {
                println!("{report}");
            }
        }
    }
    Ok(Ended::Done)
}
