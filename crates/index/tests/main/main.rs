//! The index as a whole.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod corpus;
mod growing;
mod importing;
mod lost;
