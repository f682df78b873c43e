//! What can happen to the crate as a whole.

mod language;
