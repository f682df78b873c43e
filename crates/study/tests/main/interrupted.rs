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
