//! The index as a whole.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod growing;
mod importing;
