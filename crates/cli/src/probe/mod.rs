//! One question to one server, answered step by step: what `mattock fetch` and `mattock robots check` do.
//!
//! The commands fill a [`report::Report`] with the crawler's own parts (the same resolver, guard, client, rules and
//! extraction), so that what they show is what a crawl would meet. Each step is a value that is serialised for programs
//! ([`report`]) and written out for people ([`show`]) as soon as it is known.
//!
//! Where it differs from a crawl: nothing waits for the host's delay (robots.txt and the page are asked for one after the
//! other, each over a connection of its own, so that both show all their times), nothing is retried, and for `https` the
//! certificate is looked at in a handshake of its own, which sends no request ([`handshake`]).
//!
//! Invariants: only addresses that the guard permits are connected to; a page that robots.txt forbids is not asked for
//! unless the user says so; what a server says is never written to a terminal with control characters in it ([`text`]).

pub(crate) mod addresses;
mod certificate;
pub(crate) mod exchange;
pub(crate) mod handshake;
pub(crate) mod page;
pub(crate) mod report;
pub(crate) mod robots;
mod rules;
pub(crate) mod show;
mod text;
