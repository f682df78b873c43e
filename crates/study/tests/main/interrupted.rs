//! Whatever happens to a build, what was built before stays in use, and a later build finishes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mattock_env::Fault;

use crate::shelf::{Doc, Shelf};

fn docs(from: i64, count: i64) -> Vec<Doc> {
    (from..from + count)
        .map(|number| {
            let links: Vec<String> =
                (0..number % 5).map(|link| format!("http://h{link}.org/{}", number * 7 % 11)).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            Doc::page(&format!("http://h{}.org/{}", number % 3, number / 3 % 9), number, &links)
        })
        .collect()
}

fn shelf(seed: u64) -> Shelf {
    let mut shelf = Shelf::new(seed);
    shelf.add(&docs(0, 12));
    shelf.build().unwrap();
    shelf.add(&docs(12, 30));
    shelf
}

#[test]
fn a_rebuild_that_was_cut_off_goes_on() {
    let shelf = shelf(7);
    shelf.build().unwrap();
    let (before, parts) = (shelf.features().generation(), shelf.gathered().len());
    let rebuild =
        |limit: u64| shelf.build_with(|options| (options.rebuild, options.piece_rows) = (true, limit));
    // Cut off ever later, until something was gathered but not all.
    let cut = (1..).find(|step| {
        shelf.disk.fail_at(shelf.disk.operations() + step, Fault::Stop);
        let built = rebuild(1000);
        shelf.disk.kill();
        shelf.disk.clear_faults();
        assert!(built.is_err(), "cut off before anything was gathered");
        let gathered = shelf.gathered();
        let segments = gathered.iter().filter(|name| name.ends_with(".segment")).count();
        gathered.iter().any(|name| name == "REBUILDING") && 0 < segments && segments < parts
    });
    assert!(cut.is_some() && shelf.features().generation() == before);
    // With and without being asked to, all that is left is read, and nothing twice.
    let built = shelf.build_with(|options| options.piece_rows = 1000).unwrap();
    assert!(built.is_new && built.parts_read > 0 && built.parts_read < built.parts, "{built:?}");
    assert!(!shelf.build_with(|options| options.piece_rows = 1000).unwrap().is_new, "it is done");
    let again = rebuild(1000).unwrap();
    assert_eq!(again.parts_read, again.parts, "the next one begins from the beginning");
    shelf.check();
}

#[test]
fn the_generation_before_stays_in_use_wherever_a_build_is_cut_off() {
    let first = shelf(1);
    let before = first.generation();
    let begin = first.disk.operations();
    first.build_with(|options| options.piece_rows = 8).unwrap();
    let after = first.generation();
    let operations = first.disk.operations() - begin;
    assert!(operations > 80, "{operations}");
    let databases = |generation: &BTreeMap<PathBuf, Vec<u8>>| {
        let mut databases = generation.clone();
        databases.retain(|path, _| !path.starts_with("columns"));
        databases
    };
    let mut outcomes = [0, 0];
    for step in (0..operations).step_by(operations as usize / 40) {
        let shelf = shelf(100 + step);
        let fault = [Fault::Stop, Fault::NoSpace, Fault::Io][step as usize % 3];
        shelf.disk.fail_at(shelf.disk.operations() + step, fault);
        let built = shelf.build_with(|options| options.piece_rows = 8);
        match step % 2 {
            0 => shelf.disk.crash(),
            _ => shelf.disk.kill(),
        }
        shelf.disk.clear_faults();
        let generation = shelf.features().generation();
        let expected = if generation == 1 { &before } else { &after };
        assert_eq!(databases(&shelf.generation()), databases(expected), "step {step}: {built:?}");
        assert!(generation == 2 || built.is_err(), "step {step}: a build that has ended is in use");
        outcomes[generation as usize - 1] += 1;
        shelf.build_with(|options| options.piece_rows = 8).unwrap();
        assert_eq!(shelf.generation(), after, "step {step}");
        shelf.check();
    }
    assert!(outcomes[0] > 5 && outcomes[1] > 0, "{outcomes:?}");
}
