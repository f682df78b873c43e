//! `mattock features`: builds feature databases, and says what is in them.

mod bar;
mod build;
mod info;

use crate::args::features::{FeaturesArgs, FeaturesWhat};
use crate::exit::Ended;

pub(crate) fn run(args: &FeaturesArgs) -> anyhow::Result<Ended> {
    match &args.what {
        FeaturesWhat::Build(args) => build::run(args),
        FeaturesWhat::Info(args) => info::run(args),
    }
}
