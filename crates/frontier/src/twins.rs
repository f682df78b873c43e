//! The small files of a checkpoint that are kept twice, those of its parts included: which of them are damaged, and mending them.

use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{Env, VisitTwin};

use crate::error::{FrontierError, Result};
use crate::state::{self, Saved};
use crate::{Frontier, budget, star};

impl Frontier {
    /// Files of checkpoint `number` in `dir` that are damaged while their copies are whole, or the other way round. Nothing is lost, and
    /// [`mend_twins`](Frontier::mend_twins) writes them anew.
    pub fn damaged_twins(env: &Env, dir: &Path, number: u64) -> Vec<PathBuf> {
        let damaged = env.files.damaged_twins(|visit| each_twin(env, dir, number, visit));
        damaged.expect("looking does not fail")
    }

    /// Writes these files anew; which they were. Not beside somebody who works on the frontier.
    pub fn mend_twins(env: &Env, dir: &Path, number: u64) -> Result<Vec<PathBuf>> {
        let mended = env.files.mend_twins(|visit| each_twin(env, dir, number, visit));
        mended.map_err(|source| FrontierError::Io { path: dir.to_owned(), source })
    }
}

/// Visits the files of a checkpoint that are kept twice.
fn each_twin(env: &Env, dir: &Path, number: u64, visit: &mut VisitTwin<'_>) -> io::Result<()> {
    if number > 0 {
        visit(&dir.join(state::name(number)), &|bytes| state::check(bytes).is_ok())?;
    }
    for part in parts(env, dir, number) {
        let each_twin = if part.is_queues { mattock_queue::each_twin } else { mattock_drum::each_twin };
        each_twin(&env.files, &part.dir, part.number, visit)?;
    }
    Ok(())
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
