//! What must hold for any file that is taken for the checkpoint of a crawl.

use std::path::Path;

use mattock_crawl::check::check as verify;
use mattock_crawl::{SavedCrawl, stalls};
use mattock_env::Env;
use mattock_env::sim::Simulation;

const CONFIG: &[u8] = include_bytes!("../../crates/crawl/tests/fixtures/v1/crawl.toml");

pub(crate) fn check(bytes: &[u8]) {
    look(bytes);
    // A checksum keeps nobody from writing what he likes.
    let title = format!("mattock checkpoint 1 {:08x}\n", crc32fast::hash(bytes));
    look(&[title.as_bytes(), bytes, b"\n"].concat());
}

fn look(bytes: &[u8]) {
    let bytes = bytes.to_vec();
    Simulation::new(1).run(|env| async move { opened(&env, &bytes) });
}

fn opened(env: &Env, bytes: &[u8]) {
    let (files, root) = (&env.files, Path::new("/c"));
    for directory in ["state/ledger", "state/frontier/0", "warc"] {
        files.create_dir_all(&root.join(directory)).expect("a folder");
    }
    files.write_atomic(&root.join("crawl.toml"), CONFIG).expect("a file");
    files.write_atomic(&root.join("state/CHECKPOINT"), bytes).expect("a file");
    files.write_atomic(&root.join("state/ledger/0"), b"MATTOCKL\x07\0\0\0").expect("a file");
    if let Ok(saved) = SavedCrawl::open(env, root) {
        let _ = (saved.number(), saved.time(), saved.end(), saved.totals(), saved.status());
        let missing: i128 = saved.partitions().map(|partition| i128::from(partition.missing())).sum();
        let _ =
            (missing, saved.archive().len(), saved.is_in_use(), saved.state_hash(), saved.look(0).is_ok());
        let ledgers = saved.ledgers();
        let _ =
            (ledgers.len(), saved.rows(|_| {}), saved.ledger(0).is_ok(), saved.ledger(usize::MAX).is_ok());
        let _ = stalls(env, root);
    }
    let _ = verify(env, root, &mut |_| {});
}
