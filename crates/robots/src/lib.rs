//! What a site allows: RFC 9309 rules, crawl delays, sitemaps and indexing directives.
//!
//! The robots stage hands in the body of a `robots.txt` (or the status it got instead) and keeps the [`Robots`] that
//! comes back; the frontier asks it for a [`Verdict`] before every request. The extract stage hands in the contents of
//! `<meta name=robots>` and `X-Robots-Tag` and gets [`Directives`]. Everything here is pure: no clock, no network, no
//! file.
//!
//! Invariants:
//! - A [`Robots`] holds the rules of *one* product token, in at most the bytes of the part that was read.
//! - Parsing reads at most [`BODY_BYTES_MAX`] bytes, in one pass; what was left out is reported, never silent.
//! - Deciding costs at most (rules × path length): no pattern backtracks, however many asterisks it has.
//! - Where a file can be read in two ways, the reading that forbids more is taken.

mod access;
mod bytes;
mod directives;
mod lines;
mod pattern;
mod rules;
pub mod sitemap;

pub use access::{Access, DisallowReason, access_for_status};
pub use bytes::Error;
pub use directives::Directives;
pub use rules::{BODY_BYTES_MAX, CRAWL_DELAY_MAX, Robots, RuleRef, Verdict};
