//! One file per command: arguments in, calls, output.

pub(crate) mod analyzer;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod console;
pub(crate) mod crawl;
pub(crate) mod ctl;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod fetch;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod lab;
pub(crate) mod materialize;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod robots;
pub(crate) mod simweb;
pub(crate) mod stalls;
pub(crate) mod why;
