//! How far a build is, on a terminal.

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use mattock_features::Stage;
use mattock_study::{Gathering, Progress};

use crate::output;
use crate::progress::Says as _;

/// One line that is redrawn; nothing where nobody looks.
pub(super) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new(quiet: bool) -> Bar {
        if quiet || !output::is_watched() {
            return Bar { bar: ProgressBar::hidden() };
        }
        let style =
            ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar { bar: ProgressBar::new(1).with_style(style) }
    }

    pub(super) fn say(&self, message: &str) {
        self.bar.says(message);
    }

    pub(super) fn show(&self, progress: Progress) {
        match progress {
            Progress::Gathering(at) => {
                self.bar.set_length(at.bytes_total.unwrap_or(1).max(1));
                self.bar.set_position(if at.bytes_total.is_some() { at.bytes } else { 0 });
                self.say(&format!("{}, {} left", gathering(&at), HumanDuration(self.bar.eta())));
            }
            Progress::Building(at) => {
                self.bar.set_length(at.total.unwrap_or(1).max(1));
                self.bar.set_position(if at.total.is_some() { at.done } else { 0 });
                let of = at.total.map(|total| format!(" of {}", HumanCount(total))).unwrap_or_default();
                self.say(&format!("{}{of} {}", HumanCount(at.done), stage(at.stage)));
            }
            Progress::Column(name) => self.say(&format!("column {name}")),
        }
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn gathering(at: &Gathering) -> String {
    let mut text = format!("part {} of {}", at.part, at.parts);
    if at.pieces > 1 {
        text += &format!(", piece {} of {}", at.piece, at.pieces);
    }
    text += &format!(": {}", HumanCount(at.documents));
    if let Some(total) = at.documents_total {
        text += &format!(" of {}", HumanCount(total));
    }
    text += &format!(" documents, {}", HumanBytes(at.bytes));
    if let Some(total) = at.bytes_total {
        text += &format!(" of {}", HumanBytes(total));
    }
    text
}

/// What is counted in a stage.
fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Reading => "lines and links taken in",
        Stage::Urls => "URLs have their ids",
        Stage::Contents => "pages have their terms and sketches",
        Stage::Joining => "ends of links have their ids",
        Stage::OutLinks => "outlinks coded",
        Stage::InLinks => "inlinks coded",
        Stage::Hosts => "pages and hosts folded into the graphs of hosts and domains",
    }
}
