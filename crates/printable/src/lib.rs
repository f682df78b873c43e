//! Text of others, made harmless for whoever reads it: one function for terminals, one for CSV, one for HTML, one for JSON.
//!
//! URLs, titles, headers, names of hosts and files, and the words of loaded analyzers come from strangers. A terminal obeys some of their
//! characters, a browser and a spreadsheet others, and some only hide or rearrange what stands around them.
//!
//! ```
//! use mattock_printable::{Formulas, Layout, csv, html, json, json_on_terminal, terminal};
//!
//! assert_eq!(terminal("red \u{1b}[31m", Layout::Line), r"red \u{1b}[31m");
//! assert_eq!(html("<b title='x'>"), "&lt;b title=&#39;x&#39;&gt;");
//!
//! let mut field = String::new();
//! csv("=1+1, or so", Formulas::Defused, &mut field);
//! assert_eq!(field, r#""'=1+1, or so""#);
//!
//! let mut value = String::new();
//! json("a \"word\" \u{9b}", &mut value);
//! assert_eq!(value, "\"a \\\"word\\\" \u{9b}\"");
//! assert_eq!(json_on_terminal(&value), r#""a \"word\" \u009b""#);
//! ```
//!
//! Everybody who writes for people calls it: `plot` and `study` for HTML, `query` for tables, CSV and JSON, `crawl` for its logs, and `cli` at the
//! two outlets through which every command writes. It depends on nothing, and promises not to judge: no text is refused, and
//! text without such characters comes back as it is, for the price of one look at its bytes.

mod csv;
mod html;
mod json;
mod letters;
mod terminal;
mod writer;

pub use csv::{Formulas, csv};
pub use html::html;
pub use json::{json, json_on_terminal};
pub use terminal::{Layout, terminal, terminal_bytes};
pub use writer::TerminalWriter;
