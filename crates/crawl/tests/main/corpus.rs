//! The seeds of the fuzz targets, whole and damaged, each through the function that the target calls.

#[path = "../../../../fuzz/checks/checkpoint.rs"]
mod checkpoint;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn checkpoint_corpus() {
    replay::replay("checkpoint", checkpoint::check);
}
