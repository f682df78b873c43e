//! `mattock fetch`

use std::path::Path;

use anyhow::Context;
use mattock_crawl::{Config, RawConfig};
use mattock_env::Env;
use mattock_fetch::{Client, Exchange, FieldValue};
use mattock_weburl::WebUrl;

use crate::args::probe::FetchArgs;
use crate::exit::{Ended, Usage};
use crate::places;
use crate::probe::report::{Identity, Report};
use crate::probe::{addresses, exchange, page, robots};
use crate::{output, settings};

pub(crate) fn run(args: FetchArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    let url = WebUrl::parse(&args.url)?;
    let mut config = settings::asked(RawConfig::default(), &args.network, Some(&url))?.check()?;
    if let Some(agent) = &args.user_agent {
        FieldValue::new(agent).map_err(|error| Usage(format!("--user-agent: {error}")))?;
        config.identity.user_agent = agent.trim().to_owned();
    }
    let report = mattock_env::run(probe(&env, &config, &args, &url))?;
    if args.json {
        output::print_json(&report)?;
    }
    let answered = report.fetch.as_ref().is_some_and(|fetch| fetch.status_line.is_some());
    Ok(if answered { Ended::Done } else { Ended::Failed })
}

/// Takes one step after the other and shows each when it is done: a slow server should be seen to be slow.
async fn probe(env: &Env, config: &Config, args: &FetchArgs, url: &WebUrl) -> anyhow::Result<Report> {
    let say = |text: String| if args.json { Ok(()) } else { output::print(&text) };
    let identity = Identity::of(&args.url, url);
    say(identity.show())?;
    let mut report =
        Report { url: identity, addresses: None, robots: None, fetched: false, fetch: None, page: None };
    let found = addresses::find(env, config, url).await;
    say(found.show())?;
    report.addresses = Some(found);

    let rules = robots::of_host(env, config, url, &config.product).await;
    say(rules.show())?;
    let allowed = rules.allowed;
    report.robots = Some(rules);
    if !allowed && !args.no_robots {
        say("\nNot fetched: a crawl would not ask for it. --no-robots does all the same.\n".into())?;
        return Ok(report);
    }

    // A client of its own: a kept connection or a resumed session would hide what a new one costs.
    let (exchange, _) = Client::new(env, config.client_options()).fetch(url, None).await;
    let fetched = exchange::describe(env, config, url, &exchange).await;
    say(fetched.show())?;
    report.fetched = true;
    report.fetch = Some(fetched);
    report.page = page::read(config, url, &exchange);
    if let Some(page) = &report.page {
        say(page.show(args.links))?;
    }
    if let Some(path) = &args.body {
        save(config, path, &exchange)?;
    }
    Ok(report)
}

/// Saves the body: decoded, or as it came if it cannot be decoded.
fn save(config: &Config, path: &Path, exchange: &Exchange) -> anyhow::Result<()> {
    if exchange.outcome.status().is_none() {
        say!("There is no body to save.");
        return Ok(());
    }
    let decoded = exchange.decoded(&config.limits.decode);
    let (bytes, how) = match decoded.bytes.is_empty() {
        false => (&decoded.bytes[..], ""),
        true => (exchange.body(), " as it came"),
    };
    places::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    say!("The body is in {}{how}: {} bytes.", path.display(), bytes.len());
    Ok(())
}
