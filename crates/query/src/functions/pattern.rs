//! Regular expressions of functions, compiled once: an argument is the same for all batches of a query, and a function sees a few rows at a time.

use std::cell::RefCell;

use regex::Regex;

thread_local! {
    /// The ones that were asked for last by this thread, the newest first.
    static COMPILED: RefCell<Vec<Regex>> = const { RefCell::new(Vec::new()) };
}

/// As many as a query may have in a row.
const COMPILED_MAX: usize = 8;

/// The expression; it shares what it has learnt with others of the thread.
pub(super) fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    COMPILED.with_borrow_mut(|compiled| {
        let found = match compiled.iter().position(|regex| regex.as_str() == pattern) {
            Some(at) => compiled.remove(at),
            None => Regex::new(pattern)?,
        };
        compiled.truncate(COMPILED_MAX - 1);
        compiled.insert(0, found.clone());
        Ok(found)
    })
}
