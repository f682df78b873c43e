//! What must hold for any file that is taken for an archive.

use std::path::Path;

use mattock_env::{Files, OpenMode, Random, SimFiles};
use mattock_repository::{WarcReader, repair_tail};

pub(crate) fn check(bytes: &[u8]) {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    let path = Path::new("/archive/x.warc");
    files.create_dir_all(Path::new("/archive")).expect("a folder");
    let file = files.open(path, OpenMode::CreateOrTruncate).expect("a file");
    file.write_all_at(bytes, 0).expect("room for it");
    let read = || -> Vec<(u64, usize)> {
        let Ok(reader) = WarcReader::open(&files, path) else { return Vec::new() };
        let mut reader = reader.record_bytes_max(1 << 20);
        let mut found = Vec::new();
        // Every call moves on or ends; an error that is not the last one is of a record that was passed.
        for _ in 0..=bytes.len() {
            match reader.next_record() {
                Ok(Some(record)) => {
                    assert!(record.offset <= bytes.len() as u64 && record.block.len() <= 1 << 20);
                    let _ = (record.kind(), record.target_uri());
                    found.push((record.offset, record.block.len()));
                }
                Ok(None) => return found,
                Err(_) => {}
            }
        }
        panic!("the reader does not come to an end");
    };
    let before = read();
    if repair_tail(&files, path).is_ok() {
        assert_eq!(read(), before, "a repair loses nothing that could be read");
    }
}
