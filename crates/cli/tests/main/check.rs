//! `mattock check` on the crawl that the crawl's own tests keep.

use std::path::Path;

use mattock_env::Files;

use crate::process::{Scratch, root};

fn copy(from: &Path, to: &Path) {
    let files = Files::real();
    files.create_dir_all(to).expect("a directory can be made");
    for entry in files.list(from).expect("the crawl is there") {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_dir {
            copy(&from, &to);
        } else {
            let bytes = files.read(&from).expect("the crawl can be read");
            files.write_atomic(&to, &bytes).expect("a file can be written");
        }
    }
}

/// A crawl in `c`.
fn crawl(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    copy(&root().join("crates/crawl/tests/fixtures/v1"), &scratch.path().join("c"));
    scratch
}

/// Changes one byte of a file in `c`.
fn damage(scratch: &Scratch, name: &str, offset: usize) {
    let (files, path) = (Files::real(), scratch.path().join("c").join(name));
    let mut bytes = files.read(&path).expect("the crawl has such a file");
    bytes[offset] ^= 1;
    files.write_atomic(&path, &bytes).expect("a file can be written");
}

#[test]
fn a_whole_crawl() {
    let scratch = crawl("check_whole");
    scratch.snapshot("check_whole", &["check", "c"]);
    scratch.snapshot("check_whole_json", &["check", "--json", "c"]);
    scratch.snapshot("check_whole_repair", &["check", "--repair", "c"]);
}

#[test]
fn features_are_looked_at_too() {
    let scratch = crawl("check_features");
    let built = scratch.mattock(&["features", "build", "c", "--quiet"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = |status: i32| {
        let output = scratch.mattock(&["check", "c"]);
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it talks in UTF-8")
    };
    let whole = told(0);
    assert!(whole.starts_with("c is whole.") && whole.contains("  features    generation 1\n"), "{whole}");
    damage(&scratch, "features/generation-1/in.graph", 5);
    damage(&scratch, "features/generation-1/columns/in_degree.parquet", 30);
    let wrong = told(1);
    assert!(wrong.starts_with("c: 2 things are wrong.") && wrong.contains("Wrong with features:"), "{wrong}");
    assert!(wrong.contains("in.graph is damaged at byte 0: its checksum is wrong"), "{wrong}");
    assert!(
        wrong.contains("in_degree.parquet: it is damaged: its checksum is wrong; `mattock features build`"),
        "{wrong}"
    );
}

#[test]
fn damage_of_every_sort_is_told_with_what_can_be_done() {
    let scratch = crawl("check_damaged");
    damage(&scratch, "warc/mattock-p1-20070609000000-00000.warc.gz", 9000);
    damage(&scratch, "state/ledger/1", 300);
    damage(&scratch, "state/frontier/0/seen/tail-000001-000001", 5);
    Files::real().write_atomic(&scratch.path().join("c/warc/of-somebody-else"), b"x").unwrap();
    scratch.snapshot("check_damaged", &["check", "c"]);
    scratch.snapshot("check_damaged_json", &["check", "--json", "c"]);
}

#[test]
fn a_damaged_checkpoint_is_made_anew() {
    let scratch = crawl("check_repair");
    damage(&scratch, "state/CHECKPOINT", 90);
    scratch.snapshot("check_damaged_checkpoint", &["check", "c"]);
    let said = scratch.mattock(&["check", "--repair", "c"]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.starts_with("c is whole.") && said.contains("made anew as checkpoint 1"), "{said}");
    assert!(scratch.mattock(&["check", "c"]).status.success());
}

#[test]
fn a_file_that_is_kept_twice_is_written_anew() {
    let scratch = crawl("check_twice");
    let (files, state) = (Files::real(), scratch.path().join("c/state"));
    for name in ["CHECKPOINT", "frontier/1/STATE-1"] {
        let bytes = files.read(&state.join(name)).expect("the crawl has such a file");
        files.write_twice(&state.join(name), &bytes).expect("a file can be written");
    }
    damage(&scratch, "state/CHECKPOINT", 90);
    damage(&scratch, "state/frontier/1/STATE-1.copy", 90);
    scratch.snapshot("check_twice", &["check", "c"]);
    scratch.snapshot("check_twice_repair", &["check", "--repair", "c"]);
    assert!(scratch.mattock(&["check", "c"]).status.success());
}

#[test]
fn where_no_crawl_is() {
    let scratch = Scratch::new("check_nothing");
    scratch.snapshot("check_nothing", &["check", "c"]);
    scratch.snapshot("check_no_directory", &["check"]);
}

#[test]
fn imported_documents_are_looked_up_where_the_index_says() {
    let scratch = crawl("check_imported");
    let files = Files::real();
    let archives: Vec<String> = files
        .list(&scratch.path().join("c/warc"))
        .expect("the crawl has an archive")
        .into_iter()
        .map(|entry| format!("c/warc/{}", entry.name))
        .collect();
    let own = scratch.mattock(&["import", "c", &archives[0]]);
    let said = String::from_utf8_lossy(&own.stderr);
    assert!(own.status.code() == Some(2) && said.contains("of the archive of the crawl"), "{said}");
    let mut import = vec!["import", "site", "--copy"];
    import.extend(archives.iter().map(String::as_str));
    assert!(scratch.mattock(&import).status.success());
    scratch.snapshot("check_imported", &["check", "site"]);
    scratch.snapshot("check_imported_repair", &["check", "--repair", "site"]);
    // Of a request, and of a page.
    for offset in [9000, 10500] {
        damage(&scratch, "../site/imported/mattock-p1-20070609000000-00000.warc.gz", offset);
    }
    scratch.snapshot("check_imported_damaged", &["check", "site"]);
    scratch.snapshot("check_imported_damaged_json", &["check", "--json", "site"]);
    let lost = scratch.path().join("site/imported/mattock-p0-20070609000000-00000.warc.gz");
    files.remove_file(&lost).expect("the file is there");
    scratch.snapshot("check_imported_missing", &["check", "site"]);
}

#[test]
fn a_checkpoint_that_was_there_is_missed() {
    let scratch = crawl("check_proved");
    assert!(scratch.mattock(&["index", "c"]).status.success());
    let files = Files::real();
    damage(&scratch, "state/CHECKPOINT", 90);
    let damaged = String::from_utf8(scratch.mattock(&["check", "c"]).stdout).expect("it talks in UTF-8");
    assert!(damaged.starts_with("c: one thing is wrong."), "{damaged}");
    // The mark that first checkpoints leave now.
    files.write_atomic(&scratch.path().join("c/state/BEGUN"), &[]).expect("it can be written");
    for name in ["CHECKPOINT", "CHECKPOINT.copy"] {
        let path = scratch.path().join("c/state").join(name);
        if files.entry(&path).is_ok_and(|entry| entry.is_some()) {
            files.remove_file(&path).expect("it can be removed");
        }
    }
    damage(&scratch, "warc/mattock-p1-20070609000000-00000.warc.gz", 9000);
    scratch.snapshot("check_proved", &["check", "c"]);
    let archive = || files.list(&scratch.path().join("c/warc")).expect("there is an archive");
    let before = archive();
    let refused = scratch.mattock(&["crawl", "--out", "c", "--trust"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("CHECKPOINT: it is missing"), "{said}");
    assert_eq!(archive(), before);
    files.remove_file(&scratch.path().join("c/crawl.toml")).expect("it can be removed");
    scratch.snapshot("check_no_marker", &["check", "c"]);
}

#[test]
fn what_is_kept_of_a_crawl_without_its_state_is_checked() {
    let scratch = crawl("check_kept");
    assert!(scratch.mattock(&["index", "c"]).status.success());
    Files::real().remove_dir_all(&scratch.path().join("c/state")).expect("it can be removed");
    // What lies beside archives is nobody's business.
    Files::real().write_atomic(&scratch.path().join("c/warc/MD5SUMS"), b"x").expect("a file can be written");
    scratch.snapshot("check_kept", &["check", "c"]);
    for asked in [&["why", "c", "http://www.fizizamero-sim.org/"][..], &["stalls", "c"]] {
        let output = scratch.mattock(asked);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("missing with all of the state"), "{said}");
    }
    scratch.snapshot("check_kept_repair", &["check", "--repair", "c"]);
    damage(&scratch, "warc/mattock-p1-20070609000000-00000.warc.gz", 9000);
    scratch.snapshot("check_kept_damaged", &["check", "c"]);
    Files::real().remove_dir_all(&scratch.path().join("c/index")).expect("it can be removed");
    scratch.snapshot("check_kept_alone", &["check", "c"]);
}

#[test]
fn a_query_says_that_outcomes_are_missing() {
    let scratch = crawl("check_outcomes");
    let ask = || scratch.mattock(&["query", "c", "--sql", "select count(*) as n from outcomes"]);
    let sound = ask();
    assert!(sound.status.success() && !String::from_utf8_lossy(&sound.stderr).contains("warning"));
    damage(&scratch, "state/ledger/1", 300);
    let output = ask();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("their rows of `outcomes` are missing: `mattock check` says more"), "{said}");
    assert_ne!(output.stdout, sound.stdout);
}

#[test]
fn a_query_does_not_answer_from_a_damaged_part() {
    let scratch = crawl("check_part");
    assert!(scratch.mattock(&["index", "c"]).status.success());
    let ask = || scratch.mattock(&["query", "c", "--sql", "select * from documents order by url", "--quiet"]);
    let sound = ask();
    assert!(sound.status.success());
    let length = Files::real().read(&scratch.path().join("c/index/part-000001.parquet")).unwrap().len();
    // Of the first page, of one in the middle, and of statistics, where nothing is compressed.
    for at in [40, length / 2, length - 3000, length - 300] {
        damage(&scratch, "index/part-000001.parquet", at);
        let output = ask();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_told = !output.status.success() && said.contains("is damaged: its checksum is wrong");
        assert!(is_told || output.stdout == sound.stdout, "byte {at}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        damage(&scratch, "index/part-000001.parquet", at);
    }
}
