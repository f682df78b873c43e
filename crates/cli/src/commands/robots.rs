//! `mattock robots`

use mattock_crawl::RawConfig;
use mattock_weburl::WebUrl;

use crate::args::probe::{CheckArgs, RobotsArgs, RobotsCommand};
use crate::exit::{Ended, Usage};
use crate::places;
use crate::{output, probe, settings};

pub(crate) fn run(args: RobotsArgs) -> anyhow::Result<Ended> {
    match args.command {
        RobotsCommand::Check(args) => check(&args),
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    let url = WebUrl::parse(&args.url)?;
    let config = settings::asked(RawConfig::default(), &args.network, Some(&url))?.check()?;
    let agent = agent(args.agent.as_deref().unwrap_or(&config.product))?;
    let report = match &args.file {
        Some(path) => {
            let unread = |error| Usage(format!("cannot read {}: {error}", path.display()));
            let body = env.files.read(path).map_err(unread)?;
            probe::robots::of_file(&url, &path.display().to_string(), body, agent)
        }
        None => mattock_env::run(probe::robots::of_host(&env, &config, &url, agent)),
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&report.show())?;
    }
    Ok(if report.allowed { Ended::Done } else { Ended::Failed })
}

/// A name that can stand behind `User-agent:`. A whole User-Agent field would silently match nothing.
fn agent(name: &str) -> Result<&str, Usage> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || !name.bytes().all(good) {
        return Err(Usage(format!(
            "{name:?} is no product token; use the bare name with --agent, like Googlebot, without version and comment"
        )));
    }
    Ok(name)
}
