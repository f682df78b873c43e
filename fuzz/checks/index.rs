//! What must hold for any file that is taken for the list of an index.

use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_index::{Asked, IndexOptions, Manifest, Snapshot, check_index, find_imported, recover};

const ROOT: &str = "/r";

pub(crate) fn check(bytes: &[u8]) {
    look(bytes);
    // A checksum keeps nobody from writing what he likes.
    look(&[format!("MATTOCK-INDEX 4 {:08x}\n", crc32fast::hash(bytes)).as_bytes(), bytes].concat());
}

fn look(bytes: &[u8]) {
    let (files, root) = (Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new(ROOT));
    files.create_dir_all(&root.join("index")).expect("a folder");
    files.write_atomic(&root.join("index/INDEX"), bytes).expect("a file");
    files.write_atomic(&root.join("index/part-000001.parquet"), b"PAR1\0\0\0\0PAR1").expect("a file");
    let url = Asked::parse("http://a-sim.com/b").expect("a URL");
    if let Ok(manifest) = Manifest::read(&files, root) {
        let _ = (manifest.is_empty(), manifest.rows());
        for part in &manifest.parts {
            let _ = part.block_sums();
        }
        if let Ok(snapshot) = Snapshot::open(&files, root, &[], &IndexOptions::default()) {
            let _ = (
                snapshot.rows(),
                snapshot.has_undated(),
                snapshot.ledgers_ms(),
                snapshot.part_sums().count(),
            );
        }
        let _ = find_imported(&files, root, &url);
    }
    let _ = check_index(&files, root);
    let _ = recover(&files, root);
    assert!(
        Manifest::read(&files, root).is_ok() || recover(&files, root).is_err(),
        "what was made again can be read"
    );
}
