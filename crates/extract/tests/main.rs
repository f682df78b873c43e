//! The extractor against a full HTML parser: on real pages, on mutated ones and on random markup.

mod corpus;
mod encodings;
mod oracle;
mod real_pages;
mod soup;
mod tree;
