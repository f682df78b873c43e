//! The `mattock` binary.
fn main() {}
