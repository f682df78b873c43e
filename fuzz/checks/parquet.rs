//! What must hold for any file that is taken for a part of an index.

use std::path::Path;

use mattock_env::{Files, Random, SimFiles};
use mattock_index::{Asked, IndexOptions, Snapshot, check_index, find_imported, recover};

pub(crate) fn check(bytes: &[u8]) {
    let (files, root) = (Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/r"));
    let part = root.join("index/part-000001.parquet");
    files.create_dir_all(&root.join("index")).expect("a folder");
    files.write_atomic(&part, bytes).expect("a file");
    // There is no list: whatever can be read of the part is believed.
    let _ = recover(&files, root);
    // And with a list that has it, whatever it is.
    let list = format!(
        r#"{{"parts":[{{"file":"part-000001.parquet","rows":1,"bytes":{},"imported":true}}],"covered":[],"imported":["x"],"next":1}}"#,
        bytes.len()
    );
    let list = format!("MATTOCK-INDEX 4 {:08x}\n{list}", crc32fast::hash(list.as_bytes()));
    files.write_atomic(&part, bytes).expect("a file");
    files.write_atomic(&root.join("index/INDEX"), list.as_bytes()).expect("a file");
    for url in ["http://a-sim.com/b", "http://www.fizizamero-sim.org/"] {
        let _ = find_imported(&files, root, &Asked::parse(url).expect("a URL"));
    }
    let _ = check_index(&files, root);
    assert!(Snapshot::open(&files, root, &[], &IndexOptions::default()).is_ok(), "nothing of it is read yet");
}
