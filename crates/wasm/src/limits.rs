//! What a module may use for one document.

use crate::error::LoadError;

/// See the module. They are a part of the analyzer's version: with other limits the same document may give another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps: about one for each instruction, some for each call of a function of `mattock`, and one for every eight bytes that are handed over.
    pub fuel: u64,
    /// Bytes of memory, at any time.
    pub memory_bytes_max: usize,
    /// Bytes of the answer: a text, or all texts or numbers of a list.
    pub answer_bytes_max: usize,
}

impl Default for Limits {
    /// A hundred million steps (a fraction of a second), 64 MiB, and an answer of 4 MiB.
    fn default() -> Limits {
        Limits { fuel: 100_000_000, memory_bytes_max: 64 << 20, answer_bytes_max: 4 << 20 }
    }
}

impl Limits {
    /// Steps that nobody can ask more than: half a minute or so of one core for each document.
    pub const FUEL_MAX: u64 = 10_000_000_000;
    /// Memory that nobody can ask more than; each thread that computes has as much.
    pub const MEMORY_BYTES_MAX: usize = 1 << 30;

    /// Whether a module may take more with these than with those that hold if nobody says anything. What a directory says that came from
    /// elsewhere is not followed then unless its user says so.
    pub fn exceed_defaults(&self) -> bool {
        let default = Limits::default();
        self.fuel > default.fuel
            || self.memory_bytes_max > default.memory_bytes_max
            || self.answer_bytes_max > default.answer_bytes_max
    }

    /// Refuses what is beyond the maxima.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        if self.fuel > Limits::FUEL_MAX {
            return Err(LoadError::FuelLimit { steps: self.fuel, max: Limits::FUEL_MAX });
        }
        if self.memory_bytes_max > Limits::MEMORY_BYTES_MAX {
            return Err(LoadError::MemoryLimit {
                bytes: self.memory_bytes_max,
                max: Limits::MEMORY_BYTES_MAX,
            });
        }
        Ok(())
    }
}

/// A module's file may be so large.
pub(crate) const MODULE_BYTES_MAX: usize = 16 << 20;

/// Elements of tables, which hold functions; compilers make as many as there are functions whose address is taken.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 100_000;

/// Tables of one module; compilers make one.
pub(crate) const TABLES_MAX: usize = 8;
