//! The `mattock` binary as its users meet it: what it says, how it ends, and what its documentation shows.

mod analyzer;
mod check;
mod content;
mod ctl;
mod demo;
mod elsewhere;
mod examples;
mod failures;
mod features;
mod fetch;
mod generated;
mod graph;
mod help;
mod imported;
mod interrupt;
mod json;
mod killed;
mod lab;
mod mistakes;
mod process;
mod published;
mod report;
mod robots;
mod secured;
mod served;
mod why;
