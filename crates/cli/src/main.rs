//! The `mattock` binary: reads the command line, calls the crates that do the work, and prints.
//!
//! stdout is data, stderr is talk. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted
//! (the state is safe).

/// Talks to the user: a line on stderr. Where nobody listens any more the work goes on.
macro_rules! say {
    () => { crate::output::tell(format_args!("\n")) };
    ($($words:tt)*) => { crate::output::tell(format_args!("{}\n", format_args!($($words)*))) };
}

/// The same without an end of the line.
macro_rules! say_on {
    ($($words:tt)*) => { crate::output::tell(format_args!($($words)*)) };
}

mod analyzers;
mod args;
mod commands;
mod display;
mod exit;
mod instances;
mod intact;
mod output;
mod places;
mod probe;
mod progress;
mod repository;
mod rows;
mod settings;
mod shell;
mod signals;
mod times;
mod unfinished;
mod visiting;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::process::ExitCode;

use crate::args::{Args, Command};

/// A condition of thousands of terms is a tree as deep, which is walked many times while it is planned. What is not used of the stack takes no memory.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let thread = std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES);
    match thread.spawn(run) {
        // What panics has said so.
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
        // No room for that stack: with the one there is, nearly everything works.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let (thread, trace) = (std::thread::current(), Backtrace::capture());
        say!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>"));
        match trace.status() {
            BacktraceStatus::Captured => say!("{trace}"),
            _ => say!("note: run with `RUST_BACKTRACE=1` to see where"),
        }
    }));
    let args = match Args::of_process() {
        Ok(args) => args,
        Err(error) => return exit::refused(&error),
    };
    if args.trust {
        places::trust();
    }
    let result = match args.command {
        Command::Crawl(args) => commands::crawl::run(args),
        Command::Check(args) => commands::check::run(&args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Why(args) => commands::why::run(&args),
        Command::Stalls(args) => commands::stalls::run(&args),
        Command::Ctl(args) => commands::ctl::run(&args),
        Command::Console(args) => commands::console::run(&args),
        Command::Query(args) => commands::query::run(&args),
        Command::Columns(args) => commands::columns::run(&args),
        Command::Get(args) => commands::get::run(&args),
        Command::History(args) => commands::history::run(&args),
        Command::Index(args) => commands::index::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Materialize(args) => commands::materialize::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Publish(args) => commands::publish::run(&args),
        Command::Features(args) => commands::features::run(&args),
        Command::Duplicates(args) => commands::duplicates::run(&args),
        Command::Terms(args) => commands::terms::run(&args),
        Command::Graph(args) => commands::graph::run(&args),
        Command::Analyzer(args) => commands::analyzer::run(&args),
        Command::Fetch(args) => commands::fetch::run(*args),
        Command::Robots(args) => commands::robots::run(args),
        Command::Url(args) => commands::url::run(&args),
        Command::Simweb(args) => commands::simweb::run(args),
        Command::Config(args) => commands::config::run(args),
        Command::Bench(args) => commands::bench::run(args),
        Command::Lab(args) => commands::lab::run(args),
        Command::Completions(args) => commands::completions::run(args),
    };
    exit::code(result)
}
