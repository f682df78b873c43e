//! `mattock simweb`

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use mattock_crawl::config::nearest;
use mattock_crawl::units::{format_duration, parse_duration};
use mattock_env::Env;
use mattock_simweb::{
    AuditHeader, AuditLog, AuditOptions, AuditReport, Params, Preset, ServeOptions, World, audit,
    crawl_command, serve,
};

use crate::args::simweb::{AuditArgs, ServeArgs, SimwebArgs, SimwebCommand, TruthArgs, WorldArgs};
use crate::exit::{Ended, Usage, read_named};
use crate::output;
use crate::places;
use crate::shell::{program, quoted};
use crate::signals::Interrupts;

pub(crate) fn run(args: SimwebArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    match args.command {
        SimwebCommand::Serve(args) => serve_world(&env, &args),
        SimwebCommand::Truth(args) => truth(&args),
        SimwebCommand::Audit(args) => judge(&env, &args),
        SimwebCommand::Params(args) => {
            output::print_data(&Params::example_toml(args.preset))?;
            Ok(Ended::Done)
        }
    }
}

fn world(args: &WorldArgs) -> anyhow::Result<World> {
    let params = match &args.params {
        None => Params::preset(args.preset),
        Some(path) => {
            let text = read_named(path)?;
            check_keys(&text, path)?;
            Params::from_toml(&text).with_context(|| path.display().to_string())?
        }
    };
    Ok(World::new(params, args.seed))
}

/// Refuses a parameter that does not exist, with the one that was probably meant.
fn check_keys(text: &str, path: &Path) -> Result<(), Usage> {
    // What is no TOML at all is told by whoever reads it.
    let Ok(given) = text.parse::<toml::Table>() else { return Ok(()) };
    let example: toml::Table =
        Params::example_toml(Preset::Tiny).parse().expect("the example is TOML, as its tests show");
    match given.keys().find(|key| !example.contains_key(*key)) {
        None => Ok(()),
        Some(key) => {
            let near = nearest(key, example.keys().map(String::as_str));
            let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(Usage(format!("{}: unknown key `{key}`{meant}", path.display())))
        }
    }
}

fn delay_ms(text: &str) -> anyhow::Result<u64> {
    let delay = parse_duration(text).map_err(Usage)?;
    Ok(u64::try_from(delay.as_millis())?)
}

fn serve_world(env: &Env, args: &ServeArgs) -> anyhow::Result<Ended> {
    let world = world(&args.world)?;
    let delay = parse_duration(&args.delay).map_err(Usage)?;
    let options = ServeOptions {
        http_port: args.http_port,
        dns_port: args.dns_port,
        time_scale: args.time_scale,
        ..ServeOptions::default()
    };
    let log =
        args.audit.as_deref().map(|path| audit_log(env, path, &world, delay_ms(&args.delay)?)).transpose()?;
    mattock_env::run(async {
        let mut interrupts = Interrupts::listen().context("cannot listen for Ctrl-C")?;
        let seeds = world.seeds();
        let server = serve(env, Arc::new(world), options, log).await?;
        let (dns, port) = (server.dns_address(), server.http_port());
        let command = crawl_command(&seeds, dns, port, &format_duration(delay), Path::new("simweb-crawl"));
        output::print_data(&format!("{command}\n"))?;
        say!("Serving until Ctrl-C. The command above crawls it from another terminal.");
        if program() != "mattock" {
            say!("(`mattock` is {} here.)", program());
        }
        interrupts.next().await;
        let (requests, bytes) = (server.requests(), server.bytes());
        server.stop().await?;
        say!("Served {requests} requests, {bytes} bytes.");
        if let Some(path) = &args.audit {
            let log = quoted(&path.display().to_string());
            say!("Judge the crawler with:\n  {} simweb audit {log}", program());
        }
        Ok(Ended::Done)
    })
}

fn audit_log(env: &Env, path: &Path, world: &World, delay_ms: u64) -> anyhow::Result<AuditLog> {
    let header = AuditHeader { seed: world.seed(), delay_ms: Some(delay_ms), params: world.params().clone() };
    Ok(AuditLog::create(env, path, &header)?)
}

fn truth(args: &TruthArgs) -> anyhow::Result<Ended> {
    let truth = world(&args.world)?.truth(args.limit)?;
    if args.json {
        output::print_json(&truth)?;
    } else {
        output::print_data(&format!("{truth}\n"))?;
    }
    if args.pages {
        output::print_data(&truth.pages.iter().fold(String::new(), |text, page| text + page + "\n"))?;
    }
    Ok(Ended::Done)
}

fn judge(env: &Env, args: &AuditArgs) -> anyhow::Result<Ended> {
    let asked = args.delay.as_deref().map(delay_ms).transpose()?;
    let options = AuditOptions { delay_ms: asked.map(|ms| ms as f64), ..AuditOptions::default() };
    let report = audit(&env.files, &args.file, &options)?;
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print_data(&report.to_string())?;
    }
    Ok(if is_innocent(&report, asked.is_some()) { Ended::Done } else { Ended::Failed })
}

/// Whether the crawler did nothing that none may do. The delay that was asked for when serving is a wish: a crawl that
/// was told another keeps that. It is held against the crawler only if this command names one.
fn is_innocent(report: &AuditReport, delay_counts: bool) -> bool {
    let forgiven = AuditReport { delay_violations: 0, ..report.clone() };
    if delay_counts { report.is_clean() } else { forgiven.is_clean() }
}
