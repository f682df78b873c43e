//! The Web-in-a-Box language: what is printed reads as what was printed.

use mattock_query::Span;
use mattock_query::wib::ast::{Condition, Operand, Placed, Query, Relation, Sampling};
use mattock_query::wib::parse;
use proptest::prelude::*;

fn placed<T>(value: T) -> Placed<T> {
    Placed::new(value, Span::default())
}

fn name() -> impl Strategy<Value = Placed<String>> {
    let names = [
        "name",
        "content",
        "insertionDate",
        "http_content_type",
        "match",
        "Date",
        "_x1",
        "größe",
        "samplingProb",
    ];
    proptest::sample::select(names.to_vec()).prop_map(|name| placed(name.to_string()))
}

fn text() -> impl Strategy<Value = Placed<String>> {
    prop_oneof![r#"[a-c\\"$ .]{0,8}"#, any::<String>()].prop_map(placed)
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        name().prop_map(Operand::Column),
        text().prop_map(Operand::Text),
        any::<i64>().prop_map(|value| Operand::Integer(placed(value))),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| Operand::Float(placed(value))),
        (-62_167_219_200_000i64..253_402_300_799_000).prop_map(|value| Operand::Date(placed(value))),
        (-10_000i64..50_000).prop_map(|day| Operand::Date(placed(day * 86_400_000))),
    ]
}

fn relation() -> impl Strategy<Value = Relation> {
    use Relation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    proptest::sample::select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual])
}

fn condition() -> impl Strategy<Value = Condition> {
    let pattern = r#"(\\[.dws$\\"]|[a-z0-9 "$^]|\(a\|b\)){0,6}"#.prop_map(placed);
    let simple = prop_oneof![
        (operand(), relation(), operand())
            .prop_map(|(left, relation, right)| Condition::Relation(left, relation, right)),
        (name(), pattern)
            .prop_filter("a regular expression", |(_, pattern)| regex::Regex::new(&pattern.value).is_ok())
            .prop_map(|(column, pattern)| Condition::Match(column, pattern)),
        name().prop_map(Condition::Flag),
    ];
    simple.prop_recursive(5, 30, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Condition::And(Box::new(left), Box::new(right))),
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Condition::Or(Box::new(left), Box::new(right))),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

fn query() -> impl Strategy<Value = Query> {
    let sampling = (0.0..=1.0f64, proptest::option::of(any::<u64>())).prop_map(|(probability, seed)| {
        Sampling { probability: placed(probability), seed: seed.map(placed) }
    });
    (
        proptest::option::of(sampling),
        proptest::collection::vec(name(), 1..4),
        proptest::option::of(condition()),
    )
        .prop_map(|(sampling, columns, condition)| Query { sampling, columns, condition })
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_the_same(queries in proptest::collection::vec(query(), 1..3)) {
        let text: String = queries.iter().map(|query| format!("{query};\n")).collect();
        let read = parse(&text).map_err(|complaint| TestCaseError::fail(complaint.to_string()))?;
        prop_assert_eq!(read, queries, "{}", text);
    }

    #[test]
    fn no_text_brings_the_parser_down(text in any::<String>()) {
        if let Err(complaint) = parse(&text) {
            prop_assert!(!complaint.to_string().is_empty());
        }
    }

    #[test]
    fn no_pieces_of_the_language_bring_the_parser_down(pieces in proptest::collection::vec(
        proptest::sample::select(vec!["select ", "where ", "match(", "Date(", "\"a", "\"", "(", ")", "[", "]", "samplingProb=", "1", "-", ".", ",", ";", "&&", "||", "!", "=", "x"]), 0..20))
    {
        let text = pieces.concat();
        if let Err(complaint) = parse(&text) {
            prop_assert!(!complaint.to_string().is_empty());
        }
    }
}
