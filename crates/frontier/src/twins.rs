//! The small files of a checkpoint that are kept twice, those of its parts included: which of them are damaged, and mending them.

use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{Env, Files};

use crate::error::{FrontierError, Result};
use crate::state::{self, Saved};
use crate::{Frontier, budget, star};

impl Frontier {
    /// Files of checkpoint `number` in `dir` that are damaged while their copies are whole, or the other way round. Nothing is lost, and
    /// [`mend_twins`](Frontier::mend_twins) writes them anew.
    pub fn damaged_twins(env: &Env, dir: &Path, number: u64) -> Vec<PathBuf> {
        let files = &env.files;
        let mut damaged: Vec<PathBuf> = Vec::new();
        if number > 0 {
            damaged.extend(files.damaged_twin(&dir.join(state::name(number)), state::check));
        }
        for part in parts(env, dir, number) {
            damaged.extend(match part.is_queues {
                true => mattock_queue::damaged_twins(files, &part.dir, part.number),
                false => mattock_drum::damaged_twins(files, &part.dir, part.number),
            });
        }
        damaged
    }

    /// Writes these files anew; which they were. Not beside somebody who works on the frontier.
    pub fn mend_twins(env: &Env, dir: &Path, number: u64) -> Result<Vec<PathBuf>> {
        let io = |source| FrontierError::Io { path: dir.to_owned(), source };
        mend(&env.files, env, dir, number).map_err(io)
    }
}

fn mend(files: &Files, env: &Env, dir: &Path, number: u64) -> io::Result<Vec<PathBuf>> {
    let mut mended: Vec<PathBuf> = Vec::new();
    if number > 0 {
        mended.extend(files.mend_twin(&dir.join(state::name(number)), state::check)?);
    }
    for part in parts(env, dir, number) {
        mended.extend(match part.is_queues {
            true => mattock_queue::mend_twins(files, &part.dir, part.number)?,
            false => mattock_drum::mend_twins(files, &part.dir, part.number)?,
        });
    }
    Ok(mended)
}

/// A repository, or the queues, at the checkpoint that belongs to a state.
struct Part {
    dir: PathBuf,
    number: u64,
    is_queues: bool,
}

/// The parts that belong to a state; none if it cannot be read.
fn parts(env: &Env, dir: &Path, number: u64) -> Vec<Part> {
    let Ok(Some(Saved { checkpoints: at, budgets, .. })) = state::read(env, dir, number) else {
        return Vec::new();
    };
    let degrees = budgets.and_then(|(star, _)| star::checkpoint_and_waiting(&star)).map_or(0, |(at, _)| at);
    let repositories =
        [("seen", at.seen), ("robots", at.robots), ("content", at.content), (budget::DEGREES, degrees)];
    let repositories =
        repositories.map(|(name, number)| Part { dir: dir.join(name), number, is_queues: false });
    let queues = Part { dir: dir.join("queues"), number: at.queues, is_queues: true };
    repositories.into_iter().chain([queues]).collect()
}
