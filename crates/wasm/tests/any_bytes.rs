//! No file makes loading or running panic: what is loaded may come from anywhere.

use mattock_analyze::{Analyzer as _, Document};
use mattock_wasm::{Limits, Module};
use proptest::prelude::*;

use crate::{IMPORTS, bytes, page};

const LIMITS: Limits = Limits { fuel: 100_000, memory_bytes_max: 1 << 20, answer_bytes_max: 1 << 16 };

/// Loads it, and if that works runs it; whatever comes of it.
fn try_it(bytes: &[u8], document: &Document<'_>) -> bool {
    let Ok(module) = Module::load("column", bytes, LIMITS) else { return false };
    let first = module.analyze(document);
    let second = module.analyze(document);
    // Floats that are no numbers are not equal to themselves.
    assert_eq!(format!("{first:?}"), format!("{second:?}"), "the same document, another value");
    true
}

/// A module that does something with all that there is.
fn busy() -> Vec<u8> {
    bytes(&format!(
        r#"(module {IMPORTS} (data (i32.const 1024) "content-type") (func (export "analyze_text_list") (local $n i32)
            (local.set $n (call $body (i32.const 2048) (i32.const 20000)))
            (call $give_text (i32.const 2048) (local.get $n))
            (local.set $n (call $header (i32.const 1024) (i32.const 12) (i32.const 2048) (i32.const 100)))
            (loop $l (call $give_text (i32.const 2048) (local.get $n))
                (local.set $n (i32.sub (local.get $n) (i32.const 1)))
                (br_if $l (i32.gt_s (local.get $n) (i32.const 0))))))"#
    ))
}

#[test]
fn the_module_that_is_damaged_below_runs() {
    let module = Module::load("column", &busy(), LIMITS).unwrap();
    let mattock_analyze::Value::TextList(texts) = module.analyze(&page()).unwrap() else { panic!("no list") };
    assert_eq!(texts.len(), 10);
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        try_it(&bytes, &page());
        try_it(&[b"\0asm\x01\0\0\0", bytes.as_slice()].concat(), &page());
    }

    #[test]
    fn damaged_modules(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>()) {
        let mut bytes = busy();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        try_it(&bytes, &page());
        try_it(&bytes[..cut.index(bytes.len())], &page());
    }

    #[test]
    fn random_documents(head in proptest::collection::vec(any::<u8>(), 0..200), body in proptest::collection::vec(any::<u8>(), 0..2000), url in ".*") {
        prop_assert!(try_it(&busy(), &Document::new(&url, 0, 200, &head, &body, false)));
    }
}
