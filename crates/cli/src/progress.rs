//! What commands have in common that take long: a bar that shows how far they are, and Ctrl-C.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use mattock_query::Cancel;

use crate::signals;

/// A bar in this form that ends at `length`; nothing where nobody looks.
pub(crate) fn bar(quiet: bool, length: u64, template: &str) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

/// Ends the process in good order if somebody wishes that: for what is safe wherever it ends, and has no other way out.
pub(crate) fn stop_if(cancel: &Cancel, bar: &ProgressBar, words: &str) {
    if cancel.is_cancelled() {
        bar.finish_and_clear();
        say!("{words}");
        std::process::exit(130);
    }
}

/// Is cancelled by the first Ctrl-C; the second ends the process.
pub(crate) fn interruptible() -> Cancel {
    let cancel = Cancel::new();
    let watched = cancel.clone();
    signals::when_interrupted(move || watched.cancel());
    cancel
}
