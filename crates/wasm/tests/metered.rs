//! Fuel, memory and answers are bounded, whatever the module does.

use mattock_analyze::{Analyzer as _, Document};
use mattock_wasm::{Limits, Module};

use crate::{IMPORTS, bytes, page};

const LIMITS: Limits = Limits { fuel: 1_000_000, memory_bytes_max: 4 << 20, answer_bytes_max: 10_000 };

fn failure_of(text: &str, document: &Document<'_>) -> String {
    Module::load("column", &bytes(text), LIMITS).unwrap().analyze(document).unwrap_err().to_string()
}

fn failure(body: &str) -> String {
    failure_of(&format!(r#"(module {IMPORTS} (func (export "analyze_text_list") {body}))"#), &page())
}

#[test]
fn loops_end() {
    assert_eq!(failure("(loop $l (br $l))"), "used up its fuel of 1000000 steps");
}

#[test]
fn a_start_function_that_loops_ends() {
    for start in ["(start $f)", r#"(export "_initialize" (func $f))"#] {
        let text = format!(
            r#"(module {IMPORTS} (func $f (loop $l (br $l))) {start} (func (export "analyze_text")))"#
        );
        assert_eq!(failure_of(&text, &page()), "used up its fuel of 1000000 steps", "{start}");
    }
}

#[test]
fn large_steps_cost_more_than_small_ones() {
    // Each of these would take hours if a call or an instruction cost the same however much it moves.
    let body = vec![b'x'; 1 << 20];
    let large = Document::new("http://example.org/", 0, 200, b"", &body, false);
    let grown = "(drop (memory.grow (i32.const 63)))";
    for step in [
        "(drop (call $body (i32.const 0) (i32.const 1048576)))",
        "(drop (call $header (i32.const 0) (i32.const 1048576) (i32.const 0) (i32.const 0)))",
        "(memory.fill (i32.const 0) (i32.const 1) (i32.const 1048576))",
        "(memory.copy (i32.const 0) (i32.const 1048576) (i32.const 1048576))",
    ] {
        let text = format!(
            r#"(module {IMPORTS} (global $n (mut i32) (i32.const 0)) (func (export "analyze_text") {grown}
                (loop $l {step} (global.set $n (i32.add (global.get $n) (i32.const 1)))
                    (if (i32.gt_u (global.get $n) (i32.const 1000)) (then unreachable)) (br $l))))"#
        );
        assert_eq!(failure_of(&text, &large), "used up its fuel of 1000000 steps", "{step}");
    }
}

#[test]
fn memory_does_not_grow_beyond_the_limit() {
    let failure = failure("(loop $l (drop (memory.grow (i32.const 1))) (br $l))");
    assert_eq!(failure, "wanted more than 4194304 bytes of memory");
}

#[test]
fn answers_do_not_grow_beyond_the_limit() {
    let too_large = "the answer is larger than 10000 bytes";
    assert_eq!(failure("(loop $l (call $give_text (i32.const 0) (i32.const 100)) (br $l))"), too_large);
    assert_eq!(failure("(loop $l (call $give_text (i32.const 0) (i32.const 0)) (br $l))"), too_large);
    assert_eq!(failure("(call $give_text (i32.const 0) (i32.const 10001))"), too_large);
    assert_eq!(failure("(call $give_text (i32.const 0) (i32.const -1))"), too_large);
}

#[test]
fn fuel_is_the_same_every_time() {
    let text = format!(
        r#"(module {IMPORTS} (func (export "analyze_integer") (local $n i32)
            (loop $l (local.set $n (i32.add (local.get $n) (i32.const 1)))
                (br_if $l (i32.lt_u (local.get $n) (i32.const 1000))))))"#
    );
    let enough = |fuel: u64| {
        let module = Module::load("column", &bytes(&text), Limits { fuel, ..LIMITS }).unwrap();
        module.analyze(&page()).is_ok()
    };
    let least = (1..20).map(|power| 1 << power).find(|fuel| enough(*fuel)).unwrap();
    assert!((1024..=32768).contains(&least), "{least}");
    assert!((0..20).all(|_| enough(least) && !enough(least / 2)));
}

#[test]
fn calls_cost_more_than_instructions() {
    let call = |step: &str| {
        let text = format!(
            r#"(module {IMPORTS} (global $n (mut i32) (i32.const 0)) (func (export "analyze_text")
                (loop $l {step} (global.set $n (i32.add (global.get $n) (i32.const 1)))
                    (if (i32.gt_u (global.get $n) (i32.const 30000)) (then unreachable)) (br $l))))"#
        );
        failure_of(&text, &page())
    };
    assert!(call("").contains("trapped"), "as many instructions are paid for");
    for step in [
        "(drop (call $status))",
        "(drop (call $time))",
        "(drop (call $truncated))",
        "(drop (call $url (i32.const 0) (i32.const 0)))",
        "(drop (call $content (i32.const 0) (i32.const 0)))",
    ] {
        assert_eq!(call(step), "used up its fuel of 1000000 steps", "{step}");
    }
}

#[test]
fn nobody_can_ask_for_more_than_the_maxima() {
    let text = format!(r#"(module {IMPORTS} (func (export "analyze_text")))"#);
    let loaded = |limits: Limits| Module::load("column", &bytes(&text), limits).map(|_| ());
    let most = Limits { fuel: Limits::FUEL_MAX, memory_bytes_max: Limits::MEMORY_BYTES_MAX, ..LIMITS };
    assert_eq!(loaded(most), Ok(()));
    assert!(most.exceed_defaults() && !Limits::default().exceed_defaults() && !LIMITS.exceed_defaults());
    let more = loaded(Limits { fuel: Limits::FUEL_MAX + 1, ..LIMITS }).unwrap_err().to_string();
    assert!(more.contains("10000000001 steps") && more.contains("lower the limit of fuel"), "{more}");
    let more = loaded(Limits { memory_bytes_max: (1 << 30) + 1, ..LIMITS }).unwrap_err().to_string();
    assert!(more.contains("1073741825 bytes") && more.contains("lower the limit of memory"), "{more}");
}
