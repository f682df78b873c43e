//! When the disk is full or fails: wait, say so, go on when it is over.
//!
//! Before it comes to that: below `checkpoint.disk_reserve` no visit is begun until there is room again, and a checkpoint
//! is made of what there is. Should it come to that all the same, the run has failed; nothing is lost that was in the last
//! checkpoint, and [`wait_until_over`] says when it is worth trying again.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::Env;

use crate::checkpoint::Coordinator;
use crate::steer::desk::Desk;
use crate::steer::{Level, PausedBy};
use crate::{Control, CrawlError};

/// How often free space is looked at.
const LOOK: Duration = Duration::from_secs(2);
/// How long a disk that fails is left alone.
const FAILING: Duration = Duration::from_secs(10);
/// With less than this nobody begins again.
const ROOM_BYTES_MIN: u64 = 4 << 20;

/// What the system said, if it was the system that refused.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut error = Some(error);
    while let Some(this) = error {
        if let Some(io) = this.downcast_ref::<io::Error>() {
            return Some(io);
        }
        error = this.source();
    }
    None
}

/// What can be wrong with a disk and pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// It has no room.
    Full,
    /// It has refused to read, write or sync.
    Failing,
}

/// Whether an error is one that may pass by itself.
fn trouble(error: &CrawlError) -> Option<Trouble> {
    use io::ErrorKind as Kind;
    if let CrawlError::Frontier(error) = error {
        if error.is_disk_full() {
            return Some(Trouble::Full);
        }
        if error.is_poisoned() {
            return Some(Trouble::Failing);
        }
    }
    let cause = cause(error)?;
    match cause.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => Some(Trouble::Full),
        // Nobody comes back from these by waiting.
        Kind::NotFound
        | Kind::PermissionDenied
        | Kind::ReadOnlyFilesystem
        | Kind::NotADirectory
        | Kind::IsADirectory
        | Kind::InvalidData
        | Kind::UnexpectedEof => None,
        _ => (!mattock_env::is_stopped(cause)).then_some(Trouble::Failing),
    }
}

/// After a run has failed: comes back when it is worth trying again, or with the error if it never is.
pub(crate) async fn wait_until_over(
    error: CrawlError,
    env: &Env,
    root: &Path,
    desk: &Desk,
    control: &Control,
) -> Result<(), CrawlError> {
    let progress = &desk.progress;
    let Some(trouble) = trouble(&error) else { return Err(error) };
    control.note(Level::Error, "disk", &format!("paused: {error}; the last checkpoint is safe"));
    progress.notice(Some(format!("paused: {error}")));
    loop {
        tokio::select! {
            biased;
            () = control.stopped() => return Err(error),
            () = env.clock.sleep(if trouble == Trouble::Full { LOOK } else { FAILING }) => {}
        }
        // As much as lifts the pause that a full disk may have brought.
        let needed = room_to_go_on(desk.config().checkpoint.disk_reserve_bytes).max(ROOM_BYTES_MIN);
        if trouble == Trouble::Failing || env.files.free_bytes(root).is_ok_and(|free| free >= needed) {
            progress.notice(None);
            control.note(Level::Info, "disk", "going on from the last checkpoint");
            return Ok(());
        }
    }
}

/// A little more than the reserve, so that it does not flicker.
fn room_to_go_on(reserve_bytes: u64) -> u64 {
    reserve_bytes + reserve_bytes / 8
}

/// Holds the crawl while there is less room than the reserve. Never comes back.
pub(crate) async fn watch(env: Env, desk: Arc<Desk>, control: Control, coordinator: Arc<Coordinator>) {
    let (root, progress) = (desk.root(), &desk.progress);
    // A run before may have paused.
    let mut held = control.paused().iter().any(|paused| paused.by == PausedBy::Disk);
    loop {
        let reserve_bytes = desk.config().checkpoint.disk_reserve_bytes;
        let free = env.files.free_bytes(root).unwrap_or(u64::MAX);
        let short = free < if held { room_to_go_on(reserve_bytes) } else { reserve_bytes };
        if short != held {
            held = short;
            if held {
                coordinator.ask();
                let mebibytes = |bytes: u64| bytes >> 20;
                let message = format!(
                    "{} MiB are left on the disk of {}, and checkpoint.disk_reserve is {} MiB; make room",
                    mebibytes(free),
                    root.display(),
                    mebibytes(reserve_bytes)
                );
                control.pause_by(PausedBy::Disk, message.clone());
                progress.notice(Some(format!("paused: {message}")));
            } else {
                control.resume_by(PausedBy::Disk);
                progress.notice(None);
            }
        }
        env.clock.sleep(LOOK).await;
    }
}
