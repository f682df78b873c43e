//! What a module may use for one document.

/// See the module. They are a part of the analyzer's version: with other limits the same document may give another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps, about one for each instruction, and one for every eight bytes that are handed over.
    pub fuel: u64,
    /// Bytes of memory, at any time.
    pub memory_bytes_max: usize,
    /// Bytes of the answer: a text, or all texts or numbers of a list.
    pub answer_bytes_max: usize,
}

impl Default for Limits {
    /// A billion steps (a second or a few), 64 MiB, and an answer of 4 MiB.
    fn default() -> Limits {
        Limits { fuel: 1_000_000_000, memory_bytes_max: 64 << 20, answer_bytes_max: 4 << 20 }
    }
}

/// A module's file may be so large.
pub(crate) const MODULE_BYTES_MAX: usize = 16 << 20;

/// Elements of tables, which hold functions; compilers make as many as there are functions whose address is taken.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 100_000;

/// Tables of one module; compilers make one.
pub(crate) const TABLES_MAX: usize = 8;
