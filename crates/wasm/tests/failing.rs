//! What a module does wrong costs it the document, and says why.

use mattock_analyze::{AnalyzeError, Analyzer as _, Kind, Value};

use crate::{IMPORTS, answer, failure, load, module, page};

#[test]
fn a_module_says_why_it_fails() {
    assert_eq!(failure("text", "no idea", "(call $fail (i32.const 1024) (i32.const 7))"), "no idea");
    assert_eq!(failure("text", "\\ff?", "(call $fail (i32.const 1024) (i32.const 2))"), "\u{fffd}?");
    let after = "(call $fail (i32.const 1024) (i32.const 2)) (call $give_text (i32.const 0) (i32.const 1))";
    assert_eq!(failure("text", "no", after), "no", "nothing comes after");
    let endless = "(call $fail (i32.const 1024) (i32.const -1))";
    assert_eq!(failure("text", "x", endless).trim_end_matches('\0'), "x", "reasons are cut");
}

#[test]
fn values_of_another_kind_are_refused() {
    for (kind, body, given) in [
        (Kind::Text, "(call $give_integer (i64.const 1))", Kind::Integer),
        (Kind::Integer, "(call $give_text (i32.const 0) (i32.const 1))", Kind::Text),
        (Kind::Integer, "(call $give_float (f64.const 1))", Kind::Float),
        (Kind::Float, "(call $give_boolean (i32.const 1))", Kind::Boolean),
        (Kind::TextList, "(call $give_time (i64.const 1))", Kind::Time),
        (Kind::IntegerList, "(call $give_text (i32.const 0) (i32.const 1))", Kind::Text),
    ] {
        let error = answer(&kind.name().replace(' ', "_"), "", body).unwrap_err();
        assert_eq!(error, AnalyzeError::WrongKind { given, kind }, "{body}");
    }
    let twice = "(call $give_integer (i64.const 1)) (call $give_integer (i64.const 1))";
    assert!(failure("integer", "", twice).contains("two values"));
    assert!(failure("text", "", "(call $give_list)").contains("columns of lists"));
}

#[test]
fn traps_are_failures() {
    for (body, reason) in [
        ("unreachable", "unreachable"),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero"),
        ("(drop (i32.load (i32.const 65536)))", "out of bounds memory access"),
    ] {
        let failure = failure("text", "", body);
        assert!(failure.starts_with("the module trapped") && failure.contains(reason), "{failure}");
    }
    let endless = format!(r#"(module {IMPORTS} (func $f (export "analyze_text") (call $f)))"#);
    let failure = load(&endless).unwrap().analyze(&page()).unwrap_err().to_string();
    assert!(failure.contains("call stack exhausted"), "{failure}");
}

#[test]
fn places_outside_of_memory_are_refused() {
    for body in [
        "(drop (call $url (i32.const 65530) (i32.const 100)))",
        "(drop (call $body (i32.const -1) (i32.const 10)))",
        "(call $give_text (i32.const 65530) (i32.const 7))",
        "(call $give_text (i32.const -1) (i32.const 1))",
        "(call $fail (i32.const 65536) (i32.const 1))",
        "(drop (call $header (i32.const 65536) (i32.const 4) (i32.const 0) (i32.const 1)))",
    ] {
        let failure = failure("text", "", body);
        assert!(failure.contains("its memory ends at 65536"), "{body}: {failure}");
    }
    // Room for nothing may lie anywhere within.
    assert_eq!(answer("text", "", "(drop (call $url (i32.const 65536) (i32.const 0)))"), Ok(Value::Null));
}

#[test]
fn text_must_be_utf_8() {
    let body = "(call $give_text (i32.const 1024) (i32.const 3))";
    assert_eq!(failure("text", "ab\\ff", body), "the text that was given is not UTF-8 at byte 2");
    assert_eq!(failure("text_list", "ab\\ff", body), "the text that was given is not UTF-8 at byte 2");
}

#[test]
fn a_failure_is_for_one_document() {
    let module = module("integer", "", "(if (i32.eq (call $status) (i32.const 404)) (then unreachable))");
    assert!(module.analyze(&page()).is_err());
    let other = mattock_analyze::Document::new("http://example.org/", 0, 200, b"", b"", false);
    assert_eq!(module.analyze(&other), Ok(Value::Null));
}
