//! What analyzers say of whole documents.

mod built_ins;
mod versions;
