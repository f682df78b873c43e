//! Panics of other people's code that reads files of anybody's: they become errors, and nothing is printed.
//!
//! A parser that we did not write may panic on bytes that nobody has thought of. Where such bytes are read, it runs within
//! [`Panics::contain`], or on a thread that [watches itself](Panics::watch_thread). The hook that prints panics is replaced once, for
//! the whole process: on other threads, and for panics of our own code, which are bugs and go on, it does what it did before.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// So many are kept until somebody takes them.
const KEPT_MAX: usize = 16;

thread_local! {
    /// Who takes the panics of this thread.
    static WATCH: RefCell<Option<Panics>> = const { RefCell::new(None) };
}

/// A panic in code that is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    message: String,
    /// The file of the source and its line, from the name of the crate on.
    place: String,
}

impl fmt::Display for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.message, self.place)
    }
}

/// Takes panics of code that is not ours. Clones take into the same list.
#[derive(Clone, Debug, Default)]
pub struct Panics {
    kept: Arc<Mutex<Vec<Panic>>>,
}

impl Panics {
    /// Calls `call`; a panic of code that is not ours is an error, on this thread or on one that watches itself for this.
    pub fn contain<T>(&self, call: impl FnOnce() -> T) -> Result<T, Panic> {
        install();
        let own = Panics::default();
        let before = WATCH.with_borrow_mut(|watch| watch.replace(own.clone()));
        // Whoever gets the error does not see what was left half done.
        let called = catch_unwind(AssertUnwindSafe(call));
        WATCH.with_borrow_mut(|watch| *watch = before);
        // It may have come from a thread that was waited for.
        called.or_else(|payload| match own.take().or_else(|| self.take()) {
            Some(panic) => Err(panic),
            None => resume_unwind(payload),
        })
    }

    /// Takes the panics of this thread from now on. They go on to whoever waits for the thread, who asks with [`Panics::take`] whether they were
    /// of code that is not ours.
    pub fn watch_thread(&self) {
        install();
        WATCH.with_borrow_mut(|watch| *watch = Some(self.clone()));
    }

    /// The one that was kept last; forgets it.
    pub fn take(&self) -> Option<Panic> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, panic: Panic) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody may have come for the older ones.
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(panic);
    }
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match taken(info) {
            true => {}
            false => before(info),
        }));
    });
}

/// Keeps a panic if somebody watches, and it is not of our own code.
fn taken(info: &PanicHookInfo<'_>) -> bool {
    let Some(location) = info.location() else { return false };
    if is_ours(location.file()) {
        return false;
    }
    // A thread that ends has nobody left who watches.
    let watch = WATCH.try_with(|watch| watch.try_borrow().ok().and_then(|watch| watch.clone()));
    let Ok(Some(panics)) = watch else { return false };
    let message = info.payload_as_str().unwrap_or("no message").lines().next().unwrap_or_default().to_owned();
    panics.keep(Panic { message, place: format!("{}:{}", named(location.file()), location.line()) });
    true
}

/// Whether a file of source is of this project: paths begin at its root then, or lead to it.
fn is_ours(file: &str) -> bool {
    file.starts_with("crates/") || file.contains("/crates/")
}

/// The path from the name of the crate on.
fn named(file: &str) -> &str {
    file.split_once("/registry/src/")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or(file, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics in the library of the language, at a place of its own.
    fn foreign() -> std::time::Duration {
        std::time::Duration::MAX + std::time::Duration::from_secs(1)
    }

    #[test]
    fn a_panic_of_others_is_an_error() {
        let panics = Panics::default();
        assert_eq!(panics.contain(|| 5), Ok(5));
        let panic = panics.contain(foreign).unwrap_err().to_string();
        assert!(panic.contains("overflow") && panic.contains("time.rs:"), "{panic}");
        assert_eq!(panics.take(), None);
        let within = panics.contain(|| Panics::default().contain(foreign).is_err());
        assert_eq!(within, Ok(true), "one within another");
    }

    #[test]
    fn a_panic_of_ours_goes_on() {
        let panics = Panics::default();
        let caught = catch_unwind(AssertUnwindSafe(|| panics.contain(|| panic!("ours"))));
        assert!(caught.is_err() && panics.take().is_none());
    }

    #[test]
    fn a_thread_that_watches_keeps_its_panics() {
        let panics = Panics::default();
        let watched = panics.clone();
        let thread = std::thread::spawn(move || {
            watched.watch_thread();
            foreign()
        });
        assert!(thread.join().is_err());
        assert!(panics.take().is_some() && panics.take().is_none());
    }

    #[test]
    fn code_is_ours_or_of_others() {
        let parquet = "/of/x/.cargo/registry/src/index.crates.io-1/parquet-59/src/a.rs";
        assert_eq!(named(parquet), "parquet-59/src/a.rs");
        assert!(is_ours("crates/env/src/panics.rs") && is_ours("/of/x/mattock/crates/env/src/panics.rs"));
        assert!(!is_ours(parquet) && !is_ours("/rustc/59807616e/library/alloc/src/raw_vec/mod.rs"));
    }
}
