//! Links, title, charset, directives, headings and text out of the bytes of a page, in one pass and without a tree.
//!
//! The crawl hands in a body and its `Content-Type`; [`extract`] gives back an [`Extracted`] that owns what it found.
//! Nothing is resolved here: targets are what the page says, cleaned the way the URL standard cleans them, and joining
//! them with the base is the caller's work. Pure: no clock, no network, no file.
//!
//! How: a scanner with the HTML standard's tokenizer rules, as far as they decide where a tag begins and ends, finds start tags in the raw
//! bytes; only the values of the attributes that matter are decoded. Bodies in an encoding that is not
//! ASCII-compatible (UTF-16, ISO-2022-JP) are transcoded first.
//!
//! Invariants:
//! - Time is linear in the body for every input, and depth costs nothing: there is no tree to be deep.
//! - Memory is bounded by [`Options`]: so many links of so many bytes; what was left out is counted.
//! - What [`Options`] does not ask for costs nothing: text, headings and styles are watched by a scanner of their own kind.
//! - Scripting is off, so `noscript` is markup: its links count.
//!
//! Where it differs from a full parser: it does not know the tree. Tags that a tree builder would drop for standing in
//! the wrong place (a `frame` in a body) count. Foreign content (SVG, MathML) is followed by a small stack, enough
//! to know where CDATA sections and raw text apply.

mod attributes;
mod charset;
mod css;
mod detect;
mod entities;
mod foreign;
mod links;
mod markup;
mod names;
mod page;
mod raw;
mod refresh;
mod scan;
mod simhash;
mod sniff;
mod srcset;
mod text;
mod watch;
mod work;

pub use detect::detect_charset;
pub use links::{Link, LinkKind};
pub use markup::{Markup, decode_text, read_markup};
pub use page::{Extracted, Options, extract};
pub use simhash::{TEXT_BYTES_MAX as SIMHASH_BYTES_MAX, simhash};
pub use sniff::sniff;
pub use text::Heading;
