//! Every kind of value, and every part of a document.

use mattock_analyze::{Analyzer as _, Document, Kind, Value};

use crate::{HEAD, PAGE, answer, module, page};

#[test]
fn every_kind_comes_back() {
    for (kind, body, expected) in [
        ("text", "(call $give_text (i32.const 1024) (i32.const 5))", Value::Text("wört".into())),
        ("integer", "(call $give_integer (i64.const -7))", Value::Integer(-7)),
        ("float", "(call $give_float (f64.const 0.5))", Value::Float(0.5)),
        ("boolean", "(call $give_boolean (i32.const 2))", Value::Boolean(true)),
        ("boolean", "(call $give_boolean (i32.const 0))", Value::Boolean(false)),
        ("time", "(call $give_time (i64.const 86400000000))", Value::Time(86_400_000_000)),
        ("text_list", "(call $give_list)", Value::TextList(Vec::new())),
        (
            "text_list",
            "(call $give_text (i32.const 1024) (i32.const 1)) (call $give_text (i32.const 1024) (i32.const 0))",
            Value::TextList(vec!["w".into(), String::new()]),
        ),
        (
            "integer_list",
            "(call $give_integer (i64.const 1)) (call $give_integer (i64.const 2))",
            Value::IntegerList(vec![1, 2]),
        ),
    ] {
        let module = module(kind, "wört", body);
        assert_eq!(module.kind().name().replace(' ', "_"), kind);
        assert_eq!(module.analyze(&page()), Ok(expected), "{kind}: {body}");
    }
}

#[test]
fn nothing_given_is_null() {
    for kind in Kind::ALL {
        assert_eq!(answer(&kind.name().replace(' ', "_"), "", ""), Ok(Value::Null), "{kind}");
    }
}

#[test]
fn every_part_of_a_document_is_seen() {
    let text = |part: &str| {
        let body = format!(
            "(local.set $n (call ${part} (i32.const 0) (i32.const 1000))) (call $give_text (i32.const 0) (local.get $n))"
        );
        answer("text", "", &body).unwrap()
    };
    let as_text = |bytes: &[u8]| Value::Text(String::from_utf8(bytes.to_vec()).unwrap());
    assert_eq!(text("url"), as_text(b"http://example.org/page"));
    assert_eq!(text("head"), as_text(HEAD));
    assert_eq!(text("body"), as_text(PAGE));
    assert_eq!(text("content"), as_text(PAGE));
    assert_eq!(text("text"), as_text(b"The quick brown fox jumps over the lazy dog."));
    let header = "(local.set $n (call $header (i32.const 1024) (i32.const 7) (i32.const 0) (i32.const 1000)))
        (call $give_text (i32.const 0) (local.get $n))";
    assert_eq!(answer("text", "x-words", header), Ok(Value::Text("one, two".into())));
    let given = "(call $give_integer (i64.extend_i32_s (call $status)))
        (call $give_integer (call $time))
        (call $give_integer (i64.extend_i32_s (call $truncated)))";
    let expected = Value::IntegerList(vec![404, 1_700_000_000_000_000, 1]);
    assert_eq!(answer("integer_list", "", given), Ok(expected));
}

#[test]
fn a_part_is_copied_as_far_as_there_is_room() {
    let body = "(call $give_integer (i64.extend_i32_s (call $url (i32.const 0) (i32.const 4))))
        (call $give_integer (i64.load (i32.const 0)))
        (call $give_integer (i64.extend_i32_s (call $url (i32.const 0) (i32.const 0))))";
    let http = i64::from(u32::from_le_bytes(*b"http"));
    assert_eq!(answer("integer_list", "", body), Ok(Value::IntegerList(vec![23, http, 23])));
}

#[test]
fn what_a_document_has_not_is_minus_one() {
    let image =
        Document::new("http://example.org/a.png", 0, 200, b"Content-Type: image/png\r\n", b"x", false);
    for part in [
        "(call $text (i32.const 0) (i32.const 9))",
        "(call $header (i32.const 1024) (i32.const 3) (i32.const 0) (i32.const 9))",
    ] {
        let module = module("integer", "age", &format!("(call $give_integer (i64.extend_i32_s {part}))"));
        assert_eq!(module.analyze(&image), Ok(Value::Integer(-1)), "{part}");
    }
}

#[test]
fn nothing_is_left_of_the_document_before() {
    let count = "(global.set $seen (i32.add (global.get $seen) (i32.const 1)))
        (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
        (call $give_integer (i64.extend_i32_s (i32.add (global.get $seen) (i32.load (i32.const 8)))))";
    let text = format!(
        r#"(module {} (global $seen (mut i32) (i32.const 0)) (func (export "analyze_integer") {count}))"#,
        crate::IMPORTS
    );
    let module = crate::load(&text).unwrap();
    for _ in 0..3 {
        assert_eq!(module.analyze(&page()), Ok(Value::Integer(2)));
    }
}

#[test]
fn a_prepared_instance_is_prepared_before_each_document() {
    let text = format!(
        r#"(module {} (global $seen (mut i64) (i64.const 1))
            (func $start (global.set $seen (i64.add (global.get $seen) (i64.const 10))))
            (start $start)
            (func (export "_initialize") (global.set $seen (i64.mul (global.get $seen) (i64.const 2))))
            (func (export "analyze_integer") (call $give_integer (global.get $seen))))"#,
        crate::IMPORTS
    );
    let module = crate::load(&text).unwrap();
    assert_eq!(module.analyze(&page()), Ok(Value::Integer(22)));
    assert_eq!(module.analyze(&page()), Ok(Value::Integer(22)));
}

#[test]
fn threads_share_a_module() {
    let module = module(
        "integer",
        "",
        "(call $give_integer (i64.extend_i32_s (call $body (i32.const 0) (i32.const 100))))",
    );
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4usize)
            .map(|thread| {
                let module = &module;
                scope.spawn(move || {
                    let body = vec![b'x'; thread];
                    let document = Document::new("http://example.org/", 0, 200, b"", &body, false);
                    (0..50).all(|_| module.analyze(&document) == Ok(Value::Integer(thread as i64)))
                })
            })
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    });
}
