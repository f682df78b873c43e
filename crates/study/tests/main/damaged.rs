//! What is not as it was written is told from what is.

use std::path::{Path, PathBuf};

use mattock_study::{FEATURES, StudyError};

use crate::shelf::{Doc, ROOT, Shelf};

fn shelf(seed: u64) -> Shelf {
    let mut shelf = Shelf::new(seed);
    let links: Vec<String> = (0..30).map(|number| format!("http://a.org/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let docs: Vec<Doc> =
        (0..30).map(|number| Doc::page(&format!("http://b.org/{number}"), number, &links)).collect();
    shelf.add(&docs);
    shelf.build().unwrap();
    shelf.add(&[Doc::page("http://c.org/", 99, &[])]);
    shelf
}

fn segment(shelf: &Shelf) -> PathBuf {
    Path::new(ROOT).join(FEATURES).join("gathered").join(&shelf.gathered()[0])
}

#[test]
fn a_damaged_segment_is_found_and_gathered_again_if_that_is_asked_for() {
    for seed in 0..8 {
        let shelf = shelf(seed);
        let path = segment(&shelf);
        let offset = shelf.disk.flip_bit(&path).unwrap();
        match shelf.build() {
            // A segment of a version that is not known is gathered again without further ado.
            Ok(built) => assert_eq!((built.parts_read, offset < 8), (2, true), "byte {offset}"),
            Err(error) => {
                let told = error.to_string();
                assert!(matches!(error, StudyError::Features(_)), "{told}");
                assert!(
                    told.contains(".segment is damaged at byte")
                        && told.ends_with("make the features anew with `mattock features build --rebuild`"),
                    "byte {offset}: {told}"
                );
                assert_eq!(shelf.features().generation(), 1);
                let built = shelf.build_with(|options| options.rebuild = true).unwrap();
                assert_eq!(built.parts_read, 2);
            }
        }
        shelf.check();
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_built_anew_from_what_was_gathered() {
    let shelf = shelf(1);
    shelf.build().unwrap();
    shelf.disk.corrupt(&Path::new(ROOT).join(FEATURES).join("MANIFEST"), 30).unwrap();
    let built = shelf.build().unwrap();
    assert_eq!((built.is_new, built.parts_read, built.documents), (true, 0, 0));
    shelf.check();
}

#[test]
fn documents_that_cannot_be_read_are_told() {
    let mut shelf = shelf(1);
    let warc = Path::new(ROOT).join("warc-2");
    let name = shelf.files.list(&warc).unwrap()[0].name.clone();
    shelf.files.rename(&warc.join(&name), &warc.join("elsewhere")).unwrap();
    let built = shelf.build().unwrap();
    assert_eq!((built.failures.len(), built.failures[0].count), (1, 1), "{:?}", built.failures);
    assert_eq!(built.failures[0].column, "record");
    shelf.files.rename(&warc.join("elsewhere"), &warc.join(&name)).unwrap();
    shelf.add(&[Doc::page("http://d.org/", 100, &["http://c.org/"])]);
    assert!(shelf.build().unwrap().failures.is_empty());
    shelf.check();
}
