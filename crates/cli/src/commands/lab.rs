//! `mattock lab`

use std::path::Path;

use anyhow::Context;
use mattock_crawl::units::parse_duration;
use mattock_env::Env;
use mattock_lab::beast::{self, BeastCrawl, BeastReport, Stretch};
use mattock_lab::star::{self, StarCrawl};
use serde::Serialize;

use crate::args::lab::{LabArgs, LabBeastArgs, LabCommand, LabStarArgs};
use crate::exit::{Ended, Usage};
use crate::output;
use crate::places;
use crate::settings::check_directory;

pub(crate) fn run(args: LabArgs) -> anyhow::Result<Ended> {
    let env = places::unbound();
    match args.command {
        LabCommand::Beast(args) => beast(&env, &args)?,
        LabCommand::Star(args) => star(&env, &args)?,
    }
    Ok(Ended::Done)
}

fn beast(env: &Env, args: &LabBeastArgs) -> anyhow::Result<()> {
    make(env, &args.out)?;
    let crawl = BeastCrawl {
        domains: args.domains,
        budget: args.budget,
        rounds: args.rounds,
        naive_rounds: args.naive_rounds.min(args.rounds),
        memory_bytes: usize::try_from(args.memory)?.max(64 << 10),
        ..BeastCrawl::default()
    };
    let pages = args.domains * u64::from(args.budget) * ((1 << args.rounds) - 1);
    say!("A crawl of {pages} pages without a network, once with BEAST and in part with two queues …");
    let queues = args.out.join("queues");
    let report = beast::run(env, &queues, crawl);
    drop(env.files.remove_dir_all(&queues));
    let report = report?;
    save(env, &args.out, "beast.svg", report.chart().render().standalone())?;
    save(env, &args.out, "beast.md", &report.markdown("beast.svg"))?;
    finish(env, &args.out, "beast", &report, args.json, || beast_text(&report))
}

fn beast_text(report: &BeastReport) -> String {
    let mut text = "BEAST           pages  bytes per page  theorem 5\n".to_owned();
    rows(&mut text, &report.beast);
    text.push_str(&format!("                 never above {:>10.0}\n\n", report.bound));
    text.push_str("two queues      pages  bytes per page  theorem 4\n");
    rows(&mut text, &report.naive);
    let (one, other) = (report.beast_growth, report.naive_growth);
    text.push_str(&format!(
        "\nBEAST: {:.2} × the cost per page for {:.0} × the pages; two queues: {:.1} × for {:.0} ×\n",
        one.bytes_per_page, one.pages, other.bytes_per_page, other.pages
    ));
    text
}

fn rows(text: &mut String, stretches: &[Stretch]) {
    for stretch in stretches {
        let Stretch { pages, bytes_per_page, theorem, .. } = stretch;
        text.push_str(&format!("{pages:>21}  {bytes_per_page:>14.0}  {theorem:>9.0}\n"));
    }
}

fn star(env: &Env, args: &LabStarArgs) -> anyhow::Result<()> {
    make(env, &args.out)?;
    let crawl = StarCrawl {
        domains: args.domains,
        seed: args.seed,
        share: args.percent as f64 / 100.0,
        connections: usize::try_from(args.connections)?,
        delay_s: parse_duration(&args.delay).map_err(Usage)?.as_secs_f64(),
        ..StarCrawl::default()
    };
    let report = star::run(crawl, |budget| say!("Crawling with the budget {budget} …"))?;
    save(env, &args.out, "star-share.svg", report.share_chart().render().standalone())?;
    save(env, &args.out, "star-degree.svg", report.degree_chart().render().standalone())?;
    save(env, &args.out, "star.md", &report.markdown())?;
    finish(env, &args.out, "star", &report, args.json, || format!("{report}\n"))
}

fn make(env: &Env, out: &Path) -> anyhow::Result<()> {
    check_directory(env, out)?;
    env.files
        .create_dir_all(out)
        .with_context(|| format!("cannot create {}; name a directory with --out", out.display()))
}

fn save(env: &Env, out: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = out.join(name);
    env.files.write_atomic(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// Keeps the data beside the page, and prints it or what matters of it.
fn finish(
    env: &Env,
    out: &Path,
    name: &str,
    report: &impl Serialize,
    json: bool,
    text: impl Fn() -> String,
) -> anyhow::Result<()> {
    save(env, out, &format!("{name}.json"), &format!("{}\n", serde_json::to_string_pretty(report)?))?;
    say!("The report is {}", out.join(format!("{name}.md")).display());
    if json {
        return output::print_json(report);
    }
    Ok(output::print(&text())?)
}
