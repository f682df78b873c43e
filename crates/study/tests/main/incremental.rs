//! A build after more was stored reads what is new, and has the same result as one from scratch.

use std::path::Path;

use mattock_query::Cancel;
use mattock_study::{BuildFeatures, Progress, build};

use crate::shelf::{Doc, ROOT, Shelf};

const HOME: &str = "http://a.org/";

/// Three archives: pages change, move and vanish from one to the next.
fn archives() -> [Vec<Doc>; 3] {
    let page =
        |number: i64, second, links: &[&str]| Doc::page(&format!("http://a.org/{number}"), second, links);
    let first = vec![
        Doc::page(HOME, 1, &["http://a.org/1", "http://a.org/2", "https://b.com/x"]),
        page(1, 2, &[HOME, "http://c.com/"]),
        page(2, 3, &[HOME, HOME]),
        page(3, 4, &["http://a.org/3"]),
        page(4, 5, &[]),
        Doc::other("http://a.org/old", 6, 301, &["http://a.org/1"]),
        Doc::other("http://a.org/lost", 7, 404, &["http://a.org/1"]),
    ];
    let second = vec![
        // Changed, gone, moved, come back, and not changed.
        Doc::page(HOME, 11, &["http://a.org/1", "http://b.com/new"]),
        Doc::other("http://a.org/2", 12, 410, &["http://a.org/1"]),
        Doc::other("http://a.org/3", 13, 302, &["http://a.org/4"]),
        Doc::page("http://a.org/lost", 14, &[HOME]),
        Doc::other("http://a.org/1", 15, 304, &[]),
        // Older than what is known.
        Doc::page("http://a.org/4", 0, &["http://a.org/never"]),
        Doc { text: "the page http://a.org/1".into(), ..page(9, 16, &[HOME, "http://c.com/"]) },
    ];
    let third = vec![page(2, 21, &["http://d.org/"]), Doc::other("http://a.org/old", 22, 500, &[])];
    [first, second, third]
}

#[test]
fn what_is_new_is_read_and_the_result_is_that_of_a_build_from_scratch() {
    let mut growing = Shelf::new(1);
    for (number, docs) in archives().iter().enumerate() {
        growing.add(docs);
        let built = growing.build().unwrap();
        let documents = docs.iter().filter(|doc| doc.status == 200).count() as u64;
        assert_eq!(
            (built.is_new, built.parts_read, built.parts, built.documents),
            (true, 1, number as u64 + 1, documents),
            "archive {number}"
        );
        assert!(built.failures.is_empty(), "{:?}", built.failures);
        growing.check();
        assert_eq!(growing.gathered().len(), number + 1);

        let again = growing.build().unwrap();
        assert_eq!((again.is_new, again.documents, again.counts), (false, 0, built.counts));
        assert_eq!(growing.features().generation(), number as u64 + 1);
    }
    let mut whole = Shelf::new(2);
    whole.add(&archives().concat());
    let built = whole.build().unwrap();
    assert_eq!((built.parts_read, built.parts), (1, 1));
    assert_eq!(growing.generation(), whole.generation());

    // Again from the first document on: nothing is different.
    let before = growing.generation();
    let rebuilt = growing.build_with(|options| options.rebuild = true).unwrap();
    assert_eq!((rebuilt.is_new, rebuilt.parts_read), (true, 3));
    assert_eq!((growing.generation(), growing.features().generation()), (before, 4));
}

#[test]
fn pieces_make_no_difference() {
    let mut shelf = Shelf::new(1);
    shelf.add(&archives().concat());
    shelf.build().unwrap();
    let whole = shelf.generation();
    for rows in [1, 2, 5] {
        let built = shelf.build_with(|options| options.piece_rows = rows).unwrap();
        assert!(built.is_new, "another recipe is another origin");
        assert!(built.documents >= 10, "{built:?}");
        assert_eq!(shelf.generation(), whole);
        assert_eq!(shelf.gathered().len(), 1, "{:?}", shelf.gathered());
    }
}

#[test]
fn a_build_that_was_stopped_goes_on_where_it_was() {
    let mut shelf = Shelf::new(1);
    shelf.add(&archives()[0]);
    shelf.build().unwrap();
    shelf.add(&archives()[1..].concat());
    let cancel = Cancel::new();
    let mut options = BuildFeatures::new(Path::new(ROOT));
    (options.memory, options.threads, options.piece_rows) = (64 << 20, 1, 1);
    let mut progress = |at: Progress| {
        if let Progress::Gathering(at) = at {
            assert!((1..=2).contains(&at.part) && at.parts == 2 && at.pieces == 5, "{at:?}");
            if at.part == 2 && at.piece == 3 {
                cancel.cancel();
            }
        }
    };
    let stopped = build(&shelf.files, &options, &mut progress, &cancel).unwrap();
    assert!(stopped.counts.is_none() && !stopped.is_new && stopped.documents > 0, "{stopped:?}");
    assert_eq!(shelf.features().generation(), 1, "what was built before stays in use");
    assert!(shelf.gathered().iter().any(|name| name.contains(".piece")), "{:?}", shelf.gathered());
    let rest = build(&shelf.files, &options, &mut |_| {}, &Cancel::new()).unwrap();
    assert!(rest.is_new && rest.parts_read == 1 && rest.documents < 4, "{rest:?}");
    shelf.check();
    assert!(shelf.gathered().iter().all(|name| name.ends_with(".segment")), "{:?}", shelf.gathered());
}

#[test]
fn segments_of_parts_that_are_no_more_are_removed() {
    let mut shelf = Shelf::new(1);
    shelf.add(&archives()[0]);
    shelf.build().unwrap();
    let before = shelf.gathered();
    let mut other = Shelf::new(3);
    other.add(&archives()[1]);
    // The index of another repository takes the place of this one's.
    for (path, bytes) in other.disk.snapshot() {
        shelf.files.create_dir_all(path.parent().unwrap()).unwrap();
        shelf.files.write_atomic(&path, &bytes).unwrap();
    }
    let built = shelf.build().unwrap();
    assert_eq!((built.is_new, built.parts_read), (true, 1));
    let after = shelf.gathered();
    assert!(after.len() == 1 && after != before, "{before:?} {after:?}");
}

#[test]
fn nothing_to_build_from_is_said_so() {
    let shelf = Shelf::new(1);
    let error = shelf.build().unwrap_err().to_string();
    assert!(error.starts_with("/repository has no documents yet"), "{error}");
}
