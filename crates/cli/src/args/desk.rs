//! Arguments of what shows and steers a crawl: `console` and `ctl`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use mattock_console::{Access, Bind, ConsoleError};
use mattock_env::Env;

use crate::settings::warn_if_visible;

use super::parse_url;

/// Where a console listens.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenArgs {
    /// What browsers and programs must know to use the console, instead of a new token that is printed with its address; `none` lets
    /// everybody on this machine use it. Better in the environment: others on this machine can read a command line
    #[arg(long, value_name = "TOKEN", env = "MATTOCK_CONSOLE_TOKEN", hide_env_values = true)]
    pub(crate) console_token: Option<String>,

    /// Answer under this name too, that of a proxy before the console; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) console_name: Vec<String>,
}

impl TokenArgs {
    /// Where a console is to listen, and for whom.
    pub(crate) fn bind(&self, env: &Env, address: &str) -> Result<Bind, ConsoleError> {
        for token in self.console_token.iter().filter(|token| *token != "none") {
            warn_if_visible("--console-token", token, "put it into MATTOCK_CONSOLE_TOKEN");
        }
        let access = Access::asked(self.console_token.as_deref(), &mut env.random.fork("console token"))?;
        Ok(Bind::parse(address, access)?.with_names(&self.console_name))
    }
}

/// Arguments of `mattock console`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ConsoleArgs {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub(crate) listen: String,

    #[command(flatten)]
    pub(crate) token: TokenArgs,
}

/// Arguments of `mattock ctl`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CtlArgs {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: CtlCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// Say how the crawl is
    Status,
    /// Begin no new visit; what is under way ends
    Pause {
        /// For the log and whoever wonders
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Go on after a pause
    Resume,
    /// Limit the speed until it is set again, or say what it is
    Speed {
        /// Requests a second
        #[arg(long, value_name = "N")]
        pages: Option<f64>,
        /// Megabits received a second
        #[arg(long, value_name = "N")]
        mbit: Option<f64>,
        /// No limit at all, whatever the configuration says
        #[arg(long, conflicts_with_all = ["pages", "mbit"])]
        unlimited: bool,
        /// As the configuration and its schedule say
        #[arg(long, conflicts_with_all = ["pages", "mbit", "unlimited"])]
        configured: bool,
    },
    /// Make a checkpoint now
    Checkpoint {
        /// End when it is made
        #[arg(long)]
        wait: bool,
    },
    /// Fetch nothing of this any more, from now on and in later runs; without a rule, list what is blocked
    Block {
        /// As in a blocklist: host NAME, domain NAME, address RANGE, url PATTERN
        #[arg(value_name = "RULE")]
        rule: Vec<String>,
    },
    /// Take a block back
    Unblock {
        /// As it was given, or as `block` lists it
        #[arg(value_name = "RULE", required = true)]
        rule: Vec<String>,
    },
    /// Add seeds, for this run and later ones
    Seed {
        /// URLs
        #[arg(value_name = "URL", value_parser = parse_url, required = true)]
        urls: Vec<String>,
    },
    /// Change a setting, now and for later runs; without a name, list what can be changed
    Set {
        /// Section and key, like politeness.delay
        #[arg(value_name = "NAME", requires = "value")]
        name: Option<String>,
        /// As in the configuration; nothing ('') is the default
        #[arg(value_name = "VALUE")]
        value: Option<String>,
    },
    /// Show what has happened
    Log {
        /// Only what matters so much, and more
        #[arg(long, value_enum, default_value_t = LogLevel::Info)]
        level: LogLevel,
        /// The last so many
        #[arg(long, short, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5000))]
        number: u32,
        /// Go on with what comes, until interrupted or the crawl ends
        #[arg(long, short)]
        follow: bool,
    },
    /// End the run in good order: everything is saved, and the same `mattock crawl` goes on
    Stop {
        /// End when the crawl has
        #[arg(long)]
        wait: bool,
    },
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    /// Everything
    Debug,
    /// What went as it should, too
    Info,
    /// What is wrong, and can be lived with
    Warn,
    /// What somebody should look at
    Error,
}

impl LogLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}
