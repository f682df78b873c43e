//! Flags that say how requests are made: shared by `crawl`, `fetch` and `robots check`.

use std::path::PathBuf;

use clap::ArgAction;

/// How requests are made.
#[derive(Debug, clap::Args)]
pub(crate) struct NetworkArgs {
    /// A configuration file (see `mattock config --example`)
    #[arg(long, value_name = "FILE", env = "MATTOCK_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// Who asks: a URL or e-mail address that becomes part of the User-Agent
    #[arg(long, value_name = "TEXT", env = "MATTOCK_CONTACT")]
    pub(crate) contact: Option<String>,

    /// A request field to send beside our own, like "Accept-Language: en"; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", env = "MATTOCK_HEADER", hide_env_values = true, action = ArgAction::Append)]
    pub(crate) headers: Vec<String>,

    /// Let a certificate that is not valid end the fetch; otherwise it is only recorded
    #[arg(long, env = "MATTOCK_VERIFY")]
    pub(crate) verify: bool,

    /// Send everything through this HTTP proxy: its URL, with a port. With a password in it better in the environment: others on this
    /// machine can read a command line
    #[arg(long, value_name = "URL", env = "MATTOCK_PROXY", hide_env_values = true)]
    pub(crate) proxy: Option<String>,

    /// A name server to ask instead of the machine's; may be repeated
    #[arg(long, value_name = "ADDRESS", env = "MATTOCK_DNS", action = ArgAction::Append)]
    pub(crate) dns: Vec<String>,

    /// A file like /etc/hosts, whose names have the addresses in it whatever name servers say
    #[arg(long, value_name = "FILE", env = "MATTOCK_HOSTS")]
    pub(crate) hosts: Option<String>,

    /// A range of addresses to connect to beside the public ones, like 127.0.0.0/8; may be repeated
    #[arg(long, value_name = "CIDR", env = "MATTOCK_ALLOW_ADDRESS", action = ArgAction::Append)]
    pub(crate) allow_address: Vec<String>,

    /// Connect to another port than the URL says, like 80=8080; may be repeated
    #[arg(long, value_name = "FROM=TO", env = "MATTOCK_CONNECT_PORT", action = ArgAction::Append)]
    pub(crate) connect_port: Vec<String>,
}
