//! Any query gives the same rows in both languages, and these are the rows that a look at every document gives.

use std::collections::BTreeMap;

use mattock_query::Span;
use mattock_query::is_sampled;
use mattock_query::wib::ast::{Condition, Operand, Placed, Query, Relation, Sampling};
use proptest::prelude::*;

use crate::world::{DAY_MS, Doc, START_MS, World, sql, wib};

fn placed<T>(value: T) -> Placed<T> {
    Placed::new(value, Span::default())
}

/// A cell, or a constant.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Cell {
    Text(String),
    Number(i64),
    Time(i64),
    Flag(bool),
}

const TEXTS: [(&str, &str); 5] = [
    ("via", "via"),
    ("name", "url"),
    ("type", "content_mime_type"),
    ("title", "title"),
    ("host", "url_host_name"),
];
const NUMBERS: [(&str, &str); 3] =
    [("status", "fetch_status"), ("took_ms", "took_ms"), ("instance_number", "instance_number")];
const TIMES: [(&str, &str); 2] = [("insertionDate", "fetch_time"), ("first_seen", "first_seen")];
const FLAGS: [(&str, &str); 2] = [("latest", "latest"), ("changed", "changed")];
const PATTERNS: [&str; 8] = ["^http://", "a\\.b", "[0-3]$", "alpha|beta", "html", ".", "^$", "x/1"];

/// All cells of a document, by the names of the Web-in-a-Box language.
fn cells(doc: &Doc, docs: &[Doc]) -> BTreeMap<&'static str, Option<Cell>> {
    let mut instances: Vec<&Doc> = docs.iter().filter(|other| other.url == doc.url).collect();
    instances.sort_by_key(|other| (other.time_ms, other.instance()));
    let number = instances.iter().position(|other| other.time_ms == doc.time_ms).unwrap();
    let text = |text: &str| Some(Cell::Text(text.to_string()));
    let is_html = doc.mime.is_none_or(|mime| mime == "text/html");
    BTreeMap::from([
        ("name", text(&doc.url)),
        ("type", doc.mime.map(|mime| Cell::Text(mime.to_string()))),
        ("title", if is_html { text(&doc.title) } else { None }),
        ("host", text(doc.host())),
        // Only who is there himself can be named.
        ("via", doc.via.filter(|via| docs.iter().any(|other| other.url == *via)).and_then(text)),
        ("status", Some(Cell::Number(i64::from(doc.status)))),
        ("took_ms", Some(Cell::Number(doc.time_ms % 1_000))),
        ("instance_number", Some(Cell::Number(number as i64 + 1))),
        ("insertionDate", Some(Cell::Time(doc.time_ms))),
        ("first_seen", Some(Cell::Time(instances[0].time_ms))),
        ("latest", Some(Cell::Flag(number + 1 == instances.len()))),
        ("changed", (number > 0).then(|| Cell::Flag(instances[number - 1].digest() != doc.digest()))),
    ])
}

/// What a condition says of a document; nothing if it cannot say.
fn holds(condition: &Condition, cells: &BTreeMap<&'static str, Option<Cell>>) -> Option<bool> {
    let value = |operand: &Operand| match operand {
        Operand::Column(name) => cells[name.value.as_str()].clone(),
        Operand::Text(text) => Some(Cell::Text(text.value.clone())),
        Operand::Integer(number) => Some(Cell::Number(number.value)),
        Operand::Float(_) => unreachable!("not drawn"),
        Operand::Date(date) => Some(Cell::Time(date.value)),
    };
    match condition {
        Condition::Or(left, right) => match (holds(left, cells), holds(right, cells)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Condition::And(left, right) => match (holds(left, cells), holds(right, cells)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Condition::Not(inner) => holds(inner, cells).map(|holds| !holds),
        Condition::Match(name, pattern) => match cells[name.value.as_str()].as_ref()? {
            Cell::Text(text) => Some(regex::Regex::new(&pattern.value).unwrap().is_match(text)),
            _ => unreachable!("not drawn"),
        },
        Condition::Flag(name) => match cells[name.value.as_str()].as_ref()? {
            Cell::Flag(flag) => Some(*flag),
            _ => unreachable!("not drawn"),
        },
        Condition::Relation(left, relation, right) => {
            let (left, right) = (value(left)?, value(right)?);
            Some(match relation {
                Relation::Equal => left == right,
                Relation::NotEqual => left != right,
                Relation::Less => left < right,
                Relation::LessOrEqual => left <= right,
                Relation::Greater => left > right,
                Relation::GreaterOrEqual => left >= right,
            })
        }
    }
}

/// The same condition in SQL.
fn in_sql(condition: &Condition) -> String {
    let all: BTreeMap<&str, &str> = TEXTS.into_iter().chain(NUMBERS).chain(TIMES).chain(FLAGS).collect();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let value = |operand: &Operand| match operand {
        Operand::Column(name) => all[name.value.as_str()].to_string(),
        Operand::Text(text) => quoted(&text.value),
        Operand::Integer(number) => number.value.to_string(),
        Operand::Float(_) => unreachable!("not drawn"),
        Operand::Date(date) => {
            let date = mattock_query::wib::print_date(date.value).unwrap().replace('/', "-");
            format!("timestamp '{date}'")
        }
    };
    match condition {
        Condition::Or(left, right) => format!("({} or {})", in_sql(left), in_sql(right)),
        Condition::And(left, right) => format!("({} and {})", in_sql(left), in_sql(right)),
        Condition::Not(inner) => format!("(not {})", in_sql(inner)),
        Condition::Match(name, pattern) => {
            format!("({} ~ {})", all[name.value.as_str()], quoted(&pattern.value))
        }
        Condition::Flag(name) => all[name.value.as_str()].to_string(),
        Condition::Relation(left, relation, right) => {
            format!("({} {relation} {})", value(left), value(right))
        }
    }
}

fn pick(names: &[(&'static str, &'static str)]) -> impl Strategy<Value = Placed<String>> + use<> {
    let names: Vec<String> = names.iter().map(|(name, _)| (*name).to_string()).collect();
    proptest::sample::select(names).prop_map(placed)
}

fn relation() -> impl Strategy<Value = Relation> {
    use Relation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    proptest::sample::select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual])
}

fn condition() -> impl Strategy<Value = Condition> {
    let texts = ["text/html", "alpha", "beta 1", "http://a.b/1", "x.y", ""].map(str::to_string).to_vec();
    let text = prop_oneof![
        proptest::sample::select(texts).prop_map(|text| Operand::Text(placed(text))),
        pick(&TEXTS).prop_map(Operand::Column)
    ];
    let number = prop_oneof![
        proptest::sample::select(vec![0, 1, 2, 200, 404, -1])
            .prop_map(|number| Operand::Integer(placed(number))),
        pick(&NUMBERS).prop_map(Operand::Column)
    ];
    let time = prop_oneof![
        (0..8i64).prop_map(|day| Operand::Date(placed(START_MS + day * DAY_MS))),
        pick(&TIMES).prop_map(Operand::Column)
    ];
    let related = |left: BoxedStrategy<Operand>, right: BoxedStrategy<Operand>| {
        (left, relation(), right)
            .prop_map(|(left, relation, right)| Condition::Relation(left, relation, right))
    };
    let simple = prop_oneof![
        related(pick(&TEXTS).prop_map(Operand::Column).boxed(), text.boxed()),
        related(pick(&NUMBERS).prop_map(Operand::Column).boxed(), number.boxed()),
        related(pick(&TIMES).prop_map(Operand::Column).boxed(), time.boxed()),
        (pick(&TEXTS), proptest::sample::select(PATTERNS.to_vec()))
            .prop_map(|(name, pattern)| Condition::Match(name, placed(pattern.to_string()))),
        pick(&FLAGS).prop_map(Condition::Flag),
    ];
    simple.prop_recursive(3, 10, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Condition::And(Box::new(left), Box::new(right))),
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| Condition::Or(Box::new(left), Box::new(right))),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

fn docs() -> impl Strategy<Value = Vec<Doc>> {
    let urls = ["http://a.b/1", "http://a.b/2", "https://a.b/1", "http://x.y/1", "http://x.y/alpha"].to_vec();
    let doc = (
        proptest::sample::select(urls.clone()),
        proptest::option::of(proptest::sample::select(urls)),
        0..8i64,
        proptest::sample::select(vec![200i16, 404, 503]),
        proptest::sample::select(vec![Some("text/html"), Some("image/png"), None]),
        proptest::sample::select(vec!["alpha", "beta 1", "Gamma"]),
    );
    proptest::collection::vec(doc, 0..25).prop_map(|drawn| {
        // An instance is a URL at a time.
        let distinct: BTreeMap<(&str, i64), Doc> = drawn
            .into_iter()
            .map(|(url, via, day, status, mime, title)| {
                ((url, day), Doc { status, mime, via, ..Doc::page(url, day, title) })
            })
            .collect();
        distinct.into_values().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_languages_give_what_a_look_at_everything_gives(
        docs in docs(),
        conditions in proptest::collection::vec(condition(), 1..4),
        sample in proptest::option::of((0.0..=1.0f64, any::<u64>())),
    ) {
        let world = World::new(docs);
        let session = world.session();
        for condition in conditions {
            let sampled = |doc: &Doc| sample.is_none_or(|(probability, seed)| is_sampled(&doc.instance(), probability, seed));
            let mut expected: Vec<String> = world
                .docs
                .iter()
                .filter(|doc| sampled(doc) && holds(&condition, &cells(doc, &world.docs)) == Some(true))
                .map(|doc| format!("{{\"name\":\"{}\",\"instance\":\"{}\"}}", doc.url, doc.instance()))
                .collect();
            expected.sort();
            let query = Query {
                sampling: sample.map(|(probability, seed)| Sampling { probability: placed(probability), seed: Some(placed(seed)) }),
                columns: vec![placed("name".into()), placed("instance".into())],
                condition: Some(condition.clone()),
            };
            prop_assert_eq!(&wib(&session, &query.to_string()), &expected, "{}", query);
            let sampling = sample.map(|(probability, seed)| format!("sampled({probability}, {seed}) and ")).unwrap_or_default();
            let text = format!("select url as name, instance from documents where {sampling}{}", in_sql(&condition));
            prop_assert_eq!(&sql(&session, &text), &expected, "{}", text);
        }
    }
}
