//! What commands have in common that take long: a bar that shows how far they are, and Ctrl-C.

use indicatif::{ProgressBar, ProgressStyle};
use mattock_printable::{Layout, terminal};
use mattock_query::Cancel;

use crate::signals::Patience;
use crate::{output, signals};

/// A bar that says something. Names of files and words of others are among it, and are shown as everything else on stderr.
pub(crate) trait Says {
    /// Beside the bar, on its line.
    fn says(&self, words: impl AsRef<str>);
    /// In lines of their own, above it.
    fn says_above(&self, words: impl AsRef<str>);
}

#[expect(clippy::disallowed_methods, reason = "this is the outlet")]
impl Says for ProgressBar {
    fn says(&self, words: impl AsRef<str>) {
        self.set_message(terminal(words.as_ref(), Layout::Line).into_owned());
    }

    fn says_above(&self, words: impl AsRef<str>) {
        self.println(terminal(words.as_ref(), Layout::Lines));
    }
}

/// A bar in this form that ends at `length`; nothing where nobody looks.
pub(crate) fn bar(quiet: bool, length: u64, template: &str) -> ProgressBar {
    if quiet || !output::is_watched() {
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

/// Is cancelled by the first Ctrl-C; the second ends the process, or the end of patience.
pub(crate) fn interruptible(patience: Patience) -> Cancel {
    let cancel = Cancel::new();
    let watched = cancel.clone();
    signals::when_interrupted(patience, move || watched.cancel());
    cancel
}
