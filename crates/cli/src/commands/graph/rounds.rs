//! Rounds of an algorithm, shown as they pass, and ended by Ctrl-C.
//!
//! On a terminal there is one line that changes; elsewhere the first rounds and then every tenth have a line each. From the beginning of
//! the rounds on, the first Ctrl-C ends them after the one that is under way, and the second the process.

use std::ops::ControlFlow;

use indicatif::ProgressBar;
use mattock_query::Cancel;

use crate::output;
use crate::progress::{self, Says as _};
use crate::signals::Patience;

/// So many rounds have a line each, where there is no terminal.
const FIRST: usize = 3;
const EVERY: usize = 10;

pub(super) struct Rounds<T> {
    told: T,
    bar: Option<ProgressBar>,
    quiet: bool,
    cancel: Cancel,
}

impl<T: Fn(usize, f64) -> String> Rounds<T> {
    /// `told` says in a line what a round came to.
    pub(super) fn begin(quiet: bool, told: T) -> Rounds<T> {
        let cancel = progress::interruptible(Patience::Long);
        let bar = (!quiet && output::is_watched()).then(ProgressBar::new_spinner);
        Rounds { told, bar, quiet, cancel }
    }

    pub(super) fn after(&mut self, number: usize, value: f64) -> ControlFlow<()> {
        match &self.bar {
            Some(bar) => {
                bar.says((self.told)(number, value));
                bar.tick();
            }
            None if !self.quiet && (number <= FIRST || number.is_multiple_of(EVERY)) => {
                say!("{}", (self.told)(number, value));
            }
            None => {}
        }
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Ends the showing; whether somebody has stopped the rounds.
    pub(super) fn end(self) -> bool {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.cancel.is_cancelled()
    }
}
