//! The seeds of the fuzz targets, whole and damaged, each through the function that the target calls.

#[path = "../../../../fuzz/checks/index.rs"]
mod index;
#[path = "../../../../fuzz/checks/parquet.rs"]
mod parquet;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

#[test]
fn index_corpus() {
    replay::replay("index", index::check);
}

#[test]
fn parquet_corpus() {
    replay::replay("parquet", parquet::check);
}
